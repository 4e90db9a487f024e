# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""tree_of_folded.py SHAPE <FOLDED - the nodes of the call tree of folded stacks, as "self total path", sorted

SHAPE: down (from the outermost frames), up (from the innermost), groups (down, below the comms); nodes: the input has nodes
already, as `library_reader tree` prints them, of which those with equal paths are added up; weights: the same by weight.
"""

import collections
import sys

shape = sys.argv[1]
own, total = collections.Counter(), collections.Counter()
for line in sys.stdin:
    if shape in ("nodes", "weights"):
        numbers = line.rstrip("\n").split(" ", 4)
        first = 0 if shape == "nodes" else 2
        own[numbers[4]] += int(numbers[first])
        total[numbers[4]] += int(numbers[first + 1])
        continue
    stack, count = line.rstrip("\n").rsplit(" ", 1)
    names = stack.split(";")
    if shape != "groups":
        del names[0]
    if shape == "up":
        names.reverse()
    for depth in range(len(names) + 1):
        total[";".join(names[:depth])] += int(count)
    own[";".join(names)] += int(count)
for path in sorted(total):
    print(own[path], total[path], path)
