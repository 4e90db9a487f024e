#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# One kind of call after the other fails in a running recorder: what was lost is counted, all else is
# recorded.  failcall.c makes them fail.

load ../helper

setup() {
	need_bpf
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
	load=
}

teardown() {
	[ -z "$load" ] || kill "$load" 2>/dev/null || true
}

# failing CALL [NAME=VALUE...] -- CMD... - runs CMD, whose stderr goes to err; status is how it ended
failing() {
	local call=$1 names=()
	shift
	while [ "$1" != -- ]; do
		names+=("FAILCALL_$1")
		shift
	done
	shift
	status=0
	timeout -s KILL 100 env LD_PRELOAD="$BUILD/tests/faults/failcall.so" "FAILCALL=$call" "${names[@]}" "$@" \
		2>err 3>&- || status=$?
}

busy() {
	storm 300 60 >/dev/null 2>&1 3>&- &
	load=$!
}

@test "a ring of perf events without a record at its tail: what is skipped counts as lost" {
	for how in "" --no-bpf; do
		busy
		# shellcheck disable=SC2086 # no word, or one
		failing corrupt:perf TIMES=2 -- ebprec-record -a -F 499 -d 3 -q $how -o r.data
		kill "$load"
		same 0 "$status"
		same 1 "$(grep -c '^ebprec: a ring of perf events holds what is no record: ' err)"
		whole r.data
		[ "$(account r.data lost side_bytes)" -gt 0 ] || fail "no bytes were skipped"
		if [ -z "$how" ]; then
			[ "$(account r.data lost side_records)" -ge 2 ] || fail "not counted"
		else
			[ "$(account r.data lost samples)" -ge 2 ] || fail "not counted"
		fi
		# What is mapped is read again, so that code still has its file.
		perf script -i r.data -F comm,ip,dso 2>/dev/null | grep -q 'storm' || fail "no samples"
	done
}
