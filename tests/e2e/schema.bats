#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec summary --json is what docs/summary.schema.json says, and nothing else.
# shellcheck disable=SC2016 # for sed

# shellcheck source=tests/helper.bash
. "$BATS_TEST_DIRNAME/../helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	golden=$BATS_TEST_DIRNAME/../golden
}

# valid FILE - by the schema.
valid() {
	python3 -c '
import json, sys, jsonschema
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))
' "$BATS_TEST_DIRNAME/../../docs/summary.schema.json" "$1"
}

@test "summaries of captures of all kinds" {
	gen_story story.data <"$golden/report-story/story"
	gen_story waits.data <"$golden/offcpu/story"
	gen_story marks.data <"$golden/marks/story"
	gen_capture -o many.data --samples 2000 --pids 40
	gen_capture -o none.data --samples 0
	for name in story waits marks many none; do
		ebprec summary -q --json $name.data >$name.json
		valid $name.json || fail "$name: $(cat $name.json)"
	done
	contains "$(tr -d '\n' <waits.json)" '"waits": [  {"time_ns": '
	contains "$(tr -d '\n' <marks.json)" '"marks": [  {"group": '
}

@test "a summary of perf's file" {
	need_perf
	perf record -q -e cpu-clock -F 499 -g -o perf.data sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' >/dev/null 2>&1
	ebprec summary -q --json perf.data >perf.json
	valid perf.json
}

@test "the schema refuses what is none" {
	gen_story story.data <"$golden/report-story/story"
	ebprec summary -q --json story.data >good.json
	for change in 's/"schema": 1/"schema": 2/' 's/"samples": \([0-9]*\)/"samples": "\1"/' 's/"damaged"/"broken"/' \
		's/"functions": \[/"others": [/' 's/"pid": /"pid": -1/'; do
		sed "$change" good.json >bad.json
		! cmp -s good.json bad.json || fail "'$change' changed nothing"
		if valid bad.json 2>/dev/null; then fail "valid in spite of '$change'"; fi
	done
}
