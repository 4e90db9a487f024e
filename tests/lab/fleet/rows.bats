#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Many rows in today's ClickHouse: bytes a row, and how long queries take.  ROWS=100000000 is the fleet of docs/FLEET.md, and
# takes ten minutes and 2 GB; by default a hundredth of it.

load ../../lib/helper
load servers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	rows=${ROWS:-1000000}
	modules=$BUILD/fleet-npm
	[ -d "$modules/node_modules/chdb" ] || npm install --prefix "$modules" --no-audit --no-fund chdb@3.4.0 >npm.log 2>&1 ||
		fail "$(tail -n 5 npm.log)"
	mkdir server
	NODE_PATH=$modules/node_modules node "$BATS_TEST_DIRNAME/chdb_server.cjs" "$PWD/server" >server.log 2>&1 3>&- &
	await test -s server/port
	# shellcheck disable=SC2034 # ask() uses it
	clickhouse=http://127.0.0.1:$(cat server/port)
	database=clickhouse://127.0.0.1:$(cat server/port)/prof
}

teardown() {
	end_background
}

# must SQL - runs it
must() {
	same "" "$(ask "$1")"
}

# Stacks of 45 frames of 50,000 functions, 20,000 of each service; 100 services, of which the first has a tenth of all
# rows; 1000 hosts; a day that ended with the last hour.
generate() {
	must "INSERT INTO prof.ebprec_frames SELECT number, 'native', hex(intDiv(number, 100)), concat('/usr/lib/lib', toString(intDiv(number, 100)), '.so'), concat('function_', toString(number)), 0, 0, 0 FROM numbers(50000)"
	must "INSERT INTO prof.ebprec_stacks SELECT number, today(), arrayMap(i -> (number * 45 + i * 7919) % 50000, range(45)) FROM numbers(2000000)"
	must "INSERT INTO prof.ebprec_samples (service, event, t, stack, weight, samples, host, comm, container, sender, seq) SELECT concat('service-', toString(s)), 'cpu', toStartOfMinute(toDateTime(toStartOfHour(now()) - 1 - number % 86400)), s * 20000 + toUInt64(20000 * pow((cityHash64(number) % 100003) / 100003, 3)), (1 + number % 3) * 52631578, 1 + number % 3, concat('host-', toString(cityHash64(number, 1) % 1000)), concat('worker-', toString(s)), '', cityHash64(number, 1) % 1000, 1440 - intDiv(number % 86400, 60) FROM (SELECT number, if(number % 10 = 0, 0, cityHash64(number, 2) % 100) AS s FROM numbers($rows))"
}

# seconds CMD... - how long it takes, at best of three
seconds() {
	for _ in 1 2 3; do
		local begin=$EPOCHREALTIME
		"$@" >answer
		jq -n "$EPOCHREALTIME - $begin"
	done | jq -s min | xargs printf '%.3f\n'
}

@test "a service's hour of many hosts, from samples and from the hourly table, is the same, and is quick" {
	ebprec push -q --to "$database" -d state --setup
	must 'SYSTEM STOP VIEW prof.ebprec_hour_fill'
	generate
	same "$rows" "$(ask 'SELECT count() FROM prof.ebprec_samples')"
	must 'SYSTEM START VIEW prof.ebprec_hour_fill'
	must 'SYSTEM REFRESH VIEW prof.ebprec_hour_fill'
	must 'SYSTEM WAIT VIEW prof.ebprec_hour_fill'
	# It is added up again, as an hour is while batches may come: the last sum counts.
	must 'SYSTEM REFRESH VIEW prof.ebprec_hour_fill'
	must 'SYSTEM WAIT VIEW prof.ebprec_hour_fill'
	hour=$(ask 'SELECT max(toStartOfHour(t)) FROM prof.ebprec_samples' | tr ' ' T) # the clock may have gone on to the next
	last=${hour%:00:00}:59:59
	from="query --from $database --service service-0 --since $hour --until $last --folded"
	# shellcheck disable=SC2086 # words
	slow=$(seconds ebprec $from)
	mv answer of_samples
	# shellcheck disable=SC2086 # words
	quick=$(seconds ebprec $from --hourly)
	[ -s answer ]
	cmp answer of_samples
	bytes=$(ask "SELECT sum(data_compressed_bytes) FROM system.parts WHERE active AND database = 'prof' AND table = 'ebprec_samples'")
	hourly=$(ask "SELECT count() FROM prof.ebprec_hour FINAL WHERE service = 'service-0' AND hour = (SELECT max(hour) FROM prof.ebprec_hour)")
	of_hour=$(ask "SELECT count() FROM prof.ebprec_samples WHERE service = 'service-0' AND t >= toDateTime('${hour/T/ }', 'UTC')")
	echo "# $rows rows, $((bytes * 10 / rows)) tenths of a byte each; an hour of service-0 has $of_hour rows, $hourly in the hourly table:" \
		"$slow s from samples, $quick s from the hourly table; load $(cut -d' ' -f1 /proc/loadavg)" >&3
	for table in "ebprec_samples|t|$hour" "ebprec_hour FINAL|hour|$hour"; do
		IFS='|' read -r table time hour <<<"$table"
		echo "# the engine alone, $table: $(seconds ask "SELECT stack, sum(weight) AS w FROM prof.$table WHERE service = 'service-0' AND event = 'cpu' AND $time >= toDateTime('${hour/T/ }', 'UTC') GROUP BY stack ORDER BY w DESC LIMIT 20000 FORMAT TSV") s" >&3
	done
	[ "$bytes" -lt $((rows * 24)) ]
}
