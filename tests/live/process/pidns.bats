#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Recording inside a pid namespace: its processes by their own ids, all others as one.
# runs beside others: it compares two recordings of the same seconds

# shellcheck disable=SC2016 # what is in single quotes is for another shell
# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

# inside CMD... - in a pid namespace of its own, with its /proc
inside() {
	unshare --pid --fork --kill-child --mount-proc "$@"
}

# In a chroot whose root is no mount of its own, no namespace has a /proc of its own.
has_own_proc() {
	inside true 2>/dev/null
}

# Records both sides at once: programs of the namespace, of one below it, and of the host.
setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 && has_own_proc || return 0
	cd "$BATS_FILE_TMPDIR" || return
	local name
	for name in ours deeper stranger; do
		cp "$BUILD/tests/live/workloads/shares" $name
	done
	cat >load.sh <<-'END'
		./ours 2 >/dev/null &
		unshare --pid --fork --mount-proc ./deeper 2 >/dev/null &
		pingpong 2000 >counted
		waits cold >truth
		sh -c 'sleep 0.2; cat /proc/self/status' >status
		wait
	END
	ebprec record -aq -F 1999 -o out.data 2>out.err 3>&- &
	local recorder=$!
	await has_samples out.data
	./stranger 30 >/dev/null 3>&- &
	local stranger=$!
	inside ebprec record -a -F 1999 --max-overhead 100 -o in.data -- sh load.sh 2>err 3>&-
	kill $stranger
	kill -INT $recorder
	wait $recorder
}

setup() {
	need_bpf
	has_own_proc || skip "a process in a chroot may not mount /proc in a namespace of its own"
	cd "$BATS_FILE_TMPDIR" || return
}

teardown_file() {
	end_background
}

# samples FILE COMM OPTION... - how many there are
samples() {
	local file=$1 comm=${2/#\[/[[]} # of [foreign], in a pattern
	shift 2
	ebprec report --folded "$@" "$file" 2>/dev/null | weight "^$comm;"
}

@test "inside a pid namespace: processes outside are in the first line" {
	same "ebprec: inside a pid namespace: processes outside of it are counted as one, '[foreign]'" "$(head -n 1 err)"
	contains "$(tail -n 1 err)" " samples, $(account in.data foreign_samples) of them foreign, "
	same "$(samples in.data '[foreign]')" "$(account in.data foreign_samples)"
}

@test "inside a pid namespace: programs of it and below it have names and complete stacks" {
	ebprec report --folded --comm ours,deeper in.data >folded 2>quality
	for comm in ours deeper; do
		grep "^$comm;" folded | grep -vE '^[a-z]+;(entry_|asm_|ret_from_fork)' >these
		stacks_match '^[a-z]+;(_start|_dl_start_user);' 99 31 <these || fail "$(cat these)"
		stacks_match ';main;outer;inner;share_[a-z]*;burn_[a-z]*[; ]' 95 31 <these || fail "$(cat these)"
	done
	ebprec report in.data 2>quality >/dev/null
	grep -qE 'with a user stack; .*\((99\.[0-9]|100(\.0)?) %\)' quality || fail "$(cat quality)"
	grep -qE 'names: .*\((0(\.[0-9])?|1(\.0)?) %\)' quality || fail "$(cat quality)"
}

@test "inside a pid namespace: shares are those of a recording from outside" {
	equal_by_chance 30 "$(samples in.data ours)" "$(samples out.data ours)"
	equal_by_chance 30 "$(samples in.data deeper)" "$(samples out.data deeper)"
}

@test "inside a pid namespace: foreign processes are one group, without names" {
	local span outside
	# The recording from outside is the longer one: only while that from inside went on.
	span=$(ebprec script -F time in.data 2>/dev/null | tr -d ' :' | sed -n '1p;$p' | paste -sd,)
	outside=$(samples out.data stranger --time "$span")
	[ "$outside" -gt 30 ]
	[ "$(samples in.data '[foreign]')" -ge $((outside * 95 / 100)) ] ||
		fail "$(samples in.data '[foreign]') of $outside in $span"
	same "" "$(ebprec report --folded in.data 2>/dev/null | grep '^stranger')"
	same "" "$(ebprec sched in.data | grep stranger)"
	same "" "$(perf script -i in.data -F comm,pid,tid,trace 2>/dev/null | grep -E 'stranger|pid=-1')"
}

@test "inside a pid namespace: waits have times, causes and wakers" {
	read -r _ pid tid _ <<<"$(grep ' waiter ' truth)"
	ebprec report -q --wakers --folded --pid "$pid" in.data >wakers.folded
	grep -qE '^waiter;.*;wait_for_lock;.*;\[futex\];\[woken by\];.*;release_lock;hold_lock;.*;\[holder\] [0-9]+$' wakers.folded ||
		fail "$(cat wakers.folded)"
	grep -qE '^waiter;.*;wait_for_pipe;.*;\[pipe\];\[woken by\];.*;feed_pipe;.*;\[feeder\] [0-9]+$' wakers.folded ||
		fail "$(cat wakers.folded)"
	ebprec sched --json --tid "$tid" in.data 2>/dev/null |
		jq -e --argjson pid "$pid" '.threads[0] | .pid == $pid and .comm == "waiter" and .sleep_ns >= 5e8'
}

@test "inside a pid namespace: each switch is counted, also the last one of a process" {
	while read -r pid voluntary involuntary; do
		read -r slept ran <<<"$(switches in.data "$pid")"
		lost=$(account in.data lost switches)
		[ $((slept - voluntary)) -ge $((-lost)) ] && [ $((slept - voluntary)) -le 2 ] ||
			fail "$pid slept $slept of $voluntary, ran on $ran of $involuntary"
		perf script -i in.data -F trace 2>/dev/null | grep "prev_comm=pingpong prev_pid=$pid " | tail -n 1 |
			grep -qE 'prev_state=[ZX]' || fail "no end of $pid"
	done <counted
	# Each thread ends once, and no other thread ends with its id.
	same "" "$(perf script -i in.data -F trace 2>/dev/null |
		sed -n 's/.*prev_pid=\([0-9]*\) .*prev_state=[XZ] .*/\1/p' | sort | uniq -d)"
}

# namespace_ids NAME - "HOST INNER", the ids of the one process of that name
namespace_ids() {
	pick_fields 1 NSpid: 2 NF <"/proc/$(pgrep -x "$1" | head -n 1)/status"
}

# bats test_tags=long
@test "inside a pid namespace: the host's ids are recorded, of old and new processes" {
	cp "$BUILD/tests/live/workloads/shares" "$BATS_TEST_TMPDIR/early"
	cp "$BUILD/tests/live/workloads/shares" "$BATS_TEST_TMPDIR/late"
	cd "$BATS_TEST_TMPDIR" || return
	inside sh -c './early 60 >/dev/null & sleep 0.2; ebprec record -q -a -o x.data -- ./late 2 >/dev/null' 3>&- 2>err &
	local job=$! early late host inner
	await pgrep -x late >/dev/null
	early=$(namespace_ids early)
	late=$(namespace_ids late)
	wait $job || fail "$(cat err)"
	for ids in "$early" "$late"; do
		read -r host inner <<<"$ids"
		[ "$host" -ne "$inner" ]
		ebprec report --process "$inner" --json x.data >process.json
		same "$host" "$(jq .process.host_pid process.json)"
	done
}

# all_complete FILE COMM LEAST - all samples of COMM are in shares' functions, with complete stacks; at least so many
all_complete() {
	ebprec report --folded "$1" 2>/dev/null |
		stacks_match '^[a-z]+;_start;.*;main;outer;inner;share_[a-z]*;burn_[a-z]*[; ]' 95 "$3" "^$2;"
}

# bats test_tags=long
@test "inside a pid namespace in a pid namespace: its programs have names, and the outer one's are foreign" {
	cp "$BUILD/tests/live/workloads/shares" "$BATS_TEST_TMPDIR/outer"
	cp "$BUILD/tests/live/workloads/shares" "$BATS_TEST_TMPDIR/inner"
	cd "$BATS_TEST_TMPDIR" || return
	inside sh -c './outer 60 >/dev/null & unshare --pid --fork --mount-proc sh -c "
		ebprec record -q -a -F 1999 -o x.data -- ./inner 2 >/dev/null"' 3>&-
	all_complete x.data inner 30
	same "" "$(ebprec report --folded x.data 2>/dev/null | grep '^outer')"
	# pid 1 there is the shell, the recorder is its child or replaced it.
	pid=$(ebprec sched --comm inner x.data 2>/dev/null | pick_fields 1 inner 2 | tail -n 1)
	[ "${pid:-21}" -le 20 ] || fail "pid $pid"
}

# bats test_tags=long
@test "inside a pid namespace: COMMAND and all that it starts are recorded" {
	cd "$BATS_TEST_TMPDIR" || return
	inside ebprec record -F 1999 -o x.data -- sh -c 'shares 1 >/dev/null; unshare --pid --fork shares 1 >/dev/null' 2>err
	all_complete x.data shares 30
	same "" "$(grep -i namespace err)"
	same 0 "$(account x.data foreign_samples)"
}

# bats test_tags=long
@test "inside a pid namespace: -p takes the id that ps shows there" {
	cd "$BATS_TEST_TMPDIR" || return
	inside sh -c 'shares 60 >/dev/null & shares 60 >other & ebprec record -q -F 1999 -d 2 -o x.data -p $!; kill $!' 3>&- 2>err
	all_complete x.data shares 30
	same 1 "$(ebprec sched --comm shares x.data 2>/dev/null | grep -c '^shares ')"
}

# bats test_tags=long
@test "inside a pid namespace without BPF: names and complete stacks, foreign processes as one" {
	cp "$BUILD/tests/live/workloads/shares" "$BATS_TEST_TMPDIR/stranger"
	cd "$BATS_TEST_TMPDIR" || return
	./stranger 60 >/dev/null 3>&- &
	inside ebprec record --no-bpf -a -F 1999 -o x.data -- shares 2 >/dev/null 2>err
	kill $!
	all_complete x.data shares 30
	[ "$(samples x.data '[foreign]')" -gt 30 ]
	same "" "$(ebprec report --folded x.data 2>/dev/null | grep -E '^(stranger|swapper|\[unknown\])')"
	contains "$(cat err)" "processes outside of it are counted as one"
	contains "$(cat err)" "without context switches and marks"
	inside ebprec record --no-bpf -q -F 1999 -o y.data -- shares 2 >/dev/null
	all_complete y.data shares 30
}

# bats test_tags=long
@test "inside a pid namespace: tables have its ids, and one row for all foreign processes" {
	cd "$BATS_TEST_TMPDIR" || return
	inside sh -c 'shares 60 >/dev/null & echo $! >id; ebprec record -q -a --with runq,syscalls,exits -o x.data -- sleep 1; kill $! || :' 3>&- 2>err
	ebprec metrics runq x.data --by process --json >runq.json
	jq -r '.tables[] | .rows // [] | .[] | select(.pid > 1000 or .comm == "shares") | "\(.pid) \(.comm)"' runq.json | sort >rows
	same "$(printf '%s\n' "$(cat id) shares" "4194304 [foreign]" | sort)" "$(cat rows)"
}

@test "/proc of another pid namespace is refused: its ids are not ours" {
	cd "$BATS_TEST_TMPDIR" || return
	refuses unshare --pid --fork ebprec record -a -o x.data -- true
	contains "$stderr" "/proc is of another pid namespace"
	[ ! -e x.data ]
}

@test "doctor explains what a pid namespace costs" {
	contains "$(ebprec doctor | grep 'pid namespace')" "works"
	contains "$(inside ebprec doctor | grep -A 1 'pid namespace')" "processes outside of it are counted as one, '[foreign]'"
	contains "$(inside ebprec doctor | grep -A 1 'pid namespace')" "--pid=host"
	contains "$(unshare --pid --fork ebprec doctor | grep 'pid namespace')" "missing"
}

@test "perf reads a capture of a pid namespace by the ids of that" {
	perf report -i in.data --stdio --sort comm 2>/dev/null | grep -qF '[foreign]'
	same "" "$(perf sched latency -i in.data 2>&1 >/dev/null | grep -i error)"
	same "" "$(complaints <(perf script -i in.data 2>&1 >/dev/null))"
}
