#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec diff of two builds of one program whose files have two names.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	cp "$BUILD/tests/live/workloads/calls" app-1.2
	cp "$BUILD/tests/live/workloads/calls" app-1.3
	cp "$BUILD/tests/live/workloads/marker" other
}

# samples FILE COMM HOT - a capture's story: of each 10 samples so many in the first function, 4 in the second
# one of FILE, the others in libsame.so.
samples() {
	untraced print_samples "$@"
}

print_samples() {
	local first=print_count second=work
	[ "$1" != other ] || first=points second=nest
	printf '0 comm 7 7 %s\n0 map 7 0x400000 0x100000 0 %s\n0 map 7 0x7000000 0x10000 0 /no/such/libsame.so\n' "$2" "$PWD/$1"
	# The file's last 16 bits of an address, where it is mapped.
	first=$(nm "$1" | sed -n "s/^.\{12\}\(.*\) . $first$/0x40\1/p")
	second=$(nm "$1" | sed -n "s/^.\{12\}\(.*\) . $second$/0x40\1/p")
	for ((i = 0; i < 2000; i++)); do
		at=0x7000100
		[ $((i * 7 % 10)) -ge $(($3 + 4)) ] || at=$second
		[ $((i * 7 % 10)) -ge "$3" ] || at=$first
		echo "$((i * 1000000)) sample 7 7 0 1000000 u:$at"
	done
}

@test "diff: a file under another name, run by the same comm, is compared by function" {
	samples app-1.2 app 2 | gen_story a.data
	samples app-1.3 app 4 | gen_story b.data
	ebprec diff a.data b.data >out 2>err
	same "" "$(cat err)"
	contains "$(cat out)" "# matched 'app-1.2' with 'app-1.3': 100 % of their samples are in functions of the same names (--rename none: not)"
	[[ $(grep print_count out) == *" 20.00% "*" 40.00% "*" x2.00 "*" real "*" app-1.3  print_count" ]] || fail "$(cat out)"
	! grep -v '^#' out | grep -E "app-1.2|new|gone" || fail "$(cat out)"
	same 3 "$(grep -vc '^#' out)"
	ebprec diff -q --json a.data b.data >json
	contains "$(cat json)" '"renames": [{"from": "app-1.2", "to": "app-1.3", "by": "version"}]'
	# Not when it is not wanted.
	ebprec diff --rename none a.data b.data >out 2>err
	! grep matched out || fail "$(cat out)"
	contains "$(grep print_count out)" " new "
	contains "$(grep 'app-1.2  print_count' out)" " gone "
}

@test "diff: a program under another name, and so of another comm, is compared by function" {
	samples app-1.2 app-1.2 2 | gen_story a.data
	samples app-1.3 app-1.3 4 | gen_story b.data
	ebprec diff a.data b.data >out 2>err
	same "" "$(cat err)"
	contains "$(cat out)" "# matched 'app-1.2' with 'app-1.3': 100 % of their samples"
	[[ $(grep print_count out) == *" x2.00 "*" real "*"app-1.3  print_count" ]] || fail "$(cat out)"
	ebprec diff -q --sort comm,dso,symbol a.data b.data >out
	! grep -v '^#' out | grep "app-1.2" || fail "$(cat out)"
	[[ $(grep print_count out) == *" x2.00 "*" real "*"app-1.3  app-1.3  print_count" ]] || fail "$(cat out)"
	same 3 "$(grep -vc '^#' out)"
	# No part of the names in common.
	cp app-1.2 older
	cp app-1.3 fresh
	samples older older 2 | gen_story a.data
	samples fresh fresh 4 | gen_story b.data
	ebprec diff a.data b.data >out
	[[ $(grep print_count out) == *" x2.00 "*" real "*"fresh  print_count" ]] || fail "$(cat out)"
	contains "$(ebprec diff -q --json a.data b.data)" '"renames": [{"from": "older", "to": "fresh", "by": "functions"}]'
}

@test "diff: files without names of functions are matched when their names differ by a version only" {
	sed "s|$PWD/app-1|/no/such/app-1|" <(samples app-1.2 app-1.2 2) | gen_story a.data
	sed "s|$PWD/app-1|/no/such/app-1|" <(samples app-1.3 app-1.3 4) | gen_story b.data
	ebprec diff --sort symbol a.data b.data >out
	contains "$(cat out)" "# matched 'app-1.2' with 'app-1.3': their names differ by a version (--rename none: not)"
	same "[app-1.3] [libsame.so]" "$(grep -v '^#' out | awk '{ print $NF }' | sort | xargs)"
	sed "s|$PWD/app-1.3|/no/such/other|" <(samples app-1.3 app-1.3 4) | gen_story b.data
	ebprec diff --sort symbol a.data b.data >out
	! grep matched out || fail "$(cat out)"
	ebprec diff --rename app-1.2=other --sort symbol a.data b.data >out
	same "[libsame.so] [other]" "$(grep -v '^#' out | awk '{ print $NF }' | sort | xargs)"
}

@test "diff: two stripped programs under two names are a hint, and the hint works" {
	cp app-1.2 older
	cp app-1.3 fresh
	samples older older 2 | sed "s|$PWD/older|/no/such/older|" | gen_story a.data
	samples fresh fresh 4 | sed "s|$PWD/fresh|/no/such/fresh|" | gen_story b.data
	ebprec diff a.data b.data >out
	same "# gone: 'older', new: 'fresh': functions of one or both have no names, which would show whether it is one program (--rename older=fresh compares them)" \
		"$(grep gone: out)"
	contains "$(ebprec diff -q --json a.data b.data)" '"renames": [{"from": "older", "to": "fresh", "by": "hint"}]'
	ebprec diff --rename older=fresh a.data b.data >out
	! grep -v '^#' out | grep -E "new|gone" || fail "$(cat out)"
	[[ $(grep 'fresh  .fresh.' out) == *" x1.33 "*" real "* ]] || fail "$(cat out)"
	# One of them alone is stripped.
	samples fresh fresh 4 | gen_story b.data
	contains "$(ebprec diff a.data b.data)" "(--rename older=fresh compares them)"
	# The same comm ran both.
	samples older main 2 | sed "s|$PWD/older|/no/such/older|" | gen_story a.data
	samples fresh main 4 | sed "s|$PWD/fresh|/no/such/fresh|" | gen_story b.data
	contains "$(ebprec diff a.data b.data)" "(--rename older=fresh compares them)"
	# Neither of the two is of a good part of the samples: most that is gone and new has nothing to do with each other.
	samples app-1.3 app 2 >same
	{
		cat same
		samples older older 2 | sed "s|$PWD/older|/no/such/older|; s/ 7 7 / 8 8 /; s/map 7 /map 8 /" | head -300
	} | sort -sn | gen_story a.data
	{
		cat same
		samples fresh fresh 4 | sed "s|$PWD/fresh|/no/such/fresh|; s/ 7 7 / 8 8 /; s/map 7 /map 8 /" | head -300
	} | sort -sn | gen_story b.data
	contains "$(ebprec report -q --sort comm b.data)" " fresh"
	ebprec diff a.data b.data >out
	! grep -e --rename out || fail "$(cat out)"
	# A library is no program's new name.
	samples older older 2 | sed "s|$PWD/older|/no/such/libgone.so|" | gen_story a.data
	samples fresh fresh 4 | sed "s|$PWD/fresh|/no/such/fresh|" | gen_story b.data
	ebprec diff a.data b.data >out
	! grep -e --rename out || fail "$(cat out)"
}

@test "diff: two new programs that are like the one that is gone are a hint, and the hint works" {
	cp app-1.2 older
	cp app-1.3 fresh
	cp app-1.3 fourth
	samples older older 2 | gen_story a.data
	{
		samples fresh fresh 4
		samples fourth fourth 4 | sed 's/ 7 7 / 8 8 /; s/map 7 /map 8 /'
	} | sort -sn | gen_story b.data
	ebprec diff a.data b.data >out
	hint=$(sed -n "s/^# gone: 'older', new: '.*(\(--rename older=f[a-z]*\) compares them)/\1/p" out)
	[ -n "$hint" ] || fail "$(cat out)"
	contains "$(ebprec diff -q --json a.data b.data)" '"by": "hint"'
	# shellcheck disable=SC2086 # an option and its value
	ebprec diff $hint a.data b.data >out
	[[ $(grep "${hint#*=}  print_count" out) == *" x1."* ]] || fail "$(cat out)"
}

@test "diff --fail-above: a mere rename is no growth" {
	samples app-1.2 app-1.2 2 | gen_story a.data
	samples app-1.3 app-1.3 2 | gen_story b.data
	ebprec diff -q --fail-above 5% a.data b.data
	samples app-1.3 app-1.3 5 | gen_story b.data
	run --separate-stderr ebprec diff --fail-above 5% a.data b.data
	same 1 "$status"
	contains "$stderr" "1 rows grew by more than 5% of all, which is real"
}

@test "diff --fail-above: growth that may be a mere rename is reported as one" {
	samples app-1.2 app-1.2 2 | gen_story a.data
	cp app-1.3 fresh
	cp app-1.3 fourth
	{
		samples fresh fresh 2
		samples fourth fourth 2 | sed 's/ 7 7 / 8 8 /; s/map 7 /map 8 /'
	} | sort -sn | gen_story b.data
	run --separate-stderr ebprec diff --fail-above 5% a.data b.data
	same 1 "$status"
	contains "$stderr" "which is real (or is 'f"
	contains "$stderr" "the new name of 'app-1.2'? --rename 'app-1.2=f"
}

# doubled NAME STORY - the story of app-1.3, in which what matches takes twice as many samples
doubled() {
	sed 's/app-1.2/app-1.3/' "$2" | awk -v at="$1\$" -f "$BATS_TEST_DIRNAME/double_samples.awk"
}

# ran STORY ARGS... - a story of a command that ended
ran() {
	local story=$1
	shift
	cat "$story"
	printf '0 args 7 %s\n- meta {"options": {"system_wide": false, "command_pid": 7}}\n' "$*"
	printf -- '- account {"ended": "command ended"}\n'
}

@test "diff: two runs of one command are compared by their times, at the first try" {
	samples app-1.2 app-1.2 2 | sed 's/ 1000000 u:/ 10101010 u:/' >story
	ran story ./app-1.2 --size 5 | gen_story a.data
	# One function takes twice as long, all others as long as before.
	doubled "$(nm app-1.3 | sed -n 's/^0*\([^ ]*\) . print_count$/\1/p')" story >story.after
	ran story.after ./app-1.3 --size 5 | gen_story b.data
	ebprec diff a.data b.data >out
	contains "$(cat out)" "# ratio   x1.20 of CPU time, x1.00 of elapsed time"
	contains "$(cat out)" "# below, ratios of times: both ran the same command to its end (--normalize share: of shares)"
	[[ $(grep print_count out) == *" x2.00 "*" real "* ]] || fail "$(cat out)"
	[[ $(grep work out) == *" x1.00 "*" noise "* ]] || fail "$(cat out)"
	contains "$(ebprec diff --json a.data b.data)" '"unit": "per_run"'
	# Nor does it fail for the others.
	run ebprec diff -q --fail-above 5% a.data b.data
	same 1 "$status"
	contains "$output" "1 rows grew by more than 5% of all, which is real"
	ebprec diff --normalize share a.data b.data >out
	! grep "same command" out || fail "$(cat out)"
	contains "$(cat out)" "# ratio   x1.20 of CPU time, x1.00 of elapsed time; below, of shares (--normalize run: of times)"
	# Other work, a part of the time, or what is no run to its end: shares.
	for change in 's/size 5/size 6/' 's/"command ended"/"interrupted"/' 's/"system_wide": false/"system_wide": true/' '/^- account/d'; do
		ran story.after ./app-1.3 --size 5 | sed "$change" | gen_story b.data
		ebprec diff a.data b.data >out
		contains "$(cat out)" "; below, of shares"
	done
	ran story.after ./app-1.3 --size 5 | gen_story b.data
	ebprec diff --time 0%-50% a.data b.data >out
	! grep "same command" out || fail "$(cat out)"
}

@test "diff: a run that was slower in all functions has no real row, and the reason is printed" {
	samples app-1.2 app-1.2 2 | sed 's/ 1000000 u:/ 10101010 u:/' >story
	ran story ./app-1.2 | gen_story a.data
	doubled "" story >story.after
	ran story.after ./app-1.3 | gen_story b.data
	ebprec diff a.data b.data >out
	contains "$(cat out)" "# ratio   x2.00 of CPU time"
	[[ $(grep print_count out) == *" x2.00 "*" unsure "* ]] || fail "$(cat out)"
	! grep " real " out || fail "$(cat out)"
	contains "$(cat out)" "# unsure: changed by time, but shares do not show that it is this function: a slower machine"
	ebprec diff -q --fail-above 5% a.data b.data
}

@test "diff: the table names the command that would show a smaller change" {
	samples app-1.2 app 2 | sed 's/ 1000000 u:/ 10101010 u:/' | gen_story a.data
	ebprec diff -q a.data a.data >out
	contains "$(cat out)" "or by 'ebprec record -F 997 ...', would show: x1."
}

@test "diff: where all grew alike and no share changed, it names the basis that shows it" {
	samples app-1.2 app 2 | sed 's/ 1000000 u:/ 10101010 u:/' >story
	gen_story a.data <story
	awk -f "$BATS_TEST_DIRNAME/double_samples.awk" story | gen_story b.data
	ebprec diff -q a.data b.data >out
	contains "$(cat out)" "# ratio   x2.00 of CPU time, x1.00 of elapsed time; below, of shares (--normalize run: of times)"
	ebprec diff -q --normalize run a.data b.data >out
	contains "$(grep print_count out)" " real "
	! grep "of shares" out || fail "$(cat out)"
	ebprec diff -q a.data a.data >out
	! grep "of shares (" out || fail "$(cat out)"
}

@test "diff: another program is not taken for a renamed one" {
	samples app-1.2 same 2 | gen_story a.data
	samples other same 4 | gen_story b.data
	ebprec diff a.data b.data >out
	! grep -E "matched|--rename" out || fail "$(cat out)"
	contains "$(grep 'app-1.2  print_count' out)" " gone "
	contains "$(grep 'other  points' out)" " new "
	# A name on both sides is no old name.
	samples app-1.2 same 4 | gen_story b.data
	ebprec diff a.data b.data >out
	! grep -E "matched|--rename" out || fail "$(cat out)"
}

@test "diff: words of --rename that make no sense" {
	samples app-1.2 app 2 | gen_story a.data
	for word in app app= =app a=b=c; do
		run ebprec diff --rename "$word" a.data a.data
		same 2 "$status"
		contains "$output" "option '--rename' cannot be '$word': OLD=NEW was expected"
	done
	run ebprec diff --folded --rename a=b a.data a.data
	same 2 "$status"
	ebprec diff -q --rename nothing=app-1.2 a.data a.data >out 2>err
	contains "$(cat err)" "--rename: no file or comm 'nothing' in 'a.data'"
}
