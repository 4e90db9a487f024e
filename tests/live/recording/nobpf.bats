#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Recording without BPF and without root: by perf events, stacks copied and walked at once.

# shellcheck disable=SC2016,SC2154
# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	cc -O1 -fomit-frame-pointer -D_GNU_SOURCE -o "$BATS_FILE_TMPDIR/lean" "$BATS_TEST_DIRNAME/../workloads/shares.c"
}

# An unprivileged user may reach the test's own folder, with the programs in it.  `lean` is shares
# without frame pointers.
setup() {
	need_root
	need_perf
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test
	cd "$BATS_TEST_TMPDIR" || return
	chmod 777 .
	cp "$(command -v ebprec)" "$(command -v ebprec-record)" "$(command -v shares)" .
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	[ "$paranoid" -le 2 ] || skip "kernel.perf_event_paranoid is $paranoid"
	as_unprivileged ./ebprec-record -q -o probe.data -- true 2>probe || skip "no perf events here: $(cat probe)"
	rm probe.data probe
	cp "$BATS_FILE_TMPDIR/lean" .
}

# child PID NAME - waits until PID has a child of that name, and prints its id.
child() {
	for _ in {1..200}; do
		pgrep -P "$1" -x "$2" && return
		sleep 0.05
	done
	fail "no $2 below $1"
}

# finished FILE - the capture is finished, and perf reads it without a message, except about losses,
# which small rings have.
finished() {
	contains "$(ebprec info -i "$1")" "finished"
	perf script -f -i "$1" >events 2>err || fail "perf: $(cat err)"
	same "" "$(complaints err)"
}

# samples FILE
samples() {
	ebprec report -i "$1" 2>/dev/null | sed -n '1s/^# \([0-9]*\) .*/\1/p'
}

# lost FILE - what its rings had no room for
lost() {
	ebprec info -i "$1" | sed -n '/"lost": {/,/}/s/.*"samples": \([0-9]*\).*/\1/p'
}

# record WORDS... - an unprivileged user's recording.  Each CPU has space for the stack copies of two seconds: on a busy
# machine the recorder gets no CPU for 100 ms and more, and a mapping that is lost leaves stacks without a file.
record() {
	as_unprivileged ./ebprec record -q -m 8M --call-graph dwarf,2048 -F 997 -o x.data "$@"
}

# all_is_counted FILE USED - each ms of the CPU time that `times` printed into USED is a sample, or one of those that were lost
all_is_counted() {
	cpu_ms=$(times_cpu_ms <"$2")
	lost=$(lost "$1")
	all=$(($(samples "$1") + lost))
	[[ $all -gt $((cpu_ms * 88 / 100)) && $all -lt $((cpu_ms * 112 / 100)) ]] ||
		fail "$all samples, $lost of them lost, in $cpu_ms ms"
}

# shares_are_right FILE COMM - 3:2:1, and the complete chain of calls in at least 98 of 100 stacks.
shares_are_right() {
	ebprec report --folded -i "$1" --comm "$2" >folded 2>quality
	awk -v least=20 -v named=95 -v slack=0.03 -f "$TEST_LIB/shares.awk" folded >sums || fail "$(cat sums folded quality)"
	stacks_match '^[a-z]*;_start;' 98 20 <folded || fail "$(cat folded quality)"
}

@test "an unprivileged user's recording of a command has its shares, complete stacks, and perf reads it" {
	record -- ./lean 1 >printed
	same "600 65534" "$(stat -c '%a %u' x.data)"
	finished x.data
	shares_are_right x.data lean
	# Only addresses: a stack copy alone would be 16 KiB a sample.
	bytes=$(stat -c %s x.data)
	[ "$bytes" -lt $(($(samples x.data) * 300 + 20000)) ] || fail "$(samples x.data) samples in $bytes bytes"
	info=$(ebprec info -i x.data)
	contains "$info" '"bpf": false'
	contains "$info" "recording by perf events"
}

@test "a missing part is reported once, in one line" {
	as_unprivileged ./ebprec record -o x.data -- true 2>err
	same 1 "$(grep -c 'without context switches and marks: cannot use BPF: Operation not permitted' err)"
}

@test "children, the programs that they exec, and threads are followed" {
	record -- sh -c './lean 0.4 >a & (exec ./lean 0.4 >b); wait'
	finished x.data
	shares_are_right x.data lean
	same 2 "$(perf script -f -i x.data --comm lean -F pid 2>/dev/null | sort -u | wc -l)"
}

@test "a running process of the same user is recorded" {
	as_unprivileged ./lean 30 >printed 3>&- &
	pid=$(child $! lean)
	record -d 1 -p "$pid"
	kill "$pid"
	wait
	finished x.data
	shares_are_right x.data lean
}

@test "a program in a folder that only its working directory leads to has its names" {
	mkdir -m 700 closed
	mkdir -m 777 closed/open
	cp ebprec-record lean closed/open
	(cd closed/open && as_unprivileged ./ebprec-record -q -m 8M --call-graph dwarf,2048 -F 997 -o x.data -- ./lean 0.7 >printed)
	shares_are_right closed/open/x.data lean
}

# bats test_tags=long
@test "threads from before and threads that start later are recorded" {
	cat >spin.c <<-'EOF'
		#include <pthread.h>
		#include <stdbool.h>
		#include <stdio.h>
		#include <time.h>
		static volatile bool over;
		static double now(clockid_t clock)
		{
			struct timespec t;
			clock_gettime(clock, &t);
			return t.tv_sec + t.tv_nsec / 1e9;
		}
		static void *spin(void *forever)
		{
			double end = now(CLOCK_THREAD_CPUTIME_ID) + 0.3;
			while (forever ? !over : now(CLOCK_THREAD_CPUTIME_ID) < end)
				;
			return NULL;
		}
		int main(void)
		{
			double early = now(CLOCK_MONOTONIC) + 1;
			pthread_t a, b;
			pthread_create(&a, NULL, spin, &a);
			puts("ready");
			fflush(stdout);
			while (now(CLOCK_MONOTONIC) < early)
				;
			pthread_create(&b, NULL, spin, NULL);
			pthread_join(b, NULL);
			spin(NULL);
			over = true;
			pthread_join(a, NULL);
			return 0;
		}
	EOF
	cc -O1 -fomit-frame-pointer -o spin spin.c -lpthread
	as_unprivileged ./spin >printed 3>&- &
	pid=$(child $! spin)
	until grep -q ready printed; do sleep 0.05; done
	as_unprivileged ./ebprec record -q -F 997 -o x.data -p "$pid" # until it ends
	wait
	finished x.data
	same 3 "$(perf script -f -i x.data -F tid 2>/dev/null | sort -u | wc -l)"
	contains "$(ebprec report --folded -i x.data 2>/dev/null)" "spin;clone3;start_thread;spin"
}

@test "a deep stack has as many frames as there are" {
	cat >deep.c <<-'EOF'
		#include <stdlib.h>
		volatile unsigned long spun;
		static __attribute__((noinline)) void spin(void)
		{
			for (;;)
				spun++;
		}
		static __attribute__((noinline)) int down(int left)
		{
			volatile char pad[40];
			pad[left % 40] = 1;
			if (left > 1)
				return down(left - 1) + pad[left % 40];
			spin();
			return 0;
		}
		int main(int argc, char **argv)
		{
			return down(atoi(argv[1])) + 1;
		}
	EOF
	cc -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o deep deep.c
	as_unprivileged ./ebprec record -q -F 997 -d 0.7 -o x.data -- ./deep 100
	# spin, 100 down, main, __libc_start_call_main, __libc_start_main, _start, and the comm
	ebprec report --folded -i x.data --comm deep 2>/dev/null | stacks_match "^$(printf '[^;]*;%.0s' {1..105})[^;]*\$" 100 21 ';spin '
}

@test "--call-graph fp and none record frame pointers' stacks and no stacks" {
	as_unprivileged ./ebprec record -q --call-graph fp -F 997 -o x.data -- ./shares 0.5 >printed
	finished x.data
	ebprec report --folded -i x.data 2>/dev/null | grep -q 'main;outer;inner;share_three;burn_three'
	as_unprivileged ./ebprec record -q --call-graph none -F 997 -o y.data -- ./shares 0.5 >printed
	finished y.data
	ebprec report --folded -i y.data 2>/dev/null >folded
	grep -q '^shares;burn_three ' folded
	same '' "$(grep '^shares;.*;' folded || true)"
}

# bats test_tags=long
@test "samples that find no space in a ring are counted" {
	as_unprivileged ./ebprec record -m 128K -F 997 -o x.data -- bash -c './lean 2 >printed; times' >used 2>err 3>&- &
	recorder=$(child $! ebprec-record)
	child "$(child "$recorder" bash)" lean >lean.pid
	sleep 0.3
	kill -STOP "$recorder"
	sleep 0.7
	kill -CONT "$recorder"
	wait
	lost=$(lost x.data)
	[ "$lost" -gt 0 ] || fail "nothing lost: $(cat err)"
	contains "$(tail -n 1 err)" "$lost lost"
	all_is_counted x.data used
}

@test "a low limit of locked memory makes rings smaller and does not refuse the recording" {
	(
		ulimit -l 0
		record -- bash -c './lean 0.7 >printed; times' >used
	)
	finished x.data
	all_is_counted x.data used # such rings lose some on a busy machine
}

# has_many FILE - the recorder has flushed some hundred samples
has_many() {
	[ "$(samples "$1")" -ge 300 ] 2>/dev/null
}

@test "a killed recorder leaves what it had flushed" {
	as_unprivileged ./ebprec record -q -F 997 -o x.data -- ./lean 30 >printed 3>&- &
	recorder=$(child $! ebprec-record)
	lean=$(child "$recorder" lean)
	await has_many x.data
	kill -9 "$recorder"
	wait || true
	kill "$lean"
	shares_are_right x.data lean
	ebprec recover x.data 2>err || fail "$(cat err)"
	perf script -f -i x.data >events 2>err
	same "" "$(complaints err)"
}

@test "the command's exit status is passed on" {
	status=0
	as_unprivileged ./ebprec record -q -o x.data -- sh -c 'exit 3' || status=$?
	same 3 $status
	as_unprivileged ./ebprec record -q -o x.data -- sh -c 'kill -TERM $$' || status=$?
	same 143 $status
	as_unprivileged ./ebprec record -q -o x.data -- ./nowhere 2>err || status=$?
	same 127 $status
	same "ebprec: cannot run './nowhere': No such file or directory" "$(cat err)"
}

@test "all processes, or another user's process, are refused in one line, without a file" {
	refuses as_unprivileged ./ebprec-record -a -o x.data
	contains "$stderr" "cannot watch the machine"
	contains "$stderr" "-- COMMAND, or -p PID"
	refuses as_unprivileged ./ebprec-record -o x.data -p 1
	contains "$stderr" "only processes of your own"
	[ ! -e x.data ] || fail "left a file"
}

# bats test_tags=long
@test "processes that end within a period: a user gets a note, root sees them" {
	cat >storm <<-'EOF'
		i=0
		while [ $i -lt 1500 ]; do
			/bin/true
			i=$((i + 1))
		done
	EOF
	as_unprivileged ./ebprec record -q -F 99 -o x.data -- sh storm 2>err
	contains "$(cat err)" "without root, processes that end within 10.1 ms are not seen"
	contains "$(ebprec info -i x.data)" "processes that end within"
	ebprec record -q --no-bpf -F 997 -o y.data -- sh storm
	finished y.data
	[ "$(samples y.data)" -gt 50 ] || fail "only $(samples y.data) samples"
	# A thread that is nearly gone has no id any more: perf's events have -1.  That lasts microseconds.
	gone=$(ebprec report -q --folded -i y.data 2>/dev/null | weight '^:-1;')
	[ "$gone" -le $(($(samples y.data) / 50)) ] || fail "$gone samples without an id"
	same '' "$(ebprec report --folded -i y.data 2>/dev/null |
		grep -v '^sh;\|^true;\|^ebprec-record;\|^:-1;.*;do_exit;' || true)"
}

# bats test_tags=long
@test "root without BPF records all processes" {
	# A place for all: on a busy machine the recorder may get no CPU for as long.
	ebprec record -q --no-bpf -a -m 64M -F 997 -o x.data ./lean 1 >printed
	contains "$(ebprec info -i x.data)" "finished"
	shares_are_right x.data lean
	ebprec report --folded -i x.data --annotations >folded 2>/dev/null
	grep -q '_\[k\]' folded || fail "no kernel frames"
}

@test "root without BPF has every switch of the machine, as the kernel counted them" {
	[ -r /sys/kernel/tracing/events ] || skip "tracefs is not mounted"
	ebprec record --no-bpf -a -o x.data -- sh -c 'pingpong 2000; true' >counted 2>err
	contains "$(cat err)" "recording by perf events, without marks: --no-bpf"
	same 2 "$(wc -l <counted)"
	contains "$(ebprec info -i x.data)" "finished"
	lost=$(lost x.data) # on a machine that switches much more than these two
	while read -r pid voluntary involuntary; do
		# It may wait or be preempted a few times more between counting and its end.
		read -r slept ran < <(switches x.data "$pid")
		[ $((slept + lost)) -ge "$voluntary" ] && [ "$slept" -le $((voluntary + 3)) ] &&
			[ $((ran + lost)) -ge "$involuntary" ] && [ "$ran" -le $((involuntary + 9)) ] ||
			fail "$pid: $slept of $voluntary, $ran of $involuntary, $lost lost"
	done <counted
	perf sched timehist -i x.data 2>/dev/null | grep -q 'pingpong\['
}

# bats test_tags=long
@test "a kernel without BTF is noted, and the recording goes on" {
	hiding /sys/kernel/btf ebprec-record -q -F 997 -o x.data -- ./lean 1 >printed 2>err
	contains "$(cat err)" "no BTF: cannot read '/sys/kernel/btf/vmlinux': No such file or directory"
	same 1 "$(wc -l <err)"
	finished x.data
	shares_are_right x.data lean
}

# bats test_tags=long
@test "rings are emptied while the table of a large program is made" {
	command -v node >/dev/null || skip "needs node"
	export EBPREC_TABLE_CACHE=$PWD/none
	as_unprivileged ./ebprec-record -q -F 997 -o x.data node -e 'const end = Date.now() + 2000
		let n = 0
		while (Date.now() < end) n += Math.sqrt(n)'
	longest=$(account x.data longest_pass_ns)
	echo "# rings were not looked at for $((longest / 1000000)) ms, $(account x.data lost samples) samples lost" >&3
	[ "$longest" -lt 500000000 ] || fail "$longest ns"
	[ "$(account x.data user_stacks tables built)" -gt 0 ] || fail "no table was made"
}
