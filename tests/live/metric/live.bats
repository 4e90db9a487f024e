#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Tables as they fill, without a capture.
# runs beside others: it waits for tables

load ../../lib/helper

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
}

# bats test_tags=long
@test "as many intervals as were asked for are printed, each with its tables" {
	ebprec live counters exits --interval 0.2 --count 2 --json >out.json
	same 2 "$(jq -s length out.json)"
	for table in counters_cpu counters_process; do
		same 2 "$(jq -s --arg table $table 'map(.tables[] | select(.name == $table and (.rows | length) > 0)) | length' out.json)"
	done
	same "" "$(jq '.tables[] | select(.name == "runq")' out.json)" # sched is not asked for
	jq -es 'map(.tables[0].from_ns) | .[1] - .[0] >= 2e8' out.json || fail "$(jq '.tables[0].from_ns' out.json)"
	ebprec live counters --count 1 --top 1 >out
	grep -q '^CPU  *USER%' out || fail "$(cat out)"
}

@test "an instrument named 40 times has its tables shown once" {
	# shellcheck disable=SC2046 # a word each
	ebprec live $(yes counters | head -n 40) --interval 0.2 --count 1 --json >out.json
	jq -r '.tables[].name' out.json | sort >names
	[ -s names ] || fail "no table"
	same "" "$(uniq -d names)"
}

@test "every call is in one of the intervals, and Ctrl-C ends it all" {
	ebprec live syscalls --interval 0.2 --by syscall,comm --json >out.json 2>err 3>&- &
	pid=$!
	for _ in $(seq 600); do
		[ ! -s out.json ] || break
		kill -0 "$pid" || fail "$(cat err)"
		sleep 0.1
	done
	recorder=$(ps -o pid= --ppid "$pid" | tr -d ' ')
	cp "$(command -v perl)" livecalls
	./livecalls -e 'getppid for 1 .. 7919'
	kill -INT "$pid"
	wait "$pid"
	! kill -0 "$recorder" 2>/dev/null || fail "the recorder goes on"
	[ ! -s err ] || fail "$(cat err)"
	same 7919 "$(jq -s 'map(.tables[] | select(.name == "syscalls").rows[] | select(.syscall == "getppid").rows[] |
		select(.comm == "livecalls").count) | add' out.json)"
}

# bats test_tags=long
@test "a reader that goes away ends ebprec live" {
	out=$(timeout 60 ebprec live counters --interval 0.2 2>err | head -1)
	contains "$out" "CPUs"
	[ ! -s err ] || fail "$(cat err)"
}

@test "a view that cannot be shown is reported in one line" {
	run ebprec live weather
	same 2 "$status"
	contains "$output" "weather"
	run ebprec live --by weather
	same 2 "$status"
	contains "$output" "--by"
	run ebprec live syscalls --show wall
	same 2 "$status"
	run ebprec top syscalls --tid 1
	same 2 "$status"
	run ebprec live irq --by weather
	same 2 "$status"
	contains "$output" "'irq' has no 'weather'"
	as_unprivileged true || return 0
	run as_unprivileged ebprec live syscalls
	[ "$status" -ne 0 ]
}
