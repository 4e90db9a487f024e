#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec name: functions of a stripped program get their names in ClickHouse, from a real debuginfod server.

load ../../lib/helper
load servers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	need_bpf
	export DEBUGINFOD_CACHE_PATH=$PWD/cache HOME=$PWD
	mkdir served
	cat >work.c <<-'END'
		volatile unsigned long sink;
		__attribute__((noinline)) static void count_up(unsigned long n) { while (n--) sink += n; }
		__attribute__((noinline)) static void count_down(unsigned long n) { while (n--) sink -= n; }
		int main(void) { for (int i = 0; i < 60; i++) { count_up(3000000); count_down(1000000); } return 0; }
	END
	cc -O1 -g -o work work.c
	objcopy --only-keep-debug work served/work.debug
	strip work
	ebprec record -q -F 997 -o m.data -- ./work
	prepare_clickhouse "$PWD/data"
	start_clickhouse
	# shellcheck disable=SC2154 # prepare_clickhouse sets it
	database=clickhouse://127.0.0.1:$clickhouse_port/prof
	ebprec push -q --to "$database" -d state --setup
	ebprec push -q --to "$database" -d state --interval 0.5 -i m.data
}

teardown() {
	end_background
}

@test "functions of a stripped program get their names, for all that was sent" {
	ebprec query --from "$database" --folded >before
	grep -q 'work+0x[0-9a-f]*' before
	run ! grep -q count_up before
	# A server that is not there, and one that has nothing.
	run ebprec name --from "$database" --debuginfod http://127.0.0.1:1
	same 1 "$status"
	contains "$output" "no debuginfod server can be reached"
	port=$(free_port)
	debuginfod -d :memory: -p "$port" -F served >debuginfod.log 2>&1 3>&- &
	build=$(sed -n 's/.*Build ID: //p' <(readelf -n work))
	await answers "http://127.0.0.1:$port/buildid/$build/debuginfo"
	run ebprec name --from "$database" --debuginfod "http://127.0.0.1:$port"
	same 0 "$status"
	contains "$output" "named "
	ebprec query --from "$database" --folded >after
	same "$(ebprec report -q --folded --debuginfod "http://127.0.0.1:$port" -i m.data)" "$(cat after)"
	grep -q 'count_up' after
	same "$(weight <before)" "$(weight <after)"
	run ! grep -q 'work+0x[0-9a-f]*;' after
	# The next run asks for functions without a name alone.
	run ebprec name --from "$database" --debuginfod "http://127.0.0.1:$port"
	run ! grep -q "$build" <(ask "SELECT build_id FROM (SELECT build_id, argMax(why, ver) AS w FROM ebprec_frames GROUP BY frame, build_id) WHERE w != 0")
	# Another host that sends the same function later does not take the name away.
	ebprec push -q --to "$database" -d other --host other --interval 0.5 -i m.data
	same "$(cat after)" "$(ebprec query --from "$database" --host other --folded)"
}
