#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The lines about stack quality and names at the end of a report, with the advice for that program and recorder.
# runs beside others: it reads notes
load ../../lib/helper

setup_file() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	cat >hot.js <<-'END'
		function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
		const used = () => process.cpuUsage().user, end = used() + 1000000;
		let sum = 0;
		while (used() < end) sum += fib(20);
	END
	cat >hot.py <<-'END'
		import time
		def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
		end = time.process_time() + 1
		while time.process_time() < end: fib(16)
	END
	cat >Hot.java <<-'END'
		public class Hot {
			static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
			public static void main(String[] args) {
				var me = java.lang.management.ManagementFactory.getThreadMXBean();
				long end = me.getCurrentThreadCpuTime() + 1000000000L, sum = 0;
				while (me.getCurrentThreadCpuTime() < end)
					for (int i = 0; i < 100; i++) sum += fib(20);
			}
		}
	END
	cat >slow.c <<-'END'
		#include <stdlib.h>
		static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
		int main(void)
		{
			static int list[1000];
			for (int k = 0; k < 4000; k++) {
				for (int i = 0; i < 1000; i++)
					list[i] = rand();
				qsort(list, 1000, sizeof(*list), by_value);
			}
			return 0;
		}
	END
	cc -O2 -fomit-frame-pointer -o slow slow.c
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# quality FILE - prints the report's stderr, without the name of the program.
quality() {
	ebprec report -i "$1" 2>&1 >/dev/null | sed 's/^ebprec: //'
}

# share LINES WORDS - the percentage at the beginning of the line with these words, without its fraction; 0: none.
share() {
	grep -F -- "$2" <<<"$1" | sed 's/^ *\([0-9]*\)\..*/\1/' | grep . || echo 0
}

need_java() {
	java -version 2>&1 | grep -q '"17' || skip "needs java 17"
	[ -e Hot.class ] || javac Hot.java
}

node_cure="node: run it with --perf-basic-prof --interpreted-frames-native-stack)"

# bats test_tags=long
@test "node without names for its code: the share is of samples, the cure is node's" {
	command -v node >/dev/null || skip "needs node"
	# Without BPF no names are read from node's memory.
	ebprec record -q -F 997 --no-bpf -o node.data -- node hot.js
	text=$(quality node.data)
	[ "$(share "$text" "of samples end in //anon")" -gt 50 ] || fail "$text"
	contains "$text" "($node_cure"
	[[ $text != *java* ]] || fail "$text"
	ebprec record -q -F 997 --no-bpf -o node.data -- \
		node --perf-basic-prof --interpreted-frames-native-stack hot.js
	text=$(quality node.data)
	[ "$(share "$text" "of samples end in //anon")" -lt 5 ] || fail "the cure does not help: $text"
}

# bats test_tags=long
@test "node recorded by perf: its file cannot hold the names" {
	need_perf
	command -v node >/dev/null || skip "needs node"
	perf record -q -g -F 997 -o node.perf -- node hot.js 2>/dev/null
	text=$(quality node.perf)
	[ "$(share "$text" "of samples end in //anon")" -gt 50 ] || fail "$text"
	contains "$text" "(record with 'ebprec record', perf's files hold no such names; $node_cure"
}

# bats test_tags=long
@test "java in copies of its stacks: both cures are java's, and help" {
	need_java
	ebprec record -q -F 997 --without sched --call-graph copy -o java.data -- java -cp . Hot
	text=$(quality java.data)
	[ "$(share "$text" "break off in anon: no unwind table for this code (java: ebprec record with BPF follows those of Java 17 to 25")" -gt 30 ] ||
		fail "$text"
	contains "$text" "(java: ebprec record with BPF reads the methods of Java 17 to 25"
	[[ $text != *node:* ]] || fail "$text"
	ebprec record -q -F 997 --without sched -o java.data -- java -cp . Hot
	text=$(quality java.data)
	[ "$(share "$text" "break off in anon")" -lt 5 ] || fail "the cure does not help: $text"
}

@test "python code without BPF shows as the interpreter alone, with a note, and no cure of java's or node's" {
	python=$(command -v python3) || skip "needs python3"
	ebprec record -q -F 997 --no-bpf -o python.data -- "$python" hot.py
	text=$(quality python.data)
	[ "$(share "$text" "of samples ran Python code in")" -gt 50 ] || fail "$text"
	contains "$text" "its functions show as _PyEval_EvalFrameDefault (ebprec record with BPF reads those of CPython 3.8 to 3.13;"
	[[ $text != *java* && $text != *node:* ]] || fail "$text"
}

# bats test_tags=long
@test "python -X perf names its functions: there is no note about the interpreter" {
	python=
	for try in python3 ~/.pyenv/versions/3.1[2-9]*/bin/python3; do
		"$try" -X perf -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && python=$try
	done
	[ -n "$python" ] || skip "needs python 3.12"
	ebprec record -q -F 997 --without sched -o python.data -- "$python" -X perf hot.py
	text=$(quality python.data)
	[ "$(share "$text" "of samples ran Python code in")" -eq 0 ] || fail "$text"
	ebprec report --folded -i python.data 2>/dev/null | grep -q 'py::fib'
}

# bats test_tags=long
@test "perf record -g of a program without frame pointers: a note with an advice" {
	need_perf
	perf record -q -g -F 997 -o slow.perf -- ./slow
	text=$(quality slow.perf)
	[ "$(share "$text" "break off in slow: it keeps no frame pointers, which perf record -g follows")" -gt 0 ] ||
		fail "$text"
	contains "$text" "(record with 'perf record --call-graph dwarf' or 'ebprec record')"
	perf record -q -F 997 -o slow.perf -- ./slow
	text=$(quality slow.perf)
	grep -qE "^stacks: none in [0-9]+ samples, which have the address alone \(record with 'perf record --call-graph dwarf' or 'ebprec record'\)$" \
		<<<"$text" || fail "$text"
	same 2 "$(wc -l <<<"$text")"
	perf record -q --call-graph dwarf -F 997 -o slow.perf -- ./slow 2>/dev/null
	text=$(quality slow.perf)
	[[ $text != *"frame pointers, which"* ]] || fail "$text"
	contains "$text" "(100.0 %)"
	ebprec record -q -F 997 --without sched -o slow.data -- ./slow
	contains "$(quality slow.data)" "of these complete (100.0 %)"
}

@test "record --call-graph none: the advice is to leave that out" {
	ebprec record -q -F 997 --without sched --call-graph none -o slow.data -- ./slow
	text=$(quality slow.data)
	contains "$text" "of user code there are addresses alone (record without '--call-graph none')"
	[[ $text != *max-frames* ]] || fail "$text"
}
