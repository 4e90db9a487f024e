#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Files and processes that do not answer: whoever asks them hangs, and the recording goes on.

load ../helper

setup() {
	need_bpf
	[ -e /dev/fuse ] || skip "no FUSE here"
	cd "$BATS_TEST_TMPDIR" || return
	mkdir far
	stuckfs far "$(type -P true)" >mounted 3>&- &
	served=$!
	await grep -q mounted mounted
	load=
}

teardown() {
	[ -z "$load" ] || kill -KILL "$load" 2>/dev/null || true
	[ -z "$served" ] || kill -TERM "$served" # whoever hangs gets an error
	wait
	umount -l far 2>/dev/null || true
}
served='' load=''

# hanging HOW FILE - starts a process that computes, and that whoever asks for its FILE may hang
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

# samples_of FILE COMM - how many
samples_of() {
	ebprec script -i "$1" -F comm 2>/dev/null | grep -c "^ *$2" || true
}

@test "a file that does not answer and is mapped while recording is waited for for milliseconds" {
	hanging map far/program
	shares 600 >/dev/null 3>&- &
	other=$!
	ebprec-record -a -F 997 -q --duration 4 -o r.data 2>err 3>&- &
	recorder=$!
	await test -s r.data
	now_hangs
	wait $recorder || fail "$(cat err)"
	kill $other
	grep -q "^ebprec: the file system of '$PWD/far/program' does not answer: " err || fail "$(cat err)"
	whole r.data
	longest=$(account r.data longest_pass_ns)
	echo "# rings were not looked at for $((longest / 1000000)) ms" >&3
	[ "$longest" -lt 1000000000 ] || fail "$longest ns"
	[ "$(samples_of r.data shares)" -gt 100 ] || fail "others were not sampled"
	[ "$(samples_of r.data computes)" -gt 100 ] || fail "its threads were not sampled"
}
