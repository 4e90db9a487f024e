#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec script against perf script: the same bytes for the same file, and for slices of it.
# runs beside others: it compares what two programs print of one file

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup_file() {
	need_bpf
	need_perf
	cd "$BATS_FILE_TMPDIR" || return
	ebprec record -q -F 997 -o ours.data -- shares 0.5 >/dev/null 2>&1
	# The recording goes on behind the last sample.
	ebprec record -q -F 997 -d 0.8 -o quiet.data -- sh -c 'shares 0.2; sleep 9' >/dev/null 2>&1
	# Side by side: each waits at its end, up to a second, for its thread that hears of BPF programs.
	{
		perf record -q -e cpu-clock -F 997 -g -o plain.data shares 0.5 &
		perf record -q -e cpu-clock -F 997 -g -z -o packed.data shares 0.5 &
		perf record -q -e cpu-clock -F 997 -g -o - shares 0.5 >pipe.data &
		perf record -q -e cpu-clock -F 997 -o flat.data shares 0.5 &
		perf record -q -e cpu-clock/period=100000,name=cpu-clock/ -e page-faults/period=1,name=page-faults/ \
			-o two.data shares 0.5 &
		# Two of them on one CPU: they take it from each other.
		perf record -q -e sched:sched_switch -g -o trace.data \
			sh -c 'taskset -c 0 shares 0.5 & taskset -c 0 shares 0.5; wait' &
		wait
	} >/dev/null 2>&1 3>&-
}

setup() {
	need_bpf
	need_perf
	cd "$BATS_FILE_TMPDIR" || return
}

# both FILE OPTION... - perf and ebprec print the same of FILE, and it is not empty.
both() {
	local file=$1
	shift
	# perf does not always know the names of other threads, which a recording of one program has only
	# as the other side of a switch.
	perf script --no-inline --comms shares -i "$file" "$@" >perf.txt 2>/dev/null
	ebprec script -q --comm shares -i "$file" "$@" >ours.txt
	[ -s ours.txt ] || fail "nothing in $file for $*"
	# Return addresses are looked up one byte earlier: at the edge of a function, only perf or
	# only we have a name, and the line is otherwise the same.
	diff <(strip perf.txt) <(strip ours.txt) >diff.txt || fail "$file $*: $(head -n 20 diff.txt)"
	[ "$(cmp_lines)" -le $(($(wc -l <ours.txt) / 100)) ] ||
		fail "$file $*: $(diff perf.txt ours.txt | head -n 20)"
}

# A frame's line without its name; all of the event's line.
strip() {
	sed 's/^\(\t *[0-9a-f]* \).* (\([^()]*\))$/\1\2/; s/^\([^\t].*[: ] *[0-9a-f]* \).* (/\1(/' "$1"
}

cmp_lines() {
	diff perf.txt ours.txt | grep -c '^>' || :
}

@test "script prints of our capture what perf script prints" {
	both ours.data
}

@test "script prints of perf's files (plain, compressed, without stacks, piped) what perf script prints" {
	for file in plain packed flat pipe; do
		both $file.data
	done
}

@test "script prints several events and tracepoints as perf script does" {
	both two.data
	both trace.data
}

@test "script prints each set of fields as perf script does" {
	both plain.data -F comm,pid,tid,time,event
	both ours.data -F comm,pid,tid,cpu,time,event
	both plain.data -F comm,ip,sym,dso
	both ours.data -F trace
	both ours.data -F tid,time,period,ip
	both flat.data -F comm,ip,sym,symoff,dso
}

# bats test_tags=long
@test "slices of time are perf's" {
	for file in ours quiet plain flat; do
		# Between samples, wherever they are: a busy machine leaves holes.
		perf script --comms shares -i $file.data -F time 2>/dev/null | tr -d ': ' | grep . |
			jq -R 'tonumber - 0.0001' | xargs printf '%.6f\n' >times.txt
		from=$(sed -n "$(($(wc -l <times.txt) / 5 + 1))p" times.txt)
		to=$(sed -n "$(($(wc -l <times.txt) / 2 + 1))p" times.txt)
		both $file.data --time "$from,$to"
		both $file.data --time "$from,"
		both $file.data --time ",$to"
		both $file.data --time 5%-95%
	done
}

@test "slices that partition the time add up to the capture" {
	ebprec script -q ours.data >all.txt
	: >parts.txt
	for ((i = 0; i < 100; i += 20)); do
		ebprec script -q --time $i%-$((i + 20))% ours.data >>parts.txt
	done
	cmp all.txt parts.txt
}

@test "names of threads cannot write on the terminal" {
	# shellcheck disable=SC2016 # for perl
	ebprec record -q -o controls.data -- perl -e '$0 = "\e[31mE\nV\tL\001"; select(undef, undef, undef, 0.01) for 1 .. 20' 3>&-
	ebprec script -q -i controls.data >controls.txt
	! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' controls.txt || fail "$(grep -m 3 'L' controls.txt | cat -v)"
	grep -qF 'prev_comm=\x1b[31mE\x0aV\x09L\x01 ' controls.txt || fail "$(head -n 3 controls.txt | cat -v)"
}
