#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Code that a program laid on memory of its own, for large pages, is the file's where it is the same.
# runs beside others: names do not depend on time

load ../../lib/helper

setup() {
	need_root
	cd "$BATS_TEST_TMPDIR" || return
}

# its_own FILE - spin_long has three parts of four, all of its code has names, and perf prints the same
its_own() {
	local long short allowed=${2:-0}
	ebprec report -q --folded --comm movetext -i "$1" >folded.txt
	long=$(weight ';main;both;spin_long[; ]' <folded.txt) short=$(weight ';main;both;spin_short[; ]' <folded.txt)
	[ "$long" -gt 40 ] || fail "$(cat folded.txt)"
	[ $((long * 2)) -gt $((short * 3)) ] || fail "$long of spin_long, $short of spin_short"
	[ "$long" -lt $((short * 8)) ] || fail "$long of spin_long, $short of spin_short"
	[ "$(weight '[[]anon[]]' <folded.txt)" -le "$allowed" ] || fail "$(grep -F '[anon]' folded.txt)"
	command -v perf >/dev/null || return 0
	perf script -f -i "$1" --comm movetext -F ip,sym,dso 2>/dev/null >perf.txt
	[ "$(grep -c ' spin_long .*movetext)' perf.txt)" -ge "$long" ] || fail "perf: $(sort perf.txt | uniq -c | sort -n | tail -5)"
}

# has_run_since NS - process $pid has had 0.3 s of CPU time more
has_run_since() {
	[ $(($(cut -d ' ' -f 1 "/proc/$pid/schedstat") - $1)) -ge 300000000 ]
}

# records OPTIONS... - process $pid, which computes, until it has had enough of a CPU
records() {
	local recorder
	rm -f x.data
	ebprec record -q -F 999 -o x.data "$@" 3>&- &
	recorder=$!
	await has_samples x.data
	await has_run_since "$(cut -d ' ' -f 1 "/proc/$pid/schedstat")"
	kill -INT $recorder
	wait $recorder
}

# bats test_tags=long
@test "a program that moves its code while it is recorded has its names" {
	ebprec record -q -F 999 -o x.data -- movetext copy 500 >/dev/null
	its_own x.data
	# The kernel sends no event when the code is there; on a busy machine the recorder sees it some passes later.
	ebprec record -q -F 999 -o x.data -- movetext write 1000 >/dev/null
	its_own x.data 100
}

# bats test_tags=long
@test "a program that had moved its code before has its names" {
	movetext copy 20000 >pid.txt &
	await test -s pid.txt
	pid=$(cat pid.txt)
	records -p "$pid"
	its_own x.data
	records -a
	its_own x.data
}

@test "without BPF, moved code has its names" {
	ebprec record -q --no-bpf -F 999 -o x.data -- movetext copy 500 >/dev/null
	its_own x.data
}

# bats test_tags=long
@test "a backlog that began after the move has names for the moved code" {
	movetext copy 20000 >pid.txt &
	await test -s pid.txt
	pid=$(cat pid.txt)
	ebprec record -q -F 999 -d 2 --ring 1s -o x.data -p "$pid"
	its_own x.data
}

@test "other code in the place of the file's code has no name" {
	ebprec record -q -F 999 -o x.data -- movetext other 500 >/dev/null
	ebprec report -q --folded --comm movetext -i x.data >folded.txt
	same 0 "$(weight ';main;both;spin_(long|short)[; ]' <folded.txt)"
	[ "$(weight ';main;[[]anon[]];[[]anon[]]' <folded.txt)" -gt 40 ] ||
		fail "$(cat folded.txt)"
}
