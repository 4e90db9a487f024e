# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""
stale.py - half of a second in inner(), which outer() calls, then as long in C with a thread whose current frame is outer()'s

CPython 3.11 and 3.12 have a struct for each entry of their loop, with its current frame and the struct of the entry
before.  The thread gets one of our own here: the frame in it is an earlier one, as at the beginning of an entry.
"""
import ctypes
import sys
import time
from _hashlib import pbkdf2_hmac

CURRENT, PREVIOUS = {11: (8, 48), 12: (0, 8)}[sys.version_info[1]]  # of the struct its frame; of a frame the one before
ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_uint64
thread = ctypes.c_uint64.from_address(ctypes.pythonapi.PyThreadState_Get() + 56)
word = ctypes.c_uint64.from_address  # no function in Python: it would be the current frame


def outer():
    inner()


def inner():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        for _ in range(1000):
            pass
    own = thread.value
    made = (ctypes.c_uint64 * 3)()
    made[CURRENT // 8] = word(word(own + CURRENT).value + PREVIOUS).value
    made[CURRENT // 8 + 1] = own
    thread.value = ctypes.addressof(made)
    pbkdf2_hmac("sha256", b"", b"", 500000)
    thread.value = own


outer()
