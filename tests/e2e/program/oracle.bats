#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Unwind tables and steps against libdw's; `make oracle-long` does the same for hundreds of MB.
load ../../lib/helper

setup() {
	cd "$BATS_TEST_DIRNAME/../../.." || return
	[ "$(uname -m)" = x86_64 ] || skip "the step test is for x86_64"
}

# agrees FILE... - libdw has the same rule for each row, and there were some.
agrees() {
	local output
	output=$("$BUILD/tests/lab/oracle/oracle_ehframe" "$@") || fail "$output"
	same $# "$(grep -c ' rows, .* checks, .* 0 differences$' <<<"$output")"
	grep -q ' [1-9][0-9]* rows' <<<"$output" || fail "no rows: $output"
}

@test "the tables of libc and the dynamic linker are the same as libdw's" {
	agrees /lib64/ld-linux-x86-64.so.2 /lib/x86_64-linux-gnu/libc.so.6
}

@test "the tables of this very program, and of a C++ program" {
	agrees "$BUILD/ebprec" "$BUILD/tests/lib/fixtures/names"
}

@test "the tables of stored aarch64 programs" {
	local name
	for name in plain no-fp unoptimised signed; do
		agrees "tests/lib/fixtures/aarch64/$name"
	done
}

@test "the oracle fails where it cannot compare" {
	head -c 3000 "$BUILD/ebprec" >"$BATS_TEST_TMPDIR/cut"
	for file in "$BATS_TEST_TMPDIR/cut" /etc/passwd /nowhere; do
		"$BUILD/tests/lab/oracle/oracle_ehframe" "$file" >"$BATS_TEST_TMPDIR/output" 2>&1 && fail "$file"
	done
	true
}

@test "at each instruction of a program our walk is libdwfl's" {
	local output steps
	output=$("$BUILD/tests/lab/step/step_walk" "$BUILD/tests/lib/fixtures/stepped") || fail "$output"
	steps=$(sed -n 's/^step_walk: \([0-9]*\) steps.* 0 differences, 0 in copies.*/\1/p' <<<"$output")
	[ "${steps:-0}" -gt 5000 ] || fail "$output"
}
