#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec record --with dbus: calls on a bus of the test's own are spans; dbus-monitor and busctl are the witnesses.

load ../../lib/helper

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

# make_calls [--system] - a program that does N calls, one that fails, and a signal, by one connection each
make_calls() {
	cat >calls <<-'END'
		#!/bin/bash
		for ((i = 0; i < $1; i++)); do
			dbus-send --session --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
				org.freedesktop.DBus.ListNames >/dev/null
		done
		dbus-send --session --print-reply --dest=org.none /x org.none.Lost 2>/dev/null
		dbus-send --session /x com.example.Changed.Now
		# A signal has no answer: the bus has passed it on when this one comes.
		dbus-send --session --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
			org.freedesktop.DBus.GetId >/dev/null
	END
	sed -i "s/--session/${1:---session}/" calls
	chmod 755 calls
}

# on_system_bus CMD... - runs CMD where the bus of the system is a daemon that only it has
on_system_bus() {
	mkdir -p /run/dbus
	# shellcheck disable=SC2016 # for the inner shell
	env -u DBUS_SYSTEM_BUS_ADDRESS unshare -m --propagation unchanged sh -c '
		mount --make-rprivate /run 2>/dev/null
		mount -t tmpfs none /run/dbus && exec 3>&- || exit
		dbus-daemon --system --nofork >system.log 2>&1 &
		trap "kill $!" EXIT
		until [ -S /run/dbus/system_bus_socket ] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
		"$@"' sh "$@"
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
	grep -qxE 'dbus:signal point (dbus-send|:0)' signal || fail "$(cat signal)"
}

# listen_to BUS WHY - a user without rights that listens to it gets this reason
listen_to() {
	run as_unprivileged "$BUILD/ebprec" dbus --bus "$1" --no-sandbox none.data
	same 1 "$status"
	same "ebprec: cannot listen to the bus '$1': $2" "$output"
}

@test "a message names whether the socket, the bus, or its policy refused a user without rights" {
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test .
	as_unprivileged test -x . || fail "the user cannot reach the folder"
	listen_to "unix:path=$PWD/bus" "it refuses connections of this user (that of a session accepts its user)"
	chmod 700 .
	listen_to "unix:path=$PWD/bus" "this user may not open its socket"
	chmod 755 .
	local plain=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
	on_system_bus "${plain[@]}" dbus-send --system --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
		org.freedesktop.DBus.ListNames >answer || fail "the user cannot use the bus of the system"
	run on_system_bus "${plain[@]}" "$BUILD/ebprec" dbus --bus system --no-sandbox none.data
	same 1 "$status"
	same "ebprec: cannot listen to the bus 'system': it does not let this user listen (that of the system lets root, that of a session its user)" "$output"
}

@test "calls on the bus of the system are spans, as dbus-monitor hears them" {
	make_calls --system
	cat >heard <<-'END'
		#!/bin/bash
		dbus-monitor --system --profile >profile 2>/dev/null &
		until grep -q NameAcquired profile; do sleep 0.05; done
		"$@"
		until grep -q com.example.Changed profile; do sleep 0.05; done
		kill $!
	END
	chmod 755 heard
	on_system_bus ./heard "$BUILD/ebprec" record -q --with dbus -o x.data -- ./calls 4
	"$TEST_LIB/dbus_profile.pl" <profile | grep -E '^[^ ]*(ListNames|Lost) ' >want
	same 5 "$(grep -c . want)"
	spans x.data | diff want -
	ebprec marks --json x.data | jq -e '[.marks[] | select(.name | test("ListNames")) | .comm] | index("dbus-send")' >comms ||
		fail "no call has a process: $(cat comms)"
}

@test "without a bus, and without its answer there is a message, and the recording" {
	export DBUS_SESSION_BUS_ADDRESS=unix:path=$PWD/none
	ebprec record -q --with dbus:bus=session -o x.data -- true 2>err
	contains "$(cat err)" "ebprec: cannot listen to the bus 'session': there is no such bus"
	contains "$(cat err)" "ebprec: 'x.data' will be without messages of D-Bus, skipping"
	ebprec info x.data >info.txt
	grep -qx '  state *finished' info.txt
}

# bats test_tags=long
@test "each file of --rotate has the calls of its time, a flight recorder those of its last second" {
	make_calls
	cat >slowly <<-'END'
		#!/bin/bash
		# slowly COUNT [FILE] - so many rounds of calls in time, or more until the file is there
		for ((i = 1; i <= $1; i++)); do
			[ "$i" -lt "$1" ] || [ -z "$2" ] || [ -e "$2" ] || set -- $(($1 + 1)) "$2"
			./calls 1
			echo $i >rounds
			sleep 0.4
		done
	END
	chmod 755 slowly
	dbus-monitor --address "$DBUS_SESSION_BUS_ADDRESS" --profile >profile 2>/dev/null 3>&- &
	witnesses=($!)
	await grep -q NameAcquired profile
	ebprec record -q --with dbus:bus=session --rotate 1s -o x.data -- ./slowly 6 x.data.1 2>err
	same "" "$(cat err)"
	heard_last() { [ "$(grep -c com.example.Changed profile)" = "$(cat rounds)" ]; }
	await heard_last
	"$TEST_LIB/dbus_profile.pl" <profile | grep -E '^[^ ]*(ListNames|Lost) ' >want
	same $((2 * $(cat rounds))) "$(grep -c . want)"
	for file in x.data x.data.[0-9]*; do spans "$file"; done | sort | diff want -
	[ "$(spans x.data | wc -l)" -lt "$(wc -l <want)" ] || fail "all are in the first file"
	kill "${witnesses[@]}"

	ebprec record -q --with dbus:bus=session --ring 1s -o r.data -- ./slowly 8 2>err
	same "" "$(cat err)"
	calls=$(spans r.data | grep -c ListNames)
	[ "$calls" -ge 1 ] && [ "$calls" -lt 8 ] || fail "$calls calls of the last second"
	from=$(account r.data segment dropped_until_mono_ns)
	ebprec marks --json r.data | jq -e --argjson from "$from" '.marks | map(select(.time_ns < $from)) == []' >old || fail "$(cat old)"
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
