#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Marks of programs, by ebprec-mark.h and by probes, as they were made.
# runs beside others: marks are counted, and their times are between two looks at the clock

load ../../lib/helper

# Each recorder takes the marks of each shell, and one of all processes those of other tests, too: here the shell's program
# has a name of its own.
setup_file() {
	ln -s "$BUILD/ebprec" "$BATS_FILE_TMPDIR/ourprec"
}

setup() {
	need_bpf
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	PATH=$BATS_FILE_TMPDIR:$PATH
}

# marks_of FILE [COMM,...] - prints the marks of a capture, or of these comms in it, in the order of their times; none of ebprec
marks_of() {
	perf script -i "$1" ${2:+--comms "$2"} -F comm,event,trace 2>/dev/null |
		sed -n '/^ *ebprec  *ebprec:mark:/!s/^.* ebprec:mark: *\(.*[^ ]\) *$/\1/p'
}

# A recorder in the background that listens; its pid is in $recorder, its words in err.
start_recorder() {
	ebprec record -v -o x.data "$@" 2>err 3>&- &
	recorder=$!
	appears x.data
}

# appears FILE - waits until it is there
appears() {
	for _ in {1..400}; do
		[ ! -e "$1" ] || return 0
		sleep 0.05
	done
	fail "no $1"
}

# listens FILE - waits until the recorder listens for marks in FILE, which others' recorders may do sooner
listens() {
	for _ in {1..400}; do
		! grep -q "listening for marks in '[^']*$1'" err || return 0
		sleep 0.05
	done
	fail "no recorder listens in $1: $(cat err)"
}

stop_recorder() {
	kill -INT "$recorder"
	wait "$recorder"
}

@test "a recorded program: 23 marks, 23 events, in order" {
	ebprec record -q -o x.data -- marker points 23
	same "$(seq -f 'marker/points dur=0 ns: point %g' 0 22)" "$(marks_of x.data)"
}

@test "spans nest, overlap, and end in other threads" {
	ebprec record -q -o x.data -- marker nest overlap cross complete 7
	same 'marker/outer begin dur=0 ns: around
marker/inner begin dur=0 ns: within
/ end dur=0 ns:
/ end dur=0 ns:
marker/a begin dur=0 ns:
marker/b begin dur=0 ns:
/ end dur=0 ns:
/ end dur=0 ns:
marker/cross begin dur=0 ns:
/ end dur=0 ns:
marker/complete span dur=7000000 ns:' "$(marks_of x.data)"
	same 2 "$(perf script -i x.data -F tid,event,trace 2>/dev/null | grep ebprec:mark | grep -A 1 'cross begin' |
		awk '{ print $1 }' | sort -u | wc -l)"
}

# sums NAME WANT_NS CHOICE... - of the one thread of marker, in what is chosen: running, runnable and blocked
# are all of it, in numbers and as stacks
sums() {
	local name=$1 want=$2
	shift 2
	ebprec sched --json --comm marker "$@" x.data 2>/dev/null >part.json
	ebprec report -q --wall --folded --comm marker "$@" x.data >wall
	ebprec report -q --off-cpu --folded --comm marker "$@" x.data >off
	perl "$TEST_LIB/thread_adds_up.pl" "$name" "$want" || fail "$(cat part.json wall off)"
}

@test "in spans and between marks, running, runnable and blocked are all of the time" {
	ebprec record -q -o x.data -- marker nest overlap nest
	ebprec marks --json x.data >marks.json
	span_ns() { jq --arg name "$1" '[.spans[] | select(.name == $name).duration_ns] | add' marks.json; }
	begin_ns() { jq --arg name "$1" 'last(.marks[] | select(.kind == "begin" and .name == $name)).time_ns' marks.json; }
	sums outer "$(span_ns outer)" --during outer
	sums inner "$(span_ns inner)" --during marker/inner
	sums a-b "$(($(begin_ns b) - $(begin_ns a)))" --between a b
	[ "$(span_ns inner)" -ge 40000000 ] || fail "two of 20 ms: $(span_ns inner)"
}

@test "marks of programs that start later, of new files, and spans of a shell are recorded" {
	start_recorder -a
	cp "$(command -v marker)" fresh
	./fresh wait go points 3 3>&- &
	listens fresh
	: >go
	wait $!
	./fresh points 2
	ourprec mark --begin build "make all"
	ourprec mark -- sh -c 'exit 3' || echo "status $?" >status
	ourprec mark --end build "done"
	stop_recorder
	same "status 3" "$(cat status)"
	same 'marker/points dur=0 ns: point 0
marker/points dur=0 ns: point 1
marker/points dur=0 ns: point 2
marker/points dur=0 ns: point 0
marker/points dur=0 ns: point 1
shell/build begin dur=0 ns: make all
shell/sh begin dur=0 ns: sh -c exit 3
/ end dur=0 ns: exit 3
shell/build end dur=0 ns: done' "$(marks_of x.data fresh,ourprec)"
}

@test "the recording of a command has no marks of others, but those of a shell" {
	sh -c 'until [ -e go ]; do marker points 100; sleep 0.05; done' 3>&- &
	other=$!
	start_recorder -- sh -c 'marker wait go points 1; ourprec mark "from the shell"'
	listens marker
	ourprec mark "from outside"
	: >go
	wait $other
	wait "$recorder"
	same 'shell/mark dur=0 ns: from outside
marker/points dur=0 ns: point 0
shell/mark dur=0 ns: from the shell' "$(marks_of x.data)"
}

# bats test_tags=long
@test "100 000 marks a second from 4 threads: none is lost, none is counted as lost" {
	# A place for all: on a busy machine the recorder may get no CPU for as long.
	ebprec record -q -m 64M -o x.data -- marker many 4 25000 100000
	same 0 "$(account x.data lost marks)"
	[ "$(account x.data marks)" -ge 100000 ] # and marks of other shells
	marks_of x.data | sed 's/.*: //' | sort -n -k1,1 -k2,2 >got
	for thread in 0 1 2 3; do seq -f "$thread %g" 0 24999; done >want
	cmp got want
}

@test "long strings are cut, none is left out" {
	long=$(printf 'x%.0s' $(seq 600))
	start_recorder -a
	ourprec mark --group "$long" --name "${long:0:50}" "$long"
	ourprec mark --group "${long:0:127}" --name "" "${long:0:511}"
	ourprec mark --group "${long:0:47}" --name "${long:0:47}" "${long:0:87}"
	stop_recorder
	same "${long:0:127}/${long:0:50} dur=0 ns: ${long:0:511}
${long:0:127}/ dur=0 ns: ${long:0:511}
${long:0:47}/${long:0:47} dur=0 ns: ${long:0:87}" "$(marks_of x.data ourprec)"
}

@test "a program cannot set marks in the groups of the journal's lines, which is reported" {
	ebprec record -q -o x.data -- marker in log:err "disk failed" in dbus:x y in logs z 2>err
	same 'program:log:err/points dur=0 ns: disk failed
program:dbus:x/points dur=0 ns: y
logs/points dur=0 ns: z' "$(marks_of x.data)"
	contains "$(cat err)" "2 marks of programs are in groups that ebprec itself fills"
	same 2 "$(account x.data marks_renamed)"
	refuses ebprec report --between 'log:/disk/' 'logs:/z/' x.data
}

# bats test_tags=long
@test "tracepoints, functions and USDT probes are recorded as marks" {
	ebprec record -q --mark tp:sched:sched_process_exec --mark uprobe:libc.so.6:getpriority -o x.data -- \
		sh -c 'exec perl -e "getpriority(0, 0) for 1 .. 3"'
	marks_of x.data >got
	same 1 "$(grep -c '^sched/sched_process_exec dur=0 ns: filename=[^ ]*/perl pid=[0-9]* old_pid=[0-9]*$' got)"
	same 3 "$(grep -c '^libc.so.6/getpriority dur=0 ns:' got)"
	# Other listeners to the event still get it.
	cp /bin/true of-this-test
	ebprec record -q -a --mark tp:sched:sched_process_exec -o z.data -- perf record -q -a -e sched:sched_process_exec \
		-o p.data -- sh -c "for i in 1 2 3 4 5 6 7; do ./of-this-test; done"
	same 7 "$(perf script -i p.data 2>/dev/null | grep -c "filename=./of-this-test")"
	# The same place both ways, once each.
	ebprec record -q --mark "usdt:$(command -v marker):ebprec:mark" -o y.data -- marker points 2
	marks_of y.data >got
	same 2 "$(grep -c '^ebprec/mark dur=0 ns: arg1=[0-9]* .*arg4=0 arg5=0 arg6=0$' got)"
	same 2 "$(grep -c '^marker/points dur=0 ns: point' got)"
}

@test "USDT probes are recorded at each place, with semaphores, and with arguments wherever they are" {
	at=usdt:$(command -v probes):tests
	ebprec record -q --mark "$at:args" --mark "$at:twice" --mark "$at:counted" -o x.data -- probes 2
	once='tests/args dur=0 ns: arg1=-5 arg2=-5 arg3=1432778736 arg4=240 arg5=-16 arg6=-7 arg7=4294967295 arg8=123456789012345 arg9=-42 arg10=4242 arg11=? arg12=?
tests/twice dur=0 ns: arg1=1
tests/twice dur=0 ns: arg1=2
tests/counted dur=0 ns: arg1=7'
	same "$once
$once" "$(marks_of x.data)"
}

# bats test_tags=long
@test "where uprobes are perf events, marks, functions and USDT probes are the same" {
	at=usdt:$(command -v probes):tests
	before_uprobe_links ebprec record -q --mark "$at:twice" --mark "$at:counted" --mark uprobe:libc.so.6:getpriority -o x.data -- probes 2
	once=$'tests/twice dur=0 ns: arg1=1\ntests/twice dur=0 ns: arg1=2\ntests/counted dur=0 ns: arg1=7'
	same "$once"$'\n'"$once" "$(marks_of x.data)"
	rm x.data
	LD_PRELOAD=$BUILD/tests/lab/faults/olderkernel.so start_recorder -a --mark uprobe:libc.so.6:getpriority
	cp "$(command -v marker)" fresh
	./fresh wait go points 3 3>&- &
	listens fresh
	: >go
	wait $!
	perl -e "getpriority(0, 0)"
	ourprec mark hello
	stop_recorder
	same 'marker/points dur=0 ns: point 0
marker/points dur=0 ns: point 1
marker/points dur=0 ns: point 2
libc.so.6/getpriority dur=0 ns:
shell/mark dur=0 ns: hello' "$(marks_of x.data fresh,perl,ourprec)"
}

@test "probes that are not there end the recording before it begins" {
	for what in uprobe:libc.so.6:no_such_function tp:sched:no_such_event usdt:libc.so.6:libc:no_such_probe \
		uprobe:/no/such/file:f; do
		refuses ebprec record -q --mark $what -o x.data -- touch ran
		# shellcheck disable=SC2154 # of refuses
		contains "$stderr" "cannot listen to '$what'"
	done
	[ ! -e ran ] || fail "the command ran"
}
