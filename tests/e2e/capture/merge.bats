#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec merge: what was in the parts is in the merged capture, each as it was.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# sum FILE... - the folded stacks of captures, added up.
sum() {
	for file; do
		ebprec report -q --folded "$file"
	done | sum_stacks
}

# A process 100 that runs FILE from the start, sampled at each TIME.
story() { # FILE TIME...
	local file=$1
	shift
	printf '0 fork 1 100 100\n0 comm 100 100 %s\n0 map 100 0x400000 0x10000 0 /no/such/%s\n' \
		"$file" "$file"
	for time; do
		printf '%s sample 100 100 0 10 u:0x400100,0x400200\n' "$time"
	done
}

@test "stacks are the sums of the parts'" {
	gen_capture -o a.data --samples 3000 --pids 30
	gen_capture -o b.data --samples 2000 --pids 50
	ebprec merge -q -o m.data a.data b.data
	same "$(sum a.data b.data)" "$(ebprec report -q --folded m.data)"
	same 5000 "$(ebprec report -q --folded m.data | weight)"
	t3walk m.data >walk || fail "$(cat walk)"
}

@test "the order of the words is of no matter" {
	story one 1000 2000 3000 | gen_story a.data
	story two 9000 9100 | gen_story b.data
	ebprec merge -q -o ab.data a.data b.data
	ebprec merge -q -o ba.data b.data a.data
	same "$(ebprec report -q --folded ab.data)" "$(ebprec report -q --folded ba.data)"
}

@test "a pid that was used again is another process, as of the later capture's start" {
	story one 1000 2000 3000 | gen_story a.data
	story two 9000 9100 | gen_story b.data
	ebprec merge -q -o m.data b.data a.data
	same $'one;[one];[one] 3\ntwo;[two];[two] 2' "$(ebprec report -q --folded m.data)"
	# A library that the first had and the second has not.
	{ story one 1000 2000; echo '0 map 100 0x700000 0x1000 0 /no/such/lib.so'
		echo '2500 sample 100 100 0 10 u:0x700010,0x400200'; } | gen_story a.data
	{ story two 9000; echo '9500 sample 100 100 0 10 u:0x700010,0x400200'; } | gen_story b.data
	ebprec merge -q -o m.data a.data b.data
	same "$(sum a.data b.data)" "$(ebprec report -q --folded m.data)"
}

@test "captures that overlap in time" {
	story one 1000 3000 5000 7000 | gen_story a.data
	story one 2000 4000 9000 | gen_story b.data
	ebprec merge -q -o m.data a.data b.data
	same "one;[one];[one] 7" "$(ebprec report -q --folded m.data)"
}

@test "a merged capture can be merged, sliced and bundled" {
	story one 1000 2000 | gen_story a.data
	story two 4000 | gen_story b.data
	story three 6000 7000 8000 | gen_story c.data
	ebprec merge -q -o ab.data a.data b.data
	ebprec merge -q -o m.data ab.data c.data
	ebprec merge -q -o abc.data a.data b.data c.data
	same "$(ebprec report -q --folded abc.data)" "$(ebprec report -q --folded m.data)"
	ebprec slice -q --time 0.000004,0.000006 -o part.data -i m.data
	same 2 "$(ebprec report -q --folded part.data | weight)"
	ebprec bundle -q -i m.data -o full.data || ebprec bundle -q m.data
}

@test "what was exported as perf has it and then sliced has its tables and marks" {
	local golden=$BATS_TEST_DIRNAME/../../golden story views
	for views in "metrics metrics|metrics --json --interval" "marks marks|marks --json"; do
		story=${views%% *}
		gen_"$([ "$story" = metrics ] && echo tables || echo story)" x.data <"$golden/$story/story"
		ebprec export -q --raw -o raw.data x.data
		ebprec slice -q --time 0%-100% -o again.data raw.data
		while read -r view; do
			# shellcheck disable=SC2086 # words
			ebprec $view -i x.data >want 2>/dev/null
			[ -s want ] || fail "$view shows nothing"
			# shellcheck disable=SC2086 # words
			ebprec $view -i again.data >got 2>err || fail "$view: $(cat err)"
			cmp want got || fail "$view: $(diff want got | head -n 5)"
		done < <(tr '|' '\n' <<<"${views#* }")
	done
}

@test "names of the kernel that only one of them has" {
	kernel='0 kmap 0xffffffff81000000 0x600 _text'
	printf -- '- kallsyms %s\n' 'ffffffff81000000 T _text' 'ffffffff81000100 T first' 'ffffffff81000200 T _etext' >a
	printf '%s\n' "$kernel" '1000 sample 7 7 0 1 k:0xffffffff81000110' >>a
	printf -- '- kallsyms %s\n' 'ffffffff81000000 T _text' 'ffffffff81000300 T second' 'ffffffff81000400 T _etext' >b
	printf '%s\n' "$kernel" '2000 sample 7 7 0 1 k:0xffffffff81000310' >>b
	gen_story a.data <a
	gen_story b.data <b
	ebprec merge -q -o m.data a.data b.data
	contains "$(ebprec report -q --folded m.data)" "first"
	contains "$(ebprec report -q --folded m.data)" "second"
}

@test "lost events stay lost" {
	{ story one 1000; echo '1500 lost 30'; } | gen_story a.data
	{ story one 2000; echo '2500 lost 12'; } | gen_story b.data
	ebprec merge -q -o m.data a.data b.data
	same '"lost_samples": 42' "$(ebprec summary --json m.data | grep -o '"lost_samples": [0-9]*')"
}

@test "switches of both are there, and between the parts nothing is known" {
	part() { # TIME: runs 1 ms, sleeps 1 ms, runs 1 ms
		printf '0 fork 1 7 7\n0 comm 7 7 run\n'
		printf '%d switch 0 0 0 0 idle 7 run\n' "$1"
		printf '%d switch 0 7 7 1 run 0 idle\n' $(($1 + 1000000))
		printf '%d wakeup 0 1 1 7 run\n' $(($1 + 2000000))
		printf '%d switch 0 0 0 0 idle 7 run\n' $(($1 + 2000000))
		printf '%d switch 0 7 7 1 run 0 idle\n' $(($1 + 3000000))
	}
	part 1000000000 | gen_story a.data
	part 2000000000 | gen_story b.data
	ebprec merge -q -o m.data a.data b.data
	ebprec sched m.data 2>err >out
	# RUN 4 ms, SLEEP 2 ms, and the second between them is not slept.
	same "4.000 0.000 2.000 0.000 997.000" "$(pick_fields 1 run 5 6 7 8 9 <out)"
}

# A capture of the processes that were asked for, or of all: process PID runs 1 ms, sleeps 1 ms, runs 1 ms.
recording() { # SYSTEM_WIDE PID COMM START [CPU]
	local cpu=${5:-0}
	printf -- '- meta {"options": {"system_wide": %s}}\n' "$1"
	printf '0 fork 1 %d %d\n0 comm %d %d %s\n' "$2" "$2" "$2" "$2" "$3"
	printf '%d switch %d 0 0 0 idle %d %s\n' "$4" "$cpu" "$2" "$3"
	printf '%d switch %d %d %d 1 %s 0 idle\n' $(($4 + 1000000)) "$cpu" "$2" "$2" "$3"
	printf '%d wakeup %d 1 1 %d %s\n' $(($4 + 2000000)) "$cpu" "$2" "$3"
	printf '%d switch %d 0 0 0 idle %d %s\n' $(($4 + 2000000)) "$cpu" "$2" "$3"
	printf '%d switch %d %d %d 1 %s 0 idle\n' $(($4 + 3000000)) "$cpu" "$2" "$2" "$3"
}

# states FILE COMM - run, wait, sleep of a thread, and the time of which nothing is known
states() {
	ebprec sched "$1" 2>err | pick_fields 1 "$2" 5 6 7 9
}

@test "programs of recordings of one program each have all their switches" {
	recording false 7 first 1000000000 | gen_story a.data
	recording false 9 second 2000000000 | gen_story b.data
	# At the same time as the first.
	recording false 8 third 1001500000 1 | gen_story c.data
	for order in "a.data b.data c.data" "c.data b.data a.data"; do
		# shellcheck disable=SC2086 # words
		ebprec merge -q -o m.data $order
		same "2.000 0.000 1.000" "$(states m.data second | cut -d ' ' -f 1-3)"
		same "2.000 0.000 1.000" "$(states m.data third | cut -d ' ' -f 1-3)"
		same "2.000 0.000" "$(states m.data first | cut -d ' ' -f 1-2)"
	done
	ebprec merge -q -o m.data a.data b.data
	contains "$(ebprec report --waits -c second m.data 2>&1)" "0.001000 s off the CPU in 1 waits"
}

@test "a thread of no process that the later recording is of is unknown in it" {
	recording true 7 run 1000000000 | gen_story a.data
	# It leaves the CPU to the recorded thread, and has it later.
	{ recording false 9 second 2000000000 1
		echo '2003500000 switch 0 7 7 0 run 9 second'
		echo '2004000000 switch 0 9 9 1 second 7 run'
		echo '2005000000 switch 1 0 0 0 idle 9 second'
		echo '2006000000 switch 1 9 9 1 second 0 idle'; } | gen_story b.data
	ebprec merge -q -o m.data a.data b.data
	same "2.000 0.000 1.000 1003.000" "$(states m.data run)"
	same "3.500" "$(states m.data second | cut -d ' ' -f 1)"
}

@test "time between recordings is unknown, though side-band records are of it" {
	recording true 7 run 1000000000 | gen_story a.data
	# Forked while the second recorder began: long before its first switch.
	{ recording true 7 run 2000000000
		echo '1100000000 fork 7 8 8'
		echo '1100000001 comm 8 8 new'
		echo '2002500000 switch 1 0 0 0 idle 8 new'
		echo '2002600000 switch 1 8 8 1 new 0 idle'; } | gen_story b.data
	ebprec merge -q -o m.data a.data b.data
	same "4.000 0.000 2.000 997.000" "$(states m.data run)"
	same "0.100 2.500 0.400" "$(states b.data new | cut -d ' ' -f 1-3)"
	same "0.100 2.500 0.400" "$(states m.data new | cut -d ' ' -f 1-3)"
	# The times between stay unknown when it is merged again.
	recording true 7 run 3000000000 | gen_story c.data
	ebprec merge -q -o again.data c.data m.data
	same "6.000 0.000 3.000 1994.000" "$(states again.data run)"
	recording true 7 run 1500000000 | gen_story d.data
	ebprec merge -q -o again.data d.data m.data
	same "6.000 0.000 3.000 994.000" "$(states again.data run)"
}

@test "captures that do not go together are refused, and no file is left" {
	story one 1000 | gen_story a.data
	gen_capture -o b.data --samples 10
	printf 'no capture' >c.data
	: >empty.data
	for other in b.data c.data empty.data nowhere.data .; do
		refuses ebprec merge -o m.data a.data $other
		contains "$stderr" "'$other'"
		[ ! -e m.data ] || fail "$other: left m.data"
	done
	mkdir folder
	refuses ebprec merge -o folder a.data a.data
	run ebprec merge a.data a.data
	same 2 "$status"
	run ebprec merge -o m.data a.data
	same 2 "$status"
}

@test "a part that is cut or broken gives what it has" {
	gen_capture -o a.data --samples 2000
	gen_capture -o b.data --samples 20000
	head -c $(($(stat -c %s b.data) * 2 / 3)) b.data >cut.data
	ebprec merge -q -o m.data a.data cut.data
	same "$(sum a.data cut.data)" "$(ebprec report -q --folded m.data)"
	[ "$(ebprec report -q --folded m.data | weight)" -gt 2000 ]
}
