#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""A server that `ebprec push` sends to, which fails as DIR/plan has it.

push_server.py DIR [CERT KEY [CLIENTS]]      CLIENTS: certificates that sign those that clients must show

DIR/port gets its port.  Each request with a body takes the first line of DIR/plan, if there is one:

	STATUS WORDS [| HEADER: VALUE]...	this answer, and nothing is stored
	take	it is stored, as all are when there is no line
	drop	it is stored, and the connection ends without an answer
	reject N WORDS	it is stored, and answered as OTLP has it when N profiles were rejected
	endless, slow, hang	an answer without end; a byte a second; none

DIR/questions has the same for requests without a body.

What is stored: the body, decompressed, as DIR/NUMBER.PATH, its headers beside it.  Rows of ebprec_samples are read, and
SELECT count() answers how many there are of a batch; GET /sums prints rows, samples, weight, and how many batches came twice,
GET /sums?EVENT those of an event; GET /labels the labels of rows.
"""
import gzip
import http.server
import os
import re
import ssl
import struct
import sys
import threading
import time
import urllib.parse

folder = sys.argv[1]
lock = threading.Lock()
rows = []  # (host, sender, seq, samples, weight, event)
labels = {}  # of the rows
ledger = []
stored = 0


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def count(self):
        count = shift = 0
        while True:
            byte = self.number("B")
            count |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return count

    def text(self):
        size = self.count()
        self.at += size
        return self.data[self.at - size:self.at].decode()


def take_samples(data):
    r = Reader(data)
    while r.at < len(data):
        r.text()
        event = r.text()
        r.number("I"), r.number("Q")
        weight, samples, host = r.number("Q"), r.number("Q"), r.text()
        r.text(), r.text()
        rows.append((host, r.number("Q"), r.number("Q"), samples, weight, event))
        keys = [r.text() for _ in range(r.count())]
        labels.update(zip(keys, [r.text() for _ in range(r.count())]))


def take_batches(data):
    r = Reader(data)
    while r.at < len(data):
        ledger.append((r.text(), r.number("Q"), r.number("Q")))
        r.number("I"), r.number("I"), [r.number("Q") for _ in range(4)]


def next_step(name):
    path = os.path.join(folder, name)
    try:
        with open(path) as f:
            lines = f.readlines()
    except FileNotFoundError:
        return None
    if not lines:
        return None
    # An empty plan means that all steps are taken: it must never be seen half-written.
    with open(path + ".new", "w") as f:
        f.writelines(lines[1:])
    os.rename(path + ".new", path)
    return lines[0].strip()


def store(path, full_path, headers, data):
    global stored
    stored += 1
    name = os.path.join(folder, "%d.%s" % (stored, re.sub(r"[^a-z]+", "_", path.lower()).strip("_")))
    with open(name, "wb") as f:
        f.write(data)
    with open(name + ".headers", "w") as f:
        f.write(full_path + "\n" + str(headers))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, text, headers=()):
        body = text.encode()
        self.send_response(status)
        for line in headers:
            name, value = line.split(":", 1)
            self.send_header(name.strip(), value.strip())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def endlessly(self, pause):
        self.send_response(200)
        self.end_headers()
        for _ in range(1 << 30):
            self.wfile.write(b"x" if pause else b"x" * 65536)
            self.wfile.flush()
            time.sleep(pause)

    def fail(self, step):
        self.close_connection = True
        if step in ("endless", "slow"):
            self.endlessly(1 if step == "slow" else 0)
        elif step == "hang":
            time.sleep(60)
        else:
            words, *headers = step.split("|")
            status, _, text = words.strip().partition(" ")
            self.answer(int(status), text, headers)

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        query = urllib.parse.parse_qs(url.query).get("query", [""])[0]
        step = None
        if url.path not in ("/sums", "/labels"):
            with lock:
                step = next_step("questions")
        if step and step != "take":
            self.fail(step)
            return
        with lock:
            if url.path == "/sums":
                twice = len(ledger) - len(set(ledger))
                asked = [r for r in rows if url.query in ("", r[5])]
                self.answer(200, "%d %d %d %d\n" % (len(asked), sum(r[3] for r in asked), sum(r[4] for r in asked), twice))
            elif url.path == "/labels":
                self.answer(200, "".join("%s=%s\n" % pair for pair in sorted(labels.items())))
            elif "version()" in query:
                self.answer(200, "24.3.1.5\n")
            else:
                asked = re.search(r"host = '(.*)' AND sender = (\d+) AND seq = (\d+)", query)
                key = (asked[1], int(asked[2]), int(asked[3]))
                self.answer(200, "%d\n" % (ledger.count(key) if "ebprec_batches" in query else sum(r[:3] == key for r in rows)))

    def do_POST(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            step = next_step("plan")
        try:
            if step and step not in ("take", "drop") and not step.startswith("reject "):
                return self.fail(step)
            if self.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(data)
            with lock:
                if "INSERT%20INTO" in self.path and "ebprec_samples" in self.path:
                    take_samples(data)
                if "ebprec_batches" in self.path:
                    take_batches(data)
                store(self.path.split("?")[0] + ("/" + self.path.split("ebprec_")[1].split("%")[0] if "ebprec_" in self.path else ""), self.path, self.headers, data)
            if step == "drop":
                self.close_connection = True
                self.connection.close()
            elif step and step.startswith("reject "):
                _, count, words = step.split(" ", 2)
                partial = bytes([1 << 3, int(count), 2 << 3 | 2, len(words)]) + words.encode()
                self.answer(200, (bytes([1 << 3 | 2, len(partial)]) + partial).decode())
            else:
                self.answer(200, "")
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    do_PUT = do_POST


server = http.server.ThreadingHTTPServer((os.environ.get("EBPREC_TEST_LISTEN", "127.0.0.1"), 0), Handler)
server.daemon_threads = True
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    if len(sys.argv) > 4:
        context.load_verify_locations(sys.argv[4])
        context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(folder, "port.new"), "w") as f:
    f.write("%d\n" % server.server_address[1])
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
