#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Clients that hold all connections of `ebprec serve`, a byte a second: others are answered again when their time is over.

load ../../lib/helper
load servers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	end_background
}

@test "64 clients that send a byte a second" {
	ebprec serve --listen 127.0.0.1:0 -d received 2>serve.err 3>&- &
	await grep -q 'listening at' serve.err
	at=$(sed -n 's/.*listening at //p' serve.err)
	python3 - "${at##*:}" 3>&- <<-'END' &
		import socket, sys, time
		clients = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(64)]
		open("connected", "w").close()
		for byte in b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n" + b" " * 200:
		    for s in clients:
		        try:
		            s.sendall(bytes([byte]))
		        except OSError:
		            pass
		    time.sleep(1)
	END
	await test -e connected
	run ! curl -sf -o answer --max-time 5 "$at/metrics"
	await answers "$at/metrics"
}
