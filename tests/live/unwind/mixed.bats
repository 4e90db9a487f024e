#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# It runs alone: new programs need their tables at once, of a recorder that gets a CPU
# A short form of `make check-mixed`, which asks for 99.5 % of more samples.
load ../../lib/helper

# bats test_tags=long
@test "a mixed load with short processes: 99 % of the stacks are complete" {
	need_bpf
	messages=$("$BATS_TEST_DIRNAME/../../../scripts/check-mixed.sh" "$BUILD" 3 99) || fail "$messages"
	contains "$messages" "user stacks"
}

# Until what a program maps is known its samples need copies of the stack: at 20 kHz hundreds.
@test "programs that live for 20 ms: 95 % of the stacks are complete at 20 kHz, too" {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
	[ "$(cat /proc/sys/kernel/perf_event_max_sample_rate)" -ge 20000 ] || skip "the kernel samples more slowly here"
	# shellcheck disable=SC2016 # for that shell
	ebprec-record -q -F 20000 -o x.data -- taskset -c 0 sh -c '
		i=0; while [ $i -lt 30 ]; do shares 0.02; i=$((i + 1)); done' >/dev/null 3>&-
	read -r samples complete <<<"$(ebprec report -i x.data --comm shares 2>&1 >table |
		sed -n 's/.* samples, \([0-9]*\) with a user stack; \([0-9]*\) of these complete.*/\1 \2/p')"
	[ "$samples" -ge 2000 ] || skip "the kernel took $samples samples"
	[ $((complete * 100)) -ge $((samples * 95)) ] || fail "$complete of $samples"
}
