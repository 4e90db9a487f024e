# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""subinterpreter.py FILE - makes FILE when its first thread runs in_main(), and another one, of a second interpreter, in_sub()

The second interpreter was made by the first thread: up to 3.11 its state has the id of that one.  Where this
CPython has no module for it, the exit status is 3.
"""
import sys
import threading
import time

try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        sys.exit(3)

SUB = """
import time
def in_sub():
    while time.monotonic() < end:
        for _ in range(20000): pass
        time.sleep(0)  # up to 3.11 no other interpreter gets the lock before
end = time.monotonic() + 30
in_sub()
"""


def in_main(end):
    while time.monotonic() < end:
        pass


run = getattr(interpreters, "run_string", None) or interpreters.exec
second = interpreters.create()
threading.Thread(target=run, args=(second, SUB), daemon=True).start()
time.sleep(0.2)
open(sys.argv[1], "w").close()
in_main(time.monotonic() + 30)
