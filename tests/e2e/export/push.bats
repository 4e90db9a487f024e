#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec push: what a server has is what was recorded, whatever the server does meanwhile.

load ../../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gen_capture -o a.data --samples 3000 --pids 30
	mkdir server
}

teardown() {
	end_background
	umount state 2>/dev/null || true
}

start_server() {
	"$TEST_LIB/push_server.py" "$PWD/server" "$@" >server.log 2>&1 3>&- &
	await test -s server/port
	port=$(cat server/port)
	to=clickhouse://127.0.0.1:$port/prof
}

# sums [EVENT] - rows, samples and weight that the server has, of all events or of one
sums() {
	curl -s "http://127.0.0.1:$port/sums${1:+?$1}"
}

# stored PATTERN - the requests that the server stored under such names
stored() {
	find server -name "$1" ! -name '*.headers'
}

push() {
	ebprec push -q --to "$to" -d state --retry 0.1 "$@"
}

hangs_fewer_than() {
	[ "$(wc -l <server/plan)" -lt "$1" ]
}

served() {
	[ "$(sums | cut -d' ' -f2)" = "$1" ]
}

# has_all - the server has the samples of a.data, each once
has_all() {
	local want
	want=$(ebprec report -q --folded -i a.data | weight)
	same "$want" "$(sums | cut -d' ' -f2)"
	want=$(ebprec report -q --folded --weight period -i a.data | weight)
	same "$want" "$(sums | cut -d' ' -f3)"
	same 0 "$(sums | cut -d' ' -f4)"
}

@test "the sums of a server are those of the report, and nothing is sent twice" {
	start_server
	run ebprec push --to "$to" -d state --interval 1 -i a.data
	same 0 "$status"
	has_all
	before=$(sums)
	run ebprec push --to "$to" -d state -i a.data
	same 0 "$status"
	contains "$output" "'a.data' was pushed before, skipping"
	cp a.data b.data
	push -i b.data # the same recording by another name
	same "$before" "$(sums)"
	push --host other -i a.data
	same "$((2 * 3000))" "$(sums | cut -d' ' -f2)"
	# Each host counts its batches from 1, so a token without the host would be that of another's batch.
	for host in gen other; do
		grep -q "insert_deduplication_token=[0-9a-f]*-$host-1-samples-0&" server/*samples.headers
	done
	same "" "$(ls state/out)"
}

@test "waits: how many and how long they are is what the report counts, to the nanosecond" {
	start_server
	perl "$TEST_LIB/gen/random_waits.pl" 7 | gen_story w.data
	push --interval 0.002 -i w.data
	ebprec report -q --waits --csv --min-percent 0 -i w.data >waits.csv
	same "$(sum_field 4 , <waits.csv) $(sum_field 5 , <waits.csv)" "$(sums off_cpu | cut -d' ' -f2,3)"
	same "$(ebprec report -q --folded -i w.data | weight)" "$(sums cpu | cut -d' ' -f2)"
	[ "$(find server -name '*samples' | wc -l)" -gt 5 ] # intervals
	before=$(sums cpu)
	push --no-waits --host other -i w.data
	same "$(($(cut -d' ' -f2 <<<"$before") * 2))" "$(sums cpu | cut -d' ' -f2)"
	same "$(sum_field 4 , <waits.csv)" "$(sums off_cpu | cut -d' ' -f2)"
}

@test "a stack and a frame are sent once, not in each interval of a capture" {
	start_server
	push -i a.data --interval 1000
	once=$(stored '*stacks' | xargs cat | wc -c) frames=$(stored '*frames' | xargs cat | wc -c)
	push -i a.data --interval 0.002 --host other
	[ "$(stored '*samples' | wc -l)" -gt 5 ]
	same "$((2 * once)) $((2 * frames))" "$(stored '*stacks' | xargs cat | wc -c) $(stored '*frames' | xargs cat | wc -c)"
}

@test "a folder of captures, and what is none in it" {
	start_server
	mkdir captures
	gen_capture -o captures/1.data --samples 100 --pids 3
	gen_capture -o captures/2.data --samples 700 --pids 7
	gen_capture -o captures/3.data --samples 50 --live
	echo nothing >captures/note
	push -i captures
	same 800 "$(sums | cut -d' ' -f2)"
}

@test "a folder's capture that cannot be read, or was never completed, is named once, and is the exit status" {
	start_server
	mkdir captures
	head -c 3000 a.data >captures/1.data
	gen_capture -o captures/2.data --samples 50 --live
	touch -d '2 minutes ago' captures/2.data
	cp a.data captures/3.data
	run ebprec push --to "$to" -d state -i captures
	same 1 "$status"
	contains "$output" "cannot read 'captures/1.data'"
	contains "$output" "'captures/2.data' is being recorded, or its recorder was killed, skipping (ebprec recover)"
	same 3000 "$(sums | cut -d' ' -f2)"
	ebprec push -q --to "$to" -d state --follow -i captures 2>err &
	await grep -q 2.data err
	cp a.data captures/4.data
	gen_capture -o captures/5.data --samples 70 --pids 2
	await served 3070 # at least the second look at the folder
	kill $!
	same 1 "$(grep -c 1.data err)"
	same 1 "$(grep -c 2.data err)"
}

@test "a server that is away, with a full queue, does not stop the others" {
	start_server
	mkdir captures
	cp a.data captures/1.data
	gen_capture -o captures/2.data --samples 700 --pids 7
	push --to clickhouse://127.0.0.1:1/prof --queue 1K --give-up 1 -i captures || true
	same 3700 "$(sums | cut -d' ' -f2)"
	# The other one takes what it did not have later.
	run ebprec push -q --to "clickhouse://127.0.0.1:1/prof" -d state --give-up 0.1 --queue 1G -i captures
	contains "$output" "2 batches wait"
}

@test "a server that falls behind: the oldest captures first, the others stay, and removed ones are counted" {
	mkdir captures
	gen_capture -o captures/x.data.10 --samples 700 --pids 7
	gen_capture -o captures/x.data.2 --samples 200 --pids 2
	gen_capture -o captures/x.data.9 --samples 500 --pids 5
	to=clickhouse://127.0.0.1:1/prof
	ebprec push --to "$to" -d state --retry 0.1 --queue 1K --follow -i captures 2>err 3>&- &
	sender=$!
	await grep -q 'takes nothing now' err
	rm captures/x.data.2 captures/x.data.9 # of which the first is on its way
	await grep -q 'x.data.9' err
	contains "$(cat err)" "'captures/x.data.9' was removed before it was sent to '$to'"
	sleep 3
	kill "$sender"
	wait "$sender" || true
	same 1 "$(grep -c 'was removed' err)"
	ebprec push -d state --status >status
	contains "$(cat status)" "1 captures were removed before they were sent"
	contains "$(cat status)" "waits, 200 samples"
	same 1 "$(grep -c 'waits,' status)"
	# One that has all of them never counts.
	start_server
	push -i captures
	same 700 "$(sums | cut -d' ' -f2)"
	push --follow -i captures 2>err 3>&- &
	sender=$!
	sleep 3
	rm captures/x.data.10
	sleep 3
	kill "$sender"
	wait "$sender" || true
	same 0 "$(grep -c 'was removed' err || true)"
}

@test "batches wait for a server that is away, and survive" {
	to=clickhouse://127.0.0.1:1/prof
	run ebprec push --to "$to" -d state --retry 0.1 --give-up 0.5 -i a.data
	same 1 "$status"
	contains "$output" "batches wait in 'state/out' (the same command sends them)"
	same 1 "$(find state/out -type f | wc -l)"
	contains "$(ebprec push -d state --status)" "1 wait"
}

@test "busy servers, lost answers and broken ones: each sample once" {
	start_server
	printf '%s\n' '503 busy | Retry-After: 1' drop '500 disk full' drop '429 slower' drop '502 no' drop \
		'503 later | Retry-After: Thu, 01 Jan 1970 00:00:00 GMT' >server/plan
	push -i a.data
	has_all
	same "" "$(cat server/plan)"
}

@test "an answer that is lost on a connection that was used before: each sample once" {
	start_server
	printf '%s\n' take take drop >server/plan # stacks, frames, samples
	push -i a.data
	has_all
}

@test "an answer that is lost to the row of a batch: that row once" {
	start_server
	printf '%s\n' take take take drop >server/plan # stacks, frames, samples, the batch
	push -i a.data
	has_all
	same 0 "$(sums | cut -d' ' -f4)"
}

@test "a question that is refused is no batch that is" {
	start_server
	printf '%s\n' take take drop >server/plan
	printf '%s\n' '413 large' '400 what' take '413 large' >server/questions # of the version, and one of a count
	push -i a.data
	has_all
	same "" "$(cat server/questions)"
}

@test "an interval of very many rows is sent in several batches" {
	start_server
	seq 10 100109 | sed 's/.*/0 fork 1 1 & &\n0 comm & & n&\n1000 sample & & 0 10 u:0x400100/' | gen_story a.data
	push -i a.data
	has_all
	same 100100 "$(sums | cut -d' ' -f1)"
	same 2 "$(stored '*samples' | wc -l)"
}

@test "a batch that is too large is sent in halves" {
	start_server
	gen_capture -o a.data --samples 30000 --pids 300 --stacks 3000
	printf '%s\n' take take '413 large' '413 large' >server/plan # stacks, frames, samples, their first half
	push -i a.data
	has_all
	same 3 "$(stored '*samples' | wc -l)"
}

# bats test_tags=long
@test "a disk that is full is waited for, and printed once: each sample once" {
	need_root
	mkdir state captures
	mount -t tmpfs -o size=4m tmpfs state 2>/dev/null || skip "may not mount"
	start_server
	cp a.data captures/1.data
	printf 'hang\n%.0s' {1..50} >server/plan
	ebprec push -q --to "$to" -d state --timeout 1 --retry 0.1 --follow -i captures 2>err &
	await hangs_fewer_than 50 # the ledger has a try, and is written to when it fails
	cat /dev/zero >state/fill 2>/dev/null || true
	gen_capture -o 2.data --samples 700 --pids 7
	mv 2.data captures
	await grep -q "cannot write the ledger 'state/push.sqlite': .*full (it goes on when it can)" err
	await grep -q "cannot write .*'state/out': No space left on device" err
	kill -0 $!
	same 0 "$(sums | cut -d' ' -f2)"
	: >server/plan
	rm state/fill
	await served 3700
	await rmdir state/out # all was noted as sent
	same "1 1" "$(grep -c push.sqlite err) $(grep -c state/out err)"
	kill $!
	wait $! || true
	contains "$(ebprec push -d state --status)" "sent 2 batches, 3700 samples or points"
	same "3700 0" "$(sums | cut -d' ' -f2,4)"
}

@test "what is refused is set aside with the server's words, and the next is sent" {
	start_server
	echo '400 unknown column <frames>' >server/plan
	run ebprec push --to "$to" -d state --retry 0.1 -i a.data
	same 1 "$status"
	contains "$output" "batch 1 of 'gen' was not taken by '$to': HTTP 400: unknown column <frames>"
	[ -s "$(find state/out -name '*.refused')" ]
	contains "$(ebprec push -d state --status)" "refused, 3000 samples or points, 1 tries: HTTP 400: unknown column <frames>"
	push --host other -i a.data
	same 3000 "$(sums | cut -d' ' -f2)"
}

@test "answers without end, of a byte a second, redirections: none takes for long" {
	start_server
	printf '%s\n' endless slow '302 there | Location: http://127.0.0.1:1/' hang >server/plan
	push --timeout 0.5 -i a.data
	has_all
}

@test "a sender that is killed at any moment loses and doubles nothing" {
	start_server
	mkdir captures
	for i in 1 2 3 4 5 6; do
		gen_capture -o captures/$i.data --samples $((i * 100)) --pids $i
	done
	for pause in 0 0.005 0.01 0.02 0.03 0.04 0.05 0.06; do
		ebprec push -q --to "$to" -d state -i captures &
		sleep $pause
		kill -KILL $! 2>/dev/null || true
		wait $! 2>/dev/null || true
	done
	push -i captures
	same "2100 0" "$(sums | cut -d' ' -f2,4)"
}

@test "TLS: a certificate of its own is refused, --ca takes it" {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key -out cert -days 2 \
		-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null
	start_server cert key
	to=clickhouse+https://127.0.0.1:$port/prof
	run ebprec push --to "$to" -d state --retry 0.1 --give-up 0.5 -i a.data
	same 1 "$status"
	contains "$output" certificate
	push --ca cert # what waits
	same 3000 "$(curl -s --cacert cert "https://127.0.0.1:$port/sums" | cut -d' ' -f2)"
}

@test "TLS: a server that demands a certificate gets the one of --cert and --key" {
	local name
	for name in server client; do
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $name.key -out $name.cert -days 2 \
			-subj /CN=$name -addext subjectAltName=IP:127.0.0.1 2>/dev/null
	done
	start_server server.cert server.key client.cert
	to=clickhouse+https://127.0.0.1:$port/prof
	run ebprec push --to "$to" -d state --retry 0.1 --give-up 0.5 --ca server.cert -i a.data
	same 1 "$status"
	contains "$output" "batches wait"
	push --ca server.cert --cert client.cert --key client.key
	same 3000 "$(curl -s --cacert server.cert --cert client.cert --key client.key "https://127.0.0.1:$port/sums" | cut -d' ' -f2)"
}

@test "a clock that was days ahead, or is behind, puts nothing off: each sample once" {
	command -v faketime >/dev/null || skip "needs faketime"
	start_server
	printf '%s\n' take '503 later' '503 later' >server/plan
	faketime -f +3d ebprec push -q --to "$to" -d state --retry 60 --give-up 0.5 -i a.data || true
	contains "$(ebprec push -d state --status)" "1 wait"
	# It is put off to a moment of the other clock.
	[ "$(python3 -c 'import sqlite3; print(sqlite3.connect("state/push.sqlite").execute("SELECT max(next_ms) FROM batches").fetchone()[0] // 1000)')" -gt $(($(date +%s) + 200000)) ]
	faketime -f -3d ebprec push -q --to "$to" -d state --retry 0.1
	has_all
}

@test "secrets are read from files that only their owner may read, and sent" {
	start_server
	echo s3cret >token
	chmod 644 token
	run ebprec push --to "$to" -d state --token-file token -i a.data
	same 1 "$status"
	contains "$output" "cannot use 'token': others may read it (chmod 600)"
	chmod 600 token
	push --token-file token -i a.data
	grep -q '^Authorization: Bearer s3cret' server/1.*.headers
	push --to "clickhouse://me@127.0.0.1:$port/prof" --token-file token -i a.data
	grep -q "^Authorization: Basic $(printf me:s3cret | base64)" server/*.headers
}

@test "a secret in a URL is refused, and neither printed nor stored" {
	for to in "clickhouse://me:s3cret@h/prof" "influx+http://h/write?db=x&u=me&p=s3cret" "nothing://me:s3cret@h/"; do
		run ebprec push --to "$to" -d state -i a.data
		same 2 "$status"
		contains "$output" "option '--to': it has a password or token"
		contains "$output" "--token-file FILE, mode 0600"
		[[ $output != *s3cret* ]]
	done
	run ebprec push --to clickhouse://h/prof --proxy http://me:s3cret@h:3128 -d state -i a.data
	same 2 "$status"
	contains "$output" "--proxy-login FILE, mode 0600"
	[[ $output != *s3cret* ]]
	run ebprec query --from clickhouse://me:s3cret@h/prof
	same 2 "$status"
	[[ $output != *s3cret* ]]
	run ! grep -raq s3cret state
}

@test "a proxy gets its login from a file" {
	start_server
	echo me:s3cret:x >login
	chmod 600 login
	# The server is its own proxy: it gets the entire URL.
	to=clickhouse://nowhere.invalid:1/prof
	push --proxy "http://127.0.0.1:$port" --proxy-login login -i a.data
	grep -q '^http://nowhere.invalid:1/' server/*samples.headers
	grep -q "^Proxy-Authorization: Basic $(printf me:s3cret:x | base64)" server/*samples.headers
	run ebprec push --to "$to" --proxy-login login -d state -i a.data
	same 2 "$status"
	echo s3cret >login
	run ebprec push --to "$to" --proxy "http://127.0.0.1:$port" --proxy-login login -d state -i a.data
	same 1 "$status"
	contains "$output" "cannot use 'login': USER:PASSWORD was expected in it"
}

@test "no core file has a secret" {
	start_server
	echo s3cret >token
	chmod 600 token
	strace -f -o calls ebprec push -q --to "$to" -d state --token-file token -i a.data
	# From the first of both on.
	grep -E 'prctl\(PR_SET_DUMPABLE, SUID_DUMP_DISABLE\) += 0|openat\(.*"token", O_RDONLY' calls | grep -v O_PATH >both
	contains "$(head -n 1 both)" PR_SET_DUMPABLE
	grep -q '"token"' both
	echo hang >server/plan
	ebprec push -q --to "$to" -d state --timeout 9 --host other -i a.data &
	await test ! -s server/plan
	same "0 0" "$(grep '^Max core file size' /proc/$!/limits | awk '{ print $5, $6 }')"
}

# processes PATTERN - the files of the processes that made such calls
processes() {
	grep -lE "$1" calls.* | sort
}

@test "what reads a capture has no socket to a server and no secret, and what has them reads none" {
	local reader sender filter opened fd
	start_server
	mkdir captures
	mv a.data captures/1.data
	echo s3cret >token
	chmod 600 token
	strace -ff -o calls ebprec push -q --to "$to" -d state --token-file token -i captures
	same 3000 "$(sums | cut -d' ' -f2)"
	sender=$(processes 'connect\(.*AF_INET')
	same "$sender" "$(processes '"token", O_RDONLY(\|O_CLOEXEC)?\)')"
	reader=$(processes '1\.data", O_RDONLY(\|O_CLOEXEC|\|O_NO[A-Z]*)*\) = [0-9]' | grep -vFx "$sender")
	same 1 "$(wc -w <<<"$reader")"
	# The sender opens a file of a folder to see whether it is a capture: it reads 8 bytes, and maps nothing of it.
	fd=$(sed -n 's/.*1\.data", O_RDONLY.*NONBLOCK.*= \([0-9]*\)$/\1/p' "$sender" | head -n 1)
	grep -A 3 'captures/1\.data", O_RDONLY.*NONBLOCK' "$sender" | grep -q "pread64($fd, .*, 8, 0) *= 8"
	same "" "$(grep -A 5 'captures/1\.data", O_RDONLY.*NONBLOCK' "$sender" | grep "mmap(.*, $fd, " || true)"
	# The reader's filter of system calls is there before it opens the capture.
	filter=$(grep -nE '(PR_SET_SECCOMP|SECCOMP_SET_MODE_FILTER).* = 0$' "$reader" | tail -n 1)
	opened=$(grep -nE '1\.data", O_RDONLY(\|O_CLOEXEC|\|O_NO[A-Z]*)*\) = [0-9]' "$reader" | grep -v O_PATH | head -n 1)
	[ "${filter%%:*}" -lt "${opened%%:*}" ]
}

# reader_of PID - sets $reader to the process that reads for a sender, once there is one
reader_of() {
	local helper
	helper=$(pgrep -P "$1") && reader=$(pgrep -P "$helper" -x ebprec-reader)
}

@test "a reader that dies costs its capture alone, and is printed" {
	start_server
	mkfifo pipe
	ebprec push -q --to "$to" -d state -i pipe 2>err &
	await reader_of $!
	kill -SEGV "$reader"
	status=0
	wait $! || status=$?
	same 1 "$status"
	contains "$(cat err)" "cannot read 'pipe': the process that read it ended by signal 11"
	push -i a.data
	has_all
	# Neither outlives its sender.
	ebprec push -q --to "$to" -d state -i pipe 2>err &
	await reader_of $!
	kill -KILL $!
	await test ! -d "/proc/$reader"
}

@test "one sender a folder" {
	start_server
	echo hang >server/plan
	ebprec push -q --to "$to" -d state --timeout 5 -i a.data &
	await test ! -s server/plan
	run ebprec push --to "$to" -d state -i a.data
	same 1 "$status"
	contains "$output" "another 'ebprec push' works in 'state'"
}

@test "tables of instruments, in the forms of metric stores" {
	start_server
	gen_tables t.data <"$BATS_TEST_DIRNAME/../../golden/metrics-net/story"
	to="influx+http://127.0.0.1:$port/write?db=x"
	push --to "json+http://127.0.0.1:$port/data" --to "prometheus+http://127.0.0.1:$port/api/v1/write" \
		--to "pushgateway+http://127.0.0.1:$port" -i t.data
	want=$(ebprec metrics --json --interval t.data |
		jq -r '[.. | objects | .rx_bytes? // empty | select(type == "number")] | add')
	[ "$want" -gt 0 ]
	same "$want" "$(stored '*.write' | xargs sed -n 's/.*[ ,]rx_bytes=\([0-9]*\)i.*/\1/p' | sum_field 1)"
	same "$want" "$(stored '*.data' | xargs jq -s '[.[].metrics[].rx_bytes // empty] | add')"
	grep -q '^Content-Encoding: snappy' server/*api_v_write.headers
	grep -q '^/metrics/job/ebprec/instance/' server/*metrics_job*.headers
}

@test "names that are no UTF-8 do not cost the batch that they are in" {
	start_server
	LC_ALL=C sed 's/ comm=shell / comm=\xff\xfeshell /' "$BATS_TEST_DIRNAME/../../golden/metrics/story" >story
	gen_tables t.data <story
	to="prometheus+http://127.0.0.1:$port/write"
	push --to "influx+http://127.0.0.1:$port/write?db=x" -i t.data
	[ "$(stored '*write' | wc -l)" -ge 2 ]
	same "" "$(stored '*write' | xargs -n 1 python3 -c 'import sys; b"\xff\xfe" in open(sys.argv[1], "rb").read() and print(sys.argv[1])')"
	stored '*write' | xargs grep -aqF '\xff\xfeshell'
}

@test "a folder without a ledger, and a capture without tables: why nothing was sent" {
	start_server
	run ebprec push -d state --status
	same 0 "$status"
	contains "$output" "nothing was ever to be sent from 'state' (-d DIR is another folder)"
	[ ! -e state ]
	mkdir state
	ebprec push -q -d state --to clickhouse://h/x --status
	same "" "$(ls -A state)"
	to="influx+http://127.0.0.1:$port/write"
	run ebprec push --to "$to" -d state -i a.data
	same 0 "$status"
	contains "$output" "'a.data' has no tables of instruments, nothing goes to '$to'"
}

@test "batches that the ledger does not have are removed, those that wait or were refused stay" {
	start_server
	echo '400 no' >server/plan
	push -i a.data || true
	ebprec push -q --to clickhouse://127.0.0.1:1/prof -d state --give-up 0.1 -i a.data || true
	before=$(ls state/out)
	cp state/out/gen-1.2 state/out/gen-7.1
	cp state/out/gen-1.2 state/out/gen-a-b-1.2
	ebprec push -q --to clickhouse://127.0.0.1:1/prof -d state --give-up 0.1 || true
	same "$before" "$(ls state/out)"
	contains "$before" gen-1.1.refused
}

@test "labels of a host are in each row, of options and of a file" {
	start_server
	printf '# where it is\ncloud.region=eu-1\n' >labels
	push --label role=web --labels labels -i a.data
	has_all
	same $'cloud.region=eu-1\nrole=web' "$(curl -s "http://127.0.0.1:$port/labels")"
}

@test "a label that is none is refused before anything is sent" {
	start_server
	run push --label role -i a.data
	same 2 "$status"
	contains "$output" "option '--label' cannot be 'role': KEY=VALUE was expected"
	printf 'role=web\n\nhost=other\n' >labels
	run push --labels labels -i a.data
	same 1 "$status"
	contains "$output" "cannot read 'labels': line 3: there is one of that name"
	run push --labels nosuch -i a.data
	contains "$output" "cannot read 'nosuch': No such file or directory"
	same "0 0 0 0" "$(sums)"
}
