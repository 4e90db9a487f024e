# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""
server - a web server whose functions know the CPU time that they took, and what holds samples to it

server.py run FRAMEWORK TRUTH SECONDS: serves a child that asks for pages all the time; then writes into TRUTH the CPU
time of each function, with what it called, as the thread's clock has it.  FRAMEWORK: wsgi (none), flask or django.
server.py ask PORT SECONDS: the child.
server.py check TRUTH: reads folded stacks of the server, and prints "ALL SOME WORST": the samples in the interpreter's loop, those
of them with Python frames, and how far the share of a function is off at most, in standard deviations of its samples.
uwsgi has this as a module; FRAMEWORK and TRUTH are in the environment then.
"""
import collections
import functools
import http.client
import json
import os
import subprocess
import sys
import time
from wsgiref.simple_server import WSGIRequestHandler, make_server

took = collections.Counter()
TEXT = "<li>%d of %s</li>"
PAGES = {}


def timed(f):
    @functools.wraps(f)
    def wrapper(*args):
        begin = time.thread_time()
        try:
            return f(*args)
        finally:
            took[f.__name__] += time.thread_time() - begin
    return wrapper


def page(f):
    PAGES[f.__name__] = f
    return f


@timed
def checksum(n):
    x = 0
    for i in range(n):
        x = (x * 31 + i) % 65521
    return x


@timed
def make_rows(n):
    return [{"id": i, "name": TEXT % (i, n), "sum": i * i % 97} for i in range(n)]


@timed
def serialize(rows):
    return json.dumps(rows, indent=1)  # in Python: with indent the encoder in C is not used


def wait_for_database():
    time.sleep(0.005)


@page
@timed
def slow_page():
    rows = make_rows(2000)
    checksum(30000)
    wait_for_database()
    return serialize(rows[:400])


@page
@timed
def fast_page():
    return str(checksum(10000))


def wsgi(environ, start):
    start("200 OK", [("Content-Type", "text/plain")])
    return [PAGES[environ["PATH_INFO"][1:]]().encode()]


def flask():
    from flask import Flask
    app = Flask(__name__)
    for name, f in PAGES.items():
        app.add_url_rule("/" + name, name, f)
    return app


def django():
    from django.conf import settings
    settings.configure(SECRET_KEY="x", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"])
    from django.core.wsgi import get_wsgi_application
    from django.http import HttpResponse
    from django.urls import path

    def view(f):
        return lambda request: HttpResponse(f())
    global urlpatterns
    urlpatterns = [path(name, view(f)) for name, f in PAGES.items()]
    return get_wsgi_application()


def application_of(framework):
    return {"wsgi": lambda: wsgi, "flask": flask, "django": django}[framework]()


def write_truth(path):
    with open(path, "w") as to:
        json.dump({"pid": os.getpid(), "took": took}, to)


class Quiet(WSGIRequestHandler):
    def log_message(self, *args):
        pass


def run(framework, truth, seconds):
    server = make_server("127.0.0.1", 0, application_of(framework), handler_class=Quiet)
    server.timeout = 0.05
    child = subprocess.Popen([sys.executable, __file__, "ask", str(server.server_port), seconds])
    while child.poll() is None:
        server.handle_request()
    write_truth(truth)


def ask(port, seconds):
    begin, asked = time.monotonic(), 0
    while time.monotonic() < begin + float(seconds):
        for name in PAGES:
            connection = http.client.HTTPConnection("127.0.0.1", int(port))
            try:
                connection.request("GET", "/" + name)
                answer = connection.getresponse()
                answer.read()
                assert answer.status == 200, answer.status
                asked += 1
            except ConnectionRefusedError:  # it is not there yet
                time.sleep(0.05)
            connection.close()
    assert asked > 20, asked


def check(truth):
    with open(truth) as file:
        known = json.load(file)["took"]
    sampled, loop, some = collections.Counter(), 0, 0
    for line in sys.stdin:
        stack, count = line.rsplit(" ", 1)
        functions = {f[4:].split(" ")[0] for f in stack.split(";") if f.startswith("py::")}
        if "_PyEval_EvalFrameDefault" in stack:
            loop += int(count)
            some += int(count) if functions else 0
        for f in functions:
            sampled[f] += int(count)
    all_time, all_samples = (sum(of[name] for name in PAGES) for of in (known, sampled))
    worst = 0
    for name, seconds in known.items():
        share, seen = seconds / all_time, sampled[name] / max(all_samples, 1)
        deviation = (share * (1 - share) / max(loop, 1)) ** 0.5
        print(f"{name}: {100 * share:.1f} % of the time, {100 * seen:.1f} % of {all_samples} samples", file=sys.stderr)
        if deviation:
            worst = max(worst, abs(seen - share) / deviation)
    print(loop, some, f"{worst:.1f}")


if __name__ == "__main__":
    {"run": run, "ask": ask, "check": check}[sys.argv[1]](*sys.argv[2:])
elif "FRAMEWORK" in os.environ:
    import uwsgi
    application = application_of(os.environ["FRAMEWORK"])
    uwsgi.atexit = lambda: write_truth(os.environ["TRUTH"])
