#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# A network that is cut while batches are sent; and clients that hold all connections of `ebprec serve`.

load ../../lib/helper
load servers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	end_background
	[ -z "${netns:-}" ] || ip netns del "$netns"
}

# sums - rows, samples, weight, batches twice
sums() {
	ip netns exec "$netns" curl -s "http://10.99.7.2:$(cat server/port)/sums"
}

has_batches() {
	[ "$(find server -name '*samples' | wc -l)" -ge "$1" ]
}

has_samples() {
	[ "$1" = "$(sums | cut -d' ' -f2)" ]
}

@test "a network that is cut while batches are sent, twice: each sample once" {
	need_root
	ip netns add "ebprec-$$" || skip "may not make network namespaces"
	netns=ebprec-$$
	ip link add "eb$$" type veth peer name eth0 netns "$netns"
	ip addr add 10.99.7.1/24 dev "eb$$"
	ip link set "eb$$" up
	ip -n "$netns" addr add 10.99.7.2/24 dev eth0
	ip -n "$netns" link set eth0 up
	ip -n "$netns" link set lo up
	mkdir server captures
	EBPREC_TEST_LISTEN=10.99.7.2 ip netns exec "$netns" "$TEST_LIB/push_server.py" "$PWD/server" >server.log 2>&1 3>&- &
	await test -s server/port
	for i in 1 2 3 4 5 6; do
		gen_capture -o captures/$i.data --samples $((i * 100)) --pids $i
	done
	ebprec push --to "clickhouse://10.99.7.2:$(cat server/port)/prof" -d state --retry 0.5 --timeout 2 --max-rate 20K --interval 0.01 \
		--follow -i captures 2>err 3>&- &
	for batches in 2 6; do
		await has_batches $batches
		ip link set "eb$$" down
		sleep 3
		ip link set "eb$$" up
		sleep 0.5
	done
	await has_samples 2100
	# A request was under way, or began while the network was cut.
	grep -q 'takes nothing now: .*\(timed out\|Connection\|Recv failure\|Failed to connect\)' err || fail "$(cat err)"
	sleep 1
	same "2100 0" "$(sums | cut -d' ' -f2,4)"
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
