#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# System calls in known numbers, and as strace counted them in the same run.
# runs beside others: it counts what one program does

load ../../lib/helper
load ../../lib/metrics

setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	pid_max=$(cat /proc/sys/kernel/pid_max)
	[ "$pid_max" -gt 80000 ] || echo 81920 >/proc/sys/kernel/pid_max
	ebprec record -aq --with syscalls --slower 250ms --interval 0.2 -o s.data -- sh -c \
		'calls pause >blocked & strace -c -f -o strace.txt calls >truth 2>&1; sleep 0.3; sleep 0.3' || true
	echo "$pid_max" >/proc/sys/kernel/pid_max
}

teardown_file() {
	[ ! -s "$BATS_FILE_TMPDIR/blocked" ] ||
		kill "$(awk '{ print $2 }' "$BATS_FILE_TMPDIR/blocked")" 2>/dev/null || true
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
}

@test "every call of every thread is counted, and every error" {
	[ "$(grep -c ^count truth)" -ge 4 ] || fail "$(cat truth)"
	while read -r _ pid tid name count errors; do
		name=${name/_(/ (}
		same "$name $count" "$name $(field s.data syscalls "syscall=$name" count --tid "$tid" --by syscall)"
		same "$name $errors" "$name $(field s.data syscalls "syscall=$name" errors --tid "$tid" --by syscall)"
		[ "$pid" -gt 65535 ] || fail "pid $pid is a small one"
	done < <(grep ^count truth)
}

@test "calls by the 32-bit interface have their own names" {
	grep -q 'no 32-bit' truth && return
	grep -q 'count .* getpid_(32-bit) 23 ' truth
}

@test "strace counts the same calls" {
	for name in getppid openat clock_nanosleep getuid wait4; do
		# % time, seconds, usecs/call, calls, errors (empty when none), name
		want=$(strace_counts <strace.txt | pick_fields 3 "$name" 1 2 | head -n 1)
		# The other one, which strace does not see, opens its libraries in an interval of its own or not.
		other=$(awk '{ print $2 }' blocked)
		got="$(($(field s.data syscalls "syscall=$name" count --comm calls --by syscall) - $(
			field s.data syscalls "syscall=$name" count --comm calls --pid "$other" --by syscall))) $(
			field s.data syscalls "syscall=$name" errors --comm calls --by syscall)"
		case $name in
		openat | wait4) # strace's own are not in it, the loader's are
			[ -n "$want" ] || fail "strace has no $name" ;;
		esac
		same "$name $want" "$name $got"
	done
}

@test "errors have their names" {
	tid=$(pick_fields 4 openat 3 <truth)
	same 101 "$(field s.data syscall_errors "error=ENOENT" count --tid "$tid" --by error)"
	same 0 "$(field s.data syscall_errors "error=EACCES" count --tid "$tid" --by error)"
}

@test "sleeps have at least the time that was slept, and the histogram has every call" {
	tid=$(pick_fields 4 clock_nanosleep 3 <truth)
	[ "$(field s.data syscalls syscall=clock_nanosleep total_ns --tid "$tid")" -ge 53000000 ]
	[ "$(field s.data syscalls syscall=clock_nanosleep max_ns --tid "$tid")" -ge 1000000 ]
	ebprec metrics syscalls -i s.data --tid "$tid" --histogram --json --by syscall,thread |
		jq -c '.tables[] | select(.name == "syscalls").rows[] | [.syscall, .count, (.hist_ns | add), (.hist_ns[:19] | add)]' >rows
	same "" "$(jq -c 'select(.[1] != .[2])' rows)"
	# 2^19 ns is less than a millisecond
	same 0 "$(jq 'select(.[0] == "clock_nanosleep")[3]' rows)"
}

@test "a thread that has not returned is shown as blocked, with the time" {
	pid=$(awk '{ print $2 }' blocked)
	same 1 "$(field s.data syscalls syscall=pause now_blocked --pid "$pid")"
	same 0 "$(field s.data syscalls syscall=pause count --pid "$pid")"
	[ "$(field s.data syscalls syscall=pause now_blocked_ns --pid "$pid")" -ge 300000000 ]
}

@test "rows of processes, of threads and of intervals add up to the same" {
	want=$(field s.data syscalls '' count --by syscall)
	[ "$want" -gt 9000 ]
	same "$want" "$(field s.data syscalls '' count --by process)"
	same "$want" "$(field s.data syscalls '' count --by thread)"
	same "$want" "$(field s.data syscalls '' count --by cgroup)"
	same "$want" "$(field s.data syscalls '' count --by syscall --interval)"
	n=$(ebprec metrics syscalls -i s.data --json --interval | grep -c '"name": "syscalls"')
	[ "$n" -ge 3 ] || fail "only $n intervals"
}

@test "a slow call is a row with a stack, and perf prints it" {
	need_perf
	ebprec metrics syscalls_slow -i s.data --comm sleep --top 0 | grep -qE ' sleep +clock_nanosleep +([3-9][0-9]{2}|[0-9]{4,})\.'
	perf script -i s.data 2>/dev/null >script.txt
	grep -qE 'ebprec:syscalls_slow:.*comm=sleep nr=230 abi=0 took_ns=([3-9][0-9]{8}|[0-9]{10,})' script.txt
	grep -q 'ebprec:syscalls: .*comm=calls .*count=7919 ' script.txt || # or of several intervals
		[ "$(grep -c 'ebprec:syscalls: .*nr=110 .*comm=calls ' script.txt)" -gt 1 ]
	same 0 "$(account s.data lost rows)"
}

@test "stacks of slow calls weigh their time, and begin in the kernel's own code" {
	ebprec report -q -i s.data --of syscalls --folded >folded
	grep -qE '^sleep;.*clock_nanosleep' folded || fail "$(cat folded)"
	same "$(field s.data syscalls_slow '' took_ns --top 0)" "$(weight <folded)"
	# Another recorder's calls that load programs are slow, too, and in such functions.
	same 0 "$(grep -E '^(calls|sleep|strace);' folded | grep -cE 'bpf_trace_run|__bpf_trace|__traceiter|bpf_prog' || true)"
	ebprec report -q -i s.data --of syscalls_slow | grep -q '^# .* ns  *object'
	contains "$(ebprec report -i s.data --of syscalls_slow 2>&1 >/dev/null)" "complete ("
}

@test "options that do not fit the table are refused in one line" {
	refuses ebprec report -i s.data --of block
	# shellcheck disable=SC2154 # by refuses
	contains "$stderr" "no stacks of 'block', but of: syscalls"
	run ebprec report -i s.data --of syscalls --off-cpu
	same 2 "$status"
	refuses ebprec metrics nothing -i s.data
	contains "$stderr" "no table 'nothing'"
	ebprec record -q --without sched -o plain.data -- true
	refuses ebprec metrics -i plain.data
	contains "$stderr" "has no tables"
	run ebprec metrics syscalls --by weather -i s.data
	same 2 "$status"
	contains "$output" "has no 'weather'"
}
