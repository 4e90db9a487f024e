#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec export: read by the tools the forms are for.  Readers from npm: make check-exports.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gen_capture -o x.data --samples 20000 --pids 20
}

flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl

# The forms that are one file.
forms() {
	ebprec export --list | grep -v ' a folder ' | awk '{ print $1 }'
}

story() {
	gen_story story.data <"$BATS_TEST_DIRNAME/../../golden/report-story/story"
	ebprec export -q --to callgrind -i story.data -o out
}

# A function's number by callgrind_annotate OPTION...
annotated() {
	callgrind_annotate --threshold=100 "$@" out 2>err |
		sed -n 's/^ *\([0-9,]*\) ([^)]*)  ???:\([^ ]*\) .*/\2 \1/p' | tr -d , | LC_ALL=C sort
	[ ! -s err ] || fail "$(head -n 3 err)"
}

@test "callgrind_annotate finds each function's own cost" {
	story
	contains "$(callgrind_annotate out | grep 'PROGRAM TOTALS')" "19 (100.0%)"
	ebprec report -q --sort symbol --no-children --csv --min-percent 0 story.data |
		tail -n +2 | tr -d '\r' | sed 's/\(.*\),\(.*\)/\2 \1/' | LC_ALL=C sort >own
	[ "$(wc -l <own)" -gt 5 ] || fail "too little to compare"
	annotated | grep -v '^(all) ' >got
	diff own got
}

@test "callgrind_annotate knows a function's inclusive cost" {
	story
	annotated --inclusive=yes >got
	# [sh] calls itself through [libc.so.6], and callgrind counts such calls twice.
	for name in do_syscall_64 ksys_read start_kernel entry_SYSCALL_64 '[ls]'; do
		total=$(ebprec report -q --sort symbol --csv --min-percent 0 story.data |
			tr -d '\r' | pick_fields -F , 3 "$name" 2)
		contains "$(cat got)" "$name $total"
	done
}

@test "flamegraph.pl draws what is exported" {
	[ -e "$flamegraph" ] || skip "needs $flamegraph"
	ebprec export -q --to folded -i x.data | perl "$flamegraph" >out.svg
	contains "$(cat out.svg)" "20,000 samples"
}

@test "JSON is JSON" {
	for form in speedscope firefox chrome json; do
		ebprec export -q --to $form -i x.data |
			iconv -f UTF-8 | json_pp -t null || fail "$form"
	done
}

@test "the same bytes each time, whatever the number of threads" {
	for form in $(forms); do
		ebprec export -q --jobs 1 --to "$form" -i x.data -o one
		ebprec export -q --jobs 4 --to "$form" -i x.data -o two
		cmp one two || fail "$form"
	done
}

@test "firefox: two copies with one build-id are two libraries" {
	cp "$BUILD/ebprec" one
	cp one two
	gen_places -b -c copies.data 4096 "$PWD/one" "$PWD/two"
	ebprec export -q --to firefox -i copies.data | jq -r '.libs[].path' >libs
	same "$(LC_ALL=C sort libs)" "$PWD/one"$'\n'"$PWD/two"
}

@test "a capture without samples, and one that is cut, are exported in every form" {
	gen_capture -o none.data --samples 0
	head -c $(($(stat -c %s x.data) / 2)) x.data >cut.data
	for form in $(forms); do
		ebprec export -q --to "$form" -i none.data -o none.out || fail "$form"
		ebprec export -q --to "$form" -i cut.data -o cut.out || fail "$form"
		[ -s cut.out ] || fail "$form: empty"
	done
}

@test "names for perf go into a folder that has to be named, and a capture without Python code has none" {
	status=0
	ebprec export --to perf-cache -i x.data 2>err || status=$?
	same 2 $status
	contains "$(cat err)" "'--to perf-cache' writes a folder (--output DIR)"
	refuses ebprec export --to perf-cache -i x.data -o cache
	# shellcheck disable=SC2154 # refuses sets it
	contains "$stderr" "'x.data' has no names of interpreted code"
	[ ! -e cache ] || fail "there is a folder"
}

@test "no file is left when the export fails" {
	refuses ebprec export --to pprof -i nowhere.data -o out
	[ ! -e out ] || fail "there is a file"
	refuses ebprec export --to csv -i x.data -o /dev/full
}
