#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec serve: each batch counts once, what is missing is reported, and no client hurts it.

load ../../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gen_tables t.data <"$BATS_TEST_DIRNAME/../../golden/metrics-net/story"
}

teardown() {
	end_background
}

# serve OPTIONS - in the background; sets $at and $server
serve() {
	: >serve.err
	ebprec serve --listen "127.0.0.1:${port:-0}" -d received "$@" 2>serve.err 3>&- &
	server=$!
	await grep -q 'listening at' serve.err
	at=$(sed -n 's/.*listening at //p' serve.err)
	port=${at##*:}
}

push() {
	ebprec push -q --to "json+$at" -d state --retry 0.1 -i t.data "$@"
}

# batch SOURCE NUMBER [METRICS] - a batch as of another program
batch() {
	curl -sS -d '{"timestamp": 1, "source_script": "'"$1"'", "batch_id": "x", "sequence": '"$2"', "metrics": ['"${3:-}"']}' "$at"
}

# metric NAME - the sum of a counter of /metrics
metric() {
	curl -sS "$at/metrics" | weight "^$1[{ ]"
}

@test "counters are what 'ebprec metrics' prints, though it is killed and batches come twice" {
	serve
	push
	want=$(ebprec metrics --json --interval t.data | jq -r '[.. | objects | .rx_bytes? // empty | select(type == "number")] | add')
	[ "$want" -gt 0 ]
	same "$want" "$(metric ebprec_net_rx_bytes_total)"
	kill -KILL $server
	wait $server || true
	run ! push --host second --give-up 0.2
	serve
	push
	same "$((2 * want))" "$(metric ebprec_net_rx_bytes_total)"
	curl -sS "$at/metrics" >before
	push -d other # the same batches by another sender: they are new
	same "$((3 * want))" "$(metric ebprec_net_rx_bytes_total)"
	batches=$(metric ebprec_serve_batches)
	[ "$batches" -ge 3 ]
	same 0 "$(metric ebprec_serve_missing_batches)"
}

@test "numbers that are missing are reported until they come, and those that come again count once" {
	serve
	for number in 3 4 9 3 6; do
		batch web $number '{"table": "faults", "total": 2}'
	done >answers
	same 1 "$(grep -c 'came before' answers)"
	batch db 7
	same '[["db",0,[]],["web",3,[[5,5],[7,8]]]]' "$(curl -sS "$at/gaps" | jq -c '[.[] | [.source, .missing, .gaps]]')"
	same 3 "$(metric ebprec_serve_missing_batches)"
	same 8 "$(metric ebprec_faults_total)"
	batch web 7
	contains "$(ebprec serve --status -d received)" "5, 8"
	kill $server
	wait $server || true
	same '[5,8]' "$(ebprec serve --status --json -d received | jq -c '[.senders[] | select(.source == "web") | .gaps | split(", ")[] | tonumber]')"
	run ebprec serve --status -d nothing
	same 1 "$status"
	contains "$output" "nothing was received into 'nothing'"
	[ ! -e nothing ]
}

@test "what is no batch is refused with words, and nothing of it stays" {
	serve --max-body 64K --max-series 3
	deep=$(printf '[%.0s' {1..200})
	for body in '' '{' "$deep" '[]' '{"source_script": "a"}' \
		'{"source_script": "a", "batch_id": "b", "sequence": 0, "metrics": []}' \
		'{"source_script": "a", "batch_id": "b", "sequence": 99999999999999999999999, "metrics": []}' \
		'{"source_script": "a", "batch_id": "b", "sequence": 1, "metrics": [{"table": "t", "n": 1}, 7]}' \
		'{"source_script": "a", "batch_id": "b", "sequence": 1, "metrics": []} x'; do
		same 400 "$(curl -sS -o answer -w '%{http_code}' -d "$body" "$at")"
		[ -s answer ]
	done
	same 0 "$(metric ebprec_t_n_total)"
	same '[]' "$(curl -sS "$at/gaps" | jq -c .)"
	fields=$(printf '"f%d": 1,' {1..70})
	contains "$(batch a 1 "{${fields%,}}")" "more than 64 fields"
	head -c 70000 /dev/zero | tr '\0' ' ' >large
	same 413 "$(curl -sS -o answer -w '%{http_code}' -d @large "$at")"
	same 404 "$(curl -sS -o answer -w '%{http_code}' "$at/other")"
	same 405 "$(curl -sS -o answer -w '%{http_code}' -X DELETE "$at/other")"
	# Series beyond the limit, and names and labels that would end a line.
	batch 'a\u000a\"b' 1 '{"table": "a b\\c{", "we\"ird": "x\u000ay\"", "n": 1, "m": 2, "o": 3, "p": 4}'
	same 1 "$(metric ebprec_serve_series_left_out)"
	run ! grep -vE '^(# TYPE [a-zA-Z_][a-zA-Z0-9_]* (gauge|counter)|[a-zA-Z_][a-zA-Z0-9_]*([{]([a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\.)*",?)*[}])? [0-9]+)$' <(curl -sS "$at/metrics")
}

@test "bodies without end, and silent clients, cost neither memory nor others" {
	serve
	for _ in {1..8}; do
		head -c 40000000 /dev/zero | curl -sS -o answer -H 'Transfer-Encoding: chunked' -H 'Expect:' --data-binary @- "$at" 2>/dev/null || true
	done
	python3 - "$port" <<-'END' &
		import socket, sys, time
		idle = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(40)]
		for s in idle:
		    s.sendall(b"POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n{")
		open("idle", "w").close()
		time.sleep(60)
	END
	await test -e idle
	batch web 1
	same 1 "$(metric ebprec_serve_batches)"
	most=$(pick_fields 1 VmHWM: 2 </proc/$server/status)
	[ "$most" -lt 150000 ] || fail "$most KiB"
	kill -0 $server
}

@test "a token is demanded of batches, one process works in a folder, and it is confined" {
	echo s3cret >token
	chmod 600 token
	serve --token-file token
	same 401 "$(curl -sS -o answer -w '%{http_code}' -d '{}' "$at")"
	same 401 "$(curl -sS -o answer -w '%{http_code}' -H 'Authorization: Bearer s3cre' -d '{}' "$at")"
	same 400 "$(curl -sS -o answer -w '%{http_code}' -H 'Authorization: Bearer s3cret' -d '{}' "$at")"
	push --token-file token
	[ "$(metric ebprec_serve_batches)" -ge 1 ]
	same "2 1" "$(pick_fields 1 Seccomp: 2 </proc/$server/status) $(pick_fields 1 NoNewPrivs: 2 </proc/$server/status)"
	run ebprec serve --listen 127.0.0.1:0 -d received
	same 1 "$status"
	contains "$output" "another 'ebprec serve' works in 'received'"
	run ebprec serve --listen "127.0.0.1:$port" -d second
	same 1 "$status"
	contains "$output" "cannot listen at '127.0.0.1:$port': Address already in use"
	run ebprec serve --listen localhost:1 -d second
	same 2 "$status"
}
