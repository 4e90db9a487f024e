#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""svg_frames.py SVG FOLDED - holds a flame graph against the folded stacks of the same samples

Reads the picture as any XML reader does. Each call of the folded stacks that is at least a tenth of a
pixel wide must be one frame, with its name, weight and width, within its caller; nothing else may be
drawn. Prints what differs; status 1 then.
"""
import collections
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
WIDTH = 1180.0
KINDS = {"user", "kernel", "inlined", "no name", "wait", "process"}
DRAWN_BYTES = 512


def expected(path):
    """(name, weight, x, width) of each call, counted."""
    totals = collections.Counter()
    with open(path, "rb") as lines:
        for line in lines:
            stack, count = line.rstrip(b"\n").rsplit(b" ", 1)
            frames = stack.split(b";")
            for depth in range(1, len(frames) + 1):
                totals[tuple(frames[:depth])] += int(count)
    total = sum(weight for path, weight in totals.items() if len(path) == 1)
    found = collections.Counter()
    for call, weight in totals.items():
        width = weight / total * WIDTH
        if width >= 0.1:
            found[call[-1].decode()[:DRAWN_BYTES], weight, f"{width:.2f}"] += 1
    return found


def drawn(path):
    found, rows = collections.Counter(), {}
    for frame in ElementTree.parse(path).getroot().iter(SVG + "g"):
        name, rest = frame.find(SVG + "title").text.rsplit(" (", 1)
        kind, weight = rest.split(", ")[:2]
        if kind not in KINDS:
            sys.exit(f"{path}: no such kind: {kind}")
        rect = frame.find(SVG + "rect")
        x, y, width = (float(rect.get(word)) for word in ("x", "y", "width"))
        rows.setdefault(y, []).append((x, x + width))
        found[name, int(weight.split()[0]), rect.get("width")] += 1
    check_rows(rows)
    return found


def check_rows(rows):
    """No two frames of a row overlap, and each stands on one of the row below."""
    for y, spans in rows.items():
        spans.sort()
        for (_, end), (begin, _) in zip(spans, spans[1:]):
            if begin < end - 0.02:
                sys.exit(f"frames overlap at y={y} x={begin}")
        below = rows.get(y + 17)
        for begin, end in spans if below else []:
            if not any(b - 0.02 <= begin and end <= e + 0.02 for b, e in below):
                sys.exit(f"a frame at y={y} x={begin} has no caller below it")


want, have = expected(sys.argv[2]), drawn(sys.argv[1])
if not want:
    sys.exit("no stacks")
for name, some in (("missing", want - have), ("not in the stacks", have - want)):
    for frame in some:
        print(f"{name}: {frame}")
sys.exit(1 if want != have else 0)
