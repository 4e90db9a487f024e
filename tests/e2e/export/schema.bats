#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec summary --json is as docs/summary.schema.json has it, and nothing else; --json=denet is as
# docs/denet.schema.json has it.
# shellcheck disable=SC2016 # for sed

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	golden=$BATS_TEST_DIRNAME/../../golden
}

# valid FILE - by the schema.
valid() {
	python3 "$TEST_LIB/schema.py" "$BATS_TEST_DIRNAME/../../../docs/summary.schema.json" "$1"
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
	contains "$(tr -d '\n' <waits.json)" '"waits": [  {"would_run_ns": '
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

# denet FILE - each of its documents is valid; prints the first one that is not.
denet() {
	python3 "$TEST_LIB/schema.py" "$BATS_TEST_DIRNAME/../../../docs/denet.schema.json" "$1"
}

@test "denet's document: of tables, of intervals, of time off the CPU, of what was asked for" {
	gen_tables tables.data <"$golden/metrics/story"
	gen_story waits.data <"$golden/offcpu/story"
	ebprec metrics -i tables.data --json=denet >entire.json
	ebprec metrics -i tables.data --json=denet --interval >intervals.json
	ebprec metrics -i tables.data --json=denet --time 9,10 >none.json
	ebprec metrics -i tables.data --json=denet --pid 501 >one.json
	ebprec report -q --off-cpu --json=denet waits.data >offcpu.json
	for name in entire intervals none one offcpu; do
		denet $name.json || fail "$name: $(cat $name.json)"
	done
	# a line for the machine, one for what was recorded, and one an interval
	same 5 "$(wc -l <intervals.json)"
	same "env metadata tree tree tree" "$(sed 's/^{"kind": "\([a-z]*\)".*/\1/' intervals.json | paste -sd' ')"
	# The parent of the machine is the process without one there, if it is one alone; the parent of one process is that one.
	parents='[inputs | select(.kind == "tree") | .parent.thread_count // 0] | join(",")'
	same 3,0,11 "$(jq -nr "$parents" <intervals.json)"
	ebprec metrics -i tables.data --json=denet --interval --pid 31 >one.json
	denet one.json
	same 41,0,53 "$(jq -nr "$parents" <one.json)"
	same 0 "$(grep -c '"children": \[{' one.json)"
	# Recorded with COMMAND, or with --pid
	sed 's/"system_wide": true/"system_wide": false/' "$golden/metrics/story" >story
	gen_tables of.data <story
	same 41,0,53 "$(ebprec metrics -i of.data --json=denet --interval | jq -nr "$parents")"
	sed -i 's/"pids": \[\]/"pids": [ 501 ]/' story
	gen_tables of.data <story
	same 0,71,2 "$(ebprec metrics -i of.data --json=denet --interval | jq -nr "$parents")"
	sed -i 's/"pids": \[ 501 \]/"pids": [501, 31]/' story
	gen_tables of.data <story
	same 3,0,11 "$(ebprec metrics -i of.data --json=denet --interval | jq -nr "$parents")"
	# The META of a hostile recorder leaves the JSON valid.
	# shellcheck disable=SC1003 # a backslash it is
	for bad in '"\\u0022"' '"\\q"' '"' '[' '[1' '["a' '["a" "b"]' '{}' '[[[' '-1' '["\\ud800"]' 'null' '' '[,]' '"a\\'; do
		sed "s|^meta .*|meta {\"affinity\": $bad, \"governors\": $bad, \"freqs_khz\": $bad, \"freq_cpus\": $bad, \"node_bytes\": $bad, \"node_distances\": $bad, \"thp\": $bad, \"cgroup\": $bad, \"smt_active\": $bad, \"system_wide\": false, \"pids\": $bad|" \
			"$golden/metrics/story" >story
		gen_tables of.data <story
		ebprec metrics -i of.data --json=denet --interval >of.json
		denet of.json || fail "$bad: $(head -1 of.json)"
	done
	# A member that only looks like it is another one.
	sed 's|^meta .*|meta {"\\"smt_active": "0", "options": ["smt_active", {"smt_active": "0"}], "host": {"smt_active": "1"}}|' \
		"$golden/metrics/story" >story
	gen_tables of.data <story
	ebprec metrics -i of.data --json=denet --interval >of.json
	contains "$(head -1 of.json)" '"smt_active": true'
	refuses ebprec metrics -i waits.data --json=denet
	contains "$stderr" "has neither system calls nor counters"
	run ebprec metrics -i tables.data --json=other
	same 2 "$status"
	# Counts of the intervals are those of the entire time, and of the table.
	perl "$TEST_LIB/denet_adds_up.pl" entire.json intervals.json >total
	same "$(cat total)" "$(ebprec metrics syscalls -i tables.data --json --by category 2>/dev/null |
		jq '[.tables[0].rows[].count] | add')"
}

@test "denet's schema refuses what is none" {
	gen_tables tables.data <"$golden/metrics/story"
	ebprec metrics -i tables.data --json=denet >good.json
	for change in 's/"total": /"total": -/' 's/"file_io"/"files"/' 's/"cpu_usage"/"cpu"/' 's/"thread_count": [0-9]*, //' \
		's/"io_intensity": 0/"io_intensity": 9/' 's/"cycles"/"ticks"/' 's/"aggregated"/"tree"/'; do
		sed "$change" good.json >bad.json
		! cmp -s good.json bad.json || fail "'$change' changed nothing"
		if denet bad.json 2>/dev/null; then fail "valid in spite of '$change'"; fi
	done
}

@test "metrics: counts of 64 bits are what was recorded, in JSON and CSV" {
	printf '%s\n' 'table faults key.pid:u4 comm:t16 minor:u8 major:u8' \
		'row 1000 7 7 0 faults pid=7 comm=seven minor=9007199254740993 major=18446744073709551615' \
		'row 1000 8 8 0 faults pid=8 comm=eight minor=1 major=9223372036854775809' >story
	gen_tables x.data <story
	ebprec metrics -i x.data --json >json
	ebprec metrics -i x.data --csv >csv
	for value in 9007199254740993 18446744073709551615 9223372036854775809; do
		grep -q "[ :]${value}[,}]" json || fail "$value: $(cat json)"
		grep -qE ",$value(,|\$)" csv || fail "$value: $(cat csv)"
	done
}
