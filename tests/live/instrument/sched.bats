#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# It runs alone: it holds times of threads to those that the kernel counted
# Where threads spent their time, against what the kernel and perf counted.

load ../../lib/helper

# record_waits - a program that waits in known ways, beside one that switches often
record_waits() {
	local stolen_ms
	stolen_ms=$(stolen_ms)
	# All of the stacks: how many the bound on their cost leaves depends on the machine.
	ebprec record -aq --max-overhead 100 -o w.data -- sh -c 'pingpong 5000 >counted & waits cold >truth; wait' || true
	echo $(($(stolen_ms) - stolen_ms)) >stolen
}

# One recording for all tests.
setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	# On a busy machine the first wait may be over before there is a table for its stack: a short recording has it in the
	# cache (programs without work, as their arguments are wrong).
	ebprec record -q -o tables.data -- sh -c 'waits; pingpong; sleep 0.3' >usage 2>&1 || true
	record_waits
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	time=$(pick_fields 1 time 2 <truth)
	pid=$(pick_fields 4 waiter 2 <truth) # others may run this test, too
}

# json FILTER... - the JSON of ebprec sched until the moment the kernel's counts were read
json() {
	ebprec sched --json --time ",$time" w.data 2>/dev/null
}

@test "running and waiting times and switches are those the kernel counted" {
	json >sched.json
	perl "$BATS_TEST_DIRNAME/thread_times.pl" truth sched.json stolen || fail "the kernel counted otherwise"
}

@test "running, runnable, blocked and unknown add up to the life of every thread" {
	ebprec sched --json w.data 2>/dev/null >all.json
	jq -c '.threads[] | select(.run_ns + .wait_ns + .sleep_ns + .block_ns + .stop_ns + .unknown_ns != .elapsed_ns)' all.json >others
	same "" "$(cat others)"
	[ "$(jq '.threads | length' all.json)" -ge 20 ] || fail "only $(jq '.threads | length' all.json) threads"
}

@test "perf sched timehist prints the same run times" {
	need_perf
	perf sched timehist -s -i w.data 2>/dev/null | grep -E 'waiter|pingpong' >hist
	ebprec sched --json --comm waiter,pingpong w.data 2>/dev/null >ours.json
	perl "$BATS_TEST_DIRNAME/timehist_agrees.pl" ours.json <hist
}

@test "perf sched latency knows the wakeups" {
	need_perf
	# shellcheck disable=SC2094 # a word and a file
	perf sched latency -i w.data 2>latency.err >latency
	[ ! -s latency.err ] || fail "$(cat latency.err)"
	grep -qE '^ *(waiter|waits):' latency
}

@test "--comm, --pid, --tid and --time choose the threads and the time of the table" {
	ebprec sched --threads --comm feeder --pid "$pid" w.data 2>/dev/null >out
	same 1 "$(grep -c '^feeder' out)"
	same "feeder holder waiter " "$(ebprec sched --threads --pid "$pid" w.data 2>/dev/null |
		pick_fields 2 "$pid" 1 | sort | tr '\n' ' ')"
	tid=$(pick_fields 4 holder 3 <truth)
	same "holder $tid" "$(ebprec sched --threads --tid "$tid" w.data 2>/dev/null |
		pick_fields 2 "$pid" 1 3)"
	# A span of no length: no time at all.
	ebprec sched --json --time "$time,$time" w.data 2>/dev/null | grep -q '"elapsed_ns": 0,'
}

# bats test_tags=long
@test "a recorded command: only its threads are in the table, and their times are right" {
	stolen_ms=$(stolen_ms)
	ebprec record -q -o p.data -- waits cold2 >truth2
	export stolen_ms=$(($(stolen_ms) - stolen_ms))
	ebprec sched --json --time ",$(pick_fields 1 time 2 <truth2)" p.data 2>/dev/null >p.json
	perl "$TEST_LIB/waiter_times.pl" <p.json
}

# waited FUNCTION REASON - milliseconds of waiter in that function for that reason
waited() {
	echo $(($(weight "^waiter;(.*;)?$1;(.*;)?\\[$2\\] " <waits.folded) / 1000))
}

@test "each wait is under its own stack and reason, for as long as it was" {
	# Its thread alone: the others bear its name, too, until they have one of their own.
	ebprec report -q --off-cpu --folded --tid "$pid" --time ",$time" w.data >waits.folded
	# No wait is shorter than it was made; a busy machine makes it longer, but not in this state.
	[ "$(waited wait_sleeping nanosleep)" -ge 400 ] || fail "slept: $(waited wait_sleeping nanosleep)"
	[ "$(waited wait_for_lock futex)" -ge 199 ] || fail "lock: $(waited wait_for_lock futex)"
	[ "$(waited wait_for_pipe pipe)" -ge 199 ] || fail "pipe: $(waited wait_for_pipe pipe)"
	same 0000 "$(waited spin nanosleep)$(waited spin futex)$(waited spin pipe)$(waited spin 'page fault')"
	# All of it is as exact as the timeline.
	ebprec sched --json --tid "$pid" --time ",$time" w.data 2>/dev/null >waiter.json
	want=$(jq '.threads[0] | (.wait_ns + .sleep_ns + .block_ns + .stop_ns) / 1000 | floor' waiter.json)
	us=$(weight <waits.folded) # also from before it had its name
	[ $((us - want)) -le 1000 ] && [ $((want - us)) -le 1000 ] || fail "$us us of $want in stacks"
	# It was in state D for pages, and for the disk while it made its file.  A disk may answer before its thread
	# sleeps: then there is neither.
	block_ms=$(jq '.threads[0].block_ns / 1000000 | floor' waiter.json)
	found_ms=$(($(waited wait_for_pages 'page fault') + $(waited map_cold_file 'block I/O')))
	[ "$found_ms" -ge $((block_ms - 2)) ] && [ "$found_ms" -le "$block_ms" ] ||
		fail "$block_ms ms blocked, $found_ms ms: $(grep -E ';(wait_for_pages|map_cold_file);' waits.folded)"
}

@test "the wait for the lock names the thread that released it" {
	ebprec report -q --wakers --folded --pid "$pid" --time ",$time" w.data >wakers.folded
	grep -qE '^waiter;.*;wait_for_lock;.*;\[futex\];\[woken by\];.*;release_lock;hold_lock;.*;\[holder\] [0-9]+$' wakers.folded ||
		fail "$(grep -E ';(wait_for_lock|\[futex\]);' wakers.folded)"
	grep -qE '^waiter;.*;wait_for_pipe;.*;\[pipe\];\[woken by\];.*;feed_pipe;.*;\[feeder\] [0-9]+$' wakers.folded ||
		fail "$(grep -E ';(wait_for_pipe|\[pipe\]);' wakers.folded)"
	# A timer wakes a sleeping thread, whichever thread it interrupted.
	grep -E ';wait_sleeping;.*;\[nanosleep\];\[woken by\]' wakers.folded >timers
	same "" "$(grep -vE ';\[interrupt\] [0-9]+$' timers)"
}

# row REASON WOKEN_BY WHERE - prints "COUNT TOTAL_MS LONGEST_MS" of these waits in waits.csv
row() {
	local count total_ns longest_ns
	read -r count total_ns longest_ns < <(grep -F "waiter,$1,$2," waits.csv | pick_fields -F , 7 "$3" 4 5 6)
	echo "${count:-0} $((total_ns / 1000000)) $((longest_ns / 1000000))"
}

@test "exported as perf has it and then sliced, it has the same wakers and exits" {
	ebprec export -q --raw -o raw.data w.data
	ebprec slice -q --time 0,1000000000 -o again.data raw.data
	for view in "report -q --wakers --folded" "sched --exited"; do
		# shellcheck disable=SC2086 # words
		ebprec $view --pid "$pid" -i w.data 2>/dev/null >want
		# shellcheck disable=SC2086 # words
		ebprec $view --pid "$pid" -i again.data 2>/dev/null >got
		[ -s want ] || fail "$view shows nothing"
		cmp want got || fail "$view: $(diff want got | head -n 5)"
	done
}

@test "report --waits: a row for each kind of wait, with its number, total, longest, and the waker" {
	ebprec report -q --waits --csv --min-percent 0 --pid "$pid" --time ",$time" w.data 2>left_out | tr -d '\r' >waits.csv
	# Where the kernel missed a switch the wait is left out, and the report has the sum of all such times.
	left_ms=$((10#0$(sed -n 's/.*left out: \([0-9]*\)\.\([0-9]\{3\}\)[0-9]* s in which .*/\1\2/p' left_out)))
	read -r count total longest <<<"$(row nanosleep '[interrupt]' sleep_ms)"
	# The kernel runs a program once a CPU at a time: a timer that interrupts it wakes without being seen.
	read -r unseen unseen_ms _ <<<"$(row nanosleep '' sleep_ms)"
	[ "$unseen" -le 2 ] && [ $((count + unseen)) -ge $((10 - left_ms / 50)) ] && [ $((count + unseen)) -le 10 ] &&
		[ $((total + unseen_ms + left_ms)) -ge 499 ] && [ "$longest" -ge 50 ] && [ "$longest" -lt "$total" ] ||
		fail "sleeps: $(cat waits.csv)"
	read -r count total longest <<<"$(row futex holder wait_for_lock)"
	[ "$count" -eq 1 ] && [ "$total" -ge 199 ] && [ "$longest" -eq "$total" ] || fail "lock: $(cat waits.csv)"
	read -r count total longest <<<"$(row pipe feeder wait_for_pipe)"
	[ "$count" -ge 10 ] && [ "$total" -ge 199 ] && [ "$longest" -ge 19 ] || fail "pipe: $(cat waits.csv)"
	# All of it is the time off the CPU of the threads, as the other view has it.
	same "$(ebprec report -q --off-cpu --pid "$pid" --time ",$time" w.data | sed -n 's/^# \([0-9.]*\) s off.*/\1/p')" \
		"$(printf %.6f "$(jq -n "$(sum_field 5 , <waits.csv) / 1e9")")"
	# Where is never a part of the scheduler or the C library, where the program has a name.
	same "" "$(grep -E ',(__schedule|schedule|read|clock_nanosleep[^,]*|[a-z_]*futex[a-z_]*)$' waits.csv || true)"
	same "" "$(cut -d, -f4 waits.csv | grep -x 0 || true)"
	# The reason stands for the scheduler's functions, in the other views, too.
	run ! grep -E 'schedule(_timeout)?;\[' <(ebprec report -q --off-cpu --folded --pid "$pid" w.data)
	# In a window no wait is longer than it; filters, threads and the text.
	ebprec report -q --waits --json --time +0.1,+0.2 w.data >window.json
	same true "$(jq '[.. | .longest_ns? // 0] | max <= 1e8' window.json)"
	ebprec report -q --waits --threads --comm waiter --pid "$pid" w.data >threads
	grep -qE "^waiter +$pid +$pid +futex +holder +1 +0\.2[0-9]* s +0\.2[0-9]* s +wait_for_lock\$" threads ||
		fail "$(cat threads)"
	grep -qE '^# [0-9]+ of [0-9]+ are not shown, each below --min-percent 0.1 \(--min-percent 0 shows all\)$' threads ||
		fail "$(cat threads)"
	run -2 ebprec report --waits --wall w.data
	contains "$output" "--waits has no '--wall'"
}

# bats test_tags=long
@test "a wait that lasts until the recording ends is in the report, with its time" {
	ebprec record -q -d 1 -o long.data -- sh -c 'sleep 30; true'
	# The shell waits for sleep, and sleep for the time; nothing was recorded after the first milliseconds.
	ebprec report -q --waits --csv long.data | tr -d '\r' >waits.csv
	for reason in nanosleep child; do
		ns=$(sed -n "s/^[a-z]*,$reason,,1,\([0-9]*\),.*/\1/p" waits.csv)
		[ "${ns:-0}" -gt 500000000 ] || fail "$reason: $(cat waits.csv)"
	done
	ns=$(ebprec summary -q --json long.data | sed -n 's/.*"duration_ns": \([0-9]*\).*/\1/p')
	[ "$ns" -ge 900000000 ] || fail "$ns" # from the first event on
}

# bats test_tags=long
@test "record -p: the wait that was under way at the start is left out by its time, which is part of the duration" {
	perl -e 'sleep 3; select(undef, undef, undef, 0.4)' &
	local pid=$! ns
	until grep -q nanosleep /proc/$pid/wchan; do sleep 0.01; done
	ebprec record -q -p $pid -o under.data
	run -0 --separate-stderr ebprec report --waits under.data
	# shellcheck disable=SC2154 # run --separate-stderr sets it
	ns=$(sed -n 's/^ebprec:   left out: \([0-9]*\)\.\([0-9]*\) s of waits that began before the recording$/\1\2/p' <<<"$stderr")
	[ "${ns:-0}" -gt 500000 ] || fail "$stderr"
	ns=$(ebprec summary -q --json under.data | sed -n 's/.*"duration_ns": \([0-9]*\).*/\1/p')
	[ "$ns" -gt 900000000 ] || fail "$ns" # 0.4 s, and what was left of the 3 s
	ns=$(ebprec sched -q --json under.data | jq '[.threads[].sleep_ns] | add')
	[ "$ns" -gt 900000000 ] || fail "$ns"
}

@test "a recording in which each thread only waited is reported as such, not as one without switches" {
	sleep 30 &
	local pid=$!
	until grep -q nanosleep /proc/$pid/wchan; do sleep 0.01; done
	ebprec record -q -d 0.3 -p $pid -o still.data
	kill $pid
	run -1 --separate-stderr ebprec report --waits still.data
	# shellcheck disable=SC2154 # run --separate-stderr sets it
	contains "$stderr" "'still.data' has no context switches: each thread that was recorded waited, or ran, all of the time"
}

@test "--max-overhead limits the stacks of switches, and 0 takes none" {
	ebprec record -aq --max-overhead 0 -o none.data -- pingpong 2000 >/dev/null
	same 0 "$(perf script -i none.data -F event 2>/dev/null | grep -c ebprec:waker)"
	ebprec info --json none.data | grep -q 'switches_with_stack\\": 0,'
	ebprec record -aq --max-overhead 0.5 -m 64M -o half.data -- pingpong 50000 >/dev/null
	stacks=$(account half.data switches_with_stack)
	[ "$stacks" -gt 0 ] && [ "$stacks" -lt $(($(account half.data switches) / 4)) ] ||
		fail "$stacks stacks of $(account half.data switches) switches"
}

# bats test_tags=long
@test "above --max-overhead few stacks of switches are taken, and all switches" {
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -a -F 19 --max-overhead 2 -m 64M -o dear.data -- \
		sh -c 'end=$(($(date +%s) + 12)); while [ "$(date +%s)" -le $end ]; do pingpong 5000; done' >counted
	same 2500000 "$(account dear.data thinned switch_stacks_least_ns)"
	contains "$(ebprec info dear.data)" "besides stacks of switches, --max-overhead is 2.00: these may take 0.25 from now on, and stand for all"
	stacks=$(account dear.data switches_with_stack)
	spent_ns=$(account dear.data own_cpu switch_stacks_ns)
	# 20 ms in the first second, and 2.5 in each of the others, and what is taken before the rate of switches is known.
	[ "$stacks" -gt 0 ] && [ "$spent_ns" -gt 0 ] && [ "$spent_ns" -lt 140000000 ] || fail "$stacks stacks in $spent_ns ns"
	# The kernel counted until each printed its line; of some thousand it does not report one itself.
	counted=$(jq -Rs '[split("\n")[] | select(. != "") | split(" ") | (.[1] | tonumber) + (.[2] | tonumber)] | add' counted)
	recorded=$(ebprec sched --json --comm pingpong dear.data 2>/dev/null | jq '[.threads[] | .voluntary + .involuntary] | add')
	lost=$(account dear.data lost switches)
	numbers_hold "$recorded + $lost > $counted * 0.999 and $recorded < $counted * 1.001 + 20 * $(wc -l <counted)" ||
		fail "$recorded switches and $lost lost, of $counted"
}

@test "programs that have just begun have complete stacks where they wait" {
	# They wait for each other, when nothing of them is known to BPF yet.
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -o young.data -- \
		sh -c 'for i in $(seq 60); do ls / | tr a b | cat; done' >/dev/null
	ebprec report --off-cpu --comm ls,tr,cat -i young.data 2>quality >/dev/null
	cat quality
	read -r with complete < <(sed -n 's/^ebprec: stacks: .* \([0-9]*\) with a user stack.* \([0-9]*\) of these complete.*/\1 \2/p' quality)
	[ "$with" -ge 40 ] && [ $((10 * complete)) -ge $((8 * with)) ]
}
