#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The tables, rows and queries of today's ClickHouse, as npm's chdb has it: needs the network once.

load ../../lib/helper
load servers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	modules=$BUILD/fleet-npm
	[ -d "$modules/node_modules/chdb" ] || npm install --prefix "$modules" --no-audit --no-fund chdb@3.4.0 >npm.log 2>&1 ||
		fail "$(tail -n 5 npm.log)"
	mkdir server
	NODE_PATH=$modules/node_modules node "$BATS_TEST_DIRNAME/chdb_server.cjs" "$PWD/server" >server.log 2>&1 3>&- &
	await test -s server/port
	# shellcheck disable=SC2034 # ask() uses it
	clickhouse=http://127.0.0.1:$(cat server/port)
	database=clickhouse://127.0.0.1:$(cat server/port)/prof
	gen_capture -o a.data --samples 3000 --pids 30
}

teardown() {
	end_background
}

@test "tables without labels get them by --setup, and rows with labels and waits arrive" {
	ebprec push -q --to "$database" -d state --setup
	ask 'ALTER TABLE prof.ebprec_samples DROP COLUMN labels.key, DROP COLUMN labels.value' >/dev/null
	run -1 ebprec push -q --to "$database" -d state --give-up 0.2 -i a.data
	ebprec push -q --to "$database" -d state --setup
	for table in samples stacks; do
		ask "ALTER TABLE prof.ebprec_$table REMOVE TTL" >/dev/null # the captures are of 2023
	done
	perl "$TEST_LIB/gen/random_waits.pl" 7 | gen_story w.data
	ebprec push -q --to "$database" -d other --host h --label role=web --label region=eu -i w.data
	ebprec report -q --waits --csv --min-percent 0 -i w.data >waits.csv
	same "$(sum_field 4 , <waits.csv)	$(sum_field 5 , <waits.csv)" "$(ask "SELECT sum(samples), sum(weight) FROM prof.ebprec_samples
		WHERE event = 'off_cpu' AND labels.value[indexOf(labels.key, 'region')] = 'eu'")"
	when=(--since 2023-11-14T00:00:00 --until 2023-11-16T00:00:00)
	same "$(ebprec report -q --folded -i w.data)" "$(ebprec query --from "$database" --label role=web "${when[@]}" --folded)"
	same "" "$(ebprec query -q --from "$database" --label role=db "${when[@]}" --folded)"
}

@test "LowCardinality, TTL and tokens: the sums and stacks are those of the report" {
	ebprec push -q --to "$database" -d state --setup
	contains "$(ask 'SHOW CREATE TABLE prof.ebprec_samples')" 'TTL t + toIntervalDay(14)'
	contains "$(ask 'SHOW CREATE TABLE prof.ebprec_samples')" 'LowCardinality(String)'
	ask 'ALTER TABLE prof.ebprec_samples REMOVE TTL' >/dev/null # the capture is of 2023
	ask 'ALTER TABLE prof.ebprec_stacks REMOVE TTL' >/dev/null
	for host in web-1 web-2; do
		ebprec push -q --to "$database" -d state --host $host --interval 0.01 -i a.data
	done
	same "web-1	3000
web-2	3000" "$(ask 'SELECT host, sum(samples) FROM prof.ebprec_samples GROUP BY host ORDER BY host')"
	same "$(ebprec report -q --folded -i a.data)" "$(ebprec query --from "$database" --host web-1 \
		--since 2023-11-14T00:00:00 --until 2023-11-16T00:00:00 --folded)"
	same 0 "$(ask 'SELECT count() FROM (SELECT max(seq) AS last, uniqExact(seq) AS has FROM prof.ebprec_batches GROUP BY host, sender) WHERE last != has')"
}
