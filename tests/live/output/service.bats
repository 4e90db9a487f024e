#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The recorder as a service: what it sends to the manager that NOTIFY_SOCKET names.
# runs beside others: it waits for a service

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
}

# A manager's socket: prints each message on a line, until STOPPING=1 or a minute without any.
manager() {
	python3 -u -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(60)
print("bound")
message = b""
while message != b"STOPPING=1":
    message = s.recv(4096)
    print(message.decode())' "$1"
}

# bats test_tags=long
@test "a manager gets one readiness, signs of life, and one message at the end" {
	manager socket >messages 3>&- &
	local listener=$!
	await grep -q bound messages
	NOTIFY_SOCKET=$PWD/socket WATCHDOG_USEC=600000 ebprec record -q -a -d 2 -o x.data
	wait "$listener"
	same "READY=1" "$(sed -n 2p messages)"
	same "STOPPING=1" "$(tail -n 1 messages)"
	same "WATCHDOG=1" "$(sed '1,2d; $d' messages | sort -u)"
	[ "$(grep -c WATCHDOG messages)" -le 8 ] || fail "$(cat messages)"
	ebprec info x.data >facts
}

# bats test_tags=long
@test "a manager that is not there costs a warning, not the recording" {
	for socket in relative /nonexistent/socket "/$(printf '%0200d' 0)"; do
		NOTIFY_SOCKET=$socket ebprec record -q -a -d 0.2 -o x.data 2>err
		contains "$(cat err)" "cannot notify the service manager at NOTIFY_SOCKET: "
		ebprec info x.data >facts
	done
}

@test "with a command the variable is the command's" {
	# shellcheck disable=SC2016 # of the command
	NOTIFY_SOCKET=/nonexistent/socket ebprec record -q -o x.data -- sh -c 'echo "$NOTIFY_SOCKET" >seen' 2>err
	same "" "$(cat err)"
	same /nonexistent/socket "$(cat seen)"
}
