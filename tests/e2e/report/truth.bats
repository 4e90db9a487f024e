#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Facts that hold for any capture, on captures made at random; and diff, where the truth was chosen.
# shellcheck disable=SC2046 # words are meant

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# story SEED SAMPLES HOT MARKS - a program that spends HOT of its time in a library, a sample each ms.
story() {
	perl "$TEST_LIB/gen/hot_story.pl" "$@"
}

# many SEED SAMPLES GROWTH REQUESTS [LIB PROG] - see many.pl
many() {
	perl "$BATS_TEST_DIRNAME/many.pl" "$@"
}

# row OBJECT < rows of diff --json: before, after, ratio, low, high, verdict.
row() {
	jq -r --arg dso "$1" '.rows[] | select(.dso == $dso) | [.["before", "after", "ratio", "low", "high", "verdict"]] | join(" ")'
}

# inside TRUTH LOW HIGH
inside() {
	numbers_hold "$2 <= $1 and $1 <= $3"
}

@test "diff: of 20 tables of captures of one truth, one at most has a real row" {
	many 1 2000 1 0 | gen_story before.data
	alarms=0
	for seed in $(seq 2 21); do
		many "$seed" 2000 1 0 | gen_story after.data
		ebprec diff -q --json --sort dso before.data after.data >rows
		contains "$(cat rows)" '"verdict": "noise"'
		alarms=$((alarms + $(grep -c -m 1 '"verdict": "real"' rows || true)))
		ebprec diff -q --fail-above 5% before.data after.data >out || fail "seed $seed: $(cat out)"
	done
	[ "$alarms" -le 1 ] || fail "$alarms of 20"
}

@test "diff: changes from 0 to 50 % in other lengths: the true size is inside in 19 of 20" {
	growths=(1 1.02 1.05 1.1 1.2 1.5) lengths=("4000 4000" "4000 2000" "2000 4000" "6000 6000")
	covered=0 found=0 big=0
	for i in $(seq 0 19); do
		growth=${growths[i % 6]}
		# shellcheck disable=SC2086 # two numbers
		set -- ${lengths[i % 4]}
		many $((100 + 2 * i)) "$1" 1 $(($1 / 20)) | gen_story before.data
		# A request takes longer by what its hot library does.
		requests=$(jq -n "(10 * (1 - pow(0.9; 30))) as \$calls | $2 / 20 * \$calls / (\$calls + $growth - 1) | floor")
		many $((101 + 2 * i)) "$2" "$growth" "$requests" | gen_story after.data
		set -- $(ebprec diff -q --json --sort dso --per request before.data after.data | row lib0)
		if inside "$growth" "$4" "$5"; then covered=$((covered + 1)); fi
		[ "$growth" != 1 ] || same noise "$6"
		[ "$growth" = 1.5 ] || continue
		big=$((big + 1))
		[ "$6" != real ] || found=$((found + 1))
	done
	[ "$covered" -ge 19 ] || fail "the interval has the truth $covered times in 20"
	same "$big" "$found"
}

@test "diff: ten points more are found, and the interval is around them" {
	covered=0
	for seed in $(seq 1 10); do
		story "$seed" 2000 0.30 0 | gen_story before.data
		story $((seed + 100)) 2000 0.40 0 | gen_story after.data
		ebprec diff -q --json --sort dso before.data after.data >rows
		set -- $(row libhot <rows)
		same real "$6"
		if inside 1.3333 "$4" "$5"; then covered=$((covered + 1)); fi
		status=0
		ebprec diff -q --fail-above 4% before.data after.data >out 2>err || status=$?
		same 1 "$status"
		contains "$(cat err)" "grew"
		ebprec diff -q --fail-above 20% before.data after.data >out || fail "20 %"
		ebprec diff -q --fail-above 4% after.data before.data --dso libhot >out || fail "it shrank"
	done
	[ "$covered" -ge 8 ] || fail "the interval has the truth $covered times in 10"
}

@test "diff: twice as long costs the same a second and twice as much a run, and a sample is a sample" {
	story 1 2000 0.30 0 | gen_story before.data
	story 2 4000 0.30 0 | gen_story after.data
	set -- $(ebprec diff -q --json --normalize time --sort dso before.data after.data | row libhot)
	same noise "$6"
	inside "$1" 250 350 && inside "$2" 250 350 || fail "$*"
	# The same for a part of the time, which has blocks of its own.
	set -- $(ebprec diff -q --json --normalize time --time 0%-25% --sort dso before.data after.data | row libhot)
	inside "$1" 220 380 && inside "$2" 220 380 || fail "part: $*"
	ebprec diff -q --time 0%-4% --sort dso before.data after.data >out
	! grep "too short" out || fail "$(cat out)"
	ebprec diff -q --json --normalize run --sort dso before.data after.data >rows
	contains "$(cat rows)" '"unit": "per_run"'
	set -- $(row libhot <rows)
	same real "$6"
	inside 2 "$4" "$5" || fail "$*"
	contains "$(ebprec diff -q --normalize run --sort dso before.data after.data)" \
		"# after   4000 samples, 4.00 s of CPU time in 4.00 s"
}

@test "diff: samples of another frequency cost the same, by run, by second and by span" {
	many 1 4000 1 100 | gen_story before.data
	# Each second sample of the same program, which stands for twice the time.
	many 2 4000 1 100 | awk -f "$BATS_TEST_DIRNAME/halve_frequency.awk" | gen_story after.data
	for how in "--normalize run" "--normalize time" "--per request"; do
		# shellcheck disable=SC2086 # words
		ebprec diff -q --json $how --sort comm before.data after.data >rows
		contains "$(cat rows)" '"samples_after": 2000, "time_after_ns": 4e+09'
		contains "$(cat rows)" '"ratio": 1, '
		contains "$(cat rows)" '"verdict": "noise"'
	done
	contains "$(ebprec diff -q --per request --sort comm before.data after.data)" "100.00%   40.0 ms 100.00%   40.0 ms      x1.00"
}

@test "diff: costs for each span, beside the shares" {
	story 1 2000 0.30 100 | gen_story before.data
	story 2 2000 0.30 50 | gen_story after.data
	for name in request web/request; do
		ebprec diff -q --json --per $name --sort dso before.data after.data >rows
		contains "$(cat rows)" '"unit": "per_span"'
		contains "$(cat rows)" '"spans": 100}'
		set -- $(row libhot <rows)
		same real "$6"
		inside "$1" 5 7 && inside "$2" 10 14 || fail "$*"
		inside 2 "$4" "$5" || fail "$*"
	done
	ebprec diff -q --per request --sort dso before.data after.data >out
	contains "$(cat out)" "100 of request: 20.0 ms each"
	[[ $(grep libhot out) =~ ^\ *[23][0-9]\.[0-9]*%\ +[0-9.]+\ ms\ +[23][0-9]\.[0-9]*%\ +1[0-9.]+\ ms\ +x ]] ||
		fail "$(cat out)"
	# Each request costs twice as much, of all that the first ones cost by 30 %.
	ebprec diff -q --per request --fail-above 40% --sort dso before.data after.data --dso '!libcold' >out || true
	run ebprec diff -q --per request --fail-above 20% --sort dso before.data after.data
	same 1 "$status"
	refuses ebprec diff -q --per none before.data after.data
	run ebprec diff --per request --normalize time before.data after.data
	same 2 "$status"
}

@test "diff: where nothing is real, it prints what could have been seen and how to see more" {
	many 1 2000 1 0 | sed 's/ 1000000 u:/ 10101010 u:/' | gen_story before.data
	many 2 2000 1 0 | sed 's/ 1000000 u:/ 10101010 u:/' | gen_story after.data
	ebprec diff -q --sort dso before.data after.data >out
	contains "$(cat out)" "# nothing is real; a change that could have been seen: x1."
	contains "$(cat out)" "# recordings 10 times as long, or by 'ebprec record -F 997 ...', would show: x1."
	ebprec diff -q --json --sort dso before.data after.data |
		jq -e '.tested == 30 and 1 < .visible.largest and .visible.largest < .visible.percent'
	# Its answer is true: half as much again is seen in none of the rows of 1 %, and in the largest one.
	many 3 2000 1.9 0 | gen_story after.data
	contains "$(ebprec diff -q --sort dso before.data after.data | grep 'lib0$')" " real "
}

# ---- random captures ----

# random SEED - processes that fork, rename themselves and map files, in the kernel and out, with recursion.
random() {
	perl "$TEST_LIB/gen/random_story.pl" "$1"
}

# total OPTION... - the sum of the folded stacks of r.data
total() {
	ebprec report -q --folded "$@" r.data | weight
}

@test "random captures: self adds up, by every key and weight" {
	for seed in 1 2 3 4 5; do
		random $seed | gen_story r.data
		case $seed in
		1) weights="samples period time" ;;
		*) weights=$([ $((seed % 2)) = 0 ] && echo samples || echo period) ;;
		esac
		for weight in $weights; do
			everything=$(total --weight "$weight")
			[ "$everything" -gt 300 ] || fail "seed $seed: $everything"
			for keys in symbol dso comm pid tid cpu cgroup container category line comm,pid,tid,cpu,dso,symbol; do
				same "$everything" "$(ebprec report -q --csv --no-children --min-percent 0 --weight "$weight" --sort $keys r.data |
					sum_field 1 ,)" || fail "seed $seed, $keys"
			done
			same "$everything" "$(ebprec report -q --csv --no-children --min-percent 0 --no-system --weight "$weight" r.data |
				sum_field 1 ,)"
		done
	done
}

@test "random captures: a tree's parts add up to their parent" {
	for seed in 1 2 3 4 5; do
		random $seed | gen_story r.data
		for view in --tree --bottom-up "--tree --threads" "--tree --no-system" "--tree --fold-recursion" \
			"--callers do_read" "--callees entry" "--tree --sort pid,cpu,dso"; do
			# shellcheck disable=SC2086 # words
			ebprec report -q --json $view r.data | perl "$TEST_LIB/tree_adds_up.pl" "$view" || fail "seed $seed, $view"
		done
		# Rows that are left out are left out in both forms.
		for view in "--tree --max-depth 2 --min-percent 0" "--tree --min-percent 4" "--callees entry --max-depth 3"; do
			# shellcheck disable=SC2086 # words
			same "$(ebprec report -q ${view/callees entry/callees entry --min-percent 0} r.data |
				grep -v '^#\| more)$' | awk '{ print $3 }' | sort)" \
				"$(ebprec report -q --json $view r.data | sed -n 's/.*"id".*"total": \([0-9]*\),.*/\1/p' | sort)"
		done
	done
}

@test "random captures: slices of the time add up, filtered or cut out" {
	for seed in 1 2 3 4 5; do
		random $seed | gen_story r.data
		ebprec report -q --folded r.data >everything
		for part in 0%-13% 13%-50% 50%-77% 77%-100%; do
			ebprec report -q --folded --time $part r.data
			ebprec slice -q --time $part -i r.data -o part.data
			ebprec report -q --folded part.data >>pieces
		done >filtered
		for parts in filtered pieces; do
			sum_stacks <$parts >got
			diff everything got || fail "seed $seed, $parts"
		done
		rm pieces
		# At any moment, to the nanosecond; with another weight.
		ebprec script -q --ns -F time r.data | sed -n 's/^ *\([0-9.]*\):.*/\1/p' >moments
		cut=$(sed -n "$(($(wc -l <moments) / 3))p" moments)
		next=$(printf '%d.%09d' "${cut%.*}" $((10#${cut#*.} + 1)))
		same "$(total --weight period)" $(($(total --weight period --time ",$cut") + $(total --weight period --time "$next,")))
	done
}

@test "random captures: a filter and its complement add up to the capture, also together" {
	for seed in 1 2 3 4 5; do
		random $seed | gen_story r.data
		everything=$(total)
		for option in --comm=prog1 --pid=10,20 --tid=11 --cpu=0-1 --cgroup=. --dso=such --symbol=entry --parent=prog; do
			same "$everything" $(($(total $option) + $(total "${option/=/=!}"))) || fail "seed $seed, $option"
		done
		# No containers are known here: all samples are of none.
		same "$everything 0" "$(total '--container=!x') $(total --container=x)"
		for weight in period time; do
			same "$(total --weight "$weight")" \
				$(($(total --weight "$weight" --symbol=entry) + $(total --weight "$weight" '--symbol=!entry')))
		done
		# Both of two filters, and all ways to fail one.
		same "$everything" $(($(total --cpu=0 --dso=such) + $(total --cpu=0 '--dso=!such') +
			$(total '--cpu=!0' --dso=such) + $(total '--cpu=!0' '--dso=!such')))
		same "$(total --pid=10 --time 0%-50%)" "$(ebprec slice -q --time 0%-50% -i r.data -o s.data; ebprec report -q --folded --pid 10 s.data | weight)"
		# Frames that are left out as small are in their parents nevertheless.
		same "$(ebprec report -q --tree --min-percent 0 --max-depth 1 r.data | tail -n +4)" \
			"$(ebprec report -q --tree --min-percent 0 r.data | tail -n +4 | grep -E '^ *[0-9.]+% +[0-9.]+% +[0-9]+  (  )?[^ ]')"
	done
}

@test "random captures: parts that are merged again are the capture" {
	for seed in 1 2 3; do
		random $seed | gen_story r.data
		ebprec slice -q --time 0%-40% -i r.data -o one.data
		ebprec slice -q --time 40%-100% -i r.data -o two.data
		ebprec merge -q -o again.data two.data one.data
		ebprec report -q --folded r.data >want
		ebprec report -q --folded again.data >got
		diff want got || fail "seed $seed"
	done
}
