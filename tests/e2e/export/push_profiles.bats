#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec push to what takes profiles: OTLP and Pyroscope, by a receiver that checks each field of the published protocols.

load ../../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gen_capture -o a.data --samples 3000 --pids 30 --stacks 200
	mkdir server
	"$TEST_LIB/push_server.py" "$PWD/server" >server.log 2>&1 3>&- &
	await test -s server/port
	at=http://127.0.0.1:$(cat server/port)
}

teardown() {
	end_background
}

push() {
	ebprec push -q -d state --retry 0.1 --interval 1 -i a.data "$@"
}

# stacks FORM TYPE [--halved] - what the server has, with or without the services
stacks() {
	local form=$1 files
	shift
	files=$(find server -name "*.$(if [ "$form" = otlp ]; then echo v_development_profiles; else echo ingest; fi)")
	# shellcheck disable=SC2086 # a list
	"$TEST_LIB/profile_check.py" "$form" "$@" $files
}

without_services() {
	sed 's/^[^;]*;//' | sum_stacks
}

@test "OTLP: the stacks, services and weights of the dictionary are those of the report" {
	push --to "otlp+$at"
	same "$(ebprec report -q --folded -i a.data | sort)" "$(stacks otlp samples | without_services)"
	same "$(ebprec report -q --folded --weight period -i a.data | sort)" "$(stacks otlp cpu | without_services)"
	same "$(ebprec report -q --folded -i a.data --service proc7 | weight)" "$(stacks otlp samples | grep '^proc7;' | weight)"
	grep -q '^/v1development/profiles$' server/*.headers
	grep -q '^Content-Type: application/x-protobuf' server/*.headers
	push --to "otlp+$at/other/path" --host web-1
	grep -q '^/other/path$' server/*.headers
}

@test "OTLP: a request that is too large is sent in halves, each with the dictionary" {
	printf '%s\n' '413 large' take '413 large' >server/plan
	push --to "otlp+$at"
	same 3 "$(find server -name '*profiles' | wc -l)"
	same "$(ebprec report -q --folded -i a.data | sort)" "$(stacks otlp samples --halved | without_services)"
}

@test "OTLP: what a server rejects in part is not sent again, and printed" {
	echo 'reject 3 too deep' >server/plan
	run push --to "otlp+$at"
	same 1 "$status"
	contains "$output" "was not taken by 'otlp+$at': 3 of its profiles were rejected: too deep"
	same 1 "$(find server -name '*profiles' | wc -l)"
	push --to "otlp+$at"
	same 1 "$(find server -name '*profiles' | wc -l)"
	contains "$(ebprec push -d state --status)" "1 were refused"
}

@test "Pyroscope: a gzipped pprof of each service, with its name, host and time in the address" {
	push --to "pyroscope+$at" --host 'web 1'
	same "$(ebprec report -q --folded -i a.data | sort)" "$(stacks pprof samples | sort)"
	same "$(ebprec report -q --folded --weight period -i a.data | sort)" "$(stacks pprof cpu | sort)"
	same 30 "$(find server -name '*.ingest' | wc -l)"
	grep -q '^/ingest?name=proc7%7Bhost%3Dweb_1%7D&from=1700000000&until=1700000001&format=pprof&spyName=ebprec$' server/*.headers
	run ! grep -qi '^Content-Encoding' server/*.headers
	for file in server/*.ingest; do
		gzip -t <"$file"
	done
}

@test "waits are profiles of their own: their time, how many they are, and in which stacks" {
	perl "$TEST_LIB/gen/random_waits.pl" 7 | gen_story a.data
	ebprec report -q --waits --csv --min-percent 0 -i a.data >waits.csv
	ebprec report -q --off-cpu --folded -i a.data | sed 's/ [0-9]*$//' | sort >want
	push --to "otlp+$at"
	same "$(sum_field 5 , <waits.csv)" "$(stacks otlp events | weight)"
	same "$(sum_field 4 , <waits.csv)" "$(stacks otlp waits | weight)"
	same "$(cat want)" "$(stacks otlp events | without_services | sed 's/ [0-9]*$//' | sort)"
	push --to "pyroscope+$at"
	same "$(sum_field 5 , <waits.csv)" "$(stacks pprof off_cpu | weight)"
	same "$(sum_field 4 , <waits.csv)" "$(stacks pprof waits | weight)"
	same "$(cat want)" "$(stacks pprof off_cpu | sum_stacks | sed 's/ [0-9]*$//' | sort)"
	same "$(ebprec report -q --folded -i a.data | sort)" "$(stacks pprof samples | sum_stacks)"
	same "$(ebprec report -q --folded -i a.data | sort)" "$(stacks otlp samples | without_services)"
}

@test "Pyroscope: what was taken of a batch is not sent again when another part of it fails" {
	printf '%s\n' take take '503 busy' take '429 slower' '500 broken' >server/plan
	push --to "pyroscope+$at"
	same 30 "$(find server -name '*.ingest' | wc -l)"
	same "$(ebprec report -q --folded -i a.data | sort)" "$(stacks pprof samples | sort)"
}

@test "a part whose answer was lost is sent again, which is printed and counted" {
	printf '%s\n' take drop >server/plan
	run push --to "pyroscope+$at"
	same 0 "$status"
	contains "$output" "a part of batch 1 of 'gen' was sent to 'pyroscope+$at' again, as its answer was lost: it may be there twice"
	same 31 "$(find server -name '*.ingest' | wc -l)"
	contains "$(ebprec push -d state --status)" "1 parts of batches may be there twice: they were sent again, as their answer was lost"
	# An answer of 429 is one: nothing was taken.
	echo '429 slower' >server/plan
	run push --to "otlp+$at" --interval 10
	same "" "$output"
	echo drop >server/plan
	run push --to "otlp+$at" --host other --interval 10
	contains "$output" "a part of batch 1 of 'other' was sent to 'otlp+$at' again"
	same 2 "$(ebprec push -d state --status | grep -c '1 parts of batches may be there twice')"
}

@test "a sender that is killed goes on behind the parts that were taken" {
	printf '%s\n' take take hang >server/plan
	ebprec push -q -d state --to "pyroscope+$at" --interval 1 -i a.data &
	await test ! -s server/plan
	kill -KILL $!
	wait $! 2>/dev/null || true # its lock on the state is gone with it
	run push --to "pyroscope+$at"
	same 30 "$(find server -name '*.ingest' | wc -l)"
	same "$(ebprec report -q --folded -i a.data | sort)" "$(stacks pprof samples | sort)"
	# The third one may have arrived, for all that the sender knows.
	contains "$output" "it may be there twice"
}

@test "profiles of one service and interval have different times or labels, so that none is taken for another" {
	perl "$TEST_LIB/gen/many_stacks.pl" 2 | gen_story a.data
	push --to "otlp+$at"
	same "$(ebprec report -q --folded -i a.data | sort)" "$(stacks otlp samples | without_services)"
	perl "$TEST_LIB/gen/many_stacks.pl" 41 | gen_story a.data
	printf '%s\n' '413 large' '413 large' >server/plan
	push --to "pyroscope+$at"
	same 4 "$(find server -name '*.ingest' | wc -l)" # three parts of the first batch, and the second
	same "$(ebprec report -q --folded -i a.data | sort)" "$(stacks pprof samples | sort)"
}

@test "labels of a host are attributes of OTLP's resources, and labels of Pyroscope's series" {
	push --to "otlp+$at" --label cloud.region=eu-1 --label 'role=a,b c'
	same "$(ebprec report -q --folded -i a.data | sort)" "$(stacks otlp samples | without_services)"
	same $'cloud.region=eu-1\nrole=a,b c' "$("$TEST_LIB/profile_check.py" otlp --labels server/*profiles)"
	push --to "pyroscope+$at" --label cloud.region=eu-1 --label 'role=a,b c'
	grep -q '^/ingest?name=proc7%7Bhost%3Dgen%2Ccloud_region%3Deu-1%2Crole%3Da_b_c%7D&from=' server/*.headers
	same "$(ebprec report -q --folded -i a.data | sort)" "$(stacks pprof samples | sort)"
}
