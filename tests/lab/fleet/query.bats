#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec query --from: what a database answers about hosts is what `ebprec report` does of their captures.

load ../../lib/helper
load servers

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	need_bpf
	ebprec record -q -F 997 -o m.data -- \
		sh -c 'for i in 1 2 3; do gzip -c /usr/bin/git >/dev/null; find /usr/share/doc >/dev/null; done'
	gen_capture -o old.data --samples 3000 --pids 30
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	prepare_clickhouse "$BATS_TEST_TMPDIR/data"
	start_clickhouse
	# shellcheck disable=SC2154 # prepare_clickhouse sets it
	database=clickhouse://127.0.0.1:$clickhouse_port/prof
	ebprec push -q --to "$database" -d "$BATS_TEST_TMPDIR/state" --setup
	for host in web-1 web-2 db-1; do
		ebprec push -q --to "$database" -d "$BATS_TEST_TMPDIR/state" --host $host --label role=${host%-*} --label 'region=eu' --interval 0.5 -i m.data
	done
}

teardown() {
	end_background
}

@test "folded stacks of one host, and of all, are those of the report" {
	same "$(ebprec report -q --folded -i m.data)" "$(ebprec query --from "$database" --host 'db-.*' --folded)"
	same "$(ebprec report -q --folded -i m.data | multiply_stacks 3)" "$(ebprec query --from "$database" --folded)"
	same "$(ebprec report -q --folded -i m.data | multiply_stacks 2)" "$(ebprec query --from "$database" --host '!^db' --folded)"
	same "$(ebprec report -q --folded --weight period -i m.data)" \
		"$(ebprec query --from "$database" --host db-1 --weight period --folded)"
}

@test "waits of one host, and of all, are those of the report" {
	ebprec report -q --waits --csv --min-percent 0 -i m.data >waits.csv
	waits=$(sum_field 4 , <waits.csv) ns=$(sum_field 5 , <waits.csv)
	[ "$waits" -gt 10 ]
	same "$((3 * waits))	$((3 * ns))" "$(ask "SELECT sum(samples), sum(weight) FROM prof.ebprec_samples WHERE event = 'off_cpu'")"
	ebprec report -q --off-cpu --folded -i m.data >want
	ebprec query --from "$database" --host db-1 --off-cpu --folded >got
	# The report rounds parts of a stack to microseconds, the query stacks.
	same "" "$(awk -v most=3 -f "$TEST_LIB/stacks_differ.awk" want got)"
	ebprec query --from "$database" --off-cpu --folded >got
	same "" "$(awk -v most=9 -f "$TEST_LIB/stacks_differ.awk" <(multiply_stacks 3 <want) got)"
	run ebprec query --from "$database" --off-cpu --weight samples
	same 2 "$status"
	contains "$output" "--off-cpu has no '--weight': it is of time"
}

@test "labels select hosts" {
	same "$(ebprec report -q --folded -i m.data)" "$(ebprec query --from "$database" --label role=db --folded)"
	same "$(ebprec report -q --folded -i m.data | multiply_stacks 2)" "$(ebprec query --from "$database" --label 'role=!db' --label 'region=e.' --folded)"
	same "" "$(ebprec query -q --from "$database" --label nosuch=db --folded)"
	run ebprec query --from "$database" --hourly --label role=db
	same 2 "$status"
}

@test "one service" {
	service=$(ebprec report -q --json --sort service -i m.data | jq -r '.. | objects | .service? // empty' | head -n 1)
	[ -n "$service" ]
	same "$(ebprec report -q --folded --service "$service" -i m.data)" \
		"$(ebprec query --from "$database" --host db-1 --service "$service" --folded)"
	same "" "$(ebprec query -q --from "$database" --service 'none of this name' --folded)"
}

@test "a time, a table and a picture" {
	same "" "$(ebprec query -q --from "$database" --until 2001-01-01T00:00:00 --folded)"
	ebprec push -q --to "$database" -d "$BATS_TEST_TMPDIR/state" -i old.data # of 2023
	same 3000 "$(ebprec query --from "$database" --since 2023-11-14T00:00:00 --until 2023-11-15T00:00:00 --folded | weight)"
	ebprec query --from "$database" --host web-1 --json >table
	same "$(ebprec report -q --folded -i m.data | weight)" "$(jq '[.. | objects | .self? // empty] | add' table)"
	ebprec query --from "$database" --svg all.svg
	grep -q '<svg' all.svg
	ebprec query --from "$database" | grep -q function
}

@test "a stack that has not arrived is counted" {
	ask "DROP TABLE ebprec_stacks" >/dev/null
	ebprec push -q --to "$database" -d "$BATS_TEST_TMPDIR/state" --setup
	ebprec query --from "$database" --host db-1 --folded >out 2>err
	same "$(ebprec report -q --folded -i m.data | weight)" "$(weight '\[stack not yet here\]' <out)"
	contains "$(cat err)" "are of stacks that have not arrived yet"
}

@test "a tree has the sums of the stacks, and what changed those of both times" {
	ebprec query --from "$database" --host db-1 --tree --json >tree
	same "$(ebprec report -q --folded -i m.data | weight)" "$(jq .sum tree)"
	same "$(ebprec report -q --folded -i m.data | awk -F';' '{ print $1 }' | sort -u | xargs)" \
		"$(jq -r '.nodes[] | select(.parent == 0) | .comm' tree | tr ' ' _ | sort -u | xargs)"
	same "$(ebprec report -q --tree --sort comm,symbol --json -i m.data | jq '[.nodes[] | select(.kernel) | .self] | add')" \
		"$(jq '[.nodes[] | select(.kernel) | .self] | add' tree)"
	contains "$(ebprec query --from "$database" --tree)" "gzip"
	read -r first last <<<"$(ask 'SELECT toUInt32(min(t)), toUInt32(max(t)) FROM prof.ebprec_samples')"
	[ "$last" -gt "$first" ]
	at() {
		date -u -d "@$1" +%Y-%m-%dT%H:%M:%S
	}
	after=(--since "$(at "$last")" --until "$(at "$last")")
	ebprec query --from "$database" "${after[@]}" --diff-before $((last - first))s --json >changes
	same "$(ebprec query --from "$database" "${after[@]}" --folded | weight)" "$(jq '[.functions[].after] | add' changes)"
	same "$(ebprec query --from "$database" --since "$(at "$first")" --until "$(at "$first")" --folded | weight)" \
		"$(jq '[.functions[].before] | add' changes)"
	run ebprec query --from "$database" --diff-before 1h --svg x.svg
	same 2 "$status"
}
