#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Services by the process context of OpenTelemetry that a program publishes (OTEP 4719); protoc writes the messages.
# runs beside others: it counts its own processes

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
	cat >context.proto <<-'END'
		syntax = "proto3";
		message Value { oneof value { string string_value = 1; int64 int_value = 3; double double_value = 4; } }
		message Attribute { string key = 1; Value value = 2; }
		message Resource { repeated Attribute attributes = 1; uint32 dropped_attributes_count = 2; }
		message Context { Resource resource = 1; repeated Attribute attributes = 2; }
	END
	for name in checkout cart unknown_service:x; do
		message $name >$name
	done
}

teardown() {
	end_background
}

# message NAME - as an SDK publishes it
message() {
	protoc --encode=Context context.proto <<-END
		resource {
		  attributes { key: "telemetry.sdk.language" value { string_value: "c" } }
		  attributes { key: "service.name" value { string_value: "$1" } }
		  attributes { key: "weight" value { double_value: 1.5 } }
		  dropped_attributes_count: 2
		}
		attributes { key: "service.name" value { string_value: "not-of-the-resource" } }
	END
}

# services FILE - their names and samples
services() {
	ebprec query --services -i "$1" --json | jq -r '.services[] | "\(.service) \(.samples)"'
}

samples() {
	services "$1" | sed -n "s/^$2 //p"
}

# has_samples FILE SERVICE - of more than 0.9 s of CPU at 199 Hz
has_samples() {
	local got
	got=$(samples "$1" "$2")
	[ "${got:-0}" -gt 100 ] || fail "$2: $(services "$1" | head)"
}

# bats test_tags=long
@test "a service has the name that its process published before the recording or in it, since it began" {
	for options in '' --no-bpf; do
		published memfd:checkout 30000 >started &
		await grep -q published started
		before=$!
		# shellcheck disable=SC2086 # a word or none
		ebprec record -q $options -F 199 -a -o x.data -- published memfd:cart 1500 -- published none 1000
		kill $before
		has_samples x.data checkout
		# From its first sample on; the program that it became has none.
		has_samples x.data cart
		has_samples x.data published
		# shellcheck disable=SC2086
		same "$(samples x.data cart)" "$(ebprec report -q --folded --service cart x.data | weight)"
	done
	printf 'shop context:c*\n' >rules
	same "$(($(samples x.data cart) + $(samples x.data checkout)))" \
		"$(ebprec report -q --folded --service shop --service-rules rules x.data | weight)"
	! grep -q not-of-the-resource <(services x.data) || fail "$(services x.data)"
	same 0 "$(account x.data lost process_contexts)"
	ebprec scrub -q -o scrubbed.data --check cart --check telemetry x.data
	[ "$(services scrubbed.data | wc -l)" -ge 3 ]
}

# bats test_tags=long
@test "each capture of a rotation has the names of the processes of its time" {
	published memfd:checkout 60000 >started &
	await grep -q published started
	ebprec record -q -F 199 -a -d 4 --rotate 1s -o x.data
	files=(x.data*)
	[ "${#files[@]}" -ge 3 ] || fail "${files[*]}"
	for file in "${files[@]}"; do
		# The last one may be short, and without any.
		same "$(ebprec report -q --folded --comm published "$file" | weight)" \
			"$(ebprec report -q --folded --service checkout "$file" | weight)"
	done
	ebprec merge -q -o all.data "${files[@]}"
	same "$(for file in "${files[@]}"; do samples "$file" checkout; done | jq -s add)" "$(samples all.data checkout)"
}

# bats test_tags=long
@test "contexts that are broken, or are none, name nothing and stop nothing" {
	head -c 1000000 /dev/urandom >random
	head -c 40 cart >cut
	: >empty
	# Each lives for more than the second after which it is looked at, unless the machine is idle.
	ebprec record -q -F 199 -a -o x.data -- sh -c '
		for form in version:cart size:cart address:cart signature:cart zero:cart memfd:random memfd:cut memfd:empty \
			memfd:unknown_service:x; do
			published $form 300 &
		done
		published memfd:checkout 1500
		wait'
	has_samples x.data checkout
	[ "$(samples x.data published)" -gt 100 ]
	same "" "$(services x.data | grep -E 'cart|unknown_service')"
	need_perf
	perf script -f --ns -i x.data 2>&1 >/dev/null | grep -v '^$' >messages || true
	same "" "$(complaints messages | grep -ivE 'lost|kernel.*symbol|kptr')"
}
