#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# How long threads ran, by stock perf from our capture, against what the kernel counted for them.

load ../../lib/helper

setup() {
	need_bpf
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
}

# in_nanoseconds - of lines "TID MILLISECONDS", with six digits behind the point or three
in_nanoseconds() {
	while read -r tid ms; do
		echo "$tid $((10#${ms%.*}$(printf '%-6s' "${ms#*.}" | tr ' ' 0)))"
	done
}

# latency FILE - "TID RUNTIME_NS" of each thread of cputime, as perf sched latency has it
latency() {
	perf sched latency -p -i "$1" 2>err | sed -n 's/^ *cputime:\([0-9]*\) *| *\([0-9.]*\) ms.*/\1 \2/p' |
		sort | in_nanoseconds
	[ -z "$(complaints err)" ] || fail "perf sched latency: $(complaints err)"
}

# ran TRUTH GOT - each thread of TRUTH ran as long as it knew itself; more for its end, and the first,
# the command's process, less for what it did before the recording began: it was forked from the recorder
ran() {
	same "$(cut -d' ' -f1 "$1")" "$(cut -d' ' -f1 "$2")"
	[ -s "$1" ] || fail "no threads"
	local before=4000000 truth got
	while read -r _ truth _ got; do
		[ "$got" -ge $((truth * 98 / 100 - before)) ] && [ "$got" -le $((truth * 110 / 100)) ] || echo "$truth $got"
		before=0
	done < <(paste -d' ' "$1" "$2") >others
	[ ! -s others ] || fail "truth, perf: $(cat others)"
}

# bats test_tags=long
@test "perf sched latency has the run time of each thread, from its first turn to its end" {
	for options in -a ""; do
		# shellcheck disable=SC2086 # maybe no word
		ebprec record $options -q -o x.data -- cputime 200 >out
		sort out >truth
		latency x.data >got
		ran truth got
	done
}

# bats test_tags=long
@test "run times are recorded once a second, and at the end for threads that never leave the CPU" {
	ebprec record -q -o x.data -- cputime 2500 >out
	sort out >truth
	latency x.data >got
	ran truth got
	recorded=$(perf script -i x.data -F event,trace 2>/dev/null | grep -c 'sched_stat_runtime:.*comm=cputime')
	[ "$recorded" -ge 4 ] || fail "recorded $recorded times"
	switched=$(perf script -i x.data -F event,trace 2>/dev/null | grep -c 'sched_switch:.*prev_comm=cputime')
	[ "$recorded" -lt "$((switched / 10))" ] || fail "recorded $recorded times, $switched switches"
	# A real-time thread is not put aside by others.
	chrt -f 1 shares 30 3>&- &
	spin=$!
	sleep 0.3
	before=$(awk '{ print $1 }' /proc/$spin/schedstat)
	ebprec record -q -d 1 -o y.data -p $spin
	most=$(($(awk '{ print $1 }' /proc/$spin/schedstat) - before))
	kill $spin
	wait $spin || true
	perf script -i y.data -F comm,event,trace 2>/dev/null | sed -n 's/.*sched_stat_runtime: comm=shares .*runtime=\([0-9]*\).*/\1/p' |
		sum_field 1 >ran_ns
	[ "$(cat ran_ns)" -gt 500000000 ] && [ "$(cat ran_ns)" -le $most ] || fail "$(cat ran_ns) of $most"
}

@test "perf sched timehist has the same run times" {
	ebprec record -q -o x.data -- cputime 200 >out
	sort out >truth
	perf sched timehist -s -i x.data 2>/dev/null |
		sed -n 's/^ *cputime\[\([0-9]*\)[]/][^ ]* *[0-9]* *[0-9]* *\([0-9.]*\) .*/\1 \2/p' |
		sort | in_nanoseconds >got
	same "$(cut -d' ' -f1 truth)" "$(cut -d' ' -f1 got)"
	# It counts from switch to switch, with the interrupts between.
	paste -d' ' truth got | while read -r tid want _ ns; do
		[ "$ns" -ge $((want * 95 / 100)) ] || fail "$tid: $ns of $want"
	done
	[ -s truth ]
}
