#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# A recorder that is killed leaves a file that can be read as it is, and that recover completes.
# runs beside others: it waits for a recorder that it kills

load ../../lib/helper

setup() {
	need_bpf
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
}

# How many moments; EBPREC_KILLS=50 for the long run.
KILLS=${EBPREC_KILLS:-3}

@test "a recorder killed before its first flush leaves a capture that is reported as such" {
	# A program that sleeps makes no records after those of the start, however late the kill is.
	sleep 60 3>&- &
	asleep=$!
	ebprec-record -q -p $asleep -o r.data 3>&- &
	pid=$!
	await test -s r.data
	kill -KILL $pid $asleep
	wait $pid $asleep || true
	ebprec info r.data | grep -qx '  state *unfinished'
	ebprec report r.data >out 2>err
	contains "$(cat out)" "# 0 samples"
	same "ebprec: file: 'r.data' ends at byte $(stat -c %s r.data) and has no events: they were truncated, or its recorder ended before it wrote any" \
		"$(cat err)"
	ebprec recover -q r.data
	ebprec info r.data | grep -qx '  state *recovered'
	ebprec report -q r.data
}

# bats test_tags=long
@test "a recording killed at a random moment is readable, and complete after recover" {
	RANDOM=$$
	for i in $(seq "$KILLS"); do
		ebprec-record -a -F 997 -q -o k.data 3>&- &
		pid=$!
		sleep "0.$((RANDOM % 9 + 1))"
		# Once later, when what was flushed at first would be too old.
		sleep "$((i == 1 ? 3 : RANDOM % 2)).$((RANDOM % 10))"
		end_ns=$(sed 's/^\([0-9]*\)\.\([0-9]*\) .*/\1\20000000/' /proc/uptime)
		kill -9 $pid
		wait $pid || true
		# Killed before the file had its head: there is nothing to lose.
		[ -s k.data ] || continue
		ebprec info --json k.data >info.txt 2>err || fail "kill $i: info: $(cat err)"
		cp k.data r.data
		ebprec recover -q r.data 2>err || fail "kill $i: recover: $(cat err)"
		ebprec info r.data >recovered.txt
		grep -qx '  state *recovered' recovered.txt
		grep -qx '  any *no' recovered.txt || fail "kill $i: $(sed -n '/^damage/,$p' recovered.txt)"
		same "$(sed -n '/^SAMPLE /p' recovered.txt)" "$(ebprec info k.data | sed -n '/^SAMPLE /p')"
		grep -q '^SAMPLE ' recovered.txt || continue
		perf script -i r.data >out 2>err || fail "kill $i: perf script: $? $(head -3 err)"
		same "" "$(complaints err)"
		# The uptime clock counts as the capture's does on a machine that never slept.
		last_ns=$(jq .time.last_sample_ns info.txt)
		# It flushes once a second, and later when it gets no CPU.
		[ $(((end_ns - last_ns) / 1000000)) -lt 2500 ] ||
			fail "kill $i: the last sample is $(((end_ns - last_ns) / 1000000)) ms old"
		rm k.data r.data
	done
}

# bats test_tags=long
@test "a recording that runs is not recovered, and reads as it is" {
	ebprec-record -a -F 997 -q -o k.data 3>&- &
	pid=$!
	await has_samples k.data
	run --separate-stderr ebprec recover k.data
	ebprec info k.data >info.txt
	kill -INT $pid
	wait $pid || true
	same 1 "$status"
	# shellcheck disable=SC2154 # run sets stderr
	contains "$stderr" "it is being written"
	grep -qx '  state *unfinished' info.txt
	grep -q '^SAMPLE ' info.txt
	ebprec info k.data | grep -qx '  state *finished'
}
