# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# hangs.bash - what the tests of files and processes that do not answer share
# shellcheck shell=bash
# shellcheck disable=SC2034 # the tests use them

setup() {
	need_bpf
	[ -e /dev/fuse ] || skip "no FUSE here"
	cd "$BATS_TEST_TMPDIR" || return
	mkdir far
	stuckfs far "$(type -P true)" >mounted 3>&- &
	served=$!
	await grep -q mounted mounted
	load='' loads=()
}

teardown() {
	[ -z "$load" ] || kill -KILL "$load" 2>/dev/null || true
	[ -z "$unclosed" ] || kill -TERM "$unclosed" 2>/dev/null || true
	[ -z "$served" ] || kill -TERM "$served" # processes that hang get an error
	wait "$served" "$unclosed" 2>/dev/null || true
	end_background
	umount -l far 2>/dev/null || true
}
served='' load='' unclosed=''

# hanging HOW FILE - starts a process that computes; a process that looks at it may hang when FILE does not answer
hanging() {
	hangs "$1" "$2" >ready 3>&- &
	load=$!
	await grep -q ready ready
}

# now_hangs - as it is to be from now on
now_hangs() {
	kill -USR1 "$served"
	sleep 0.2
	kill -USR1 "$load"
	sleep 0.2
}

# complete_soon - r.data is a finished capture within 15 s, though the recorder may not be able to end: a lookup of a
# name that another process (such as a recorder) is looking up cannot be ended, not even by SIGKILL.
complete_soon() {
	for _ in {1..150}; do
		! ebprec info r.data 2>/dev/null | grep -qx '  state *finished' || break
		sleep 0.1
	done
	intact r.data
}

# samples_of FILE COMM - how many
samples_of() {
	ebprec script -i "$1" -F comm 2>/dev/null | grep -c "^ *$2" || true
}

# asks_and_hangs PID - a process that reads its maps waits: its mmap lock is held
asks_and_hangs() {
	! timeout -s KILL 1 cat "/proc/$1/cmdline" >/dev/null 2>&1
}
