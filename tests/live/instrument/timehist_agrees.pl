# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# timehist_agrees.pl OURS - reads `perf sched timehist -s` on standard input, and compares run times of threads with those in the
# JSON of `ebprec sched` in the file OURS.  Prints both; fails when they differ, or fewer than 3 threads are in both.
use strict;
use warnings;
use JSON::PP;

open my $f, "<", $ARGV[0] or die "$ARGV[0]: $!\n";
my %of = map { $_->{tid} => $_ } @{decode_json(join "", <$f>)->{threads}};
my ($seen, $bad) = (0, 0);
while (<STDIN>) {
	# comm[tid/pid] parent runs run-time ...; comm[pid] when both are one
	next unless /\[(\d+)(?:\/\d+)?\]\s+-?\d+\s+(\d+)\s+([\d.]+)/ and $of{$1};
	my ($ours, $theirs) = ($of{$1}{run_ns} / 1e6, $3);
	$seen++;
	print STDERR "$1: $ours ms, timehist $theirs\n";
	# it does not count the stretch that the recording starts or ends in
	$bad ||= abs($ours - $theirs) > 0.02 * $theirs + 1 + $of{$1}{unknown_ns} / 1e6;
}
exit($bad || $seen < 3);
