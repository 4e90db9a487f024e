# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""
compare_waits - whether the functions of JavaScript in a wait's stack are those of new Error().stack just before it

compare_waits.py EBPREC NODE WAITS [OPTION...]: records stacks.js with these options of node, takes the stack of each wait from 'ebprec script',
and compares it with the one that the program wrote: the last one before the wait by the clock.  Prints how many are equal,
how many lack functions, and how many have a function that the other has not or in another order (with all of these).
"""
import bisect
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

SCRIPT = "stacks.js"
SECONDS = 0.004  # a wait takes 1.5 ms


def names_of_error(text):
    """The functions of an Error's stack, innermost first, without the objects that they are methods of."""
    names = []
    for line in text.split("\n")[1:]:
        found = re.match(r"\s*at (?:(.*) \()?/.*?" + re.escape(SCRIPT) + r":\d+:\d+\)?$", line)
        if not found or "at async" in line:
            continue
        name = re.sub(r"^new | \[as .*\]$", "", found.group(1) or "")
        accessor = re.match(r"(?:[\w<>.]+\.)?([gs]et \w+)$", name)
        name = accessor.group(1) if accessor else name.split(".")[-1]
        names.append("anonymous" if name in ("", "<anonymous>") else name)
    return names


def waits_of_capture(ebprec, path):
    """The time and the functions of each switch of a thread that sleeps in Atomics.wait()."""
    text = subprocess.check_output([ebprec, "script", "-q", "--ns", "-i", path], text=True)
    for event in text.split("\n\n"):
        lines = event.strip().split("\n")
        when = re.search(r" ([0-9.]+): +sched:sched_switch: .*prev_state=[^R]", lines[0])
        if not when or "AtomicsWait" not in event:
            continue
        names = re.findall(r" js::(.*) \(" + re.escape(SCRIPT) + r"\)", event)
        yield float(when.group(1)), ["anonymous" if n.startswith("(anonymous") else re.sub(r"^(?![gs]et ).*\.", "", n) for n in names]


def is_part(some, all_names):
    rest = iter(all_names)
    return all(name in rest for name in some)


def main():
    ebprec, node, count = sys.argv[1:4]
    here = os.path.dirname(os.path.abspath(__file__))
    counts, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as tmp:
        capture, truth = tmp + "/x.data", tmp + "/truth.json"
        subprocess.check_call([ebprec, "record", "-q", "-F", "49", "--max-overhead", "100", "-o", capture, "--", node, *sys.argv[4:],
                               here + "/" + SCRIPT, count, "9973", truth])
        with open(truth) as file:
            stacks = [(when, names_of_error(text)) for when, text in json.load(file)]
        times = [when for when, _ in stacks]
        for when, names in waits_of_capture(ebprec, capture):
            at = bisect.bisect_right(times, when) - 1
            if at < 0 or when - times[at] > SECONDS:
                counts["unpaired"] += 1
            elif names == stacks[at][1]:
                counts["equal"] += 1
            elif is_part(names, stacks[at][1]):
                counts["incomplete"] += 1
            else:
                counts["wrong"] += 1
                wrong.append((stacks[at][1], names))
    print(*(f"{counts[key]} {key}" for key in ("equal", "incomplete", "wrong", "unpaired")), sep=", ")
    for expected, names in wrong:
        print("expected:", *expected, "\ngot:     ", *names)


main()
