#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# A BPF object of the user's own: the example of the documentation, and objects that are none.

load ../helper
load metrics

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
	object=$BUILD/tests/bpf/custom.bpf.o
}

@test "the documented example counts the forks of a process" {
	# shellcheck disable=SC2016 # for perl
	ebprec record -aq --bpf-object "$object" --interval 0.2 -o x.data -- perl -e '
		$| = 1; print "$$\n";
		for (1 .. 37) { my $pid = fork; exit if !$pid; waitpid $pid, 0; select undef, undef, undef, 0.01 }' >pid
	same 37 "$(field x.data forks "pid=$(cat pid)" count)"
	same 37 "$(field x.data forks comm=perl count --pid "$(cat pid)" --interval)"
	ebprec metrics forks -i x.data --top 0 | grep -qE "^ *$(cat pid) perl +37$"
	perf script -i x.data 2>/dev/null | grep -q 'ebprec:forks: .*interval=0 .*count='
	ebprec metrics -i x.data --list | grep -q ^forks
}

@test "what is no instrument is told in one line, and the rest is recorded" {
	echo nothing >bad.o
	cp "$BUILD/ebprec" elf.o
	for file in bad.o elf.o missing.o; do
		ebprec record -q --bpf-object $file -o y.data -- true 2>err
		same 1 "$(grep -vc 'no hardware counters' err)"
		contains "$(cat err)" ", skipping"
		ebprec info y.data >/dev/null
	done
	refuses ebprec metrics -i y.data
}
