#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec report against perf report: self and total of each function, on recordings of every kind;
# and parts that add up to the capture.
# runs beside others: it compares what two programs print of one file

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	need_bpf
	need_perf
	cd "$BATS_FILE_TMPDIR" || return
	ebprec record -q -F 997 -o ours.data -- shares 0.5 >/dev/null 2>&1
	# Side by side: each waits at its end, up to a second, for its thread that hears of BPF programs.
	{
		perf record -q -e cpu-clock -F 997 -g -o plain.data shares 0.5 &
		perf record -q -e cpu-clock -F 997 -g -z -o packed.data shares 0.5 &
		perf record -q -e cpu-clock -F 997 -g -o - shares 0.5 >pipe.data &
		perf record -q -e cpu-clock -F 997 -o flat.data shares 0.5 &
		perf record -q -e cpu-clock -F 499 --call-graph dwarf -o dwarf.data shares 0.5 &
		# Two of them on one CPU: they take it from each other wherever they are.
		perf record -q -e sched:sched_switch -e cpu-clock -F 997 -g -o trace.data \
			sh -c 'taskset -c 0 shares 0.5 & taskset -c 0 shares 0.5; wait' &
		perf record -q -e page-faults/period=1,name=page-faults/ -e cpu-clock/period=1000000,name=cpu-clock/ \
			-g -o two.data shares 0.5 &
		wait
	} >/dev/null 2>&1 3>&-
}

setup() {
	need_bpf
	need_perf
	cd "$BATS_FILE_TMPDIR" || return
}

# perf's percentages, as "symbol number...", of the program's own functions and its libc's start:
# at the edges of other functions names may differ (see names.bats).  Call stubs are left out on both
# sides: perf knows no names of them and takes the one before, _init.
by_perf() {
	# The first of several events: ebprec shows that one.
	perf report --stdio -g none --percent-limit 0 -t '|' "$@" 2>/dev/null |
		awk -f "$BATS_TEST_DIRNAME/perf_rows.awk" |
		grep -v '^_init ' | sort
}

# Ours in the same form; the columns are named.
by_us() {
	local columns=$1
	shift
	ebprec report -q --period --csv --min-percent 0 --sort dso,symbol "$@" | tr -d '\r' >rows.csv
	awk -F, -v columns="$columns" -f "$BATS_TEST_DIRNAME/percent_of_rows.awk" rows.csv | grep -v '@plt ' | sort
}

@test "self of each function is perf's" {
	for file in ours plain packed pipe flat dwarf; do
		by_perf -i $file.data --no-children -F overhead,dso,sym >want
		by_us self -i $file.data >got
		[ "$(wc -l <want)" -ge 3 ] || fail "$file: perf prints $(cat want)"
		diff want got || fail "$file"
	done
}

@test "self and total of each function are perf's" {
	# Not of pipe.data: perf 6.1 adds up no totals of what comes through a pipe.
	for file in ours plain packed dwarf trace; do
		by_perf -i $file.data --children -F overhead_children,overhead,dso,sym >want
		by_us total -i $file.data >got
		[ "$(wc -l <want)" -ge 6 ] || fail "$file: perf prints $(cat want)"
		diff want got || fail "$file"
	done
}

@test "of several events the report has the one that is asked for" {
	for event in cpu-clock page-faults; do
		want=$(perf script -i two.data -F event 2>/dev/null | grep -c "^ *$event")
		[ "$want" -gt 0 ] || fail "no $event"
		same "$want" "$(ebprec report -q --folded --event $event -i two.data |
			weight)"
	done
}

# The samples of ours.data, and of what OPTION... leaves of it.
samples() {
	ebprec report -q --folded "$@" -i ours.data | weight
}

@test "a filter and its negation add up to the capture" {
	all=$(samples)
	for option in --comm=shares --symbol=burn --dso=kernel --parent=share_two --cpu=0 --cgroup=a; do
		with=$(samples "$option")
		without=$(samples "${option/=/=!}")
		same "$all" $((with + without))
	done
	[ "$(samples --parent=share_two)" -gt 0 ] || fail "share_two called nothing"
}

@test "slices that partition the time add up to the capture, function by function" {
	ebprec report -q --folded -i ours.data >all.folded
	for part in 0%-25% 25%-50% 50%-75% 75%-100%; do
		ebprec report -q --folded --time $part -i ours.data
	done | sum_stacks >parts
	diff all.folded parts
}

@test "a tree's parts add up to their parent, and its tops to all" {
	for view in --tree --bottom-up "--callees main" "--callers burn_two" "--tree --threads"; do
		# shellcheck disable=SC2086 # words
		ebprec report -q --json $view -i ours.data | perl "$TEST_LIB/tree_adds_up.pl" "$view" || fail "$view"
	done
	# The tree holds every sample.
	ebprec report -q --json --tree -i ours.data >tree
	sum=$(sed -n 's/.*"sum": \([0-9]*\).*/\1/p' tree)
	same "$(samples)" "$sum"
	same "$sum" "$(sed -n 's/.*"parent": 0, "total": \([0-9]*\).*/\1/p' tree | sum_field 1)"
}

@test "self adds up to all samples, whatever the key" {
	all=$(samples)
	for keys in symbol dso comm pid,tid cpu cgroup container category comm,dso,symbol; do
		same "$all" "$(ebprec report -q --csv --no-children --min-percent 0 --sort $keys -i ours.data |
			sum_field 1 ,)"
	done
}

@test "a process has the threads, mappings, mounts and cgroup of /proc" {
	python3 "$BATS_TEST_DIRNAME/sleepers.py" &
	pid=$!
	await test -e up
	ebprec record -q -a -F 997 -d 0.5 -o process.data
	find /proc/$pid/task -mindepth 1 -maxdepth 1 -printf "%f\n" | sort >threads
	sed -nE 's|^([^-]*)-([^ ]*) ..x.[^/]* (/[^ ]*).*|0x\1 0x\2 \3|p' /proc/$pid/maps | sed 's/0x00*/0x/g' | sort >maps
	cut -d' ' -f1-5 /proc/$pid/mountinfo >mounts
	ebprec report -q --json --process $pid process.data >process.json
	kill $pid
	same "$(cat threads)" "$(jq '.threads[].tid' process.json | sort)"
	same "$(cat maps)" "$(jq -r '.maps[] | select(.path | startswith("/")) | "\(.start) \(.end) \(.path)"' process.json | sort)"
	[ "$(wc -l <maps)" -gt 3 ] || fail "few mappings: $(cat maps)"
	same "" "$(jq -c '.maps[] | select((.path | contains(".so")) and (.build_id // "") == "")' process.json)"
	same "$(cat mounts)" "$(jq -r .mounts.mountinfo process.json | grep . | cut -d' ' -f1-5)"
	jq -e '.process.samples > 0 and .process.samples == ([.threads[].samples] | add)' process.json
}

# bats test_tags=long
@test "merged captures are the sum of their stacks, and perf reads them" {
	shares 1.5 >printed &
	ebprec record -q -a -F 499 -o first.data -- shares 0.8 >printed1 &
	ebprec record -q -a -F 499 -o second.data -- shares 1 >printed2
	wait
	ebprec record -q -a -F 499 -o third.data -- shares 0.3 >printed3
	ebprec merge -q -o merged.data third.data first.data second.data
	# The kernel writes the COMM of an exec to each recorder by itself, some microseconds apart.  A sample between
	# the two has the old name in the part where COMM is the later one, and the new one in the merged capture.
	for part in first second third; do
		ebprec report -q --folded --comm shares -i $part.data | grep -v ';begin_new_exec;'
	done | sum_stacks >want
	ebprec report -q --folded --comm shares -i merged.data | grep -v ';begin_new_exec;' >got
	[ -s want ] || fail "no samples"
	diff want got
	same "$(ebprec report -q --folded -i merged.data | weight)" \
		"$(perf script -i merged.data -F event 2>/dev/null | grep -c cpu-clock)"
}

# bats test_tags=long
@test "source lines are perf's" {
	perf record -q -e cpu-clock -F 997 -g -o lines.data twolines 1 >/dev/null 2>&1
	perf report -i lines.data --no-children --sort srcline --stdio -g none 2>/dev/null |
		grep 'twolines.c:' | awk '{ print $2, $1 }' | sort >want
	for how in --lines "--lines --inline" "--sort line,dso"; do
		# shellcheck disable=SC2086 # words
		ebprec report -q --json --min-percent 0 $how -i lines.data >rows.json
		jq -r '.sum as $all | [.rows[] | select(.line // "" | startswith("twolines"))] | group_by(.line)[] |
			[.[0].line, 100 * (map(.self) | add) / $all] | select(.[1] > 0) | @tsv' rows.json | xargs -n 2 printf '%s %.2f%%\n' | sort >got
		[ "$(wc -l <got)" -ge 5 ] || fail "$how: $(cat got)"
		diff want got || fail "$how"
	done
	perf report -i lines.data --no-children --sort srcfile --stdio -g none 2>/dev/null |
		grep 'twolines.c' | awk '{ print $1 }' >want
	same "$(cat want)" "$(ebprec report -q --json --min-percent 0 --sort srcfile -i lines.data |
		jq -r '.sum as $all | .rows[] | select(.srcfile == "twolines.c") | 100 * .self / $all' | xargs printf '%.2f%%')"
	# Inlined code has its own function's lines with --inline, else its caller's name.
	contains "$(ebprec report -q --lines --inline -i lines.data)" "turn "
}

# bats test_tags=long
@test "annotate: each instruction of each function has the samples of perf annotate" {
	for name in ours plain packed; do
		ebprec report -q --sort symbol --csv --dso '/shares$' -i $name.data | tr -d '\r' |
			sed '1d; /^0*,/d' | cut -d, -f3 >functions
		[ "$(wc -l <functions)" -ge 2 ] || fail "$name: $(cat functions)"
		while read -r function; do
			perf annotate --stdio -n -s "$function" -i $name.data 2>/dev/null |
				sed -n 's/^ *\([0-9][0-9]*\) : *\([0-9a-f][0-9a-f]*\):.*/\2 \1/p' >want
			ebprec report -q --annotate "$function" --dso '/shares$' --asm -i $name.data |
				sed -n 's/^ *[0-9.]*%  *[0-9.]*%  *\([0-9]*\)  *\([0-9a-f][0-9a-f]*\)  .*/\2 \1/p' >got
			[ -s got ] || fail "$name: $function"
			diff <(grep -v ' 0$' want) got || fail "$name: $function"
		done <functions
	done
}
