#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Real metric stores hold after a push the numbers that `ebprec metrics` prints of the same recording.

load ../../lib/helper
load servers

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	need_bpf
	ebprec record -q --with syscalls,faults --interval 0.5 -o m.data -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8; do find /usr/share/doc -maxdepth 1 >/dev/null; sleep 0.2; done'
	ebprec metrics -q --json -i m.data >m.json
	ebprec metrics -q --json --interval -i m.data >intervals.json
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	faults=$(jq '[.tables[] | select(.name == "faults") | .rows[].total] | add' m.json)
	calls=$(jq '[.tables[] | select(.name == "syscalls") | .rows[].rows[].count] | add' m.json)
	took=$(jq '[.tables[] | select(.name == "syscalls") | .rows[].rows[].total_ns] | add' m.json)
	[ "$faults" -gt 100 ] && [ "$calls" -gt 100 ] && [ "$took" -gt 1000000000 ]
	port=$(free_port)
	at=http://127.0.0.1:$port
}

teardown() {
	end_background
}

push() {
	ebprec push -q -d "$BATS_TEST_TMPDIR/state" --retry 0.5 --give-up 20 -i m.data --to "$@"
}

# sum_over EXPRESSION - the one number that Prometheus' language gives for it, over all that was recorded
sum_over() {
	curl -sS "$at/api/v1/query" --data-urlencode "query=sum(sum_over_time($1[1h]))" | jq -r '.data.result[0].value[1]'
}

# holds NUMBER EXPRESSION - whether VictoriaMetrics, which shows points a moment after it has them, has that sum by now
holds() {
	curl -sS "$at/internal/force_flush"
	[ "$1" = "$(sum_over "$2")" ]
}

# has_now NUMBER EXPRESSION - whether its sum is that
has_now() {
	[ "$1" = "$(curl -sS "$at/api/v1/query" --data-urlencode "query=sum($2)" | jq -r '.data.result[0].value[1]' | xargs -r printf '%.0f')" ]
}

@test "InfluxDB" {
	mkdir -p influx
	cat >influx.conf <<-END
		reporting-disabled = true
		bind-address = "127.0.0.1:$(free_port)"
		[meta]
		dir = "$PWD/influx/meta"
		[data]
		dir = "$PWD/influx/data"
		wal-dir = "$PWD/influx/wal"
		[http]
		bind-address = "127.0.0.1:$port"
	END
	start_server "$at/ping" influxd -config influx.conf
	curl -sS "$at/query" --data-urlencode "q=CREATE DATABASE prof" >/dev/null
	push "influx+$at/write?db=prof"
	for _ in 1 2; do
		query="SELECT sum(count) FROM ebprec_syscalls; SELECT sum(total_ns) FROM ebprec_syscalls; SELECT sum(total) FROM ebprec_faults"
		same "$calls $took $faults" "$(curl -sS "$at/query?db=prof" --data-urlencode "q=$query" |
			jq -r '[.results[].series[0].values[0][1]] | join(" ")')"
		push "influx+$at/write?db=prof" --host "$(hostname)" -d again # what comes twice replaces itself
	done
}

@test "VictoriaMetrics, by lines and by remote write" {
	start_server "$at/health" victoria-metrics -httpListenAddr="127.0.0.1:$port" -storageDataPath="$PWD/victoria" -search.latencyOffset=0s
	push "influx+$at/write"
	await holds "$faults" ebprec_faults_total
	same "$calls" "$(sum_over ebprec_syscalls_count)"
	push "prometheus+$at/api/v1/write" --host another
	await holds "$faults" 'ebprec_faults_total{host="another"}'
	same "$calls" "$(sum_over 'ebprec_syscalls_count{host="another"}')"
}

@test "Prometheus, by remote write" {
	echo 'global: {}' >prometheus.yml
	start_server "$at/-/ready" prometheus --web.listen-address="127.0.0.1:$port" --config.file=prometheus.yml \
		--storage.tsdb.path="$PWD/prometheus" --web.enable-remote-write-receiver
	push "prometheus+$at/api/v1/write"
	same "$faults" "$(sum_over ebprec_faults_total)"
	same "$calls" "$(sum_over ebprec_syscalls_count)"
	same "$took" "$(sum_over ebprec_syscalls_total_ns | xargs printf '%.0f')"
}

@test "Prometheus, by asking 'ebprec serve' for what it received" {
	ebprec serve --listen 127.0.0.1:0 -d "$BATS_TEST_TMPDIR/received" 2>serve.err 3>&- &
	await grep -q 'listening at' serve.err
	receiver=$(sed -n 's/.*listening at //p' serve.err)
	push "json+$receiver"
	cat >scrape.yml <<-END
		scrape_configs:
		  - job_name: ebprec
		    scrape_interval: 1s
		    static_configs: [{targets: ["${receiver#http://}"]}]
	END
	start_server "$at/-/ready" prometheus --web.listen-address="127.0.0.1:$port" --config.file=scrape.yml \
		--storage.tsdb.path="$PWD/scraped"
	await has_now "$faults" ebprec_faults_total
	has_now "$calls" ebprec_syscalls_count_total
	has_now "$took" ebprec_syscalls_total_ns_total
	has_now 0 ebprec_serve_missing_batches
}

@test "a Pushgateway has the last interval of each series" {
	start_server "$at/-/ready" prometheus-pushgateway --web.listen-address="127.0.0.1:$port"
	push "pushgateway+$at"
	curl -sS "$at/metrics" | grep '^ebprec_faults_total{' >lines
	[ -s lines ]
	# By process and comm (a process changes that by exec): the value of the last interval that it has.
	same "$(jq -r '.tables[] | select(.name == "faults") | .to_ns as $t | .rows[] | "\(.pid):\(.comm) \($t) \(.total)"' intervals.json |
		sort -k1,1 -k2,2n | tac | sort -su -k1,1 | awk '{ print $1, $3 }' | sort)" \
		"$(sed 's/.*comm="\([^"]*\)".*process="\([0-9]*\)".* \([0-9.e+]*\)$/\2:\1 \3/' lines | sort)"
}
