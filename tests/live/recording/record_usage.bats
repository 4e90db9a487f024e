#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The use of ebprec record: how it ends, its messages, options that it refuses.
# runs beside others: it reads messages

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
}

# finished FILE - a capture that ended as it should.
finished() {
	contains "$(ebprec info -i "$1")" "finished"
}

@test "a command killed by a signal gives 128 and the signal" {
	status=0
	ebprec record -q -o x.data -- sh -c 'kill -TERM $$' || status=$?
	same 143 $status
	finished x.data
}

@test "a command that does not exist gives 127, one that may not run 126" {
	status=0
	ebprec record -q -o x.data -- ./nowhere 2>err || status=$?
	same 127 $status
	same "ebprec: cannot run './nowhere': No such file or directory" "$(cat err)"
	: >text
	run -127 ebprec record -o x.data -- text
	same "ebprec: cannot run 'text': No such file or directory (it is not in \$PATH: ./ before it names that of this folder)" "$output"
	run -127 ebprec record -o x.data -- nowhere.at.all
	same "ebprec: cannot run 'nowhere.at.all': No such file or directory (no folder of \$PATH has it)" "$output"
	status=0
	ebprec record -q -o x.data -- ./text 2>err || status=$?
	same 126 $status
	same "ebprec: cannot run './text': Permission denied (chmod +x lets it run; 'ebprec report' reads a capture)" "$(cat err)"
	run -126 ebprec record -o x.data -- .
	same "ebprec: cannot run '.': Permission denied (it is a folder, a program was expected)" "$output"
	printf '#!/nonexistent/sh\n' >script
	chmod +x script
	run -127 ebprec record -q -o x.data -- ./script
	same "ebprec: cannot run './script': No such file or directory (the interpreter that it names does not exist)" "$output"
}

# bats test_tags=long
@test "a command sees no file of the recorder's beside the captures" {
	mkdir empty
	cd empty
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		ebprec record -q --without sched,mark -o x.data -- ls -A >>../seen
	done
	same "" "$(grep -vx 'x.data\|x.data.old' ../seen || true)"
	same "x.data x.data.old" "$(echo *)"
}

@test "a command sleep gives the length of the recording, as with perf record -a sleep" {
	shares 60 >printed 3>&- & # an idle machine has no samples
	ebprec record -q -a -F 499 -o x.data sleep 0.7
	kill $!
	wait $! || true
	finished x.data
	[ "$(ebprec report --folded -i x.data --comm shares 2>/dev/null | wc -l)" -gt 0 ] || fail "no samples"
}

@test "SIGTERM ends a recording cleanly too" {
	ebprec record -q -a -o x.data -- sh -c ': >began; exec sleep 60' 3>&- &
	recorder=$!
	await test -e began
	kill -TERM $recorder
	wait $recorder || true
	finished x.data
}

@test "one line at the end sums up the recording" {
	ebprec record -a -d 0.2 -o x.data 2>err
	last=$(tail -n 1 err)
	for word in samples switches MiB lost; do
		contains "$last" "$word"
	done
}

@test "-q prints nothing" {
	run ebprec record -q -a -d 0.2 -o x.data
	same "" "$output"
}

@test "a frequency that is no number, or out of range, is refused" {
	for hz in 0 x 99999999 -5; do
		run ebprec record -q -a -F $hz -d 1 -o x.data
		same 2 "$status"
		[ ! -e x.data ] || fail "left a file"
	done
}

@test "an unknown event is refused with the names of those that exist" {
	run ebprec record -q -a -e cylces -d 1 -o x.data
	same 2 "$status"
	contains "$output" "cycles"
}

@test "--without sched leaves the switches out, and nothing else" {
	need_perf
	ebprec record -q -a --without sched -o x.data -- sh -c 'pingpong 500; shares 0.5' >printed
	read -r pid _ <printed
	same 0 "$(perf script -i x.data 2>/dev/null | grep -c "sched_switch: .*prev_pid=$pid " || true)"
	[ "$(ebprec report --folded -i x.data 2>/dev/null | wc -l)" -gt 0 ] || fail "no samples"
}

@test "a process that starts and ends within the recording has its name and its maps" {
	cp "$(command -v shares)" ./short-lived
	ebprec record -q -a -F 997 -o x.data -- sh -c './short-lived 0.5; rm short-lived'
	ebprec report --folded -i x.data --comm short-lived >folded 2>quality
	n=$(weight 'main;outer;inner|\[short-lived' <folded)
	[ "$n" -gt 20 ] || fail "$(head -5 folded; cat quality)"
}

@test "a program that only waits: report has no samples, and names the views that show waits" {
	ebprec record -q -F 1 -o x.data -- sleep 0.2
	run --separate-stderr ebprec report x.data
	# shellcheck disable=SC2154 # run sets stderr
	contains "$stderr" "nothing ran for an entire period while it was recorded (--wall shows what was waited for, and 'ebprec summary' each thread's time; or record longer, or with a higher -F)"
}
