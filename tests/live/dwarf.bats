#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# bats file_tags=parallel
# Stack copies that perf recorded (--call-graph dwarf), unwound by us and by perf.

load ../lib/helper

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
	awk -v w="$complete" 'BEGIN { exit !(w >= 99.5) }' || fail "$complete % complete"
	# 31 times down(), and a sort above it, in every sample that is in the loop.
	downs=$(printf 'down;%.0s' {1..31})
	stacks_match "_start;.*main;$downs" 97 101 <<<"$output"
	stacks_match ";main;$downs.*;by_value;spin" 90 101 <<<"$output"
}

# chains COMMAND... - of each sample of a script: when it was, and its frames as "address(file)"
chains() {
	"$@" -F comm,time,ip,sym,dso -i "$BATS_FILE_TMPDIR/deep.data" 2>/dev/null | awk '
		/^[^ \t]/ { printf "%s%s", (NR > 1 ? "\n" : ""), $2; next }
		NF { printf " %s%s", $1, $NF }
		END { print "" }'
}

@test "script prints the frames that perf script prints, and those where perf gives up" {
	cd "$BATS_TEST_TMPDIR"
	chains perf script --no-inline >perf.txt
	chains ebprec script -q >ours.txt
	# The names, too: of main() and what it calls perf has them all.
	contains "$(ebprec script -q -i "$BATS_FILE_TMPDIR/deep.data")" " by_value+0x"
	awk '
		FNR == NR { perf[FNR] = $0; next }
		{
			all++
			same += index($0 " ", perf[FNR] " ") == 1
		}
		END {
			printf "%d of %d\n", same, all
			exit !(all > 100 && same >= 0.99 * all && all == length(perf))
		}' perf.txt ours.txt || fail "$(diff perf.txt ours.txt | head -n 8)"
}

@test "frames are those that perf's own unwinder finds" {
	perf script -i "$BATS_FILE_TMPDIR/deep.data" --no-inline -F comm,ip,sym --comm deep 2>/dev/null |
		awk '
		function flush() { if (chain != "") count[chain]++; chain = "" }
		/^[^ \t]/ { flush(); next }
		NF >= 2 { name = $2; chain = chain == "" ? name : name ";" chain }
		END { flush(); for (c in count) print c, count[c] }' | sort >"$BATS_TEST_TMPDIR/perf.txt"
	ebprec report -i "$BATS_FILE_TMPDIR/deep.data" --comm deep --folded 2>/dev/null |
		sed 's/^deep;//; s/@@[A-Z0-9_.]*//g; s/\[[^];]*\]/[unknown]/g' | sort >"$BATS_TEST_TMPDIR/ours.txt"
	awk '
		{ n = $NF; sub(/ [0-9]+$/, ""); gsub(/@@[A-Z0-9_.]*/, "") }
		FNR == NR { perf[$0] += n; all += n; next }
		{ ours[$0] += n }
		END {
			for (c in perf)
				same += perf[c] < ours[c] ? perf[c] : ours[c]
			printf "%d of %d samples have the same stack\n", same, all
			exit !(all > 100 && same >= 0.99 * all)
		}' "$BATS_TEST_TMPDIR/perf.txt" "$BATS_TEST_TMPDIR/ours.txt"
}
