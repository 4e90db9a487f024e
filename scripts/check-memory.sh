#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-memory.sh BUILD_DIR [SECONDS [RATE]] - does the recorder's memory stand still?
#
# A window of 5 s of RATE new programs a second, so that what is kept of one that is gone adds up fast.
# Of these alone, so that nobody else's load changes what is in the window; and without a cache of
# tables, so that the kernel's symbols are in memory from the beginning.  Counted is the recorder's
# anonymous memory: the rings are the kernel's, of a size that is known, and are mapped bit by bit as
# they are first filled.
set -eu

build=$1
seconds=${2:-150}
rate=${3:-1000}
work=$(mktemp -d)
pid=''
trap 'kill $pid 2>/dev/null || true; rm -rf "$work"' EXIT

"$build/ebprec-record" -q --ring 5s --table-cache none -o "$work/r.data" -- \
	"$build/tests/live/storm" "$rate" "$seconds" >"$work/started" &
pid=$!
sleep 15 # the window is full, tables are there
: >"$work/rss"
while [ -e "/proc/$pid/status" ]; do
	awk '$1 ~ /^(VmRSS|RssAnon|RssFile|RssShmem):$/ { line = line " " $1 $2 } END { if (NR > 30) print line }' \
		"/proc/$pid/status" 2>/dev/null >>"$work/rss" || true
	sleep 2
done
wait "$pid"
echo "# $(cat "$work/started") programs"
awk '
	{ split($2, part, ":"); kib[++n] = part[2] + 0 }
	function most(from, to, i, m) { for (i = from; i <= to; i++) if (kib[i] > m) m = kib[i]; return m }
	END {
		n-- # the last one may be of a process that ends
		first = most(1, int(n / 3)); last = most(int(2 * n / 3), n)
		printf "# %d times looked: at most %d KiB in the first third, %d in the last\n", n, first, last
		if (n < 9 || !first) { print "not ok 1 - memory of a window that lasts"; exit 1 }
		# Something differs from one moment to the next; 50 bytes of each program would be 5 MiB.
		if (last > first * 1.05 + 2048) { print "not ok 1 - memory of a window that lasts"; exit 1 }
		print "ok 1 - memory of a window that lasts"
	}' "$work/rss" || { cat "$work/rss"; exit 1; }
[ -z "${MEMORY_LOG-}" ] || cp "$work/rss" "$MEMORY_LOG"
