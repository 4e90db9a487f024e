#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Memory that a program gets and forgets, each block of it, against what valgrind finds.

load ../helper
load metrics

setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	ebprec record -q --with heap --sample-bytes 1 -o h.data -- leaks >truth 2>err || true
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	[ -s h.data ] || fail "$(cat err)"
	# Probes that the kernel left out, which it counts: docs/instruments/heap.md
	missed=$(sed -n 's/^ebprec: \([0-9]*\) events interrupted .*/\1/p' err)
	missed=${missed:-0}
}

# near WANT GOT MOST
near() {
	if [ "$2" -lt $(($1 - $3)) ] || [ "$2" -gt $(($1 + $3)) ]; then
		fail "want $1, $3 more or less, got $2"
	fi
}

@test "what is held at the end is what was never given back, by function" {
	ebprec report --of heap -i h.data --folded >folded 2>/dev/null
	while read -r _ function blocks bytes; do
		got=$(awk -v "f=;$function\$" '{ n = $NF; sub(/ [0-9]+$/, ""); if ($0 ~ f) sum += n }
			END { print sum + 0 }' folded)
		near "$bytes" "$got" $((missed * 6007))
	done <truth
	same 4 "$(wc -l <truth)"
	same 503 "$(field h.data heap_held "comm=leaks,kind=calloc" held)"
}

@test "valgrind finds the same" {
	valgrind --leak-check=full --show-leak-kinds=all leaks 2>&1 >/dev/null | tr -d , |
		awk '/ bytes in [0-9]+ blocks are / { bytes = $2; blocks = $5; if ($2 == "(") next }
			/ (by|at) .*: leak_/ { print "leaked", $4, blocks, bytes }' >valgrind
	same "$(sort truth)" "$(sed -E 's/^leaked (leak_[a-z]*).* ([0-9]+) ([0-9]+)$/leaked \1 \2 \3/' valgrind | sort)"
}

@test "what was given back is not held, and all was counted" {
	blocks=$(awk '{ n += $3 } END { print n }' truth)
	# and the buffer of stdout
	near $((blocks + 1)) "$(field h.data heap comm=leaks held)" $((missed + 1))
	near $((4 * 10007 + blocks + 401 + 1)) "$(field h.data heap comm=leaks allocs)" $((missed + 1))
}

@test "heap wants to know whose, and says what it cannot listen to" {
	run ! ebprec record -q -a --with heap -o x.data -- true
	contains "$output" "option '--with heap' needs -p, a command without -a, or --heap-lib"
	run ebprec record -q --with heap --heap-lib /dev/null -o x.data -- true
	contains "$output" "cannot listen to 'malloc' in '/dev/null'"
	contains "$output" ", skipping"
}
