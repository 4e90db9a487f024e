#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# One kind of call after the other fails in a running recorder: what was lost is counted, all else is
# recorded.  failcall.c makes them fail.

load ../../lib/helper
load ../../lib/metrics

setup_file() {
	export our_dd=$BATS_FILE_TMPDIR/our-dd
	cp "$(type -P dd)" "$our_dd"
}

setup() {
	need_bpf
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
}

# failing CALL [NAME=VALUE...] -- CMD... - runs CMD, whose stderr goes to err; status is how it ended
failing() {
	local call=$1 names=()
	shift
	while [ "$1" != -- ]; do
		names+=("FAILCALL_$1")
		shift
	done
	shift
	status=0
	timeout -s KILL 100 env LD_PRELOAD="$BUILD/tests/lab/faults/failcall.so" "FAILCALL=$call" "${names[@]}" "$@" \
		2>err 3>&- || status=$?
}

# failed FILE - prints the failures that the capture lists, a line each
failed() {
	account_json "$1" | jq -r '.failures // [] | .[] | "\(.what): \(.error)"'
}

# reports_failure WHAT - one line on stderr, the capture, the summary and the exit status report that WHAT failed
reports_failure() {
	same 1 "$status"
	same 1 "$(grep -c "^ebprec: $1: " err)"
	grep -q "^$1: " <(failed r.data) || fail "the capture has: $(failed r.data)"
	grep -qE ' lost( \([0-9]+ of them samples\))?, 1 part failed, ' err || fail "the summary: $(cat err)"
}

# reports_delay WHAT - one line on stderr and the capture report that WHAT failed; nothing is missing, so the summary
# and the exit status do not
reports_delay() {
	same 0 "$status"
	same 1 "$(grep -c "^ebprec: $1: " err)"
	grep -q "^$1: " <(failed r.data) || fail "the capture has: $(failed r.data)"
	if grep 'part failed' err; then fail "the summary counts it"; fi
}

# counted - 15 times a dd of our own, as others may run dd meanwhile, which writes 2,000 times, over 3 s
# shellcheck disable=SC2016 # for the shell that is recorded
counted='for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	"$our_dd" if=/dev/zero of=/dev/null bs=1 count=2000 status=none
	sleep 0.2
done'

# all_counted TABLE... - these have what `counted` did
all_counted() {
	for table; do
		case $table in
		syscalls) same 30000 "$(field r.data syscalls comm=our-dd,syscall=write count --top 0)" ;;
		exits) same 15 "$(field r.data exits comm=our-dd threads --top 0)" ;;
		esac
	done
}

busy() {
	storm 300 60 >/dev/null 2>&1 3>&- &
	load=$!
}

@test "a ring of perf events without a record at its tail: what is skipped counts as lost" {
	for how in "" --no-bpf; do
		busy
		# shellcheck disable=SC2086 # no word, or one
		failing corrupt:perf TIMES=2 -- ebprec-record -a -F 499 -d 3 -q $how -o r.data
		kill "$load"
		same 0 "$status"
		same 1 "$(grep -c '^ebprec: a ring of perf events holds what is no record: ' err)"
		intact r.data
		[ "$(account r.data lost side_bytes)" -gt 0 ] || fail "no bytes were skipped"
		if [ -z "$how" ]; then
			[ "$(account r.data lost side_records)" -ge 2 ] || fail "not counted"
		else
			[ "$(account r.data lost samples)" -ge 2 ] || fail "not counted"
		fi
		# The recorder reads all mappings again, so that code still has its file.
		perf script -i r.data -F comm,ip,dso 2>/dev/null | grep -q 'storm' || fail "no samples"
	done
}

@test "a table that cannot be read once is read with the next interval" {
	failing bpf:24:table_syscalls AFTER=6 TIMES=1 ERRNO=12 -- \
		ebprec-record -a -q --with syscalls,exits --interval 0.25 -o r.data sh -c "$counted"
	intact r.data
	reports_delay "cannot read the table 'syscalls'"
	all_counted syscalls exits
	same 0 "$(account r.data lost rows)"
}

@test "a table that can never be read costs its own rows, which count as lost" {
	failing bpf:24:table_exits ERRNO=12 -- \
		ebprec-record -a -q --with syscalls,exits --interval 0.25 -o r.data sh -c "$counted"
	intact r.data
	reports_failure "cannot read the table 'exits'"
	all_counted syscalls
	[ "$(account r.data lost rows)" -ge 30 ] || fail "$(account r.data lost rows) rows of 15 dd and 15 sleep"
	same 1 "$(grep -c "^ebprec: $(account r.data lost rows) rows of the table 'exits' could not be read and are lost" err)"
}

@test "a table that cannot be emptied once has each row once" {
	failing bpf:27:table_syscalls AFTER=3 TIMES=2 ERRNO=12 -- \
		ebprec-record -a -q --with syscalls,exits --interval 0.25 -o r.data sh -c "$counted"
	intact r.data
	reports_delay "cannot read the table 'syscalls'"
	all_counted syscalls exits
	same 0 "$(account r.data lost rows)"
}

@test "a map that waits for programs fails: the tables are read with the next interval" {
	failing bpf:2:ebprec_fence AFTER=4 TIMES=3 ERRNO=12 -- \
		ebprec-record -a -q --with syscalls,exits --interval 0.25 -o r.data sh -c "$counted"
	intact r.data
	reports_delay "cannot wait for the programs of 'tables'"
	all_counted syscalls exits
	same 0 "$(account r.data lost rows)"
}

@test "the map of lost events that cannot be read costs the newest counts" {
	busy
	failing bpf:1:ebprec_lost AFTER=22 ERRNO=12 -- ebprec-record -a -F 499 -d 3 -q -o r.data
	intact r.data
	reports_failure "cannot read how many events were lost"
	[ "$(account r.data samples)" -gt 100 ] || fail "not recorded"
}

@test "the map of what sampling costs that cannot be read costs these numbers" {
	busy
	failing bpf:1:costs ERRNO=12 -- ebprec-record -a -F 499 --max-overhead 5 -d 3 -q -o r.data
	intact r.data
	reports_failure "cannot read what sampling costs"
	same 0 "$(account r.data own_cpu sampling_ns)"
	[ "$(account r.data samples)" -gt 100 ] || fail "not recorded"
}

@test "an instrument whose map cannot be made is left out, the others are recorded" {
	failing bpf:0:table_syscalls ERRNO=12 -- \
		ebprec-record -a -q --with syscalls,exits -o r.data sh -c "$counted"
	same 0 "$status"
	intact r.data
	grep -q "^ebprec: cannot load 'syscalls': Cannot allocate memory .*, skipping$" err || fail "$(cat err)"
	all_counted exits
}

@test "the program of switches cannot be loaded: the capture reports that it has none" {
	failing bpf:5:on_switch ERRNO=22 -- ebprec-record -a -q -o r.data sleep 0.3
	same 0 "$status"
	grep -q "^ebprec: cannot load the recorder of context switches: Invalid argument .*, skipping$" err
	status=0
	ebprec sched r.data 2>why || status=$?
	same "1 ebprec: 'r.data' has no context switches (was it recorded --without sched, or without root?)" \
		"$status $(cat why)"
}

@test "a map of mappings that takes no process: its stacks are found otherwise, and it is counted" {
	busy
	failing bpf:2:ebprec_procs ERRNO=7 -- ebprec-record -a -F 499 -d 3 -q -o r.data
	same 0 "$status"
	intact r.data
	[ "$(account r.data user_stacks processes_without_room)" -gt 0 ] || fail "not counted"
	[ "$(account r.data samples)" -gt 100 ] || fail "not recorded"
}

@test "no BPF ring can be mapped: recorded by perf events, with the reason" {
	failing mmap:bpf ERRNO=1 -- ebprec-record -a -d 1 -q -o r.data
	same 0 "$status"
	intact r.data
	grep -q "^ebprec: recording by perf events, .*cannot make the BPF rings" err || fail "$(cat err)"
}

@test "no ring of perf events can be mapped: refused in one line, and nothing is left" {
	failing mmap:perf ERRNO=12 -- ebprec-record -a -d 1 -q -o r.data
	same 1 "$status"
	same 1 "$(wc -l <err)"
	same err "$(ls)"
}

@test "rings that cannot be watched are looked at ten times a second" {
	busy
	failing epoll_ctl AFTER=1 ERRNO=28 -- ebprec-record -a -F 499 -d 3 -q -o r.data
	intact r.data
	reports_delay "cannot watch a ring or a helper"
	same 0 "$(account r.data lost samples)"
	[ "$(account r.data samples)" -gt 100 ] || fail "not recorded"
}

@test "a wait for events that fails ends the recording, and the capture is finished" {
	busy
	failing epoll_wait AFTER=60 ERRNO=12 -- ebprec-record -a -F 499 -d 60 -q -o r.data
	same 1 "$status"
	intact r.data
	same "ebprec: cannot wait for events: Cannot allocate memory (what was recorded before is readable)" \
		"$(grep cannot err)"
	same failed "$(account r.data ended)"
}

@test "no thread can be made: tables are collected all the same, and stacks found by frame pointers" {
	failing pthread_create ERRNO=11 -- \
		ebprec-record -a -q --with syscalls,exits -o r.data sh -c "$counted"
	same 0 "$status"
	intact r.data
	grep -q '^ebprec: cannot unwind by tables: Resource temporarily unavailable: ' err || fail "$(cat err)"
	all_counted syscalls exits
	same 0 "$(account r.data user_stacks found_by tables)"
}

@test "no helper process can be made: what they read is missing, all else is recorded" {
	busy
	EBPREC_TABLE_CACHE=none failing posix_spawn ERRNO=11 -- \
		ebprec-record -a -q -F 499 --table-cache none --with syscalls,exits -o r.data sh -c "$counted"
	same 0 "$status"
	intact r.data
	grep -q '^ebprec: no unwind tables of [1-9][0-9]* files: the process that reads them died (cannot be started' err ||
		fail "$(cat err)"
	all_counted syscalls exits
	[ "$(account r.data samples)" -gt 100 ] || fail "not recorded"
}

# each_fails CALL ERRNO MOST - of the first MOST calls of this kind that a recording makes one fails, another each time: it is
# recorded without, or refused in one line, and what is in the file can be read
each_fails() {
	local n count=0
	for ((n = 0; n < $3; n++)); do
		rm -f r.data happened
		failing "$1" AFTER=$n TIMES=1 "ERRNO=$2" "DONE=$PWD/happened" -- \
			ebprec-record -a -q -F 99 -d 0.2 --with exits -o r.data
		[ -e happened ] || break
		count=$((count + 1))
		[ "$(grep -vc '^ebprec: ' err || true)" -eq 0 ] || fail "$1, $n: $(cat err)"
		case $status in
		0) ;;
		1) [ -s err ] || fail "$1, $n: without a reason" ;;
		*) fail "$1, $n: status $status: $(cat err)" ;;
		esac
		if [ -e r.data ]; then
			ebprec info r.data >info.txt
			grep -qx '  state *finished' info.txt || fail "$1, $n: $(cat err info.txt)"
			grep -qx '  any *no' info.txt || fail "$1, $n: $(cat err info.txt)"
		else
			[[ $status -eq 1 && $(wc -l <err) -eq 1 ]] || fail "$1, $n: $(cat err)"
		fi
	done
	echo "# $1: $count calls failed, one after the other" >&3
	[ "$count" -gt 0 ] || fail "there is no such call"
}

@test "each map of BPF that cannot be made: recorded without, or refused in one line" {
	each_fails bpf:0 12 200
}

@test "each write to a map of BPF that fails, of the first 100: recorded without, or refused in one line" {
	each_fails bpf:2 12 100
}

@test "each program of BPF that cannot be loaded: recorded without, or refused in one line" {
	each_fails bpf:5 22 200
}

@test "each link of a BPF program that fails: recorded without, or refused in one line" {
	each_fails bpf:28 22 100
}

@test "each event and each ring that cannot be opened or mapped: recorded without, or refused in one line" {
	each_fails perf_event_open 24 100
	each_fails mmap:perf 12 20
	each_fails mmap:bpf 12 60
}

@test "each thread, helper, descriptor and watch that cannot be had: recorded without, or refused in one line" {
	each_fails pthread_create 11 40
	each_fails posix_spawn 11 20
	each_fails epoll_ctl 28 40
	each_fails eventfd 24 5
	each_fails timerfd_create 24 5
	each_fails signalfd 24 5
}

@test "helpers that are killed again and again cost the files that they were reading" {
	busy
	ebprec-record -a -F 499 -d 4 -q --table-cache none -o r.data 2>err 3>&- &
	pid=$!
	await has_samples r.data
	for _ in $(seq 40); do
		pgrep -P $pid -f -- '--elf-' | xargs -r kill -KILL 2>/dev/null || true
		sleep 0.05
	done
	status=0
	wait $pid || status=$?
	same 0 "$status"
	intact r.data
	[ "$(account r.data samples)" -gt 100 ] || fail "not recorded"
}

@test "a folder without files that have no name: the capture has one of its own until it is in its place" {
	failing nameless ERRNO=95 -- ebprec-record -a -q -d 1 -o r.data
	same 0 "$status"
	same "err r.data" "$(echo [a-z]*)"
	intact r.data
}
