#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The files of one recording add up to it: a wait that is under way when one ends goes on in the next, with its reason.
# runs beside others: it compares two recordings of one program, and the kernel's times of it

load ../../lib/helper

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
}

# begin_recording NAME OPTIONS... - until there is a file `end`; returns when it records
begin_recording() {
	local name=$1
	shift
	ebprec-record -q -a -o "$name.data" "$@" \
		sh -c ": >$name.began; until [ -e end ]; do sleep 0.1; done" 3>&- &
	await test -e "$name.began"
}

# time_of KEY FILE... - that time of the thread over-edges, of all files, in ms
time_of() {
	local key=$1 file
	shift
	for file; do
		ebprec sched -q --json -c over-edges -i "$file" 2>>sched.err
	done | jq -s "map(.threads[0].$key // 0) | add / 1e6 | floor"
}

# slept FILE... - how long it waited, which is sleep, of all files, in ms; a busy recorder leaves stacks out, and so reasons
slept() {
	local file
	for file; do
		ebprec report -q --off-cpu --folded -c over-edges -i "$file" 2>>report.err || true
	done | weight | jq '. / 1000 | floor'
}

# left_out - ms of waits that reports have left out, as the kernel did not report every switch
left_out() {
	sed -n 's/.*waits left out: \([0-9.]*\) s.*/\1/p' report.err | jq -s 'add // 0 | . * 1000 | ceil'
}

# alike WHAT MOST A B - whether two times, in ms, differ by no more than that, and by what is left out
alike() {
	local most=$(($2 + $(left_out)))
	numbers_hold "$3 - $4 <= $most and $4 - $3 <= $most" || fail "$1: $3 and $4 ms: $(cat report.err)"
}

# bats test_tags=long
@test "waits over the ends of files are those of one recording, and merged files have the same" {
	local file files run_ns
	begin_recording one
	begin_recording part --rotate 1s
	perl "$BATS_TEST_DIRNAME/over_edges.pl" >schedstat
	: >end
	wait
	mapfile -t files < <(printf '%s\n' part.data part.data.* | sort -V)
	[ ${#files[@]} -ge 4 ] || fail "there are ${#files[@]} files"
	for file in "${files[@]}"; do
		intact "$file"
	done
	one=$(slept one.data)
	parts=$(slept "${files[@]}")
	# Four times 1.6 s; a sleep of a thread that is woken late is longer.
	numbers_hold "$one >= 6300 - $(left_out)" || fail "of 6.4 s of sleep one recording has $one ms: $(cat report.err)"
	alike "slept" 300 "$one" "$parts"
	alike "lived" 20 "$(time_of elapsed_ns one.data)" "$(time_of elapsed_ns "${files[@]}")"
	read -r run_ns _ <schedstat
	alike "ran" 150 $((run_ns / 1000000)) "$(time_of run_ns "${files[@]}")"

	ebprec merge -q -o all.data "${files[@]}"
	alike "slept, merged" 5 "$parts" "$(slept all.data)"
	# The second file knows what it waited for in the first.
	ebprec merge -q -o rest.data "${files[@]:1}"
	alike "slept, merged without the first" 5 "$(slept "${files[@]:1}")" "$(slept rest.data)"
	# A part of these that begins in a wait, as the screen of `ebprec live` writes it.
	ebprec slice -q --time 10%-90% -o slice.data rest.data
	numbers_hold "$(slept slice.data) >= $(slept rest.data) / 2" || fail "$(slept slice.data) of $(slept rest.data) ms"
}

# bats test_tags=long
@test "a flight recorder's capture has the wait that began before its backlog" {
	perl -e '$0 = "over-edges"; sleep 600' 3>&- &
	sleeper=$!
	perl -MTime::HiRes=sleep -e '$0 = "short-waits"; sleep 0.01 while 1' 3>&- &
	ebprec-record -q -a --ring 1s -o ring.data sh -c ': >began; sleep 0.5; kill -STOP '$sleeper'
		kill -CONT '$sleeper'; until [ -e end ]; do sleep 0.1; done' 3>&- &
	recorder=$!
	await test -e began
	sleep 4
	ebprec snapshot $recorder
	: >end
	wait $recorder
	# It was woken, and went to sleep again, more than two seconds before the capture begins.
	[ "$(account ring.data.1 segment dropped_until_mono_ns)" -gt 0 ] || fail "nothing was dropped"
	numbers_hold "$(slept ring.data.1) >= 900 - $(left_out)" || fail "it slept for $(slept ring.data.1) ms of the capture: $(cat report.err)"
}
