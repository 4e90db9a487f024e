#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# A recording in which something fails leaves a capture that can be read and has an account of what is
# missing.  The longer failures are in tests/lab/faults.

load ../../lib/helper

setup() {
	need_bpf
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
}

# bats test_tags=long
@test "a disk that fails ends the recording, and the rest counts as lost" {
	storm 300 60 >/dev/null 2>&1 3>&- &
	load=$!
	status=0
	LD_PRELOAD=$BUILD/tests/lab/faults/badwrite.so BADWRITE_AFTER=400000 BADWRITE_ERRNO=5 \
		ebprec-record -a -F 997 -o r.data sleep 60 2>err 3>&- || status=$?
	kill $load
	same 1 "$status"
	same "ebprec: cannot write 'r.data': Input/output error (what was recorded before is readable)" \
		"$(grep cannot err)"
	intact r.data
	same failed "$(account r.data ended)"
	for what in samples switches task_events; do
		[ "$(account r.data lost $what)" -gt 0 ] || fail "none of the $what was lost"
	done
	grep -q "^  cannot write 'r.data': Input/output error .*: what came in then is lost" info.txt
	# The recorder's message and the records have the same number.
	all=$(weight '^ *(events|side records) lost ' <info.txt)
	grep -qE " $all lost(,| \()" err || fail "info has $all: $(cat err)"
	perf report -D -i r.data 2>/dev/null | grep -q PERF_RECORD_LOST
}

# bats test_tags=long
@test "a recorder that crashes leaves what it flushed" {
	ebprec-record -a -F 997 -q -o r.data 2>/dev/null 3>&- &
	pid=$!
	await has_samples r.data
	kill -SEGV $pid
	status=0
	wait $pid || status=$?
	same 139 "$status"
	ebprec info r.data | grep -qx '  state *unfinished'
	ebprec recover -q r.data
	ebprec info r.data | grep -qx '  any *no'
	perf script -i r.data >/dev/null
}

@test "--no-priority: the recorder takes no priority, also when its rings are full" {
	# shellcheck disable=SC2016 # for the inner shell
	ebprec-record -a -F 997 -m 128K --no-priority -q -o r.data sh -c '
		ps -o ni= -p $PPID >own; kill -STOP $PPID; pingpong 5000 >pids; sleep 0.3; kill -CONT $PPID; sleep 0.1' 2>err 3>&-
	same 0 "$(account r.data hurried)"
	same "$(ps -o ni= -p $$ | tr -d ' ')" "$(tr -d ' ' <own)"
	[ "$(account r.data ring_peak_bytes)" -gt 40000 ] || fail "$(account r.data ring_peak_bytes)"
}

@test "rings that are too small lose events, and all counts of the losses agree" {
	shares 600 >/dev/null 3>&- &
	load=$!
	# While it stands still, switches fill them, and samples find no room.
	# shellcheck disable=SC2016 # for the inner shell
	ebprec-record -a -F 997 -m 128K -o r.data sh -c '
		kill -STOP $PPID; pingpong 5000 >pids; sleep 0.3; kill -CONT $PPID; sleep 0.1' 2>err 3>&-
	kill $load
	intact r.data
	lost=$(account r.data lost samples)
	[ "$lost" -gt 0 ] || fail "nothing was lost"
	# As full as it can be, but for less than a sample with a copy of its stack (24 KB).
	[ "$(account r.data ring_peak_bytes)" -gt 40000 ] || fail "$(account r.data ring_peak_bytes)"
	if chrt -r 1 true 2>/dev/null; then # so may we
		[ "$(account r.data hurried)" -ge 1 ] || fail "did not take real-time priority"
	fi
	# Samples and switches, and the command line of pingpong in the side-band if that found no space.
	all=$(weight '^ *(events|side records) lost ' <info.txt)
	grep -qE " $all lost(,| \()" err || fail "info has $all: $(cat err)"
	# perf adds up the records of losses.
	same "$all" "$(perf script --show-lost-events -i r.data 2>/dev/null | lost_by_perf)"
}

# stubborn - a command that ignores SIGTERM; its pid is in the file pid
stubborn=$BATS_TEST_DIRNAME/stubborn.pl

# bats test_tags=long
@test "a command that ignores SIGTERM is killed 5 s after it, when the capture is complete" {
	status=0
	timeout -s KILL 60 ebprec-record -a -d 1 -q -o r.data perl "$stubborn" 2>err 3>&- || status=$?
	same 0 "$status"
	intact r.data
	same duration "$(account r.data ended)"
	same "ebprec: 'perl' did not end within 5 s of SIGTERM: killed" "$(grep SIGTERM err)"
	! kill -0 "$(cat pid)" 2>/dev/null || fail "it still runs"
}

# bats test_tags=long
@test "Ctrl-C while a command is waited for leaves a complete capture" {
	ebprec-record -a -d 1 -q -o r.data perl "$stubborn" 2>err 3>&- &
	pid=$!
	is_finished() { ebprec info r.data 2>/dev/null | grep -qx '  state *finished'; }
	await is_finished
	kill -0 "$(cat pid)" || fail "the command has ended before"
	kill -INT $pid
	status=0
	wait $pid || status=$?
	kill -KILL "$(cat pid)"
	same 130 "$status"
	intact r.data
}

@test "inside a time namespace recording is refused with the reason" {
	unshare --time true 2>/dev/null || skip "no time namespaces here"
	refuses unshare --fork --time --monotonic 1000 ebprec-record -a -q -o r.data true
	# shellcheck disable=SC2154 # refuses sets stderr
	contains "$stderr" "time namespace"
	[ ! -e r.data ]
}

# bats test_tags=long
@test "a working directory that is removed does not matter" {
	mkdir gone
	# shellcheck disable=SC2016 # for the inner shell
	(cd gone && exec ebprec-record -a -F 997 -q -o "$OLDPWD/r.data" sh -c 'rmdir "$PWD"; sleep 0.5') 3>&-
	[ ! -e gone ]
	intact r.data
	# A snapshot that cannot be written is reported, and the recording goes on.
	mkdir gone
	# shellcheck disable=SC2016 # for the inner shell
	(cd gone && exec ebprec-record -a -F 997 --ring 60s -o r.data sh -c \
		'rmdir "$PWD"; kill -USR2 $PPID; sleep 0.5') 2>err 3>&- && fail "there was no place"
	same 1 "$(grep -c "cannot write 'r.data.1': No such file or directory.*, skipping" err)"
	same 1 "$(grep -c "cannot write 'r.data': No such file or directory" err)"
}
