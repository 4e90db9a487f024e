#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec report: what it refuses, and what it makes of captures that are cut or broken.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# Every way to ask for a report.
ways=("report" "report --folded" "report --folded --annotations")

# each_way FILE WORD - every report refuses FILE with a line that has FILE and WORD in it.
each_way() {
	local way
	for way in "${ways[@]}"; do
		# shellcheck disable=SC2086 # words
		refuses ebprec $way -i "$1"
		contains "$stderr" "'$1'"
		contains "$stderr" "$2"
	done
}

@test "a file that is no capture is refused in one line" {
	mkdir folder
	: >empty.data
	cp /bin/sh program.data
	printf '2ELIFREP%0200d' 0 >big.data
	each_way nowhere.data "No such file"
	each_way folder "irectory"
	each_way empty.data "cut short"
	each_way program.data "not a capture"
	each_way big.data "big-endian"
}

@test "no file named, and no ebprec.data here" {
	refuses ebprec report
	contains "$stderr" "ebprec.data"
}

@test "an option that a view would ignore is refused, and named" {
	wait_story | gen_story w.data
	while IFS='|' read -r words line; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $words w.data
		[ "$status" -eq 2 ]
		contains "$stderr" "ebprec: $line (see"
	done <<-'END'
	report --waits --lines|--waits has no '--lines', which is for the table of functions, --tree, --bottom-up, --callers, --callees, --html and --annotate
	report --waits --max-depth 3|--waits has no '--max-depth', which is for --tree, --bottom-up, --callers and --callees
	report --waits --no-system|--waits has no '--no-system', which is for the table of functions, --tree, --bottom-up, --callers and --callees
	report --waits --sort symbol|--waits has no '--sort symbol', only: comm, pid, tid
	report --waits --event cpu-clock|--waits has no '--event'
	report --off-cpu --weight samples|--off-cpu has no '--weight samples': it is of time
	report --max-depth 3|the table of functions has no '--max-depth', which is for --tree, --bottom-up, --callers and --callees
	report --html-view x|the table of functions has no '--html-view', which is for --html
	report --tree --annotations|--tree has no '--annotations', which is for --folded and --svg
	report --folded --min-percent 3|--folded has no '--min-percent', which is for the table of functions, --tree, --bottom-up, --callers, --callees, --annotate and --waits
	report --folded --sort pid|--folded has no '--sort pid', only: comm
	report --svg x.svg --threads|--svg has no '--threads', which is for the table of functions, --tree, --bottom-up, --callers, --callees and --waits
	report --html x.html --fold-recursion|--html has no '--fold-recursion', which is for --tree, --bottom-up, --callers and --callees
	report --annotate main --sort comm|--annotate has no '--sort', which is for the table of functions, --tree, --bottom-up, --callers, --callees, --folded, --svg and --waits
	report --symbols-report --lines|--symbols-report has no '--lines', which is for the table of functions, --tree, --bottom-up, --callers, --callees, --html and --annotate
	report --process 100 --wall|--process has no '--wall'
	report --process 100 --pid 3|--process has no '--pid'
	report --categories rules|option '--categories' is one of --sort category
	sched --json --top 3|--json, which has all of it, has no '--top'
	sched --latency --all|an answer without --threads has no '--all'
	metrics --list --by comm|--list has no '--by'
	metrics --json=denet --top 3|--json=denet has no '--top'
	export --raw --comm sh|--raw, which is the entire capture, has no '--comm'
	END
	ebprec report -q --waits --sort pid w.data >out
	ebprec report -q --folded --sort comm w.data >out
	ebprec report -q --tree --max-depth 3 --fold-recursion --no-system w.data >out
	ebprec sched --threads --all --top 3 w.data >out
}

# empty_story - two processes on two CPUs, one with two threads
empty_story() {
	cat <<-'EOS'
		0 fork 1 100 100
		0 comm 100 100 server
		0 map 100 0x555555554000 0x10000 0 /usr/bin/server
		0 fork 100 101 101
		0 comm 101 101 client
		0 fork 100 100 102
		0 comm 100 102 worker
		1000 sample 100 100 0 10 u:0x555555554100
		2000 sample 100 102 1 10 u:0x555555554100
		3000 sample 101 101 1 10 u:0x555555554100
	EOS
}

@test "a filter passes nothing: the message names it, and what there is, or what is near" {
	empty_story | gen_story e.data
	while IFS='|' read -r options line; do
		for command in "report" "export --to folded"; do
			# shellcheck disable=SC2086 # words
			run --separate-stderr ebprec $command $options e.data
			[ "$status" -eq 0 ]
			contains "$stderr" "ebprec:   $line"
		done
	done <<-'END'
	-C 7,9-11|nothing is of CPU 7, 9-11; there are: 1, 0
	-p 999|nothing is of process 999; there are: 100 (server), 101 (client)
	-p 102|nothing is of process 102, but of thread 102 of process 100: --tid 102; there are: 100
	--tid 999|nothing is of thread 999; there are: 100 (server), 101 (client), 102 (worker)
	-c nosuch|no thread is called 'nosuch'; there are: client, server, worker
	-c nosuch --time 0%-100%|in this time no thread is called 'nosuch'; there are: client, server, worker
	-c !server,client,worker|--comm leaves everything out
	--dso srver|no file matches 'srver', did you mean 'server'?
	--dso libfoo|no file matches 'libfoo'; there are: /usr/bin/server
	-S nosuch|no function matches 'nosuch'; there are: [server]
	--parent nosuch|no caller matches 'nosuch'; there are: [server]
	--container nosuch|no container matches 'nosuch'; there are none
	-c server -C 1|--comm alone passes 1 samples, but none of them passes the other filters
	-c server -C 1|--cpu alone passes 2 samples, but none of them passes the other filters
	END
	for command in "script" "diff e.data"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $command -p 999 e.data
		contains "$stderr" "ebprec:   nothing is of process 999; there are: 100"
	done
}

@test "no wait of a process: report --waits and sched name the processes that waited" {
	wait_story | gen_story w.data
	for command in "report --waits" "report --off-cpu" "sched" "sched --threads"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $command -p 999 w.data
		contains "$stderr" "ebprec:   nothing is of process 999; there are: 100 (waiter)"
	done
}

# wait_story - a thread that waits once, and wakes another
wait_story() {
	cat <<-'EOS'
		0 fork 1 100 100
		0 comm 100 100 waiter
		0 map 100 0x555555554000 0x10000 0 /usr/bin/waiter
		1000000 switch 0 100 100 1 waiter 0 swapper/0 -1 1 u:0x555555554100
		5000000 wakeup_new 0 0 0 100 waiter
		6000000 switch 0 0 0 0 swapper/0 100 waiter
		9000000 sample 100 100 0 10 u:0x555555554100
	EOS
}

@test "no wait passes the filters: that is reported, and no sample is missed" {
	wait_story | gen_story w.data
	for view in --waits --off-cpu --wakers; do
		contains "$(ebprec report -q $view w.data)" "in 1 waits"
		run --separate-stderr ebprec report $view -c nosuch w.data
		contains "$output" "0 waits"
		contains "$stderr" "ebprec: none of the waits in 'w.data' passes the filters"
		case $stderr in
		*cpu-clock*) fail "$stderr" ;;
		esac
	done
}

@test "no context switches: the advice is that for the recorder of the file" {
	wait_story | grep -v 'switch\|wakeup' | gen_story w.data
	refuses ebprec report --waits w.data
	contains "$stderr" "'w.data' has no context switches (was it recorded --without sched, or without root?)"
	need_perf
	perf record -q -e cpu-clock -o perf.data true 2>/dev/null || skip "perf cannot record here"
	for command in "report --waits" "report --off-cpu" sched; do
		# shellcheck disable=SC2086 # words
		refuses ebprec $command perf.data
		same "ebprec: 'perf.data' has no context switches (record them with 'ebprec record', or with 'perf record -a -g -e sched:sched_switch,sched:sched_wakeup')" \
			"$stderr"
	done
}

@test "only first wakeups of threads: sched reports it, and counts them" {
	wait_story | gen_story w.data
	run --separate-stderr ebprec sched w.data
	contains "$output" "1 wakeups"
	contains "$stderr" "the capture has only the first wakeups of new threads: time in the run queue counts as sleep"
	wait_story | grep -v wakeup | gen_story w.data
	run --separate-stderr ebprec sched w.data
	contains "$stderr" "the capture has no wakeups: time in the run queue counts as sleep"
}

@test "a picture, a page and an export name what they wrote, unless that is standard output" {
	wait_story | gen_story w.data
	for command in "report --svg" "report --html" "export --to chrome -o"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $command out w.data
		[[ $stderr =~ "ebprec: wrote 'out': "[0-9]+" KiB, for " ]] || fail "$command: $stderr"
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $command out -q w.data
		same "" "$stderr"
	done
	run --separate-stderr ebprec report --svg - w.data
	case $stderr in
	*wrote*) fail "$stderr" ;;
	esac
}

@test "code that a signal interrupted is at its address, also at a function's first byte" {
	cat >sig.s <<-END
		.text
		.type before, @function
		before:	.skip 6
		.size before, 6
		.type victim, @function
		victim:	.skip 4
		.size victim, 4
		.skip 1
		.type __restore_rt, @function
		__restore_rt:	.skip 9
		.size __restore_rt, 9
		.type handler, @function
		handler: .skip 3
		.size handler, 3
		.type caller, @function
		caller:	.skip 7
		.size caller, 7
	END
	cc -nostdlib -shared -Wl,-z,noseparate-code -o sig.so sig.s
	nm sig.so >symbols
	at() {
		printf '0x%x' $((0x$(symbol_address "$1" <symbols) + 0x400000 + $2))
	}
	# A call that returns to the first byte of what follows stands in what is before it: no signal.
	cat >story <<-END
		0 fork 1 100 100
		0 comm 100 100 sig
		0 map 100 0x400000 0x1000 0 $PWD/sig.so
		10 sample 100 100 0 1 u:$(at handler 1),$(at __restore_rt 0),$(at victim 0),$(at caller 5)
		20 sample 100 100 0 1 u:$(at handler 1),$(at __restore_rt 0),$(at victim 2),$(at caller 5)
		30 sample 100 100 0 1 u:$(at handler 1),$(at handler 0),$(at caller 5)
	END
	gen_story sig.data <story
	same "sig;caller;__restore_rt;handler 1
sig;caller;victim;__restore_rt;handler 2" "$(ebprec report --folded -q -i sig.data)"
	# A place that calls return to as well stays what it was.
	echo "40 sample 100 100 0 1 u:$(at handler 1),$(at victim 0),$(at caller 5)" >>story
	gen_story sig.data <story
	same "sig;caller;__restore_rt;handler 1
sig;caller;before;__restore_rt;handler 1
sig;caller;before;handler 1
sig;caller;victim;__restore_rt;handler 1" "$(ebprec report --folded -q -i sig.data | sort)"
	# script prints each stack for itself, and leaves it to its reader what returns where: perf prints the
	# same of what was interrupted, and takes what a call returns to for where it stands.
	ebprec script -q -F sym,ip,symoff sig.data | grep -A 1 __restore_rt | grep -o 'victim.*\|before.*' >ours
	same $'victim+0x0\nvictim+0x2' "$(cat ours)"
	need_perf
	perf script -f -F sym,ip,symoff -i sig.data 2>/dev/null | grep -A 1 __restore_rt | grep -o 'victim.*\|before.*' |
		cmp - ours
}

@test "a summary counts the processes that were recorded, not all that have a name" {
	cat >story <<-END
		0 fork 1 100 100
		0 comm 100 100 shell
		10 comm 55 55 waker
		12 fork 100 101 101
		15 sample 100 100 0 1 u:0x400100
		20 sample 56 56 0 1 u:0x400100
		25 comm 56 56 sampled
		30 exit 101 101
	END
	gen_story some.data <story
	same '"processes": 3, "threads": 3, "started": 1, "ended": 1' "$(ebprec summary -q --json -i some.data | tr -d '\n' |
		grep -o '"processes": [0-9]*,.*"ended": [0-9]*' | tr -s ' ')"
}

@test "a capture without samples is no failure, and is reported" {
	gen_capture -o x.data --samples 0
	ebprec report --folded -i x.data >out 2>err
	[ ! -s out ] || fail "$(cat out)"
	[ -s err ] || fail "not a word"
}

@test "filters that make no sense" {
	gen_capture -o x.data --samples 10
	for wrong in "--pid x" "--pid -1" "--cpu 1-" "--time b,a"; do
		# shellcheck disable=SC2086
		run ebprec report $wrong -i x.data
		[ "$status" -eq 2 ] || [ "$status" -eq 1 ] || fail "status $status for $wrong"
		[ "${#lines[@]}" -le 2 ] || fail "$wrong: $output"
	done
}

@test "standard output that is full" {
	gen_capture -o x.data --samples 1000
	for command in "${ways[@]}"; do
		status=0
		# shellcheck disable=SC2086
		ebprec $command -i x.data >/dev/full 2>err || status=$?
		same 1 "$status"
		contains "$(cat err)" "No space left"
	done
}

@test "a reader that goes away early" {
	gen_capture -o x.data --samples 20000 --pids 500
	set +o pipefail
	ebprec report --folded -i x.data 2>err | head -n 1 >first
	status=${PIPESTATUS[0]}
	[ "$status" -ne 139 ] && [ "$status" -ne 134 ] || fail "crashed: $status"
	case $(cat err) in *rror*) fail "$(cat err)" ;; esac
}

# `mutate` and tests/unit/format/reader cut at each byte and flip a bit of each for the library; here it is
# that a command ends so.
# opened FILE - reading FILE ends by itself, with or without success, and reports what is wrong.
opened() {
	local status=0
	timeout 20 ebprec report --folded -i "$1" >out 2>err || status=$?
	[ "$status" -le 1 ] || fail "status $status for $1: $(cat err)"
	[ -s err ] || fail "not a word about $1"
}

@test "a capture cut anywhere opens, or is refused in words" {
	gen_capture -o full.data --samples 3000 --flush 200
	size=$(stat -c %s full.data)
	for ((i = 0; i < 20; i++)); do
		head -c $((size * i / 20)) full.data >cut.data
		opened cut.data
	done
}

@test "a capture with any byte wrong opens, or is refused in words" {
	gen_capture -o full.data --samples 500 --flush 100
	size=$(stat -c %s full.data)
	for ((i = 0; i < 40; i++)); do
		cp full.data bad.data
		printf '\377' | dd of=bad.data bs=1 seek=$((size * i / 40)) conv=notrunc 2>/dev/null
		opened bad.data
	done
}

@test "the same capture gives the same bytes" {
	gen_capture -o x.data --samples 20000 --pids 50
	ebprec report --folded -i x.data >one 2>/dev/null
	ebprec report --folded -i x.data >two 2>/dev/null
	cmp one two
	ebprec report --folded -i - <x.data >three 2>/dev/null
	cmp one three
	LC_ALL=C sort -c one
	same 20000 "$(weight <one)"
}

@test "a capture and its plain rewrite give the same report" {
	gen_capture -o x.data --samples 20000 --pids 50
	ebprec export --raw -q -i x.data -o raw.data
	ebprec report --folded -i x.data >one 2>/dev/null
	ebprec report --folded -i raw.data >two 2>/dev/null
	cmp one two
}

@test "filters leave what they name" {
	gen_capture -o x.data --samples 5000 --pids 5 --cpus 4
	all=0
	for cpu in 0 1 2 3; do
		n=$(ebprec report --folded --cpu $cpu -i x.data 2>/dev/null | weight)
		[ "$n" -gt 0 ] || fail "nothing on CPU $cpu"
		all=$((all + n))
	done
	same 5000 $all
	ebprec report --folded --comm proc3 -i x.data 2>/dev/null >out
	same proc3 "$(cut -d';' -f1 out | sort -u)"
	ebprec report --folded --pid 1003 -i x.data 2>/dev/null >by_pid
	cmp out by_pid
}

@test "the vdso is named by the image in the capture, not by ours" {
	image=$BUILD/tests/lib/fixtures/layout.so # f_sized is at 0x1000 of it
	printf '%s\n' '0 fork 0 7 7' '0 comm 7 7 clock' '0 map 7 0x10000 0x2000 0 [vdso]' \
		"- file [vdso] $image" '1000 sample 7 7 0 1 u:0x11004' | gen_story x.data
	same 'clock;f_sized 1' "$(ebprec report --folded -i x.data 2>/dev/null)"
	ebprec info --extract '[vdso]' x.data | cmp - "$image"
	contains "$(ebprec script -F +origin x.data 2>/dev/null)" "f_sized+0x4 ([vdso]) [names in the capture]"
	contains "$(ebprec report -q --sort symbol,origin x.data)" "f_sized   names in the capture"
	# One that cannot be read is as good as none.
	printf '%s\n' '0 fork 0 7 7' '0 comm 7 7 clock' '0 map 7 0x10000 0x2000 0 [vdso]' \
		'- file [vdso] /dev/null' '1000 sample 7 7 0 1 u:0x11ff0' | gen_story x.data
	contains "$(ebprec report --folded -i x.data 2>/dev/null)" 'clock;'
}

@test "--comm takes the name that is shown for a thread without one, -1 included" {
	printf '%s\n' "10 sample 11 11 0 10 u:0x400100" "12 sample -1 -1 0 10 u:0x400100" >story
	gen_story x.data <story
	same ":-1;[unknown] 1"$'\n'":11;[unknown] 1" "$(ebprec report -q --folded x.data)"
	for comm in :-1 :11; do
		same "$comm;[unknown] 1" "$(ebprec report -q --folded --comm "$comm" x.data)"
		same "$comm" "$(ebprec script --comm "$comm" -F comm x.data | tr -d ' ' | grep .)"
	done
}

# waiter WAIT... - the story of thread 10 of program w, which sleeps; a WAIT is "US,WEIGHT,ADDR": for so many
# microseconds, with a stack of this function if it weighs any
waiter() {
	local at=1000000000 us weight addr stack
	printf -- '- kallsyms %s T %s\n' ffffffff81000000 _text ffffffff81001000 __schedule ffffffff81005000 _etext
	printf '0 kmap 0xffffffff81000000 0x1000000 _text\n0 fork 1 10 10\n0 comm 10 10 w\n'
	printf -- '- file perf-10.map map\n0 map 10 0x7f2200000000 0x10000 0 //anon\n'
	for wait; do
		IFS=, read -r us weight addr <<<"$wait"
		stack=
		[ "$weight" = 0 ] || stack=" k:0xffffffff81001010 u:0x7f220000$addr"
		echo "$((at += 1000000)) switch 0 0 0 0 swapper/0 10 w"
		echo "$((at += 1000000)) switch 0 10 10 1 w 0 swapper/0 230 $weight$stack"
		echo "$((at += us * 1000)) wakeup 1 20 20 10 w"
	done
	echo "$at switch 0 0 0 0 swapper/0 10 w"
	echo "$((at + 1000000)) switch 0 10 10 1 w 0 swapper/0 0 0"
}

@test "the longest wait has no stack: it is where most of the time is, not where the longest with a stack was" {
	cd "$BATS_TEST_TMPDIR" || return
	waiter 10000,1,1000 10000,1,1000 10000,1,1000 12000,1,2000 60000,0,0 >story
	printf '7f2200001000 100 often\n7f2200002000 100 once\n' >map
	gen_story c.data <story
	ebprec report -q --waits --min-percent 0 c.data | sed -n 's/^w  *nanosleep  *//p' | tr -s ' ' >out
	same "3 0.072857143 s 0.060000000 s often
2 0.029142857 s 0.012000000 s once" "$(cat out)"
}

@test "the stack quality names the interpreter whose functions have no names, and what its JIT code needs" {
	cd "$BATS_TEST_TMPDIR" || return
	printf '7f2200000000 100 rb_vm_exec\n7f2200000100 100 execute_ex\n7f2200000200 100 Perl_runops_standard\n' >map
	{
		echo '- file perf-100.map map'
		printf '0 comm %s %s %s\n' 100 100 app 200 200 luajit
		echo '0 map 100 0x7f2200000000 0x10000 0 //anon'
		echo '0 map 200 0x400000 0x10000 0 /usr/bin/luajit'
		echo '0 map 200 0x7f3300000000 0x10000 0 //anon'
		for at in 010 110 210 510; do echo "1$at sample 100 100 0 10 u:0x7f2200000$at"; done
		echo '3000 sample 200 200 0 10 u:0x7f3300000010'
	} | gen_story s.data
	ebprec report s.data 2>&1 >/dev/null | grep -v '^ebprec: [a-z]' >messages
	contains "$(cat messages)" "20.0 % of samples ran Ruby code in perf-100.map: its functions show as rb_vm_exec (ebprec record with BPF reads those of Ruby 3.1)"
	contains "$(cat messages)" "20.0 % of samples ran PHP code in perf-100.map: its functions show as execute_ex (ebprec record with BPF reads those of PHP 8.2, built without threads)"
	contains "$(cat messages)" "20.0 % of samples ran Perl code in perf-100.map: its functions show as Perl_runops_standard (ebprec record with BPF reads those of Perl 5.36, built with threads)"
	contains "$(cat messages)" "no symbol covers this place (code that was made after its map was written: have it written again when the recording ends)"
	contains "$(cat messages)" "LuaJIT: only one that was built with -DLUAJIT_USE_PERFTOOLS has names"
}

@test "waits of one call in three functions, a stack taken of some: each has its own time, the longest without a stack none" {
	cd "$BATS_TEST_TMPDIR" || return
	waits=()
	for ((i = 0; i < 200; i++)); do
		# A stack of each 50th of the short ones stands for 50, and each second one of those that come seldom has one.
		waits+=("5$((i % 7))00,$((i % 50 ? 0 : 50)),1000")
		((i % 10)) || waits+=("500$((i % 7))0,$((i / 10 % 2)),2000")
		((i != 100)) || waits+=("3000000,0,3000")
	done
	waiter "${waits[@]}" >story
	# 200 of 5.0 to 5.6 ms in turns, and each tenth of as many of 50.00 to 50.06 ms.
	local short_us=0 mid_us=0 i
	for ((i = 0; i < 200; i++)); do
		((short_us += 5000 + i % 7 * 100, mid_us += i % 10 ? 0 : 50000 + i % 7 * 10))
	done
	printf '7f2200001000 100 short_nap\n7f2200002000 100 mid_nap\n7f2200003000 100 long_nap\n' >map
	gen_story c.data <story
	ebprec report -q --waits --min-percent 0 c.data | sed -n 's/^w  *nanosleep  *//p' | tr -s ' ' | cut -c1-50 >out
	same "1 3.000000000 s 3.000000000 s
200 $((short_us / 1000000)).$(printf %06d $((short_us % 1000000)))000 s 0.005600000 s short_nap
20 $((mid_us / 1000000)).$(printf %06d $((mid_us % 1000000)))000 s 0.050060000 s mid_nap" "$(sed 's/ *$//' out)"
}

# equal SPAN - a slice of it has the waits, states and processes that --time has of the capture c.data
equal() {
	ebprec slice -q --time "$1" -o part.data c.data
	for view in "report --off-cpu --folded" "report --off-cpu --wakers --folded" "report --wall --folded" \
		"report --waits --threads --csv --min-percent 0" "sched --json -n 0"; do
		# shellcheck disable=SC2086 # words
		ebprec $view --time "$1" c.data 2>/dev/null | grep -v '"file"' >of_time
		# shellcheck disable=SC2086 # words
		ebprec $view part.data 2>/dev/null | grep -v '"file"' >of_slice
		[ -s of_time ] || fail "$1: $view: nothing"
		diff of_time of_slice || fail "$1: $view: --time and slice differ"
	done
	for file in "--time $1 c.data" part.data; do
		# shellcheck disable=SC2086 # words
		ebprec summary -q --json -n 0 $file |
			jq -c '(.capture | {processes, threads, started, ended}), (.processes[] | {pid, samples, cpu_time_ns}), .waits'
	done >summaries
	same "$(head -n $(($(wc -l <summaries) / 2)) summaries)" "$(tail -n $(($(wc -l <summaries) / 2)) summaries)"
}

@test "slice: waits, states and summaries are those of --time, also across its borders" {
	{
		printf '0 fork 1 10 10\n0 comm 10 10 worker\n0 fork 1 20 20\n0 comm 20 20 hog\n0 fork 1 30 30\n0 comm 30 30 idle\n'
		printf '0 fork 1 50 50\n0 comm 50 50 gone\n'
		# It sleeps from before each span until behind it, and is woken there.
		printf '1000000000 switch 0 30 30 1 idle 10 worker 202 1 k:0xffffffff81001010\n'
		printf '1000500000 switch 1 50 50 16 gone 0 swapper/1\n1000500000 exit 50 50\n'
		for i in {1..40}; do
			at=$((1000000000 + i * 10000000))
			# Waits of 9 ms, of which each second one has a stack.
			printf '%d switch 0 10 10 1 worker 20 hog 202 %d k:0xffffffff81002010,0xffffffff81003010\n' $at $((i % 2 * 2))
			printf '%d sample 20 20 0 1000000 u:0x400100\n' $((at + 1000000))
			printf '%d wakeup 1 40 40 10 worker\n' $((at + 9000000))
			printf '%d switch 0 20 20 256 hog 10 worker -1 1 k:0xffffffff81001010\n' $((at + 9500000))
		done
		printf '1415000000 wakeup 1 40 40 30 idle\n1416000000 switch 0 10 10 1 worker 30 idle 202 0\n1420000000 switch 0 30 30 1 idle 0 swapper/0\n'
		# A process that is new behind the span takes the CPU of one in it.
		printf '1421000000 child 1 20 20 60 fresh\n1421000000 fork 20 60 60\n1422000000 wakeup_new 1 20 20 60 fresh\n'
		printf '1423000000 switch 0 0 0 0 swapper/0 60 fresh\n1424000000 switch 0 60 60 0 fresh 20 hog\n1430000000 switch 0 20 20 1 hog 0 swapper/0\n'
		printf -- '- kallsyms ffffffff81001000 T __schedule\n- kallsyms ffffffff81002000 T futex_wait\n- kallsyms ffffffff81003000 T do_syscall_64\n- kallsyms ffffffff81005000 T _etext\n'
	} >story
	gen_story c.data <story
	# Both ends within a wait, one of them, all within one wait, and from the start or to the end.
	for span in 1.015,1.105 1.0195,1.2199 1.1301,1.1305 ,1.205 "1.355," 1.0,1.43; do
		equal "$span"
	done
	# A part of a slice is a slice of that part.
	ebprec slice -q --time 1.015,1.305 -o outer.data c.data
	ebprec slice -q --time 1.045,1.205 -o inner.data outer.data
	ebprec slice -q --time 1.045,1.205 -o part.data c.data
	same "$(ebprec report -q --off-cpu --wakers --folded part.data)" "$(ebprec report -q --off-cpu --wakers --folded inner.data)"
	same "$(ebprec sched --json part.data 2>/dev/null | grep -v '"file"')" "$(ebprec sched --json inner.data 2>/dev/null | grep -v '"file"')"
	# Scrubbed and bundled it is the same, without the names.
	ebprec scrub -q --comm 'hog|idle' -o hidden.data outer.data
	! grep -aqE 'hog|idle' hidden.data || fail "a name is left"
	ebprec export --raw -o raw.data hidden.data
	ebprec bundle -q -o bundled.data outer.data
	for file in hidden bundled; do
		same "$(ebprec report -q --off-cpu --folded outer.data | awk '{ print $NF }' | sort)" \
			"$(ebprec report -q --off-cpu --folded $file.data | awk '{ print $NF }' | sort)"
	done
	# No event of the border is one of the slice.
	same "$(ebprec script -q --time 1.015,1.305 c.data)" "$(ebprec script -q outer.data)"
}

# The spans of FILE, or those that touch FROM,TO (in ns), with their times; null: without an end.
spans_of() {
	ebprec marks -q --json "$1" | jq -c --argjson from "${2:-0}" --argjson to "${3:-9e18}" '.spans[] |
		select(.start_ns <= $to and .start_ns + .duration_ns >= $from) |
		[.start_ns, (if .ended then .duration_ns else null end), .group, .name, .pid, .depth]'
}

@test "slice: spans that begin before it or end behind it are those of the complete capture" {
	{
		printf '0 fork 1 10 10\n0 comm 10 10 alice\n0 fork 1 20 20\n0 comm 20 20 other\n'
		for i in {10..60}; do
			echo "${i}000000 sample 10 10 0 1000000 u:0x400100"
		done
		# Around all, across the start, across the end, inside, before, behind.
		printf '11000000 mark 0 10 10 1 7 0 work outer\n12000000 mark 0 10 10 1 8 0 work before\n13000000 mark 0 10 10 2 8 0 work before\n'
		printf '20000000 mark 0 10 10 1 0 0 work start\n31000000 mark 0 20 20 2 0 0 work start\n'
		printf '31500000 mark 0 10 10 1 9 0 work inside\n32000000 mark 0 10 10 2 9 0 work inside\n'
		printf '38000000 mark 0 10 10 1 11 0 work end at_10.1.2.3\n45000000 mark 0 10 10 2 11 0 work end\n'
		printf '50000000 mark 0 10 10 1 12 0 work behind\n51000000 mark 0 10 10 2 12 0 work behind\n58000000 mark 0 10 10 2 7 0 work outer\n'
		# Two with one name, nested, across both borders; complete ones across each; one without an end; moments.
		printf '21000000 mark 0 20 20 1 0 0 work nest\n22000000 mark 0 20 20 1 0 0 work nest\n33000000 mark 0 20 20 2 0 0 work nest\n41000000 mark 0 20 20 2 0 0 work nest\n'
		printf '31000000 mark 0 20 20 3 0 9000000 done start\n44000000 mark 0 20 20 3 0 9000000 done end\n46000000 mark 0 20 20 3 0 26000000 done all\n47000000 mark 0 20 20 3 0 1000000 done behind\n'
		printf '23000000 mark 0 30 30 1 99 0 work open\n24000000 mark 0 20 20 0 0 0 work moment\n35000000 mark 0 20 20 0 0 0 work moment\n'
	} | gen_story c.data
	ebprec slice -q --time 0.030,0.040 -o part.data c.data
	spans_of c.data 30000000 40000000 >expected
	spans_of part.data >found
	same "$(cat expected)" "$(cat found)"
	same 10 "$(wc -l <found)"
	same 1 "$(ebprec marks -q part.data | grep -c moment)"
	same "" "$(ebprec marks -q part.data 2>&1 >/dev/null)"
	# Their samples are those of the window, and --during knows their times.
	same "$(ebprec report -q --time 0.030,0.040 --folded c.data)" "$(ebprec report -q --during outer --folded part.data)"
	same "$(ebprec script -q --time 0.030,0.040 c.data)" "$(ebprec script -q part.data)"
	# A span is of one thread, and its time is of all: that is noted, unless it is asked for, or the spans are of several.
	contains "$(ebprec report --during outer c.data 2>&1 >/dev/null)" \
		"--during 'outer' counts all threads in that time; the span is of thread 10 (--tid 10 shows that thread alone)"
	for options in "-q --during outer" "--during outer --tid 10" "--during start" "--time 0.030,0.040"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec report $options c.data
		[[ $stderr != *"counts all threads"* ]] || fail "$options: $stderr"
	done
	# A part of a slice is a slice of that part; scrubbed, it has no names.
	ebprec slice -q --time 0.0215,0.0425 -o outer.data c.data
	ebprec slice -q --time 0.030,0.040 -o inner.data outer.data
	same "$(cat expected)" "$(spans_of inner.data)"
	ebprec scrub -q -o hidden.data part.data --check '10\.1\.2\.3'
	same "$(cat expected)" "$(spans_of hidden.data)"
}

@test "--sort takes the titles of columns, too" {
	gen_story t.data <"$BATS_TEST_DIRNAME/../../golden/report-story/story"
	same "$(ebprec report -q --sort symbol,dso t.data)" "$(ebprec report -q --sort function,object t.data)"
}
