#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# --samples-per-hour: few samples of a service, which stand for all of it.

load ../../lib/helper

teardown() {
	end_background
	[ -z "${group:-}" ] || rmdir "$group/a" "$group/b" "$group"
}

# in_group GROUP CMD... - becomes CMD there
in_group() {
	echo "$BASHPID" >"$1/cgroup.procs"
	exec "${@:2}"
}

# samples_of COMM, tenths_of COMM - how many there are, and the CPU time that they stand for
samples_of() {
	ebprec script -q -e cpu-clock --comm "$1" -F comm,period x.data | grep -cE '^ *[^ ]+ +[0-9]+ *$' || true
}

tenths_of() {
	ebprec script -q -e cpu-clock --comm "$1" -F comm,period x.data | sum_field 2 |
		jq '. / 1e8 | round'
}

# bats test_tags=long
@test "each service has its budget, however many cgroups and programs it has, and weights are the CPU time" {
	need_bpf
	cd "$BATS_TEST_TMPDIR"
	root=$(cgroup2_root)
	[ -n "$root" ] || skip "needs cgroups of version 2"
	for program in large small part nowhere; do
		cp "$BUILD/tests/live/workloads/shares" "$program"
	done
	group=$root/ebprec-test-$$.service
	mkdir "$group" "$group/a" "$group/b"
	# 36000 an hour are 10 a second, of 997 that there are.  The first second has all of them.
	ebprec record -a -F 997 -e cpu-clock --samples-per-hour 36000 -o x.data 2>err &
	recorder=$!
	await grep -q recording err
	(in_group "$group/a" ./large 4) &
	(in_group "$group/b" ./part 4) &
	wait %2 %3
	./nowhere 3
	./small 0.05
	kill -INT "$recorder"
	wait "$recorder"
	for program in large part nowhere; do
		echo "$program: $(samples_of "$program") samples, $(tenths_of "$program") tenths of a second"
	done
	# The weight that waits for a sample at the end, or went to the other program of a service, is a small part.
	sum=$(($(tenths_of large) + $(tenths_of part)))
	[ "$sum" -ge 72 ] && [ "$sum" -le 88 ]
	[ "$(($(samples_of large) + $(samples_of part)))" -le 2500 ] # of 8000
	nowhere=$(tenths_of nowhere)
	[ "$nowhere" -ge 25 ] && [ "$nowhere" -le 35 ]
	[ "$(samples_of nowhere)" -le 1500 ] # of 3000
	# A small one has all its samples.
	[ "$(samples_of small)" -ge 40 ]
	# Weights of all that was left out are in those that are there.
	left_out=$(account x.data thinned samples)
	[ "$left_out" -ge 6000 ]
	contains "$(ebprec info x.data)" "--samples-per-hour 36000"
}
