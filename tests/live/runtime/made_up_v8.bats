#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# A frame of V8's optimized code that a program made up: with right tables the inlined function is in the stack, with any fault the compiled one is alone.

load ../../lib/helper

setup() {
	need_bpf
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	cd "$BATS_TEST_TMPDIR" || return
}

# functions_of FAULT - chains of functions that called burn(), each once; the first samples may be of a program that is not known yet
functions_of() {
	timeout 30 ebprec record -q -F 199 -o x.data -- made_up_v8 "$1"
	ebprec report -q --folded -i x.data >out
	grep -o ';main;js::.*;burn' out | sort -u
}

@test "made-up V8: an inlined function is in the stack" {
	same ';main;js::outer (made_up.js);js::inner (made_up.js);burn' "$(functions_of none)"
}

@test "made-up V8: code that came to the place of other code has its own inlined function" {
	same "$(printf ';main;js::outer (made_up.js);js::%s (made_up.js);burn\n' inner other)" "$(functions_of "compiled again")"
}

@test "made-up V8: a function whose objects were moved to where those of another one were has its own name" {
	same "$(printf ';main;js::%s (made_up.js);burn\n' other outer)" "$(functions_of moved)"
}

# bats test_tags=long
@test "made-up V8: with any fault of the tables the compiled function stands alone" {
	for fault in compiler "table place" "table type" "table size" "table full" "table end" "no position" position "external position" \
		inlining "largest inlining" circle "own circle" "no place" "inlined function" "negative function" "inlined count" literal \
		"literals place" "inlinings place" "inlinings size" "deopt place" "deopt size" "exit count" "eager count" counts "no exit" \
		"exit order" "exit bytecode" "negative bytecode" "left code" "compiled function" "no compiled function" "bytecode place" \
		"bytecode table" "bytecode position"; do
		[ "$(functions_of "$fault")" = ';main;js::outer (made_up.js);burn' ] || fail "$fault: $(grep burn out)"
	done
}
