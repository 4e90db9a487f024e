# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# reasons.py - a process for each reason to wait, which waits half a second for it and is named after it
import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
import threading
import time

libc = ctypes.CDLL(None)
SECONDS = 0.5


def later(what):
    """Does it when the others have waited, in a process of its own."""
    if os.fork() == 0:
        time.sleep(SECONDS)
        what()
        os._exit(0)


def wait_select():
    select.select([], [], [], SECONDS)


def wait_poll():
    select.poll().poll(int(1000 * SECONDS))


def wait_epoll():
    select.epoll().poll(SECONDS)


def wait_nanosleep():
    time.sleep(SECONDS)


def wait_pipe():
    r, w = os.pipe()
    later(lambda: os.write(w, b"x"))
    os.read(r, 1)


def wait_socket():
    a, b = socket.socketpair()
    later(lambda: b.send(b"x"))
    a.recv(1)


def wait_tcp():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    later(lambda: socket.create_connection(s.getsockname()))
    s.accept()


def wait_child():
    later(lambda: None)
    os.wait()


def wait_signal():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    me = os.getpid()
    later(lambda: os.kill(me, signal.SIGUSR1))
    signal.sigwait([signal.SIGUSR1])


def wait_timer():
    fd = libc.timerfd_create(1, 0)
    libc.timerfd_settime(fd, 0, struct.pack("qqqq", 0, 0, 0, int(1e9 * SECONDS)), None)
    os.read(fd, 8)


def wait_eventfd():
    fd = libc.eventfd(0, 0)
    later(lambda: os.write(fd, struct.pack("q", 1)))
    os.read(fd, 8)


def wait_futex():
    threading.Event().wait(SECONDS)


def wait_flock():
    held = open("flocked", "w")
    fcntl.flock(held, fcntl.LOCK_EX)
    if os.fork() == 0:
        time.sleep(SECONDS)
        os._exit(0)  # the lock goes with the last process that has the file open
    held.close()
    fcntl.flock(open("flocked", "w"), fcntl.LOCK_EX)


def wait_lockf():
    mine = open("locked", "w")
    r, w = os.pipe()
    if os.fork() == 0:
        fcntl.lockf(mine, fcntl.LOCK_EX)
        os.write(w, b"x")
        time.sleep(SECONDS)
        os._exit(0)
    os.read(r, 1)
    fcntl.lockf(mine, fcntl.LOCK_EX)


for name, wait in sorted(globals().copy().items()):
    if name.startswith("wait_"):
        if os.fork() == 0:
            libc.prctl(15, name.encode())  # PR_SET_NAME
            wait()
            os._exit(0)
for name in [n for n in globals() if n.startswith("wait_")]:
    os.wait()
