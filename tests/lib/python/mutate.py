# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""
mutate - makes what a recorder knows of CPython's structs wrong, one offset after the other, while it records

mutate.py PID SEED SECONDS [listed|perl]: of the recorder PID, writes into its BPF map of interpreters (struct runtime_desc of
bpf/runtime_maps.h, which number 1 has) for a moment each: an offset that is another one, or an address; then what was there.
listed: it is Ruby or PHP; perl: Perl.
Prints how many changes it made.
"""
import json
import os
import random
import struct
import subprocess
import sys
import time

MAP = "ebprec_runtimes"
FORM = sys.argv[4] if len(sys.argv) > 4 else "python"
# Of _PyRuntime and three types; of executor_globals, and Ruby's and Perl's state.
ADDRESSES = {"python": range(40, 72, 8), "listed": (40, 128, 136), "perl": (128, 136)}[FORM]
# Without sizes, and without lines, which are no names: struct runtime_python_offsets, runtime_listed_offsets, runtime_perl_offsets
OFFSETS = {
    "python": range(72, 122, 2),
    "listed": [at for at in range(74, 112, 2) if at not in (76, 86, 100, 106)],
    "perl": [at for at in range(74, 128, 2) if at not in (80, 100, 104)],
}[FORM]


def bpftool(*words):
    done = subprocess.run(["bpftool", "-j", "map", *words], capture_output=True)
    if done.returncode:
        sys.exit(f"mutate.py: bpftool map {words[0]}: {done.stdout or done.stderr}")
    return json.loads(done.stdout or "null")


def map_of(pid):
    named = {str(m["id"]) for m in bpftool("show") if m.get("name") == MAP}  # also those of other recorders
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with open(f"/proc/{pid}/fdinfo/{fd}") as f:
            ids = [line.split()[1] for line in f if line.startswith("map_id:")]
        if ids and ids[0] in named:
            return ids[0]
    sys.exit(f"mutate.py: process {pid} has no map {MAP}")


def write(number, desc):
    bpftool("update", "id", number, "key", "1", "0", "0", "0", "value", *[str(b) for b in desc])


def main():
    pid, seed, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    draw = random.Random(seed)
    number = map_of(pid)
    good = bytes(int(b, 16) for b in bpftool("lookup", "id", number, "key", "1", "0", "0", "0")["value"])
    if not any(good):
        sys.exit("mutate.py: the recorder knows no interpreter")
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        bad = bytearray(good)
        if draw.random() < 0.15:
            at = draw.choice(ADDRESSES)
            struct.pack_into("<Q", bad, at, (struct.unpack_from("<Q", bad, at)[0] + 8 * draw.randint(-60, 60)) % 2**64)
        else:
            at = draw.choice(OFFSETS)
            was = struct.unpack_from("<H", bad, at)[0]
            new = draw.choice((was - 8, was + 8, was ^ 4, 8 * draw.randint(0, 31), 0xffff, draw.randint(0, 0xffff)))
            struct.pack_into("<H", bad, at, new % 2**16)
        write(number, bad)
        count += 1
        time.sleep(0.03)
        write(number, good)
        time.sleep(0.01)
    print(count)


main()
