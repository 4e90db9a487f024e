#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Things that older kernels refuse in a BPF program and the one that runs here may not.

load ../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# deepest OBJECT - the most stack that functions of it need which call each other, in bytes, and which these are.
# Linux before 6.8 counts 32 bytes at least for each, and their multiples.
deepest() {
	llvm-objdump -dr --no-show-raw-insn "$1" | perl "$TEST_LIB/bpf_stack.pl"
}

@test "functions of a program need no more than 512 bytes of stack together, as Linux 6.1 counts them" {
	command -v llvm-objdump >/dev/null || skip "needs llvm-objdump"
	[ -e "$BUILD/bpf/core/sched.bpf.o" ] || skip "the recorder is not built here"
	for object in "$BUILD"/bpf/*/*.bpf.o; do
		deepest "$object" >got
		read -r bytes path <got
		[ "$bytes" -le 512 ] || fail "${object##*/}: $bytes bytes: $path"
		echo "${object##*/} $bytes $path" >>all
	done
	# Functions are seen through the loops that call them: in both, frames of an interpreter are the deepest.
	same 2 "$(grep -cE '^(cpu|sched)\.bpf\.o [0-9]+ .*_frame .*runtime_' all)"
}
