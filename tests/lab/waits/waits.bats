#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Times of a mixed load of threads: against what the kernel counted, and what libbpf-tools saw in the
# same seconds.  The load begins when all are attached, and stands still when they end.

load ../../lib/helper

# attached PID - waits until a process has BPF programs attached
attached() {
	for _ in {1..400}; do
		! find "/proc/$1/fd" -lname '*bpf_link' 2>/dev/null | grep -q . || return 0
		! find "/proc/$1/fd" -lname '*bpf-prog' 2>/dev/null | grep -q . || return 0
		sleep 0.05
	done
	fail "not attached: $1"
}

# One recording for all tests.
setup_file() {
	[ "$(id -u)" -eq 0 ] || return 0
	PATH=$PATH:/usr/sbin
	cd "$BATS_FILE_TMPDIR" || return
	mkfifo in
	waits --mixed 5 cold <in >truth 3>&- &
	exec 9>in
	until grep -q child truth; do sleep 0.05; done
	child=$(pick_fields 1 child 2 <truth)
	tools=()
	for tool in "offcputime -p $child --stack-storage-size 16384" "runqlat -p $child" \
		"cpudist -p $child" "wakeuptime -p $child"; do
		# shellcheck disable=SC2086 # words
		$tool >"${tool%% *}.txt" 2>"${tool%% *}.err" 3>&- 9>&- &
		tools+=($!)
	done
	ebprec record -aq -m 128M -o w.data 3>&- 9>&- &
	recorder=$!
	for pid in "${tools[@]}"; do attached "$pid"; done
	until [ -e w.data ]; do sleep 0.05; done
	sleep 0.5
	echo >&9
	until grep -q '^time' truth; do sleep 0.1; done
	kill -INT "${tools[@]}" "$recorder"
	wait "$recorder"
	wait "${tools[@]}" || true
	exec 9>&-
}

setup() {
	need_bpf
	need_perf
	cd "$BATS_FILE_TMPDIR" || return
	time=$(pick_fields 1 time 2 <truth)
	pid=$(pick_fields 1 child 2 <truth)
	ebprec sched --json --pid "$pid" --time ",$time" w.data >ours.json 2>ours.err
}

# near NAME WANT GOT [PERCENT] - GOT is WANT to within so much (2)
near() {
	printf '%s: %s, ours %s\n' "$1" "$2" "$3" >&2
	numbers_hold "$2 > 0 and ($3 - $2 | fabs) <= ${4:-2} / 100 * $2"
}

# sum FILE - of the counts of a histogram as runqlat and cpudist print it
sum() {
	grep -e '->' "$1" | sum_field 5
}

# ours KEYS - a number of ours.json
ours() {
	jq 'getpath($ARGS.positional)' ours.json --args "$@"
}

# off - nanoseconds off the CPU, of what began and ended
off() {
	ebprec report --off-cpu --json=denet --pid "$pid" --time ",$time" w.data 2>/dev/null |
		jq .ebpf.offcpu.total_time_ns
}

@test "no event was lost" {
	same 0 "$(account w.data lost switches)"
	same 0 "$(account w.data lost task_events)"
}

@test "each thread: running + runnable + blocked = elapsed, and what the kernel counted" {
	perl "$BATS_TEST_DIRNAME/thread_times.pl" truth ours.json
}

@test "--wall adds up to the life of all threads" {
	want=$(jq '[.threads[].elapsed_ns] | add / 1000 | round' ours.json)
	got=$(ebprec report -q --wall --folded --pid "$pid" --time ",$time" w.data | weight)
	near wall "$want" "$got" 0.01
}

@test "offcputime has the same time off the CPU" {
	# The last line of each stack is its microseconds.
	theirs=$(($(grep -E '^ +[0-9]+$' offcputime.txt | sum_field 1) * 1000))
	near "ns off the CPU" "$theirs" "$(off)"
}

@test "schedstat and wakeuptime have the same time in the run queue, and until wakeups" {
	waited=$(pick_fields 1 thread 6 <truth | sum_field 1)
	near "ns in the run queue" "$waited" "$(ours run_queue_latency total_ns)"
	theirs=$(($(grep -E '^\s*[0-9]+$' wakeuptime.txt | sum_field 1) * 1000))
	blocked=$(($(off) - $(ours run_queue_latency total_ns)))
	# On a machine that others use it misses some of what the kernel and offcputime have.
	[ "$theirs" -le $((blocked * 102 / 100)) ] && [ "$theirs" -ge $((blocked / 2)) ] ||
		fail "ns blocked: $theirs, ours $blocked"
}

@test "runqlat has as many waits for a CPU" {
	near "waits for a CPU" "$(sum runqlat.txt)" "$(ours run_queue_latency count)"
}

# cpudist counts only those that end in preemption.
@test "cpudist has as many stretches on a CPU that another thread ended" {
	mine=$(jq '[.threads[].involuntary] | add' ours.json)
	near "stretches on a CPU" "$(sum cpudist.txt)" "$mine"
}

@test "each reason to wait is named" {
	ebprec record -q --max-overhead 50 -o why.data -- python3 "$BATS_TEST_DIRNAME/reasons.py"
	ebprec report -q --off-cpu --folded why.data >why.folded
	while read -r name reason; do
		# The children of each have its name, and sleep.
		ms=$(($(weight "^wait_$name;.*[[]${reason}[]]" <why.folded) / 1000))
		echo "$name: $ms ms of $reason" >&2
		[ "$ms" -ge 100 ] || fail "$(grep "^wait_$name;" why.folded)"
	done <<-'END'
	select select
	poll poll
	epoll epoll
	nanosleep nanosleep
	pipe pipe
	socket socket
	tcp socket
	child child
	signal signal
	timer timer
	eventfd eventfd
	futex futex
	flock lock
	lockf lock
	END
}

@test "300 000 switches a second and more: none is lost" {
	ebprec record -aq -m 256M -o many.data 3>&- &
	recorder=$!
	until [ -e many.data ]; do sleep 0.05; done
	for cpu in 0 1; do
		taskset -c $cpu perf bench sched pipe -l 300000 >bench.$cpu 2>&1 3>&- &
	done
	wait %2 %3
	kill -INT "$recorder"
	wait "$recorder"
	cat bench.0 bench.1 >&2
	echo "$(account many.data switches) switches in $(account many.data duration_ns) ns" >&2
	same 0 "$(account many.data lost switches)"
	same 0 "$(account many.data lost task_events)"
	[ "$(account many.data switches)" -ge 600000 ] || fail "too few switches"
}
