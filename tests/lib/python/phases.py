# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""
phases - a program that runs Python code while its interpreter starts and ends, and what holds its sampled stacks to it

Copied to sitecustomize.py in a folder of PYTHONPATH, and run with TRUTH in the environment: a function spins in each phase, and
writes the stack that it has by sys._getframe() to that file (names, outermost first, a line each).
phases.py run: the program itself.
phases.py check TRUTH: reads folded stacks; prints for each line of TRUTH its last function, how many samples are in it, and
how many of these have exactly the line's stack.
phases.py known: reads folded stacks; prints the functions of Python that no module has which an interpreter loads at its start,
but for those that no program can load (getpath), and for python -c.
"""
import os
import sys


def spin(seconds=0.3, getframe=sys._getframe, times=os.times, write=os.write, name=lambda code: getattr(code, "co_qualname", code.co_name)):
    frame, names = getframe(1), []
    while frame:
        names.append(name(frame.f_code))
        frame = frame.f_back
    write(truth, (";".join(reversed(names)) + "\n").encode())
    end = times()[0] + seconds
    while times()[0] < end:
        sum(range(3000))


def in_site():
    spin()


def at_exit():
    spin()


class Last:
    """The interpreter deletes it with the module, when its names are gone."""
    spin = staticmethod(spin)

    def __del__(self):
        self.in_teardown()

    def in_teardown(self):
        self.spin()


def run():
    import atexit
    import gc
    import weakref
    atexit.register(at_exit)
    Last.keep = Last()  # a cycle: for the collection at the end
    run.alive = weakref.finalize(Last.keep, int)
    gc.disable()


def check(path):
    with open(path) as f:
        truths = f.read().splitlines()
    stacks = []
    for line in sys.stdin:
        text, count = line.rstrip("\n").rsplit(" ", 1)
        stacks.append(([f[4:f.rindex(" (")] for f in text.split(";") if f.startswith("py::")], int(count)))
    for truth in truths:
        names = truth.split(";")
        these = [s for s in stacks if names[-1] in s[0]]
        print(names[-1], sum(n for _, n in these), sum(n for s, n in these if s[:len(names)] == names and s[len(names):] in ([], ["spin"], ["spin", "<lambda>"])))
        for s in these:
            if s[0][:len(names)] != names or len(s[0]) > len(names):
                print(s, file=sys.stderr)


def known():
    import linecache  # python -c does since 3.13
    found = {"py::<module> (<string>)"}
    found |= {"py::%s (<frozen getpath>)" % f for f in ("<module>", "search_up", "search_up.<locals>.<genexpr>", "warn")}

    def add(code):
        folder, file = os.path.split(code.co_filename)
        if file == "__init__.py":
            file = os.path.basename(folder) + "/" + file
        found.add("py::%s (%s)" % (getattr(code, "co_qualname", code.co_name), file))
        for const in code.co_consts:
            if hasattr(const, "co_code"):
                add(const)
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        loader = getattr(spec, "loader", None)
        code = loader.get_code(spec.name) if hasattr(loader, "get_code") else None
        if code:
            add(code)
    for line in sys.stdin:
        for frame in line.rsplit(" ", 1)[0].split(";"):
            if frame.startswith("py::") and frame not in found:
                print(frame)


if __name__ == "sitecustomize":
    if "TRUTH" in os.environ:
        truth = os.open(os.environ["TRUTH"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        in_site()
elif sys.argv[1] == "run":
    truth = os.open(os.environ["TRUTH"], os.O_WRONLY | os.O_APPEND)
    run()
elif sys.argv[1] == "check":
    check(sys.argv[2])
else:
    known()
