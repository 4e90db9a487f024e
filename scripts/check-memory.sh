#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-memory.sh BUILD_DIR [SECONDS [RATE]] - does the recorder's memory stand still?
#
# Four recordings; three of RATE new programs a second, so that what is stored of one that is gone adds up fast:
# a window of 5 s of programs that are one file; then, of a fifth as many, each a file of its own with a
# build-id of its own, a window and an ordinary file.
# These alone are recorded, so that no other load changes what is in the window; and without a cache of
# tables, so that the kernel's symbols are in memory from the beginning.  Counted is the recorder's
# anonymous memory: the rings are the kernel's, of a size that is known, and are mapped bit by bit as
# they are first filled.
set -eu

build=$1
seconds=${2:-150}
rate=${3:-1000}
work=$(mktemp -d)
pid=''
failed=0
trap 'kill $pid 2>/dev/null || true; rm -rf "$work"' EXIT

# look - memory, as the kernel counts it
look() {
	awk '$1 ~ /^(VmRSS|RssAnon|RssFile|RssShmem):$/ { line = line " " $1 $2 } END { if (NR > 30) print line }' \
		"/proc/$pid/status" 2>/dev/null || true
}

# stands_still NAME GROWTH_KIB - by what was looked at; so much may differ from one moment to the next
stands_still() {
	awk -v "name=$1" -v "more=$2" '
	{ split($2, part, ":"); kib[++n] = part[2] + 0 }
	function most(from, to, i, m) { for (i = from; i <= to; i++) if (kib[i] > m) m = kib[i]; return m }
	END {
		n-- # the last one may be of a process that ends
		first = most(1, int(n / 3)); last = most(int(2 * n / 3), n)
		printf "# %d times looked: at most %d KiB in the first third, %d in the last\n", n, first, last
		bad = n < 9 || !first || last > first * 1.05 + more
		printf "%s - %s\n", bad ? "not ok" : "ok", name
		exit bad
	}' "$work/rss" || { cat "$work/rss"; failed=1; }
	[ -z "${MEMORY_LOG-}" ] || { echo "# $1"; cat "$work/rss"; } >>"$MEMORY_LOG"
}

# record WARM_S OPTION... - RATE programs, of files in $files when it is not empty
record() {
	warm=$1
	shift
	"$build/ebprec-record" -q "$@" --table-cache none -o "$work/r.data" -- \
		"$build/tests/live/workloads/storm" "$storm" "$seconds" ${files:+"$files"} >"$work/started" &
	pid=$!
	sleep "$warm" # the window is full, tables are there
	: >"$work/rss"
	while [ -e "/proc/$pid/status" ]; do
		look >>"$work/rss"
		sleep 2
	done
	wait "$pid"
	echo "# $(cat "$work/started") programs"
	rm -f "$work"/r.data*
}

storm=$rate files=''
record 15 --ring 5s
# 50 bytes of each program would be 5 MiB.
stands_still "a window that lasts" 2048

# The memory for files is full after some ten thousand of them.
mkdir "$work/files"
storm=$((rate / 5)) files=$work/files
warm=$((20000 / storm))
seconds=$((seconds + warm))
record "$warm" --ring 5s
stands_still "a window of ever new files" 2048
record "$warm"
stands_still "a file of ever new files" 2048
# The kernel reports each new control group and none that goes; most are forgotten again.
cgroups() {
	mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	mkdir "$mount/ebprec-$$"
	end=$(($(date +%s) + 45))
	made=0
	while [ "$(date +%s)" -lt "$end" ]; do
		for _ in {1..20}; do
			made=$((made + 1))
			mkdir "$mount/ebprec-$$/$made"
			rmdir "$mount/ebprec-$$/$made"
		done
		sleep 0.05
	done
	rmdir "$mount/ebprec-$$"
	echo "$made" >"$work/made"
}
mkfifo "$work/go"
"$build/ebprec-record" -q -a --ring 2s -o "$work/r.data" -- cat "$work/go" &
pid=$!
cgroups
: >"$work/go"
wait "$pid"
retained=$(perf script -i "$work/r.data" --show-cgroup-events 2>/dev/null | grep -c PERF_RECORD_CGROUP)
echo "# $(cat "$work/made") control groups, $retained are in a window of 2 s"
if [ "$retained" -lt $(($(cat "$work/made") * 2 / 3)) ]; then
	echo "ok - control groups that are gone"
else
	echo "not ok - control groups that are gone"
	failed=1
fi
exit "$failed"
