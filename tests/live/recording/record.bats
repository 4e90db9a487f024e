#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# It runs alone: it holds rates and shares of time to what was asked for
# Recordings agree with what the programs did: shares of time, switches, marks, processes, losses.

# shellcheck disable=SC2016,SC2154 # run sets stderr; what is in single quotes is for another shell

load ../../lib/helper

setup() {
	need_bpf
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
}

teardown() {
	end_background
	umount small 2>/dev/null || true
}

# small_disk SIZE - a disk of that size on the folder `small`
small_disk() {
	mkdir small
	mount -t tmpfs -o "size=$1" none small
}

# bats test_tags=long
@test "time is shared as it was spent: 3:2:1, under the complete chain of calls" {
	ebprec record -q -F 997 -o shares.data -- shares 3
	ebprec report --folded -i shares.data 2>/dev/null >folded
	grep -E 'main;outer;inner;share_three;burn_three [0-9]+$' folded >/dev/null
	awk -v least=101 -v named=90 -v slack=0.04 -f "$TEST_LIB/shares.awk" folded >&2
}

# bats test_tags=long
@test "the rate is the one that was asked for" {
	# The shell's last line: user and system time of its children.
	stolen_ms=$(stolen_ms)
	ebprec record -q -F 500 -o rate.data -- bash -c 'shares 2; times' >used
	stolen_ms=$(($(stolen_ms) - stolen_ms))
	cpu_ms=$(times_cpu_ms <used)
	samples=$(perf script -i rate.data -F comm,event 2>/dev/null | grep -cE 'shares +(cpu-clock|cycles)')
	samples=$((samples + $(account rate.data lost samples)))
	# 2 ms a sample; the clock of samples goes on while the host runs another guest, that of the scheduler does
	# not; and at each switch, of which a busy machine makes many, part of one is too much or too little.
	numbers_hold "($samples * 2 - $cpu_ms | fabs) < $cpu_ms * 0.08 + $stolen_ms + 4 * ($(account rate.data switches) | sqrt)" ||
		fail "$samples samples in $cpu_ms ms, $stolen_ms stolen"
}

# bats test_tags=long
@test "where sampling costs too much, fewer samples are taken, and their periods stand for all" {
	ebprec record -F 997 -e cpu-clock --max-overhead 0.01 -o dear.data -- shares 3 >/dev/null 2>err
	grep -q '^ebprec: recording took .*, --max-overhead is 0.01: one of [0-9]* samples is taken' err
	ebprec info dear.data | grep -q 'one of [0-9]* samples is taken from now on'
	taken=$(account dear.data samples)
	left_out=$(account dear.data thinned samples)
	most=$(account dear.data thinned one_of_at_most)
	lost=$(account dear.data lost samples)
	[ "$left_out" -gt 0 ] && [ "$most" -gt 1 ]
	# All but the last on each CPU, that no sample came for any more, and what stood for those lost.
	for_all=$(perf script -i dear.data -F event,period 2>/dev/null |
		awk -v each=1003009 -f "$BATS_TEST_DIRNAME/represented.awk")
	[ "$for_all" -le $((taken + left_out)) ] &&
		[ "$for_all" -ge $((taken + left_out - (lost + $(nproc)) * most)) ] ||
		fail "$for_all of $taken and $left_out, one of $most"
}

@test "every switch of a process is there, as the kernel counted them" {
	for option in -q -aq; do
		ebprec record $option -o pingpong.data -- sh -c 'pingpong 5000; true' >counted
		[ "$(wc -l <counted)" -eq 2 ]
		lost=$(account pingpong.data lost switches) # of a machine that others keep busy
		[ "$lost" -lt 1000 ] || fail "$lost lost"
		while read -r pid voluntary involuntary; do
			# It may wait or be preempted a few times more between counting and its end.
			read -r slept ran <<<"$(switches pingpong.data "$pid")"
			[ $((slept + lost)) -ge "$voluntary" ] && [ "$slept" -le $((voluntary + 3)) ] &&
				[ $((ran + lost)) -ge "$involuntary" ] && [ "$ran" -le $((involuntary + 9)) ] ||
				fail "$option $pid: $slept $ran, not $voluntary $involuntary, $lost lost"
		done <counted
	done
}

# bats test_tags=long
@test "every switch, wakeup, migration, fork and exit is there, as the kernel's own trace has it" {
	trace=/sys/kernel/tracing/instances/ebprec-test-$$
	mkdir "$trace" || fail "no tracing instance"
	echo 40000 >"$trace/buffer_size_kb"
	echo mono >"$trace/trace_clock"
	events="switch wakeup wakeup_new migrate_task process_fork process_exit"
	for event in $events; do echo 1 >"$trace/events/sched/sched_$event/enable"; done
	ebprec record -aq -o all.data -- sh -c '
		pingpong 2000
		for cpu in 0 1 0 1; do taskset -cp $cpu $$; done
		ls -lR /usr/share | sort' >/dev/null 2>&1 # there may be but one CPU
	for event in $events; do echo 0 >"$trace/events/sched/sched_$event/enable"; done
	sed -n 's/^.*\[\([0-9]*\)\] [^ ]* *\([0-9.]*\): \(sched_[a-z_]*: \)/\1 \2 \3/p' "$trace/trace" >kernel.txt
	rmdir "$trace"
	perf script -i all.data -F cpu,time,event,trace --ns 2>/dev/null |
		sed -n 's/^ *\[\([0-9]*\)\] *\([0-9.]*\): *sched:\(sched_[a-z_]*: \)/\1 \2 \3/p' >ours.txt
	[ "$(nproc)" -gt 1 ] || events=${events/migrate_task/}
	for event in $events; do grep -q "sched_$event: " ours.txt || fail "no sched_$event"; done
	[ "$(wc -l <ours.txt)" -gt 4000 ]
	# The trace is longer at both ends, and on some kernels lacks switches away from the idle thread:
	# what it has must be ours.  A thread may be reaped (X) between its two looks at it (Z), and its
	# name or priority may change; and some machines hide what interrupts do while their agent is on the CPU
	# (docs/TESTING.md).  Both together are one event in 200 at most.
	perl "$BATS_TEST_DIRNAME/same_events.pl" $(($(account all.data lost switches) + $(account all.data lost task_events) + $(account all.data lost samples))) ||
		fail "the kernel saw other events"
}

@test "23 marks in, 23 marks out: text, thread and time" {
	now() { perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'printf "%.9f\n", clock_gettime(CLOCK_MONOTONIC)'; }
	export -f now
	ebprec record -q -a -o marks.data -- bash -c '
		for i in $(seq 23); do
			before=$(now)
			ebprec mark --group "g$i" --name "n $i" "text $i äöü \"%s\"" &
			wait $!
			echo "$! $before $(now) $i"
		done' >made
	perf script -i marks.data -F tid,time,event,trace --ns 2>/dev/null | grep ebprec:mark >got
	[ "$(wc -l <made)" -eq 23 ]
	[ "$(wc -l <got)" -eq 23 ]
	paste -d' ' made got | sed 's/  */ /g' | while read -r pid before after i tid time _ what; do
		same "$pid" "$tid"
		same "g$i/n $i dur=0 ns: text $i äöü \"%s\"" "$what"
		time=${time%:}
		[ "${before/./}" -le "${time/./}" ] && [ "${time/./}" -le "${after/./}" ] ||
			fail "mark $i at $time is not between $before and $after"
	done
}

# bats test_tags=long
@test "-p takes a process, its threads and its children, and no other" {
	bash -c 'while :; do for i in 1 2 3; do head -c 1000000 /dev/urandom | md5sum >/dev/null; done; done' 3>&- &
	pid=$!
	shares 3 3>&- &
	other=$!
	ebprec record -q -F 997 -d 1.5 -p $pid -o p.data
	kill $pid $other
	wait $pid $other || true
	perf script -i p.data -F comm,event 2>/dev/null | grep -E 'cpu-clock|cycles' | awk '{ print $1 }' | sort | uniq -c >comms
	grep -q 'head$' comms
	grep -q 'md5sum$' comms
	same '' "$(grep -vE ' (bash|head|md5sum)$' comms)"
	# Other threads are only there as the other side of a switch.
	same "" "$(perf script -i p.data -F trace 2>/dev/null | grep 'prev_pid=' |
		grep -vE '(prev|next)_comm=(bash|head|md5sum) ' || true)"
}

@test "processes that were there have their names, threads and build-ids" {
	sleep 30 3>&- &
	pid=$!
	ebprec record -aq -d 0.2 -o there.data
	perf script -i there.data --show-task-events --show-mmap-events --show-namespace-events 2>/dev/null >out
	kill $pid
	wait $pid || true
	grep -q "PERF_RECORD_COMM: sleep:$pid/$pid" out
	grep -q "PERF_RECORD_FORK($pid:$pid):($$:$$)" out || grep -q "PERF_RECORD_FORK($pid:$pid)" out
	id=$(readelf -n "$(command -v sleep)" | sed -n 's/.*Build ID: //p')
	grep "PERF_RECORD_MMAP2 $pid/$pid" out | grep -q "<$id>.*$(readlink -f "$(command -v sleep)")"
	inode=$(stat -Lc %i /proc/self/ns/mnt)
	grep "PERF_RECORD_NAMESPACES $$/$$ " out | grep -q "$(printf '0x%x' "$inode")" ||
		grep -q PERF_RECORD_NAMESPACES out
}

@test "events that find no space are counted, and the count is in the capture" {
	ebprec record -q -m 128K -a -o lost.data -- sh -c '
		kill -STOP $PPID; sleep 0.1; pingpong 20000 >/dev/null; kill -CONT $PPID; sleep 0.2' 2>messages
	lost=$(account lost.data lost switches)
	[ "$lost" -gt 30000 ] || fail "only $lost lost"
	# The two of pingpong switch 40 000 times.
	[ $((lost + $(account lost.data switches))) -ge 40000 ]
	samples=$(account lost.data lost samples)
	events=$((lost + samples + $(account lost.data lost task_events) + $(account lost.data lost wakers) +
		$(account lost.data lost marks)))
	side=$(account lost.data lost side_records)
	# Others may have started programs or run interpreters meanwhile, whose command lines and names
	# found no room either: they are counted apart.
	read -r all_events all_side switches < <(ebprec info --json lost.data | jq -r '"\(.losses.events_lost) \(.losses.side_records_lost
		) \(.events[] | select(.name == "sched:sched_switch").lost)"')
	apart=$(($(account lost.data lost command_lines) + $(account lost.data lost code_names)))
	same "$lost" "$switches"
	same "$events" "$all_events"
	[ "$all_side" -ge "$side" ] && [ "$all_side" -le $((side + apart)) ] ||
		fail "$all_side in the records, $side and $apart in the account"
	reported=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' messages)
	[ "$reported" -ge $((events + side)) ] && [ "$reported" -le $((events + side + apart)) ] ||
		fail "$events, $side and $apart in the account: $(cat messages)"
	same "$samples" "$(sed -n 's/.* lost (\([0-9]*\) of them samples).*/\1/p' messages)"
	same "${samples#0}" "$(ebprec report -i lost.data 2>&1 >/dev/null |
		sed -n 's/^ebprec: lost: \([0-9]*\) samples were.*/\1/p')"
	same "${all_side#0}" "$(ebprec report -i lost.data 2>&1 >/dev/null |
		sed -n 's/^ebprec: lost: \([0-9]*\) events were.*/\1/p')"
	same "$reported" \
		"$(perf script -i lost.data --show-lost-events 2>/dev/null | weight PERF_RECORD_LOST)"
}

# bats test_tags=long
@test "a full disk ends the recording, what was recorded stays readable" {
	small_disk 600k
	status=0
	ebprec-record -q -a -F 999 -o small/x.data -- sh -c "while :; do ls /; done" >/dev/null 2>messages || status=$?
	cp small/x.data .
	umount small
	same 1 "$status"
	same "ebprec: cannot write 'small/x.data': No space left on device (what was recorded before is readable)" \
		"$(head -1 messages)"
	perf script -i x.data >out 2>err
	same "" "$(complaints err)"
	[ -s out ]
	# Where there was space for its end, that has the loss; else the capture has no end.
	# shellcheck disable=SC2094 # a word and a file
	ebprec info x.data >info
	grep -qx '  state *unfinished' info ||
		{ grep -q '"ended": "failed"' info && grep -q 'what came in then is lost' info; } ||
		fail "$(cat info)"
	# The recorder prints the counts of the file.
	if grep -q '"ended": "failed"' info; then
		same "$(account x.data lost samples)" "$(sed -n 's/.* lost (\([0-9]*\) of them samples).*/\1/p' messages)"
		same "$(weight '^ *(events|side records) lost ' <info)" \
			"$(sed -n 's/.* \([0-9]*\) lost (.*/\1/p' messages)"
	fi
}

@test "a disk that is full from the start is refused in one line, without a file" {
	small_disk 8k
	run ebprec-record -q -a -o small/x.data -- true
	same '' "$(ls small)"
	umount small
	same 1 "$status"
	same "ebprec: cannot write 'small/x.data': No space left on device" "$output"
}

# calls FILE - what was asked of the disk, in order: the file is r.data, and so is what it is called by meanwhile
calls() {
	sed -E 's/^[0-9]+ +//' "$1" | grep -v '/tables\|ENOENT\|EEXIST\|<detached' |
		sed -E 's/^fsync\([0-9]+<([^>]*)>.*/fsync \1/; s/^(linkat|renameat2?)\(.*, "([^"]*)"(, ([A-Z_0]+))?\).*/\1 \2 \4/' |
		sed -E "s|$PWD\$|folder|; s|$PWD/||; s/r\.data\.[0-9a-f]{12}/r.data/; s/#[0-9]+|r\.data \(deleted\)/r.data/; s/ (0|AT_SYMLINK_FOLLOW)?\$//"
}

# bats test_tags=long
@test "an older capture stays until the new one replaces it, and the new one is on the disk at the end" {
	for how in "" "--ring 10s" "--rotate 10s"; do
		rm -f r.data*
		# shellcheck disable=SC2086 # words
		ebprec-record -q -a -F 99 $how -o r.data sleep 0.2 3>&-
		# shellcheck disable=SC2086 # words
		strace -f --seccomp-bpf -y -qq -e trace=fsync,linkat,rename,renameat,renameat2 -e signal=none -o trace \
			ebprec-record -q -a -F 99 $how -o r.data sleep 0.2 3>&-
		[ -s r.data ] && [ -s r.data.old ] || fail "$(ls)"
		calls trace >order
		case $how in
		"--ring"*) want="fsync r.data fsync folder linkat r.data renameat2 r.data RENAME_EXCHANGE renameat r.data.old fsync r.data fsync folder" ;;
		*) want="linkat r.data renameat2 r.data RENAME_EXCHANGE renameat r.data.old fsync r.data fsync folder" ;;
		esac
		same "$want" "$(paste -sd ' ' order)"
	done
}

@test "a disk that fails at the end leaves the recording, with an error" {
	status=0
	LD_PRELOAD=$BUILD/tests/lab/faults/badwrite.so BADCALL=fsync BADWRITE_ERRNO=5 \
		ebprec-record -q -a -F 99 -o r.data sleep 0.2 2>err 3>&- || status=$?
	same 1 "$status"
	same "ebprec: cannot write 'r.data': Input/output error (what was recorded before is readable)" "$(cat err)"
	intact r.data
}

@test "the command's exit status is passed on, and an older capture becomes .old" {
	run ebprec record -q -o x.data -- sh -c 'exit 42'
	same 42 "$status"
	first=$(md5sum <x.data)
	run ebprec record -q -o x.data -- sh -c 'kill -9 $$'
	same 137 "$status"
	same "$first" "$(md5sum <x.data.old)"
	same 600 "$(stat -c %a x.data)"
	second=$(md5sum <x.data)
	run -127 ebprec record -q -o x.data -- /nonexistent
	same "ebprec: cannot run '/nonexistent': No such file or directory" "$output"
	run ebprec record -q -o x.data -- /etc/passwd
	same 126 "$status"
	same "$second" "$(md5sum <x.data)"
	same "$first" "$(md5sum <x.data.old)"
	same 'x.data x.data.old' "$(echo x.data*)"
}

# bats test_tags=long
@test "a script whose interpreter is missing: the capture of before has its name" {
	printf '#!/nonexistent\n' >script
	chmod +x script
	for how in "" "--rotate 10s" "--ring 10s"; do
		rm -f x.data*
		# shellcheck disable=SC2086 # words
		run -127 ebprec record -q $how -o x.data -- ./script
		same "ebprec: cannot run './script': No such file or directory (the interpreter that it names does not exist)" "$output"
		same '' "$(find . -name 'x.data*')"
		# shellcheck disable=SC2086 # words
		ebprec record -q $how -o x.data -- true
		first=$(md5sum <x.data)
		# shellcheck disable=SC2086 # words
		run -127 ebprec record -q $how -o x.data -- ./script
		same "$first" "$(md5sum <x.data)"
		same ./x.data "$(find . -name 'x.data*')"
	done
}

# bats test_tags=long
@test "the command starts when the capture has its name" {
	for _ in 1 2; do
		strace -f -qq -e trace=execve,renameat -e signal=none -o trace \
			ebprec-record -q -o x.data -- env true
		sed -nE 's/.*execve\("[^"]*\/(env)".*/\1/p; s/.*renameat\(.*"(x.data.old)".*/\1/p' trace >order
		grep -qE 'execve\("[^"]*/env".* = 0' trace || fail "$(cat trace)"
	done
	same "x.data.old env" "$(uniq order | paste -sd " ")"
}

@test "Ctrl-C ends a recording cleanly, a second one at once" {
	ebprec record -q -o x.data -- sh -c ': >began; exec sleep 60' 3>&- &
	pid=$!
	await test -e began
	kill -INT $pid
	wait $pid
	ebprec info x.data | grep -qx '  state *finished'
	ebprec record -q -o y.data -- sh -c 'trap "echo >terminated" TERM; echo $$ >command; while :; do sleep 0.1; done' 3>&- &
	pid=$!
	await test -s command
	kill -INT $pid
	await test -e terminated
	kill -INT $pid
	status=0
	wait $pid || status=$?
	same 130 "$status"
	kill -9 "$(cat command)"
	perf script -i y.data >out 2>err
	same "" "$(complaints err)"
	grep -q sched_switch out || fail "no switches: $(head -3 out)"
}

@test "a user without permission gets one line and no file" {
	chmod 777 .
	cp "$(command -v ebprec-record)" . # a program that an unprivileged user may reach
	refuses as_unprivileged ./ebprec-record -a -o x.data
	contains "$stderr" "cannot watch the machine"
	contains "$stderr" "Permission denied (need root, or CAP_BPF and CAP_PERFMON"
	refuses setpriv --bounding-set=-perfmon,-sys_admin --inh-caps=-all ./ebprec-record -a -o x.data
	contains "$stderr" "kernel.perf_event_paranoid"
	refuses as_unprivileged ./ebprec-record -a -o /root/x.data
	same 'ebprec-record stderr' "$(echo *)"
}

# bats test_tags=long
@test "a missing part of the machine is noted, and the rest is recorded" {
	# With the right to mount, the recorder does not need tracefs to be mounted.
	hiding /sys/kernel/tracing ebprec-record -q -a -o y.data -- sleep 0.3
	perf evlist -i y.data | grep -qx sched:sched_switch
	run hiding /sys/kernel/tracing setpriv --bounding-set=-sys_admin --inh-caps=-all \
		ebprec-record -q -a -o z.data -- sleep 0.3
	[ "$status" -eq 0 ] || fail "$output"
	contains "$output" "cannot read the format of sched:sched_switch"
	contains "$output" ", skipping"
	ebprec info z.data | grep -q 'cannot read the format of sched:sched_switch'
	perf script -i z.data >out 2>err
	same "" "$(complaints err)"
}

@test "a request that cannot be recorded is refused in one line, without a file" {
	refuses ebprec record -o x.data -p 2147483647
	contains "$stderr" "cannot record process 2147483647: No such process"
	refuses ebprec record -o /nonexistent/x.data -- true
	contains "$stderr" "'/nonexistent/x.data': No such file or directory"
	refuses ebprec record -o /dev/null -- true
	contains "$stderr" "not a regular file"
	refuses ebprec record -o . -- true
	contains "$stderr" "Is a directory"
	same 'stderr' "$(echo *)"
}

@test "META has the options and the machine" {
	ebprec record -q -F 333 -m 1M --without mark -o x.data -- true
	ebprec info x.data >info.txt
	grep -q '"freq_hz": 333' info.txt
	grep -q '"ring_bytes_per_cpu"' info.txt
	grep -qF "\"kernel_cmdline\": \"$(head -c 30 /proc/cmdline | cut -d'"' -f1)" info.txt
	grep -qF "\"distribution\": \"$(. /etc/os-release && echo "$PRETTY_NAME")\"" info.txt
	same '"target", "exec", "cpu", "sched"' "$(sed -n '/"instruments"/,/]/p' info.txt | tr -d '\n' | sed 's/.*\[ *//; s/ *\].*//; s/,  */, /g')"
}

@test "-F max by cpu-clock takes at most 25000 samples a second, with a line about it" {
	local most
	most=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	run ebprec record -e cpu-clock -F max -o m.data -- true
	same 0 "$status"
	if [ "$most" -gt 25000 ]; then
		contains "$output" "cpu-clock: 25000 samples a second in place of $most, as its interrupts would leave programs no time"
		most=25000
	fi
	contains "$(ebprec info --json m.data)" "\"frequency\": $most,"
	run ebprec record -e cpu-clock -F 1000 -o m.data -- true
	! grep "in place of" <<<"$output" || fail "$output"
}

# bats test_tags=long
@test "on a terminal the last line is the command to go on with; not with -q, and not in a file" {
	local command
	for name in x.data "x y.data"; do
		script -qec "ebprec record -o '$name' -- true" /dev/null </dev/null | tr -d '\r' >raw
		command=$(tail -n 1 raw | sed -n 's/^ebprec: next: //p')
		contains "$command" "ebprec summary "
		contains "$(eval "$command")" "$name"
	done
	script -qec "ebprec record -q -o x.data -- true" /dev/null </dev/null >raw
	same "" "$(grep next: raw)"
	ebprec record -o x.data -- true 2>err
	same "" "$(grep next: err)"
}
