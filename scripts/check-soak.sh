#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-soak.sh BUILD_DIR [SECONDS] - all instruments at once on a mixed load, for ten minutes
#
# The recorder's memory must stand still, every loss must be reported, and what two instruments count
# must agree: bytes of block with those of counters, switches of runq with those of sched.
set -euo pipefail

cd "$(dirname "$0")/.."
build=$(realpath "$1")
seconds=${2:-600}
PATH=$build:$PATH
export LC_ALL=C
work=$(mktemp -d /var/tmp/ebprec-soak-XXXXXX)
trap 'rm -rf "$work"' EXIT

# Without marks: those are of any process that marks something on this machine.
ebprec record -aq --with all --without mark --slower 50ms -o "$work/soak.data" -- \
	tests/live/workloads/mixed-load.sh "$work" "$seconds" >"$work/printed" 2>&1 &
job=$!
for _ in $(seq 200); do
	[ "$(cat "/proc/$job/comm")" != ebprec-record ] || break # ebprec becomes it
	sleep 0.1
done
# A look every ten seconds: seconds, KiB resident.
while kill -0 "$job" 2>/dev/null; do
	sleep 10
	awk -v "at=$SECONDS" '$1 == "VmRSS:" { print at, $2 }' "/proc/$job/status" 2>/dev/null >>"$work/rss" || true
done
wait "$job" || { cat "$work/printed"; exit 1; }

# sum TABLE FIELD KEY - the sum of a column over the rows of a table; KEY: --by
sum() {
	ebprec metrics "$1" -i "$work/soak.data" --json --by "$3" |
		perl -MJSON::PP -e '
			my ($table, $field) = @ARGV;
			for my $t (@{decode_json(join "", <STDIN>)->{tables}}) {
				next if $t->{name} ne $table;
				$n += $_->{$field} for @{$t->{rows}};
			}
			printf "%.0f\n", $n' "$1" "$2"
}

# agree WHAT A B PERCENT MORE - A and B differ by no more than that
agree() {
	awk -v "what=$1" -v "a=$2" -v "b=$3" -v "percent=$4" -v "more=$5" 'BEGIN {
		d = a > b ? a - b : b - a
		ok = d <= b * percent / 100 + more
		printf "%-28s %14.0f %14.0f  %s\n", what, a, b, ok ? "agree" : "DIFFER"
		exit !ok }' || failed=1
}

failed=0
sed 's/^ebprec: //' "$work/printed"
ebprec info --json "$work/soak.data" | perl -MJSON::PP -e '
	my $v = decode_json(decode_json(join "", <STDIN>)->{account}{text});
	printf "%.0f s, %d switches, %d rows, %.1f s of CPU; lost: %s\n", $v->{duration_ns} / 1e9,
		$v->{switches}, $v->{rows}, ($v->{own_cpu}{user_ns} + $v->{own_cpu}{system_ns}) / 1e9,
		join(", ", map { "$v->{lost}{$_} $_" } grep { $v->{lost}{$_} } sort keys %{$v->{lost}}) || "nothing";
	open my $f, ">", $ARGV[0];
	print $f $v->{lost}{switches}, "\n"' "$work/lost"
# Recorders begin and end one thing after the other: the inner intervals have all of both.
ebprec metrics runq_cpus -i "$work/soak.data" --json --interval --by cpu | perl -MJSON::PP -e '
	my @t = @{decode_json(join "", <STDIN>)->{tables}};
	@t = @t[2 .. $#t - 2];
	for my $t (@t) {
		$n += $_->{switches} for @{$t->{rows}};
	}
	printf "%d %.9f,%.9f\n", $n, $t[0]{from_ns} / 1e9, $t[-1]{to_ns} / 1e9' >"$work/runq"
read -r runq span <"$work/runq"
sched=$(ebprec script -i "$work/soak.data" -e sched:sched_switch --time "$span" -F time | wc -l)
printf '%-28s %14s %14s\n' "" one other
agree "read: block, counters" "$(sum block read_bytes process)" "$(sum counters_disk read_bytes disk)" 1 4194304
agree "written: block, counters" "$(sum block write_bytes process)" "$(sum counters_disk write_bytes disk)" 1 16777216
agree "switches: runq, sched" "$runq" $((sched + $(cat "$work/lost"))) 0.1 100
awk '{ print $2 } ' "$work/rss" | paste -sd' ' | sed 's/^/RSS, KiB every 10 s: /'
awk '{ all[NR] = $2 } END {
	for (i = 1; i <= NR; i++)
		if (i <= NR / 2) { if (all[i] > first) first = all[i] } else if (all[i] > second) second = all[i]
	printf "most memory: %.1f MiB in the first half, %.1f MiB in the second\n", first / 1024, second / 1024
	exit second > first * 1.25 + 32768 }' "$work/rss" || { echo "memory grows"; failed=1; }
printf 'capture: %d KiB\n' $(($(stat -c %s "$work/soak.data") / 1024))
exit "$failed"
