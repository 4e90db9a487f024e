#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# `record -o -`: what goes through a pipe is a capture for us and a pipe's file for perf.
# runs beside others: it compares a pipe with a file

load ../../lib/helper

setup() {
	need_bpf
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
}

# bats test_tags=long
@test "a capture written to a pipe is read by perf as a pipe, and by ebprec as a capture" {
	ebprec record -a -F 499 -q -o - -- sh -c 'echo output; shares 1 >/dev/null' 2>err 3>&- | cat >p
	# The command's output is not in it.
	same output "$(cat err)"
	ebprec info p >info.txt
	grep -qx '  state *finished' info.txt
	grep -qx '  any *no' info.txt
	perf script -F event,comm -i - <p >script.txt 2>perf.err
	same "" "$(complaints perf.err)"
	same "$(account p samples)" "$(grep -cE 'cpu-clock|cycles' script.txt)"
	same "$(account p switches)" "$(grep -c sched:sched_switch script.txt)"
	perf report --stdio --sort comm -i - <p 2>/dev/null | grep -q ' shares *$'
	# From a file and through a pipe; and made into a file of perf's kind.
	ebprec report --folded -i p 2>/dev/null >folded
	grep -q 'main;outer;inner;share_three;burn_three [0-9]*$' folded
	# shellcheck disable=SC2002 # a pipe is what is wanted
	cat p | ebprec report --folded -i - 2>/dev/null | cmp - folded
	ebprec export --raw -q -i p -o raw.data
	perf script -F event,comm -i raw.data 2>/dev/null >raw.txt
	for file in raw script; do # of a pipe perf shows stacks, too
		grep -oE '(cpu-clock|cycles|sched:[a-z_]+|ebprec:[a-z]+):' $file.txt | sort | uniq -c >$file.counts
	done
	cmp raw.counts script.counts
	# Without its end it is a capture without an end.
	head -c $(($(stat -c %s p) - 100)) p >cut.data
	ebprec info cut.data | grep -qx '  state *unfinished'
	ebprec report -i cut.data 2>/dev/null | grep -q ' burn_three'
}

@test "a reader of the pipe that ends, ends the recording" {
	status=0
	{ ebprec record -a -q -o - -d 60 2>err 3>&- || echo $? >status; } | head -c 100 >/dev/null
	same 1 "$(cat status)"
	same "ebprec: cannot write 'standard output': Broken pipe (its reader has ended)" "$(cat err)"
}

@test "a capture is not written to a terminal" {
	status=0
	script -qec 'ebprec record -q -o - true' /dev/null >out 2>&1 </dev/null || status=$?
	same 1 "$status"
	contains "$(cat out)" "cannot write 'standard output': Invalid argument (it is a terminal"
}
