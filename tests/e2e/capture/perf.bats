#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Stock perf reads captures, exports and slices: the same words for the same events.

# shellcheck disable=SC2154 # run sets stderr

load ../../lib/helper

# Files of each kind that is hard on a reader, for all tests; their names are in the file kinds.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	gen_capture -o plain-chains.data --samples 5000 --flush 800
	gen_capture -o objects.data --samples 3000 --flush 500 --object 200000
	gen_capture -o no-rounds.data --samples 2500 --flush 350 --no-round
	gen_capture -o big-records.data --samples 100 --flush 17 --raw 59996 --big
	gen_capture -o ties.data --samples 2500 --ties 50 --pids 100 --cpus 7
	gen_capture -o no-stacks.data --samples 1000 --depth 0
	gen_capture -o many-processes.data --samples 2000 --pids 2000 --depth 3
	gen_capture -o no-samples.data --samples 0
	gen_capture -o live.data --samples 2500 --flush 300 --live
	echo plain-chains objects no-rounds big-records ties no-stacks many-processes no-samples live >kinds
}

setup() {
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
}

# perf_prints FILE WORDS... - stdout of perf, which must exit with 0 and print nothing on stderr.
perf_prints() {
	local file=$1 command=$2
	shift 2
	perf "$command" -i "$file" "$@" >out 2>err || fail "perf $command -i $file: $? $(head -3 err)"
	[ ! -s err ] || fail "perf $command -i $file printed: $(head -3 err)"
	grep -v '^# (Tip:' out || true
}

# report FILE - perf warns about a file without a kernel in it, which these have not; its warning is
# compared, too.
report() {
	perf report --stdio --no-children -i "$1" >out 2>err || fail "perf report: $? $(cat err)"
	grep -iE 'out of order|decompress|failed|error' err && fail "perf report: $(cat err)"
	cat err
	grep -v '^# (Tip:' out
}

@test "script and report of a capture and of its plain rewrite are the same" {
	cd "$BATS_FILE_TMPDIR" || return
	for name in $(<kinds); do
		ebprec export --raw -q -i "$name.data" -o raw.data
		if [ "$name" = no-samples ]; then
			continue # perf refuses both, see below
		fi
		perf_prints "$name.data" script >printed
		perf_prints raw.data script >raw
		cmp printed raw || fail "script of $name differs"
		[ -s printed ] || fail "$name: no output"
		report "$name.data" >printed
		report raw.data >raw
		cmp printed raw || fail "report of $name differs"
	done
}

@test "the plain rewrite holds no compressed and no private record" {
	gen_capture -o a.data --samples 3000 --flush 500 --object 20000
	ebprec export --raw -q -i a.data -o raw.data
	perf report --stats -i a.data >printed 2>/dev/null
	grep -q 'COMPRESSED events:' printed
	grep -q 'EVENT_TYPE events:' printed
	perf report --stats -i raw.data >raw 2>/dev/null
	if grep 'COMPRESSED events:\|EVENT_TYPE events:' raw; then
		fail "they are in the rewrite"
	fi
	same "$(grep 'SAMPLE events:' printed | awk '{ print $3 }')" "$(grep 'SAMPLE events:' raw | awk '{ print $3 }')"
}

@test "the other commands of perf end with 0" {
	gen_capture -o a.data --samples 3000 --flush 500 --object 20000
	for command in "evlist -v" "buildid-list" "report --header-only" "script -D" "report --stats"; do
		# shellcheck disable=SC2086 # words
		perf ${command%% *} -i a.data ${command#"${command%% *}"} >out 2>err ||
			fail "perf $command: $? $(head -3 err)"
	done
	perf diff a.data a.data >out 2>err || fail "perf diff: $? $(head -3 err)"
}

@test "perf inject keeps every event" {
	gen_capture -o a.data --samples 3000 --flush 500 --object 20000
	perf_prints a.data script >printed
	for option in "" -b; do
		# shellcheck disable=SC2086 # maybe no word
		perf inject $option -i a.data -o injected.data 2>err || fail "perf inject: $(head -3 err)"
		perf script -i injected.data 2>/dev/null | cmp - printed
	done
	# A file that perf wrote has lost our parts, and ebprec reads it all the same.
	ebprec info injected.data | grep -qx 'SAMPLE  *3000'
}

# bats test_tags=long
@test "a slice prints the same as --time of the complete capture" {
	cd "$BATS_FILE_TMPDIR" || return
	for name in $(<kinds); do
		[ "$name" != no-samples ] || continue
		for span in 1.01,1.02 1.0,1.0 1.00005,1.0007 ,1.001 '1.003,' 0,99; do
			perf script -i "$name.data" --time "$span" >printed 2>err || fail "$name $span: $(cat err)"
			ebprec slice --time "$span" -q -i "$name.data" -o slice.data 2>err
			if [ ! -s printed ]; then
				grep -qE "^ebprec: 'slice.data' has no samples" err || fail "$(cat err)"
				same 1 "$(grep -cE "(it is|are) from [0-9]+\.[0-9]{6} s to [0-9]+\.[0-9]{6} s, which is \+0,\+[0-9]+\.[0-9]{6}$" err)"
				continue
			fi
			perf_prints slice.data script >slice
			cmp printed slice || fail "$name $span differs"
		done
	done
}

@test "times since the start and shares mean the same as absolute ones" {
	gen_capture -o a.data --samples 20000 --flush 3000
	ebprec slice --time 1.05,1.06 -q -i a.data -o absolute.data
	ebprec slice --time +0.05,+0.06 -q -i a.data -o relative.data
	cmp absolute.data relative.data
	perf script -i a.data --time 10%-20% >printed
	ebprec slice --time 10%-20% -q -i a.data -o share.data
	perf_prints share.data script | cmp - printed
	[ -s printed ]
}

@test "a slice of a slice is the smaller slice, and the same options give the same bytes" {
	gen_capture -o a.data --samples 20000 --flush 3000
	ebprec slice --time 1.05,1.10 -q -i a.data -o outer.data
	ebprec slice --time 1.06,1.07 -q -i outer.data -o inner.data
	perf script -i a.data --time 1.06,1.07 >printed
	perf_prints inner.data script | cmp - printed
	ebprec slice --time 1.05,1.10 -q -i a.data -o again.data
	cmp outer.data again.data
}

@test "a capture comes from a pipe as well" {
	gen_capture -o a.data --samples 3000 --flush 500
	same "$(ebprec info a.data | sed 1,4d)" "$(ebprec info -i - <a.data | sed 1,4d)"
	# shellcheck disable=SC2002 # a pipe is what is tested
	same "$(ebprec info a.data | sed 1,4d)" "$(cat a.data | ebprec info -i - | sed 1,4d)"
}

@test "captures of perf are exported and sliced as well" {
	need_root
	for options in "" "-z"; do
		# shellcheck disable=SC2086,SC2016 # maybe no word; the shell in it expands
		perf record $options -q -g -F 2000 -e cpu-clock -o p.data -- \
			sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' 2>err ||
			skip "perf cannot record here: $(head -1 err)"
		# While a recorder asks for build-ids, perf 6.1 aborts on its own file: ours are mended.
		perf script -i p.data >printed 2>/dev/null || continue
		[ -s printed ]
		ebprec export --raw -q -i p.data -o raw.data
		perf_prints raw.data script | cmp - printed
		first=$(sed -n 's/.* \([0-9]*\.[0-9]*\): .*cpu-clock.*/\1/p' printed | head -n 1)
		to=$(printf %.6f "$(jq -n "$first + 0.05")")
		perf script -i p.data --time "$first,$to" >part
		ebprec slice --time "$first,$to" -q -i p.data -o slice.data
		perf_prints slice.data script | cmp - part
		[ -s part ]
	done
}

@test "sched: sched_waking, which perf sched record has, counts as the wakeup of a file without sched_wakeup" {
	gen_story c.data <"$BATS_TEST_DIRNAME/../../golden/sched/story"
	ebprec export --raw -o raw.data c.data
	LC_ALL=C sed 's/name: sched_wakeup$/name: sched_waking/' raw.data >waking.data
	run ! cmp -s raw.data waking.data
	ebprec sched raw.data >want 2>want.err
	ebprec sched waking.data >got 2>got.err
	contains "$(cat want)" " 3 wakeups"
	same "$(cat want)" "$(cat got)"
	same "$(cat want.err)" "$(cat got.err)"
}

@test "diff --json names the events of both sides, whose files are closed by then" {
	perf record -q -o a.data -e page-faults -- ls / >/dev/null 2>&1
	perf record -q -o b.data -e cpu-clock -- ls -R /usr/include >/dev/null 2>&1
	# The C library overwrites memory that is freed.
	MALLOC_PERTURB_=165 ebprec diff -q --json a.data b.data >json
	same "page-faults cpu-clock" "$(jq -r '"\(.before.event) \(.after.event)"' json)"
}
