#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The walk in BPF against perf's unwinder on copies of the same program's stack, at the same time.
load ../../lib/helper

setup_file() {
	need_bpf
	need_perf
	cd "$BATS_FILE_TMPDIR" || return
	local src=$BATS_TEST_DIRNAME/../../lib/fixtures flags="-O2 -fomit-frame-pointer" i
	# shellcheck disable=SC2086 # flags are words
	{
		for i in 0 1 2 3; do
			cc $flags -shared -fPIC -DRUNG="rung$i" -o "librung$i.so" "$src/rung.c"
		done
		# shellcheck disable=SC2016 # for the dynamic linker
		cc $flags -o ladder "$src/ladder.c" -L. -lrung0 -lrung1 -lrung2 -lrung3 -Wl,-rpath,'$ORIGIN'
	}
}

# bats test_tags=long
@test "where perf's copies of 64 KB hold a stack, the walk found the same one" {
	local ours counts
	cd "$BATS_FILE_TMPDIR"
	export HOME=$PWD
	./ladder wander >/dev/null 3>&- &
	pid=$!
	ebprec record -q -p "$pid" -F 997 --without sched --call-graph cfi -d 3 -o ours.data 3>&- &
	ours=$!
	perf record -q -k mono -e cpu-clock:u -F 297 --call-graph dwarf,65528 -p "$pid" \
		-o perf.data -- sleep 3 2>perf.err
	wait "$ours"
	for which in ours perf; do
		perf script --ns --no-inline -F time,ip,sym,dso -i $which.data >$which.txt 2>script.err
	done
	counts=$("$BATS_TEST_DIRNAME/agree.pl" ours.txt perf.txt 2>different) ||
		fail "$(cat script.err perf.err)"
	read -r _ compared _ differing _ < <(tr -d , <<<"$counts")
	[ "$compared" -gt 50 ] && [ $((differing * 100)) -le "$compared" ] ||
		fail "$counts"$'\n'"$(head -n 8 different)"
	# Not one stack over and over: the program was in many.
	[ "$(grep -c rung ours.txt)" -gt 1000 ] || fail "shallow stacks: $counts"
}
