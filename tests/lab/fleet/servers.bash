# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# servers.bash - real servers of Debian's, each in a folder of the test's own
# shellcheck shell=bash

# Ports of this test alone.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# answers URL - whether a server answers there with success
answers() {
	curl -sf -o /dev/null --max-time 2 "$1"
}

# prepare_clickhouse DIR [ADDRESS] - its configuration; sets $clickhouse, where it is
prepare_clickhouse() {
	local address=${2:-127.0.0.1}
	clickhouse_dir=$1
	clickhouse_port=$(free_port)
	clickhouse=http://$address:$clickhouse_port
	mkdir -p "$1"
	cat >"$1/config.xml" <<-END
		<yandex>
		<logger><level>warning</level><log>$1/log</log><errorlog>$1/errors</errorlog></logger>
		<http_port>$clickhouse_port</http_port><tcp_port>$(free_port)</tcp_port>
		<listen_host>$address</listen_host>
		<path>$1/data/</path><tmp_path>$1/tmp/</tmp_path>
		<mark_cache_size>67108864</mark_cache_size>
		<users_config>users.xml</users_config>
		<default_profile>default</default_profile><default_database>default</default_database>
		</yandex>
	END
	cat >"$1/users.xml" <<-END
		<yandex>
		<profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
		<users><default><password></password><networks><ip>::/0</ip></networks>
		<profile>default</profile><quota>default</quota></default></users>
		<quotas><default></default></quotas>
		</yandex>
	END
}

start_clickhouse() {
	clickhouse-server --config-file="$clickhouse_dir/config.xml" >>"$clickhouse_dir/out" 2>&1 3>&- &
	clickhouse_pid=$!
	await answers "$clickhouse/ping"
}

kill_clickhouse() {
	kill -KILL "$clickhouse_pid"
	wait "$clickhouse_pid" 2>/dev/null || true
}

# ask SQL - the answer of ClickHouse
ask() {
	curl -sS --data-binary "$1" "$clickhouse/?database=prof"
}

# start_server URL COMMAND... - a server in the background, which answers there
start_server() {
	local url=$1
	shift
	"$@" >"server.$(basename "$1")" 2>&1 3>&- &
	await answers "$url"
}
