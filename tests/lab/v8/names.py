# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""
names - how far the functions of a node process can be named from its memory alone

names.py [NODE [OPTION...]]: runs work.js, stops it 400 times by ptrace, follows its frame pointers, and reads the function of
each frame as the postmortem symbols (v8dbg_*, in .dynsym) describe it: the slot at fp + off_fp_function, its
SharedFunctionInfo, the name there or in its ScopeInfo, the Script.  The witness is the perf map that node writes.  Prints
what was read for each address that the map calls JavaScript.  No part of ebprec: docs/design/names.md has the numbers.
"""
import bisect
import collections
import ctypes
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

PTRACE_GETREGS, PTRACE_CONT, PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 12, 7, 0x4206, 0x4207, 0x40000000
REGISTERS, RBP, RIP = 27, 4, 16  # words of struct user_regs_struct, and two of them
STOPS, WARM_UP_SECONDS = 400, 2
FUNCTIONS = 32  # types of functions from JS_FUNCTION_TYPE on
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_long, ctypes.c_void_p]


def constants(path):
    """The values of v8dbg_* in a file; those in .bss are 0."""
    segments = []
    for line in subprocess.check_output(["readelf", "-lW", path], text=True).splitlines():
        f = line.split()
        if f[:1] == ["LOAD"]:
            segments.append((int(f[2], 16), int(f[1], 16), int(f[4], 16)))
    found = {}
    with open(path, "rb") as file:
        for line in subprocess.check_output(["nm", "-D", path], text=True).splitlines():
            f = line.split()
            if len(f) != 3 or not f[2].startswith("v8dbg_"):
                continue
            found[f[2][6:]] = 0
            for start, offset, size in segments:
                if start <= int(f[0], 16) < start + size:
                    file.seek(offset + int(f[0], 16) - start)
                    found[f[2][6:]] = struct.unpack("<i", file.read(4))[0]
    return found


class Heap:
    def __init__(self, pid, all_constants):
        def c(beginning):
            """The value whose name begins so: types at its end changed over time."""
            return next(v for n, v in sorted(all_constants.items()) if n.startswith(beginning))

        self.file = os.open("/proc/%d/mem" % pid, os.O_RDONLY)
        self.reads = 0
        self.map_type = c("class_Map__instance_type__")
        self.function = c("type_JSFunction__")
        self.shared_type = c("type_SharedFunctionInfo__")
        self.scope_type = c("type_ScopeInfo__")
        self.script_type = c("type_Script__")
        self.shared = c("class_JSFunction__shared__")
        self.name = c("class_SharedFunctionInfo__name_or_scope_info__")
        self.script = c("class_SharedFunctionInfo__script_")
        self.script_name = c("class_Script__name__")
        self.length = c("class_String__length__")
        self.slot = c("off_fp_function")

    def read(self, addr, form):
        self.reads += 1
        try:
            return struct.unpack(form, os.pread(self.file, struct.calcsize(form), addr))
        except (OSError, OverflowError, struct.error):
            return None

    def word(self, addr):
        got = self.read(addr, "<Q")
        return got[0] if got else 0

    def type_of(self, tagged):
        if not tagged & 1:
            return None
        got = self.read(self.word(tagged - 1) - 1 + self.map_type, "<H")
        return got[0] if got else None

    def string(self, tagged, depth=0):
        kind = self.type_of(tagged)
        if kind is None or kind >= 0x80 or depth > 4:
            return None
        (size,) = self.read(tagged - 1 + self.length, "<i") or (-1,)
        if not 0 <= size <= 4096:
            return None
        at = tagged + 15
        if kind & 7 == 0:  # its characters are in it
            got = self.read(at, "%ds" % (size if kind & 8 else 2 * size))
            return got and got[0].decode("latin1" if kind & 8 else "utf-16-le")
        if kind & 7 == 5:  # another string took its place
            return self.string(self.word(at), depth + 1)
        if kind & 7 == 1:
            parts = self.string(self.word(at), depth + 1), self.string(self.word(at + 8), depth + 1)
            return None if None in parts else parts[0] + parts[1]
        return None

    def name_of(self, shared):
        name = self.word(shared - 1 + self.name)
        if self.type_of(name) != self.scope_type:
            return self.string(name) if name & 1 else ""
        # Flags, parameters, locals; two words a local, or a table of them; then come few words, and the name is one.
        locals_count = self.word(name + 23) >> 32
        behind = name + 31 + 8 * (2 * locals_count if locals_count < 75 else 1)
        for word in self.read(behind, "<5Q") or ():
            text = self.string(word) if word & 1 else None
            if text is not None:
                return text
        return ""

    def frame(self, fp):
        """(name, script) of the function of a frame; None: it is no frame of one."""
        function, context = self.word(fp + self.slot), self.word(fp - 8)
        kind = self.type_of(function) if context & 1 else None
        if kind is None or not self.function <= kind < self.function + FUNCTIONS:
            return None
        shared = self.word(function - 1 + self.shared)
        if self.type_of(shared) != self.shared_type:
            return None
        script = self.word(shared - 1 + self.script)
        path = self.string(self.word(script - 1 + self.script_name)) if self.type_of(script) == self.script_type else None
        return self.name_of(shared), path


def sample(pid, heap):
    libc.ptrace(PTRACE_INTERRUPT, pid, 0, None)
    os.waitpid(pid, WALL)
    registers = (ctypes.c_ulonglong * REGISTERS)()
    libc.ptrace(PTRACE_GETREGS, pid, 0, registers)
    pc, fp, frames = registers[RIP], registers[RBP], []
    while fp and len(frames) < 200:
        frames.append((pc, heap.frame(fp)))
        above, pc = heap.read(fp, "<2Q") or (0, 0)
        fp = above if above > fp else 0
    libc.ptrace(PTRACE_CONT, pid, 0, None)
    return frames


def witness(pid):
    """By address: the last line of the perf map that covers it."""
    with open("/tmp/perf-%d.map" % pid) as file:
        lines = [line.rstrip("\n").split(" ", 2) for line in file]
    code = sorted((int(start, 16), i, int(size, 16), text) for i, (start, size, text) in enumerate(lines))

    def find(pc):
        at = bisect.bisect_right(code, (pc, len(lines)))
        covering = [c for c in code[max(at - 40, 0):at] if pc < c[0] + c[2]]
        return max(covering, key=lambda c: c[1])[3] if covering else ""
    return find


def main():
    node = sys.argv[1] if len(sys.argv) > 1 else "/usr/bin/node"
    work = os.path.join(os.path.dirname(os.path.abspath(__file__)), "work.js")
    command = [node, "--perf-basic-prof", "--interpreted-frames-native-stack", *sys.argv[2:], work, "60"]
    # Node leaves a log where it runs.
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(command, cwd=folder) as program:
        time.sleep(WARM_UP_SECONDS)
        heap = Heap(program.pid, constants(node))
        libc.ptrace(PTRACE_SEIZE, program.pid, 0, None)
        stacks = []
        for _ in range(STOPS):
            time.sleep(random.uniform(0.001, 0.012))
            stacks.append(sample(program.pid, heap))
        find = witness(program.pid)
        program.kill()
    os.unlink("/tmp/perf-%d.map" % program.pid)
    counts = collections.Counter()
    for stack in stacks:
        for i, (pc, read) in enumerate(stack):
            text = find(pc - (i > 0))
            counts["frames"] += 1
            kind, _, function = text.partition(":")
            if kind in ("JS", "LazyCompile", "Function", "Script"):  # all but the first up to node 18
                name = function.lstrip("~^+*'")  # the quote from node 24 on
                how = "none" if not read else "equal" if name.startswith((read[0] or "") + " ") else "other"
                counts[("innermost " if not i else "caller ") + how] += 1
            elif read:
                counts["built-in function"] += 1
    print(dict(sorted(counts.items())), "%.1f reads a stack" % (heap.reads / STOPS))


main()
