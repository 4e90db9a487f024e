#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Every view of many kinds of files that stock perf wrote: it answers, or prints what the file lacks.

# shellcheck disable=SC2086,SC2046 # kinds are single words

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

# A load with samples, switches, system calls and page faults, whatever else the machine does.
load() {
	i=0
	while [ $i -lt 20 ]; do
		head -c 3000000 /dev/zero | tr '\0' x | wc -c
		i=$((i + 1))
	done >/dev/null
	sleep 0.02
}

# recorded FILE OPTION... - perf record of the load.  perf 6.1 crashes on mappings with build-ids, which it
# gets (on Linux 6.18) while another process asks the kernel for them: then it records once more.
recorded() {
	local file=$1 status=1
	shift
	for _ in 1 2 3 4 5; do
		status=0
		case " $* " in
		*" -o - "*) perf record -q "$@" bash load.sh >"$file" || status=$? ;;
		*) perf record -q "$@" -o "$file" bash load.sh || status=$? ;;
		esac
		[ $status -ge 128 ] || return $status
	done
	return $status
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	need_root
	need_perf
	declare -f load >load.sh
	echo load >>load.sh
	cpu="-e cpu-clock -F 499"
	# shellcheck disable=SC2086 # words
	{
		recorded plain.data $cpu -g
		recorded flat.data $cpu
		recorded z.data $cpu -g -z
		recorded pipe.data $cpu -g -o -
		recorded pipe-z.data $cpu -g -z -o -
		recorded dwarf.data $cpu --call-graph dwarf,4096
		recorded several.data -e cpu-clock -e task-clock -e page-faults -F 997 -g
		recorded trace.data -e sched:sched_switch -e sched:sched_wakeup -e syscalls:sys_enter_read -g -a
		recorded group.data -e '{cpu-clock,page-faults}:S'
		recorded thread.data $cpu -g -a --per-thread || recorded thread.data $cpu -g --per-thread
		perf sched record -q -o sched.data bash load.sh
		recorded bare.data $cpu --no-buildid --no-buildid-cache
	} 2>perf.err >&2
	kinds="plain flat z pipe pipe-z dwarf several trace group thread sched bare"
	export kinds
	for kind in $kinds; do
		[ -s $kind.data ] || fail "perf wrote no $kind.data: $(cat perf.err)"
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# tries FILE WANTED-STATUSES COMMAND... - ends with one of these, without a crash or a hang.
tries() {
	local file=$1 statuses=$2 status=0
	shift 2
	timeout 60 "$@" >out 2>err </dev/null || status=$?
	case " $statuses " in
	*" $status "*) ;;
	*) fail "$file: '$*' ended with $status: $(head -3 err)" ;;
	esac
	# A failure is one line of ours.
	[ "$status" -eq 0 ] || grep -q '^ebprec: ' err || fail "$file: '$*' failed without a word"
}

# heads - how many samples there are in the text of a script
heads() {
	grep -cE ' [0-9]+\.[0-9]{6}: '
}

# samples FILE - how many records of samples perf finds.  For a sample of a group that reads its members perf
# prints one for each member that counted something.  Where perf fails in the middle (see recorded), with a
# message, the number is that of its own statistics, which do not look into mappings.
samples() {
	local status=0
	perf script -f -D -i "$1" >dump 2>dump.err || status=$?
	if [ $status -eq 0 ]; then
		grep -c 'PERF_RECORD_SAMPLE' dump
		return
	fi
	echo "# perf script -D of $1 ended with $status after $(grep -c PERF_RECORD_SAMPLE dump) samples:" \
		"$(tail -n 1 dump.err)" >&3
	stats "$1"
}

# stats FILE - the same by perf's statistics
stats() {
	perf report -f --stats -i "$1" 2>/dev/null | pick_fields 1 SAMPLE 3 | head -n 1
}

# counts FILE WANT GOT - fails with the counts of perf and ebprec when they differ
counts() {
	[ "$2" = "$3" ] || fail "$1: perf script -D has $2 samples, perf report --stats $(stats "$1"), ebprec $3"
}

@test "info and summary answer for every kind, and the summary matches its schema" {
	for kind in $kinds; do
		tries $kind 0 ebprec info $kind.data
		tries $kind 0 ebprec info --json --blocks --objects $kind.data
		tries $kind 0 ebprec summary -q $kind.data
		tries $kind 0 ebprec summary -q --json $kind.data
		python3 "$TEST_LIB/schema.py" "$BATS_TEST_DIRNAME/../../../docs/summary.schema.json" out || fail "$kind: $(cat out)"
		contains "$(cat out)" '"command_lines": false'
	done
}

@test "reports of every kind answer, and add up" {
	for kind in $kinds; do
		for view in "" --folded --tree --bottom-up "--callers ." "--callees ." --csv --json --threads \
			"--sort comm,dso,symbol" "--sort cpu,category" "--sort cgroup,container" --no-children \
			--lines --symbols-report "--weight period" "--no-idle --no-kernel-threads" "--no-system --tree"; do
			# shellcheck disable=SC2086 # words
			tries $kind "0" ebprec report $view $kind.data
		done
		ebprec report -q --folded $kind.data >folded
		[ -s folded ] || fail "$kind: no stacks"
		same "$(weight <folded)" \
			"$(ebprec summary -q --json $kind.data | sed -n 's/^  "samples": \([0-9]*\),*$/\1/p')"
	done
}

@test "script prints every sample of every kind" {
	for kind in $kinds; do
		tries $kind 0 ebprec script $kind.data
		[ $kind = group ] || counts $kind.data "$(samples $kind.data)" "$(ebprec script -q $kind.data | heads)"
	done
}

# script_lines COMMAND... - each sample of a script, without the blanks that align it
script_lines() {
	"$@" -F comm,tid,time,event,period 2>/dev/null | sed 's/  */ /g; s/ $//'
}

@test "members of a group have the samples and periods that perf gives them, in slices, too" {
	script_lines perf script -f -i group.data >want
	[ -s want ] || fail "perf prints nothing of group.data"
	script_lines ebprec script -q -i group.data >got
	same "$(cat want)" "$(cat got)"
	for event in cpu-clock page-faults; do
		pick_fields 5 $event: 4 <want >periods
		same "$(wc -l <periods) $(sum_field 1 <periods)" \
			"$(for weight in samples period; do
				ebprec report -q --folded --event $event --weight $weight group.data 2>/dev/null |
					weight
			done | xargs)"
	done
	# From the middle on: a count of before is not printed again, and not in a slice written to a file either.
	from=$(sed -n "$(($(wc -l <want) / 2 + 1))p" want | awk '{ print $3 }' | tr -d :)
	script_lines perf script -f --time "$from," -i group.data >want
	script_lines ebprec script -q --time "$from," -i group.data >got
	same "$(cat want)" "$(cat got)"
	ebprec slice -q --time "$from," -o part.data -i group.data
	script_lines ebprec script -q -i part.data >got
	same "$(cat want)" "$(cat got)"
	script_lines perf script -f -i part.data >got
	same "$(cat want)" "$(cat got)"
	run -1 ebprec merge -o merged.data group.data group.data
	contains "$output" "cannot be joined"
}

@test "a view that lacks its events in a file reports it" {
	for kind in $kinds; do
		case $kind in
		sched | trace) want=0 ;;
		*) want=1 ;;
		esac
		tries $kind $want ebprec sched $kind.data
		tries $kind $want ebprec report --off-cpu $kind.data
		tries $kind "0 1" ebprec metrics $kind.data
		tries $kind "0 1" ebprec marks $kind.data
		tries $kind "0 1" ebprec report --of syscalls $kind.data
		pid=$(perf script -f -F pid -i $kind.data 2>/dev/null | grep -m 1 -o '[1-9][0-9]*' || true)
		[ -z "$pid" ] || tries $kind 0 ebprec report --process "$pid" $kind.data
		tries $kind 1 ebprec report --process 4194303 $kind.data
	done
}

@test "filters and slices answer for every kind" {
	for kind in $kinds; do
		for filter in "--comm tr,wc" "--comm !tr" "--cpu 0" "--time 10%-60%" "--last 100ms" "--dso ." "--symbol ." \
			"--parent ." "--cgroup !x" "--comm tr --cpu 0-1 --time 0%-90% --dso . --symbol !nothing"; do
			# shellcheck disable=SC2086 # words
			tries $kind 0 ebprec report $filter $kind.data
		done
		tries $kind "0" ebprec slice --time 10%-60% -o part.data -i $kind.data
		tries $kind 0 ebprec report part.data
		perf script -f -i part.data >/dev/null 2>err || fail "$kind: perf cannot read its slice: $(head -3 err)"
	done
}

@test "a folder of perf record --threads is refused, and its file reports that its samples are elsewhere" {
	perf record -q -e cpu-clock -F 499 -g -a --threads -o folder.data bash load.sh 2>perf.err >&2 ||
		fail "$(cat perf.err)"
	run -1 --separate-stderr ebprec report folder.data
	same "ebprec: cannot open 'folder.data': Is a directory (name the file in it)" "$stderr"
	run -0 --separate-stderr ebprec report --folded folder.data/data
	same "ebprec: 'folder.data/data' has no samples: those of 'perf record --threads' are in files beside it, which are not read (record without it)" "$stderr"
}

@test "a slice written to a file has the samples of each event that --time has" {
	for event in sched:sched_switch sched:sched_wakeup syscalls:sys_enter_read; do
		ebprec slice -q --time 10%-60% -o part.data -i trace.data
		same "$event $(ebprec report -q --folded --event $event --time 10%-60% trace.data | sort | cksum)" \
			"$event $(ebprec report -q --folded --event $event part.data | sort | cksum)"
	done
}

@test "exports, comparison, merging and copies answer for every kind" {
	for kind in $kinds; do
		for form in $(ebprec export --list | grep -v ' a folder ' | awk '{ print $1 }'); do
			tries $kind 0 ebprec export --to $form -o exported -i $kind.data
		done
		ebprec export -q --raw -o raw-again.data -i $kind.data
		counts $kind.data "$(samples $kind.data)" "$(samples raw-again.data)"
		tries $kind "0" ebprec diff $kind.data $kind.data
		tries $kind "0 1" ebprec merge -o merged.data $kind.data $kind.data
		tries $kind "0 1" ebprec bundle -o bundled.data -i $kind.data
		tries $kind "0 1" ebprec scrub -o scrubbed.data -i $kind.data
	done
}
