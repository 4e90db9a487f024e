#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# mutate.sh BUILD_DIR random COUNT SEED | four COUNT SEED [FIRST] | bytes | all - commands on damaged captures
#
# random: every command on changed captures; four: info, report, recover and script alone, by a
# process for each CPU, COUNT of them from number FIRST on (where an earlier run ended); bytes: each cut
# and each flipped bit; all: every command on the captures of the tests and all inputs of the fuzz targets as they are.
# The same seed and number is the same damage.
#
# The output of a command goes to BUILD_DIR/mutate/log, files that brought one down stay beside it.
# Work files are in memory where that can be: a command that writes makes sure of the disk.
set -eu

cd "$(dirname "$0")/.."
build=$1
how=$2
shift 2
findings=$build/mutate
work=$(mktemp -d -p "$([ -d /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")")
trap 'rm -rf "$work"' EXIT
captures=tests/golden/captures
mkdir -p "$findings"
status=0
# A small quarantine, and memory that is not painted: a run takes a third of the time.
lean=quarantine_size_mb=1:thread_local_quarantine_size_kb=64:malloc_context_size=2:max_malloc_fill_size=0:hard_rss_limit_mb=1024

# without_kernel COMMAND... - with no names of this machine's kernel, where that can be: where the captures are of the same
# kernel, reading them takes longer than all else
without_kernel() {
	if unshare -m mount --bind /dev/null /proc/kallsyms 2>/dev/null; then
		# shellcheck disable=SC2016 # the inner shell expands
		exec unshare -m sh -c 'mount --bind /dev/null /proc/kallsyms && exec "$@"' sh "$@"
	fi
	exec "$@"
}

# four FIRST COUNT SEED - on this CPU and the others; the output of each is behind the other's
four() {
	cpus=$(nproc)
	share=$((($2 + cpus - 1) / cpus))
	at=$1
	end=$(($1 + $2))
	pids=
	while [ "$at" -lt "$end" ]; do
		[ $((end - at)) -ge "$share" ] || share=$((end - at))
		mkdir "$work/$at"
		ASAN_OPTIONS=$lean without_kernel nice -n 19 "$build/tests/lab/mutate/mutate" four "$at" "$share" "$3" "$work/$at" \
			tests/lab/mutate/captures/*.data $captures/live.data $captures/finished.data \
			>"$findings/printed.$at" 2>"$findings/log.$at" &
		pids="$pids $!"
		at=$((at + share))
	done
	for pid in $pids; do
		wait "$pid" || status=$?
	done
	cat "$findings"/printed.*
	rm -f "$findings"/printed.*
}

case $how in
random)
	"$build/tests/lab/mutate/mutate" random 0 "$1" "$2" "$work" $captures/finished.data \
		$captures/live.data 2>"$findings/log" || status=$?
	;;
four) four "${3:-0}" "$1" "$2" ;;
all)
	# shellcheck disable=SC2046 # no name of these has a blank
	"$build/tests/lab/mutate/mutate" all "$work" $(find tests/fuzz/corpus tests/golden tests/lab/mutate/captures \
		-type f \( -path 'tests/fuzz/*' -o -name '*.data' \) -size +0 -size -2048k) 2>"$findings/log" || status=$?
	;;
bytes) "$build/tests/lab/mutate/mutate" bytes "$work" $captures/live.data 2>"$findings/log" || status=$? ;;
*)
	echo "mutate.sh: random, four, bytes or all, not '$how'" >&2
	exit 2
	;;
esac
if [ "$status" -ne 0 ]; then
	cp "$work"/finding-* "$work"/*/finding-* "$findings" 2>/dev/null || true
	echo "# stored in $findings"
fi
exit "$status"
