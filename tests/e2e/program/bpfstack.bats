#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Things that older kernels refuse in a BPF program and the one that runs here may not.

load ../../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# count CASE STATUS LINE MESSAGE - what bpf_stack prints of a program with known functions
count() {
	clang -g -O2 -target bpf "-I/usr/include/$(uname -m)-linux-gnu" "-DCASE=$1" -Wno-unused-function -c -o known.o \
		"$BATS_TEST_DIRNAME/bpfstack.bpf.c"
	status=0
	bpf_stack known.o >got 2>messages || status=$?
	same "$1 $2 known.o $3" "$1 $status $(cat got)"
	same "$1 ${4:+bpf_stack: known.o: $4}" "$1 $(cat messages)"
}

@test "the stack of programs with known functions is counted, and what Linux 6.1 does not load is refused" {
	command -v clang >/dev/null || skip "needs clang"
	[ -e /usr/include/bpf/bpf_helpers.h ] || skip "needs libbpf's headers"
	frames="frame3 frame4 frame5 frame6 frame7 frame8 frame9"
	count 1 0 "512 4 program deep deeper deepest"
	count 2 1 "544 4 program deep deeper deepest" "program: more than 512 bytes of stack"
	count 3 1 "544 2 program called_back" "program: more than 512 bytes of stack"
	count 4 0 "256 8 program $frames"
	count 5 1 "288 9 program frame2 $frames" "program: more than 8 functions that call each other"
	count 6 0 "256 2 program ends_in_another"
	count 7 1 "288 2 program ends_in_another" "ends_in_another: a tail call below 256 bytes of stack"
	clang -g -O2 -target bpf "-I/usr/include/$(uname -m)-linux-gnu" -DCASE=8 -Wno-unused-function -c -o known.o \
		"$BATS_TEST_DIRNAME/bpfstack.bpf.c"
	run -1 bpf_stack known.o
	same "bpf_stack: known.o: a function calls itself" "$output"
}

@test "functions of a program need no more than 512 bytes of stack together, as Linux 6.1 counts them" {
	[ -e "$BUILD/bpf/core/sched.bpf.o" ] || skip "the recorder is not built here"
	bpf_stack "$BUILD"/bpf/*/*.bpf.o >all || fail "see above"
	same "$(printf '%s\n' "$BUILD"/bpf/*/*.bpf.o | wc -l)" "$(wc -l <all)"
	# Functions are seen through the loops that call them: in both, frames of an interpreter are the deepest.
	same 2 "$(grep -cE '^(cpu|sched)\.bpf\.o [0-9]+ [0-9] .*_frame .*runtime_' all)"
}
