#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# System calls of a program that makes known numbers of them, as strace -c, perf trace -s and syscount of
# libbpf-tools count them in the same recording.

load ../../lib/helper
load ../../lib/metrics

setup_file() {
	[ "$(id -u)" -eq 0 ] || return 0
	PATH=$PATH:/usr/sbin
	cd "$BATS_FILE_TMPDIR" || return
	pid_max=$(cat /proc/sys/kernel/pid_max)
	[ "$pid_max" -gt 80000 ] || echo 81920 >/proc/sys/kernel/pid_max
	syscount -P -i 0 -T 100000 >syscount.txt 2>syscount.err 3>&- &
	tool=$!
	for _ in {1..200}; do
		! find "/proc/$tool/fd" -lname '*bpf_link' -o -lname '*bpf-prog' 2>/dev/null | grep -q . || break
		sleep 0.05
	done
	# Its programs make the kernel keep these tracepoints from perf, and stay a moment after it has ended.
	export tool
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -aq --without sched,mark --with syscalls -o s.data -- sh -c '
		strace -c -f -o strace.txt calls >truth
		kill -INT "$tool"
		while bpftool prog list | grep -q "name sys_e[nx]"; do sleep 0.05; done
		perf trace -m 16M -s -o trace.txt calls >traced
		perf stat -x , -o stat.txt -e syscalls:sys_exit_getppid,syscalls:sys_exit_clock_nanosleep,syscalls:sys_exit_getuid calls >stated' 2>err 3>&- || true
	wait $tool || true
	echo "$pid_max" >/proc/sys/kernel/pid_max
}

setup() {
	need_bpf
	need_perf
	cd "$BATS_FILE_TMPDIR" || return
	[ "$(grep -c ^count truth)" -ge 4 ] || fail "$(cat truth err)"
	pid=$(pick_fields 1 count 2 <truth | head -n 1)
	same 0 "$(account s.data lost rows)"
}

# ours CALL - of all threads of the program
ours() {
	field s.data syscalls "syscall=$1" count --pid "$pid" --by syscall
}

@test "the program itself: every call, and 32-bit ones by their own name" {
	while read -r _ _ tid name count _; do
		name=${name/_(/ (}
		same "$name $count" "$name $(field s.data syscalls "syscall=$name" count --tid "$tid" --by syscall)"
	done < <(grep ^count truth)
}

@test "strace -c has the same counts" {
	for name in getppid clock_nanosleep getuid; do
		same "$name $(strace_counts <strace.txt | pick_fields 3 "$name" 1 | head -n 1)" "$name $(ours $name)"
	done
}

# A summary a thread; the sum over those of the program.  Alone, too, it sometimes has 7867 to 7889 of the 7919
# calls that the program made, and reports no loss of its rings: never more than ours, and 2 % less at most.
@test "perf trace -s has nearly the same counts, never more" {
	pid=$(pick_fields 1 count 2 <traced | head -n 1)
	for name in getppid clock_nanosleep getuid; do
		want=$(awk -v comm=calls -v name="$name" -f "$BATS_TEST_DIRNAME/calls_of_comm.awk" trace.txt)
		[ "$want" -gt 0 ] || fail "$(cat trace.txt err)"
		got=$(ours "$name")
		[ "$got" -ge "$want" ] && [ $((got * 98 / 100)) -le "$want" ] || fail "$name: $want, ours $got"
	done
}

# Its counts do not go through a ring.
@test "perf stat has exactly the same counts" {
	pid=$(pick_fields 1 count 2 <stated | head -n 1)
	for name in getppid clock_nanosleep getuid; do
		same "$name $(grep -E "^([^,]*,){2}[^,]*sys_exit_$name(,|$)" stat.txt | cut -d, -f1)" "$name $(ours "$name")"
	done
}

@test "syscount has the same count of the process's calls" {
	want=$(pick_fields 1 "$pid" NF <syscount.txt)
	[ -n "$want" ] || fail "$(cat syscount.txt syscount.err)"
	got=$(field s.data syscalls '' count --pid "$pid" --by process)
	# It counts what begins or what returns: exit_group and exit do not.
	[ $((want - got)) -ge -3 ] && [ $((want - got)) -le 3 ] || fail "syscount has $want, we have $got"
}
