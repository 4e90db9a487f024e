#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec diff of two builds of one program whose files have two names.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	cp "$BUILD/tests/live/calls" app-1.2
	cp "$BUILD/tests/live/calls" app-1.3
	cp "$BUILD/tests/live/marker" other
}

# samples FILE COMM HOT - a capture's story: of each 10 samples so many in the first function, 4 in the second
# one of FILE, the others in libsame.so.
samples() {
	local first=told second=work
	[ "$1" != other ] || first=points second=nest
	printf '0 comm 7 7 %s\n0 map 7 0x400000 0x100000 0 %s\n0 map 7 0x7000000 0x10000 0 /no/such/libsame.so\n' "$2" "$PWD/$1"
	nm "$1" | awk -v first=$first -v second=$second -v hot="$3" '
		$3 == first { a = $1 } $3 == second { b = $1 }
		END {
			for (i = 0; i < 2000; i++) {
				k = i * 7 % 10
				at = k < hot ? "0x40" substr(a, 13) : k < hot + 4 ? "0x40" substr(b, 13) : "0x7000100"
				print i * 1000000, "sample 7 7 0 1000000 u:" at
			}
		}'
}

@test "diff: a file under another name, run by the same comm, is compared by function" {
	samples app-1.2 app 2 | gen_story a.data
	samples app-1.3 app 4 | gen_story b.data
	ebprec diff a.data b.data >out 2>err
	contains "$(cat err)" "'app-1.2' is compared with 'app-1.3': the same comm ran them, and 100 % of their"
	[[ $(grep told out) == *" 20.00% "*" 40.00% "*" x2.00 "*" real "*" app-1.3  told" ]] || fail "$(cat out)"
	! grep -E "app-1.2|new|gone" out || fail "$(cat out)"
	same 3 "$(grep -vc '^#' out)"
	ebprec diff -q --json a.data b.data >json
	contains "$(cat json)" '"renames": [{"from": "app-1.2", "to": "app-1.3", "by": "comm"}]'
	# Not when it is not wanted.
	ebprec diff --rename none a.data b.data >out 2>err
	! grep "is compared with" err || fail "$(cat err)"
	contains "$(grep told out)" " new "
	contains "$(grep 'app-1.2  told' out)" " gone "
}

@test "diff: a program under another name, and so of another comm, is a hint, and the hint works" {
	samples app-1.2 app-1.2 2 | gen_story a.data
	samples app-1.3 app-1.3 4 | gen_story b.data
	ebprec diff a.data b.data >out 2>err
	contains "$(cat err)" "'app-1.2' is gone and 'app-1.3' is new, with 100 % of their samples in functions of the same names: --rename 'app-1.2=app-1.3' compares them"
	contains "$(grep 'app-1.3  told' out)" " new "
	contains "$(ebprec diff -q --json a.data b.data)" '"by": "hint"'
	ebprec diff --rename app-1.2=app-1.3 --sort comm,dso,symbol a.data b.data >out 2>err
	! grep "app-1.2" out err || fail "$(cat out err)"
	[[ $(grep told out) == *" x2.00 "*" real "*"app-1.3  app-1.3  told" ]] || fail "$(cat out)"
	same 3 "$(grep -vc '^#' out)"
	# Functions without a name are named after their file.
	sed "s|$PWD/app-1|/no/such/app-1|" <(samples app-1.2 app-1.2 2) | gen_story a.data
	sed "s|$PWD/app-1|/no/such/app-1|" <(samples app-1.3 app-1.3 4) | gen_story b.data
	ebprec diff --rename app-1.2=app-1.3 --sort symbol a.data b.data >out 2>err
	same "[app-1.3] [libsame.so]" "$(grep -v '^#' out | awk '{ print $NF }' | sort | xargs)"
}

@test "diff --fail-above: growth that may be a mere rename is said to be one" {
	samples app-1.2 app-1.2 2 | gen_story a.data
	samples app-1.3 app-1.3 2 | gen_story b.data
	run --separate-stderr ebprec diff --fail-above 5% a.data b.data
	same 1 "$status"
	contains "$stderr" "which is real (or is 'app-1.3' the new name of 'app-1.2'? --rename 'app-1.2=app-1.3')"
	ebprec diff -q --fail-above 5% --rename app-1.2=app-1.3 a.data b.data
}

@test "diff: where all grew alike and no share changed, it names the basis that shows it" {
	samples app-1.2 app 2 | sed 's/ 1000000 u:/ 10101010 u:/' >story
	gen_story a.data <story
	awk '/ sample /{ print; $1 += 1 } { print }' story | gen_story b.data
	ebprec diff -q a.data b.data >out
	contains "$(cat out)" "# these are shares, while all of it took x2.00 as long: --normalize run compares times"
	ebprec diff -q --normalize run a.data b.data >out
	contains "$(grep told out)" " real "
	! grep "these are shares" out || fail "$(cat out)"
	ebprec diff -q a.data a.data >out
	! grep "these are shares" out || fail "$(cat out)"
}

@test "diff: another program is not taken for a renamed one" {
	samples app-1.2 same 2 | gen_story a.data
	samples other same 4 | gen_story b.data
	ebprec diff a.data b.data >out 2>err
	! grep -E "is compared with|--rename" err || fail "$(cat err)"
	contains "$(grep 'app-1.2  told' out)" " gone "
	contains "$(grep 'other  points' out)" " new "
	# What is on both sides is nobody's old name.
	samples app-1.2 same 4 | gen_story b.data
	ebprec diff a.data b.data >out 2>err
	! grep -E "is compared with|--rename" err || fail "$(cat err)"
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
	ebprec diff -q --rename nobody=app-1.2 a.data a.data >out 2>err
	contains "$(cat err)" "--rename: no file or comm 'nobody' in 'a.data'"
}
