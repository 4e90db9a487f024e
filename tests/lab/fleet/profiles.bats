#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# OTLP and pprof of a recording of the machine, as protoc and npm's pprof reader read them.  No server of these protocols is among Debian's packages.

load ../../lib/helper
load servers

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	need_bpf
	ebprec record -q -a -F 499 -o m.data -- \
		sh -c 'for i in 1 2 3; do gzip -c /usr/bin/git >/dev/null; find /usr/share/doc >/dev/null; done'
	mkdir server
	start_server_file
	ebprec push -q -d state --interval 0.5 -i m.data --to "otlp+$at" --to "pyroscope+$at"
	ebprec report -q --folded -i m.data | sort >want
	[ "$(weight <want)" -gt 300 ]
}

start_server_file() {
	"$TEST_LIB/push_server.py" "$PWD/server" >server.log 2>&1 3>&- &
	echo $! >server.pid
	await test -s server/port
	at=http://127.0.0.1:$(cat server/port)
}

teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/server.pid" ] || kill "$(cat "$BATS_FILE_TMPDIR/server.pid")"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

without_services() {
	sed 's/^[^;]*;//' | sum_stacks
}

@test "a receiver that checks each field has the stacks of the report, from both" {
	"$TEST_LIB/profile_check.py" otlp samples server/*_profiles | without_services >got
	"$TEST_LIB/profile_check.py" pprof samples server/*.ingest | sort >got-pprof
	# Frames of one name are several locations; a comm's blanks are underscores in folded stacks.
	diff <(tr ' ' _ <want) <(tr ' ' _ <got)
	diff <(tr ' ' _ <want) <(tr ' ' _ <got-pprof)
}

@test "protoc decodes each OTLP request, by the wire format alone and by the specification's fields, without a rest" {
	for body in server/*_profiles; do
		protoc --decode_raw <"$body" >/dev/null
		protoc -I "$BATS_TEST_DIRNAME" --decode=otlp.Request otlp.proto <"$body" >text
		# protoc prints a field that the messages do not have by its number.
		run ! grep -qE '^ *[0-9]+( \{|:)' text
		awk -f "$BATS_TEST_DIRNAME/otlp_sums.awk" text >>sums
	done
	same "$(weight <want)" "$(grep '^samples ' sums | weight)"
	waits=$("$TEST_LIB/profile_check.py" otlp waits server/*_profiles | weight)
	[ "$waits" -gt 0 ]
	same "$waits" "$(grep '^waits ' sums | weight)"
}

@test "npm's pprof reader has the same samples for each innermost function" {
	modules=$BUILD/fleet-npm
	[ -d "$modules/node_modules/pprof-format" ] || npm install --prefix "$modules" --no-audit --no-fund pprof-format@2.2.1 >npm.log 2>&1 ||
		fail "$(tail -n 5 npm.log)"
	NODE_PATH=$modules/node_modules node "$BATS_TEST_DIRNAME/pprof_sums.cjs" samples server/*.ingest | sort >got-npm
	sed 's/.*;//' want | sum_stacks >want-npm
	diff want-npm got-npm
}
