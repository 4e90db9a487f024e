#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# It runs alone: its probes are in the C library of all programs
# Memory that a program gets and forgets, each block of it, against what valgrind finds.

load ../../lib/helper
load ../../lib/metrics

setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	ebprec record -q --with heap,pmu --pmu page-faults,cpu-clock --sample-bytes 1 -o h.data -- leaks >all 2>err || true
	grep ^leaked all >truth
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	[ -s h.data ] || fail "$(cat err)"
	# Probes that the kernel left out, which it counts: docs/instruments/heap.md
	missed=$(account h.data lost interrupted)
	same "$missed" "$(sed -n 's/^ebprec: \([0-9]*\) events interrupted .*/\1/p' err | grep . || echo 0)"
}

# near WANT GOT MOST
near() {
	if [ "$2" -lt $(($1 - $3)) ] || [ "$2" -gt $(($1 + $3)) ]; then
		fail "want $1, $3 more or less, got $2"
	fi
}

@test "memory held at the end is what each function never freed" {
	ebprec report --of heap -i h.data --folded >folded 2>/dev/null
	while read -r _ function blocks bytes; do
		near "$bytes" "$(weight ";$function [0-9]+$" <folded)" $((missed * 6007))
	done <truth
	same 4 "$(wc -l <truth)"
	same 503 "$(field h.data heap_held "comm=leaks,kind=calloc" held)"
}

@test "valgrind finds the same memory held" {
	valgrind --leak-check=full --show-leak-kinds=all leaks 2>&1 >/dev/null | tr -d , |
		awk -f "$BATS_TEST_DIRNAME/leaked_by_valgrind.awk" >found
	same "$(sort truth)" "$(sort found)"
}

@test "freed memory is not held, and all allocations are counted" {
	blocks=$(sum_field 3 <truth)
	# and the buffer of stdout
	near $((blocks + 1)) "$(field h.data heap comm=leaks held)" $((missed + 1))
	near $((4 * 3001 + blocks + 401 + 1)) "$(field h.data heap comm=leaks allocs)" $((missed + 1))
}

@test "pmu: software events of a process are counted, and have stacks" {
	read -r _ minor major < <(grep ^faults all)
	[ "$minor" -ge 1009 ] || fail "$(cat all)"
	got=$(field h.data pmu comm=leaks page_faults)
	# those of the exec, and those that the kernel asks for itself, are in one of both
	near $((minor + major)) "$got" 100
	[ "$(field h.data pmu comm=leaks cpu_clock)" -gt 0 ]
	ebprec report --of pmu_page_faults -i h.data --comm leaks --folded 2>/dev/null | grep -q ';touch_fresh'
	same 0 "$(ebprec metrics pmu -i h.data --json | grep -c cycles || true)"
}

@test "heap:lib= and sample-bytes= record a program's own allocator, in its children, too" {
	own=$(command -v ownheap)
	# shellcheck disable=SC2094 # a program that has this name, and a file
	ebprec record -q --without sched,mark --with "heap:lib=$own,sample-bytes=1" -o own.data -- ownheap >own 2>own.err ||
		fail "$(cat own.err)"
	missed=$(account own.data lost interrupted)
	same 3 "$(grep -c ^held own)"
	while read -r _ pid function blocks bytes; do
		ebprec report --of heap -i own.data --pid "$pid" --folded >folded 2>/dev/null
		near "$bytes" "$(weight ";$function " <folded)" $((missed * 1021))
	done < <(grep ^held own)
	pid=$(head -n 1 own | awk '{ print $2 }')
	[ "$(field own.data heap "pid=$pid" frees)" -ge $((3001 - ${missed:-0})) ]
	[ "$(field own.data heap "pid=$pid" allocs)" -ge $((3001 + 211 + 101 - ${missed:-0})) ]
}

@test "heap for all processes is refused, and files that it cannot listen to are reported" {
	run ! ebprec record -q -a --with heap -o x.data -- true
	contains "$output" "option '--with heap' needs -p, a command without -a, or --with heap:lib=FILE"
	run ebprec record -q --with heap:lib=/dev/null --with pmu:cpu-clock,cpu-clock -o x.data -- true
	contains "$output" "cannot count 'cpu-clock': Invalid argument (up to five of those"
	contains "$output" "cannot open '/dev/null': Invalid argument (no regular file), skipping"
	printf 'no ELF file' >lib
	run ebprec record -q --with heap,pmu --heap-lib ./lib -o x.data -- true
	contains "$output" "cannot listen to 'malloc' in './lib': Exec format error (it is no ELF file of x86-64), skipping"
	# The same of counters: perf knows whether there are any.
	if perf stat -e cycles true 2>&1 | grep -q 'not supported'; then
		contains "$output" "ebprec: cannot record 'pmu', no hardware counters here for 'cycles': No such device, skipping"
		refuses ebprec metrics pmu -i x.data
		# shellcheck disable=SC2154 # refuses() sets it
		contains "$stderr" "has no table 'pmu', its recorder printed: cannot record 'pmu', no hardware counters"
		ebprec record --list | grep -A3 '^pmu ' | grep -q 'here:  no, no hardware counters here'
	else
		ebprec metrics pmu -i x.data --json | grep -q '"ipc"'
	fi
}

# end_ms CMD... - how long a recorder took from Ctrl-C to its end
end_ms() {
	local began
	"$@" -q -o end.data 3>&- &
	await test -e end.data
	began=$(date +%s%N)
	kill -INT $!
	wait $!
	rm end.data
	echo $((($(date +%s%N) - began) / 1000000))
}

# shortest_end_ms CMD... - of three times, as the others may have waited for a CPU
shortest_end_ms() {
	local shortest took
	for _ in 1 2 3; do
		took=$(end_ms "$@") || return
		[ "${shortest:-$took}" -lt "$took" ] || shortest=$took
	done
	echo "$shortest"
}

# bats test_tags=long
@test "probes end together, not one after the other" {
	need_uprobe_links
	set -- "$BUILD/ebprec-record" -a --with heap --heap-lib libc.so.6
	alone=$(before_uprobe_links end_ms "$@")
	together=$(shortest_end_ms "$@")
	[ $((together * 3)) -lt "$alone" ] || fail "$together ms, $alone as perf events"
}

# bats test_tags=long
@test "where uprobes are perf events, the same memory is held" {
	before_uprobe_links ebprec record -q --with heap --sample-bytes 1 -o e.data -- leaks >truth
	near 503 "$(field e.data heap_held "comm=leaks,kind=calloc" held)" "$(account e.data lost interrupted)"
}
