# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""
stacks - a program whose Python stacks are known, and what holds sampled ones to them

stacks.py run TRUTH SECONDS [THREADS [calls | collections | imports]]: runs each piece of work twice under sys.setprofile(), which
sees every call, and writes the stacks that it saw (names, outermost first, a line each); then does the same work over
and over.  There is no garbage collection but those of the work: in another one a function can be called anywhere.
stacks.py check TRUTH [unqualified]: reads folded stacks, and prints how many of those in threads (the work is done there) are in the
interpreter's loop, how many of these have Python frames, and how many of these are stacks of TRUTH; the others
are printed to stderr.  A call of a generator runs its first instruction, which makes the generator: no call is
seen then, so the innermost frame may be a generator's that TRUTH has elsewhere.  unqualified: names are compared without
the classes and functions that they are in.
"""
import asyncio
import functools
import gc
import importlib
import json
import sys
import threading
import time

seen = set()
generators = set()
MAKES_GENERATOR = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def note(frame, event, arg):
    if event != "call":
        return
    names = []
    if frame.f_code.co_flags & MAKES_GENERATOR:
        generators.add(name_of(frame.f_code))
    while frame:
        names.append(name_of(frame.f_code))
        frame = frame.f_back
    seen.add(";".join(reversed(names)))


def burn(n):
    x = 0
    for i in range(n):
        x += i * i % 7
    return x


def decorated(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)
    return wrapper


@decorated
def add(a, b):
    return a + burn(b % 50)


def recurse(n):
    if n == 0:
        return burn(300)
    return recurse(n - 1) + 1


def generate(n):
    for i in range(n):
        yield burn(i % 60)


def delegate(n):
    yield from generate(n)


async def step(n):
    burn(n)
    await asyncio.sleep(0)
    return burn(n)


async def steps():
    return await asyncio.gather(step(200), step(300), step(100))


class Number:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return burn(5) and self.value < other.value

    @property
    def twice(self):
        return burn(40) + self.value

    def __del__(self):
        burn(10)


def outer(n):
    def inner(k):
        return burn(k)
    return [inner(i % 30) for i in range(n)], {i: inner(i % 20) for i in range(n)}


def fail(n):
    try:
        raise ValueError(burn(n))
    except ValueError as e:
        return str(e) + str(burn(n))
    finally:
        burn(n)


class Cycle:
    def __init__(self):
        self.itself = self

    def __del__(self):
        burn(20)


def at_collection(phase, info):
    burn(50)


def collections(loop):
    gc.callbacks.append(at_collection)
    for _ in range(30):
        Cycle()
    gc.collect()
    gc.callbacks.remove(at_collection)


def imports(loop):
    for module in "email.mime.text", "unittest.mock", "xml.dom.minidom", "json.tool":
        for name in [n for n in sys.modules if n.split(".")[0] == module.split(".")[0]]:
            del sys.modules[name]
        importlib.import_module(module)


def calls(loop):
    burn(3000)
    recurse(40)
    sum(generate(100))
    list(delegate(50))
    functools.reduce(add, range(100))
    sorted(range(100), key=lambda v: burn(v % 30))
    sorted([Number(i * 7 % 31) for i in range(30)])
    list(map(lambda v: Number(v).twice, range(30)))
    loop.run_until_complete(steps())
    json.loads(json.dumps({"a": [burn(20)] * 20}, indent=1), object_hook=lambda d: burn(100))
    exec(compile("def made(n):\n    return burn(n)\nmade(500)", "<made>", "exec"), {"burn": burn})
    outer(40)
    fail(100)


def work(loop, kind):
    {"calls": calls, "collections": collections, "imports": imports}[kind](loop)


def thread(end, known, kind):
    loop = asyncio.new_event_loop()
    if not known:
        sys.setprofile(note)
        for _ in range(2):
            work(loop, kind)
        sys.setprofile(None)
        loop.close()
        return
    while time.monotonic() < end:
        work(loop, kind)
        time.sleep(0.001)
    loop.close()


def run(path, seconds, threads, kind):
    gc.disable()
    learner = threading.Thread(target=thread, args=(0, False, kind))
    learner.start()
    learner.join()
    with open(path, "w") as f:
        for s in sorted(seen):
            print(s, file=f)
        for s in sorted(generators):
            print("!" + s, file=f)
    end = time.monotonic() + seconds
    many = [threading.Thread(target=thread, args=(end, True, kind)) for _ in range(threads)]
    for t in many:
        t.start()
    for t in many:
        t.join()


def check(path, shorten):
    with open(path) as f:
        lines = f.read().splitlines()
    truth = {below([shorten(n) for n in line.split(";")]) for line in lines if not line.startswith("!")}
    made = {shorten(line[1:]) for line in lines if line.startswith("!")}
    all_count = merged = equal = 0
    for line in sys.stdin:
        text, count = line.rstrip("\n").rsplit(" ", 1)
        frames = text.split(";")
        names = [shorten(f[4:f.rindex(" (")]) for f in frames if f.startswith("py::")]
        if "start_thread" not in frames or not any(f.startswith("_PyEval_EvalFrameDefault") for f in frames):
            continue
        if "note" in names:  # it sees a call, which is in the truth from then on
            names = names[:names.index("note")]
        if names and "work" not in names:
            continue
        all_count += int(count)
        if not names or any(f in ("[python]", "[unknown]") for f in frames):
            print("unmerged:", text, file=sys.stderr)
            continue
        merged += int(count)
        if below(names) in truth or (names[-1] in made and below(names[:-1]) in truth):
            equal += int(count)
        else:
            print("unknown:", ";".join(below(names)), count, file=sys.stderr)
    print(all_count, merged, equal)


def below(names):
    return tuple(names[names.index("work"):]) if "work" in names else ()


if __name__ == "__main__":
    if sys.argv[1] == "run":
        threads, kind = sys.argv[4:] + ["1", "calls"][len(sys.argv[4:]):]
        run(sys.argv[2], float(sys.argv[3]), int(threads), kind)
    else:
        check(sys.argv[2], (lambda name: name.rsplit(".", 1)[-1]) if sys.argv[3:] == ["unqualified"] else str)
