#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec record --with dbus: calls on a bus of the test's own are spans; dbus-monitor and busctl are the witnesses.

load ../lib/helper

setup() {
	need_bpf
	need_perf
	local tool
	for tool in dbus-daemon dbus-monitor dbus-send busctl; do
		command -v $tool >/dev/null || skip "needs $tool"
	done
	cd "$BATS_TEST_TMPDIR" || return
	dbus-daemon --session --address="unix:path=$PWD/bus" --nofork >daemon.log 2>&1 3>&- &
	daemon=$!
	export DBUS_SESSION_BUS_ADDRESS=unix:path=$PWD/bus
	await test -S bus
}

teardown() {
	kill "${witnesses[@]}" "$daemon" 2>/dev/null || true
	wait
}

# make_calls - a program that does N calls, one that fails, and a signal, by one connection each
make_calls() {
	cat >calls <<-'END'
		#!/bin/bash
		for ((i = 0; i < $1; i++)); do
			dbus-send --session --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
				org.freedesktop.DBus.ListNames >/dev/null
		done
		dbus-send --session --print-reply --dest=org.none /x org.none.Lost 2>/dev/null
		dbus-send --session /x com.example.Changed.Now
	END
	chmod 755 calls
}

# spans FILE - calls of the program, as dbus_profile.pl has them
spans() {
	ebprec marks --json "$1" | jq -r '.marks[] | select(.kind == "span" and (.name | test("ListNames|Lost"))) |
		"\(.name) \(.text)"' | sed -E 's/ from (.*) to ([^,]*)$/ \1 \2 returned/; s/ from (.*) to (.*), error .*/ \1 \2 error/' | sort
}

@test "spans are the calls and replies that dbus-monitor hears, and those of busctl's capture" {
	make_calls
	busctl --address="$DBUS_SESSION_BUS_ADDRESS" capture >busctl.pcap 2>/dev/null 3>&- &
	witnesses=($!)
	dbus-monitor --address "$DBUS_SESSION_BUS_ADDRESS" --profile >profile 2>/dev/null 3>&- &
	witnesses+=($!)
	await test -s busctl.pcap
	await grep -q NameAcquired profile
	# The outer one has the same time, and no messages.
	ebprec record -q -o none.data -- \
		"$BUILD/ebprec" record -q --with dbus:bus=session -o x.data -- ./calls 5
	await grep -q com.example.Changed profile
	await sh -c 'strings busctl.pcap | grep -q com.example.Changed'
	kill "${witnesses[@]}"
	"$TEST_LIB/dbus_profile.pl" <profile | grep -E '^[^ ]*(ListNames|Lost) ' >want
	same 6 "$(grep -c . want)"
	spans x.data | diff want -
	ebprec dbus -q --messages busctl.pcap -o busctl.data none.data
	spans busctl.data | diff want -
	# A signal is one of the program that sent it, unless it had ended when the bus was asked.
	ebprec marks --json x.data | jq -r '.marks[] | select(.name == "com.example.Changed.Now") | "\(.group) \(.kind) \(.comm)"' >signal
	grep -qxE 'dbus:signal point (dbus-send|:0)' signal
}

@test "without a bus, without its answer, and as a user that may not listen there is a message, and the recording" {
	export DBUS_SESSION_BUS_ADDRESS=unix:path=$PWD/none
	ebprec record -q --with dbus:bus=session -o x.data -- true 2>err
	contains "$(cat err)" "ebprec: cannot listen to the bus 'session': there is no such bus"
	contains "$(cat err)" "ebprec: 'x.data' will be without messages of D-Bus, skipping"
	ebprec info x.data >info.txt
	grep -qx '  state *finished' info.txt
	chmod 755 .
	run as_unprivileged "$BUILD/ebprec" dbus --bus "unix:path=$PWD/bus" --no-sandbox none.data
	same 1 "$status"
	contains "$output" "cannot listen to the bus"
	run ebprec record --with dbus --ring 10s -o x.data -- true
	same 2 "$status"
	contains "$output" "options '--with dbus' and '--ring' exclude each other"
}

@test "a bus that ends while it is heard: what was heard until then is in the capture" {
	make_calls
	cat >ending <<-END
		#!/bin/bash
		./calls 2
		kill $daemon
		while kill -0 $daemon 2>/dev/null; do :; done
	END
	chmod 755 ending
	ebprec record -q --with dbus:bus=session -o x.data -- ./ending 2>err
	contains "$(cat err)" "the bus 'session' was heard until it ended"
	same 2 "$(spans x.data | grep -c ListNames)"
}
