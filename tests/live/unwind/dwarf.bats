#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Stack copies that perf recorded (--call-graph dwarf), unwound by us and by perf.
# runs beside others: it compares what two programs print of one file

load ../../lib/helper

setup_file() {
	need_root
	need_perf
	export HOME=$BATS_FILE_TMPDIR
	cd "$BATS_FILE_TMPDIR" || return 1
	cat >deep.c <<-'END'
		#include <stdlib.h>
		#include <time.h>
		#define HIDE __attribute__((noinline, noclone))
		static volatile unsigned long sink;
		static double now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec + t.tv_nsec / 1e9;
		}
		HIDE void spin(double seconds)
		{
			double end = now() + seconds;
			while (now() < end)
				for (int i = 0; i < 20000; i++)
					sink += i * i;
		}
		HIDE int by_value(const void *a, const void *b)
		{
			spin(0.001);
			sink++;
			return *(const int *)a - *(const int *)b;
		}
		HIDE void down(int n)
		{
			int v[] = { 3, 1, 2 };
			char pad[100 + n % 7];
			pad[n % 100] = n;
			if (n)
				down(n - 1);
			else
				qsort(v, 3, sizeof(*v), by_value);
			sink += pad[n % 100];
		}
		int main(void)
		{
			double end = now() + 3;
			while (now() < end)
				down(30);
			return 0;
		}
	END
	cc -O2 -fomit-frame-pointer -o deep deep.c
	perf record -q -F 499 --call-graph dwarf,16384 -o deep.data -- ./deep 2>record.err
}

@test "every copied stack of a program without frame pointers is complete" {
	run --separate-stderr ebprec report -i "$BATS_FILE_TMPDIR/deep.data" --comm deep --folded
	[ "$status" -eq 0 ]
	# shellcheck disable=SC2154 # run --separate-stderr sets it
	contains "$stderr" "of these complete"
	complete=$(printf '%s\n' "$stderr" | sed -n 's/.*of these complete (\([0-9.]*\) %).*/\1/p')
	numbers_hold "$complete >= 99.5" || fail "$complete % complete"
	# 31 times down(), and a sort above it, in every sample that is in the loop.
	downs=$(printf 'down;%.0s' {1..31})
	stacks_match "_start;.*main;$downs" 97 101 <<<"$output"
	stacks_match ";main;$downs.*;by_value;spin" 90 101 <<<"$output"
}

# chains COMMAND... - of each sample of a script: when it was, and its frames as "address(file)"
chains() {
	"$@" -F comm,time,ip,sym,dso -i "$BATS_FILE_TMPDIR/deep.data" 2>/dev/null | awk -f "$BATS_TEST_DIRNAME/frames_of_samples.awk"
}

@test "script prints the frames that perf script prints, and those where perf gives up" {
	cd "$BATS_TEST_TMPDIR"
	chains perf script --no-inline >perf.txt
	chains ebprec script -q >ours.txt
	# The names, too: of main() and what it calls perf has them all.
	contains "$(ebprec script -q -i "$BATS_FILE_TMPDIR/deep.data")" " by_value+0x"
	awk -f "$BATS_TEST_DIRNAME/begins_equal.awk" perf.txt ours.txt || fail "$(diff perf.txt ours.txt | head -n 8)"
}

@test "frames are those that perf's own unwinder finds" {
	local unversioned='s/@@[A-Z0-9_.]*//g; s/\[[^];]*\]/[unknown]/g'
	perf script -i "$BATS_FILE_TMPDIR/deep.data" --no-inline --comm deep 2>/dev/null |
		perl "$BATS_TEST_DIRNAME/../../lab/bench/collapse.pl" | sed "$unversioned" >"$BATS_TEST_TMPDIR/perf.txt"
	ebprec report -i "$BATS_FILE_TMPDIR/deep.data" --comm deep --folded 2>/dev/null | sed "$unversioned" >"$BATS_TEST_TMPDIR/ours.txt"
	awk -f "$BATS_TEST_DIRNAME/stacks_in_common.awk" "$BATS_TEST_TMPDIR/perf.txt" "$BATS_TEST_TMPDIR/ours.txt" ||
		fail "$(diff "$BATS_TEST_TMPDIR/perf.txt" "$BATS_TEST_TMPDIR/ours.txt" | cut -c1-2000)"
}

# bats test_tags=long
@test "a program that was built again: stacks are unwound by the copy in perf's cache, or the reason is the file" {
	mkdir again
	cp deep.c again/
	cd again
	gcc -O2 -o deep deep.c
	perf record -q -F 499 --call-graph dwarf,16384 -o deep.data -- ./deep 2>record.err
	[ -d "$HOME/.debug/.build-id" ] || perf buildid-cache -a ./deep
	ebprec report deep.data 2>&1 >/dev/null | grep '^ebprec: stacks' >want
	echo 'int other(void) { return 1; }' >>deep.c
	gcc -O1 -o deep deep.c
	same "$(cat want)" "$(ebprec report deep.data 2>&1 >/dev/null | grep '^ebprec: stacks')"
	HOME=/nowhere ebprec report deep.data >/dev/null 2>gone
	grep -q 'break off in deep: the file that was recorded is not here, or is another version now (find it with --debug-dir' gone ||
		fail "$(cat gone)"
}

# bats test_tags=long
@test "waits of a program without frame pointers have their stacks, and so have those that wake it" {
	cat >nap.c <<-'END'
		#include <unistd.h>
		#define HIDE __attribute__((noinline, noclone))
		static volatile int sink;
		static int to_nap[2], from_nap[2];
		HIDE void nap(void) { char c; sink += read(to_nap[0], &c, 1); sink += write(from_nap[1], "x", 1); }
		HIDE void outer(void) { nap(); sink++; }
		HIDE void feed(void) { char c; usleep(2000); sink += write(to_nap[1], "x", 1); sink += read(from_nap[0], &c, 1); }
		int main(void)
		{
			if (pipe(to_nap) || pipe(from_nap))
				return 1;
			if (fork()) {
				for (int i = 0; i < 100; i++)
					outer();
			} else {
				for (int i = 0; i < 100; i++)
					feed();
			}
			return 0;
		}
	END
	gcc -O2 -fomit-frame-pointer -o nap nap.c
	perf record -q -a -k mono -m 16M -e sched:sched_switch,sched:sched_waking --call-graph dwarf,4096 -o nap.data -- ./nap 2>record.err
	ebprec report -q --wakers --folded --comm nap nap.data >folded
	# 100 waits of 2 ms at least; the copy of one that is lost leaves the kernel's frames alone.
	stacks_match ';main;outer;nap;.*;\[pipe\];\[woken by\];.*;feed;main;' 95 190000 ';outer;nap;.*;\[pipe\];' <folded || fail "$(cat folded record.err)"
	stacks_match ';main;(outer;nap|feed);' 95 190000 ';\[pipe\];' <folded || fail "$(cat folded)"
}
