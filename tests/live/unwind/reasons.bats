#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Truncated stacks have a reason, the file and the advice that would mend them; and code made at run time.
# runs beside others: it reads notes
load ../../lib/helper

setup_file() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	cc -O2 -fomit-frame-pointer -o broken "$BATS_TEST_DIRNAME/../../lib/fixtures/broken.c"
	local pids
	: >ready # the background job may be late
	nice ./broken >ready 3>&- & # seventeen that spin: the recorder has to get a turn, too
	export BROKEN=$!
	for _ in $(seq 100); do
		[ "$(wc -l <ready)" -lt 17 ] || break
		sleep 0.05
	done
	pids=$(sed 's/^ready //' ready | paste -sd,)
	ebprec record -q -F 1997 --without sched -p "$pids" -d 2 -o broken.data
	ebprec record -q -F 997 --without sched --call-graph fp -p "$pids" -d 1 -o fp.data
	ebprec record -q -F 997 --without sched --call-graph copy -p "$pids" -d 1 -o copy.data
	kill "$BROKEN" # its children go with it; they would take the CPUs from node and java
	unset BROKEN
}

teardown_file() {
	[ -z "${BROKEN:-}" ] || kill "$BROKEN"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# ends KIND STACK FILE WORDS - all stacks of KIND are STACK and break off in FILE, for the reason WORDS.
ends() {
	local stacks
	stacks=$(ebprec report --folded --comm "$1" -i broken.data 2>quality |
		sed 's/;\[kernel.kallsyms\].*//; s/;asm_.*//; s/;entry_.*//; s/ [0-9]*$//' | sort -u)
	same "$1;$2" "$stacks"
	same "0 of these complete (0.0 %)" "$(sed -n 's/.*with a user stack; //p' quality)"
	same "$3: $4" "$(sed -n 's/^ebprec:   100.0 % break off in //p' quality)"
}

@test "code without an unwind table: the reason and the file" {
	ends no_cfi "no_cfi" broken "no unwind table for this code (build it with -fasynchronous-unwind-tables, or with frame pointers)"
}

@test "a rule that is not supported: the reason and the file" {
	ends unsupported "unsupported" broken "unwind rule not supported (nothing: a 32-bit program, or code written by hand)"
}

@test "a program of 32 bits: the reason" {
	ends in_32_bits "[anon]" anon "unwind rule not supported (nothing: a 32-bit program, or code written by hand)"
}

@test "a stack that cannot be read: the reason" {
	ends unreadable "unreadable" broken "stack not readable (in a copy: it was too short, copy more of the stack; or 'ebprec scrub' blanked it)"
}

@test "a caller below its callee: the reason" {
	ends not_up "not_up" broken "stack pointer did not move up (its unwind tables are wrong there, or its stack is damaged)"
}

@test "a return address that no program can have: the reason" {
	ends bad_pc "bad_pc" broken "return address is not code (its unwind tables are wrong there, or its stack is damaged)"
}

@test "a return address of 0 beside a frame pointer is no end: the reason" {
	ends zero_word "zero_word" broken "return address is not code (its unwind tables are wrong there, or its stack is damaged)"
}

@test "a return address that is data: the reason" {
	ends data_pc "[unknown];data_pc" broken "address in no known file (it was mapped a moment before, or the stack is damaged)"
}

@test "a frame pointer that was lost: the reason" {
	ends fp_lost "fp_lost;lose_fp" broken "frame pointer lost (build it with -fno-omit-frame-pointer, or with unwind tables)"
}

@test "a register that was lost: the reason" {
	ends register_lost "register_lost;leaf" broken "register not known in this frame (nothing: code written by hand, whose table needs a register that is lost)"
}

@test "code made at run time without frame pointers: the reason and the advice" {
	ends jit_no_fp "[anon];leaf" anon "no unwind table for this code (code made at run time must keep frame pointers)"
}

# As mono's code does: a step by rbp, which is that of a caller's caller, would give a complete and wrong stack.
@test "code made at run time that leaves the frame pointer to a caller: the reason and the advice" {
	ends jit_skips "[anon]" anon "no unwind table for this code (code made at run time must keep frame pointers)"
}

@test "code made at run time that calls what follows, and a chain of frame pointers that ends with 0, have complete stacks" {
	local stacks
	stacks=$(ebprec report --folded --comm jit_over -i broken.data 2>quality | sed 's/;asm_.*//; s/ [0-9]*$//' | sort -u)
	contains "$(cat quality)" "complete (100.0 %)"
	grep -q '^jit_over;_start;__libc_start_main.*;main;\[anon\]$' <<<"$stacks" || fail "$stacks"
	stacks=$(ebprec report --folded --comm jit_first -i broken.data 2>quality | sed 's/;asm_.*//; s/ [0-9]*$//' | sort -u)
	contains "$(cat quality)" "complete (100.0 %)"
	same "jit_first;[anon];[anon]" "$stacks"
}

@test "code made at run time with frame pointers, and a return address of 0, has complete stacks" {
	local stacks
	stacks=$(ebprec report --folded --comm jit_fp -i broken.data 2>quality)
	grep -q '_start;__libc_start_main.*;main;\[anon\];leaf' <<<"$stacks" || fail "$stacks"
	contains "$(cat quality)" "complete (100.0 %)"
	ebprec report --folded --comm zero_pc -i broken.data 2>quality >zero.txt
	contains "$(cat quality)" "complete (100.0 %)"
	contains "$(ebprec info --json broken.data)" 'complete (return address 0)'
}

@test "a copy begins at the stack pointer where nothing below can be read" {
	ebprec report --folded --comm bottom -i copy.data 2>quality >bottom.txt
	contains "$(cat quality)" "complete (100.0 %)"
	same "bottom;at_bottom" "$(sed 's/;asm_.*//; s/ [0-9]*$//' bottom.txt | sort -u)"
}

@test "by frame pointers alone no stack counts as complete" {
	ebprec report --folded --comm jit_no_fp -i fp.data 2>quality >fp.txt
	contains "$(cat quality)" "0 of these complete"
	contains "$(cat quality)" "frame pointer does not point up the stack (build it with"
}

# V8's JIT keeps frame pointers, and its builtins have no tables although they are in a file.
# bats test_tags=long
@test "node: stacks go through its code to the beginning of the program" {
	local option
	command -v node >/dev/null || skip "needs node"
	cat >spin.js <<-'END'
		function inner(n) { let s = 0; for (let i = 0; i < 300; i++) s += (i ^ n) % 7; return s; }
		function outer(n) { let s = 0; for (let i = 0; i < 50; i++) s += inner(i + n); return s; }
		const used = () => process.cpuUsage().user, start = used();
		while (used() - start < 600000) for (let i = 0; i < 50; i++) [3, 1, 2].map(x => outer(x));
	END
	for option in --no-perf-basic-prof --perf-basic-prof; do
		ebprec record -q -F 997 --without sched -o node.data -- node $option spin.js
		ebprec report --folded -i node.data 2>quality >node.txt
		# not the compiler, nor the start
		stacks_match '^node;_start;__libc_start_main' 99 51 ';v8::internal::Execution::Call;' <node.txt ||
			fail "$option: $(cat quality)"
	done
}

# Java's JIT keeps frame pointers with an option alone; without it frames are found by the tables of the JVM.
# bats test_tags=long
@test "java: stacks are complete with and without frame pointers" {
	local option
	command -v javac >/dev/null || skip "needs javac"
	cat >Spin.java <<-'END'
		class Spin {
			static int inner(int n) { int s = 0; for (int i = 0; i < 300; i++) s += (i ^ n) % 7; return s; }
			static int outer(int n) { int s = 0; for (int i = 0; i < 50; i++) s += inner(i + n); return s; }
			public static void main(String[] a) {
				int s = 0;
				var me = java.lang.management.ManagementFactory.getThreadMXBean();
				while (me.getCurrentThreadCpuTime() < 1500000000L) for (int i = 0; i < 50; i++) s += outer(i);
				System.exit(s & 0);
			}
		}
	END
	javac Spin.java
	for option in + -; do
		ebprec record -q -F 997 --without sched -o "java$option.data" -- \
			java -XX:${option}PreserveFramePointer -XX:-UseOnStackReplacement Spin
		ebprec report --folded --comm java -i "java$option.data" 2>"quality$option" >"java$option.txt"
		stacks_match '^java;.*(clone|start_thread).*;JavaMain;' 95 51 ';JavaMain;|JavaCalls::call' <"java$option.txt" ||
			fail "$option $(cat "quality$option"; sort -k2 -n "java$option.txt" | tail -5)"
	done
}
