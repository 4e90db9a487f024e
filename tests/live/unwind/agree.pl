#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# agree.pl OURS PERF - stacks of one thread by two unwinders, in the same seconds
#
# Both files are the text of `perf script --ns --no-inline -F time,ip,sym,dso`, of captures with the
# same clock.  The two sample at different moments, so: where two samples of perf's that follow each
# other have the same callers, every sample of ours in between must have them, frame by frame.
# That holds for a program that stays in each stack longer than it takes perf to sample again.
#
# Callers are all user frames but the leaf.  perf takes one from a return address, we do not.
# Stacks of perf's that do not reach _start are cut, and nothing is compared with them.
# Prints "compared N, different N, cut N"; the different ones on stderr.
use strict;
use warnings;

# [ns, callers or undef when cut], by time
sub samples_of {
	my ($file, $less) = @_;
	my @list;
	open my $in, '<', $file or die "agree.pl: $file: $!\n";
	local $/ = '';
	while (<$in>) {
		my ($head, @lines) = split /\n/;
		my ($s, $ns) = $head =~ /(\d+)\.(\d{9}):/ or die "agree.pl: no time in: $head\n";
		my @frames = map { /^\s*([0-9a-f]+) (\S+).* \((\S+)\)$/ ? [hex $1, $2, $3] : () }
			grep { /^\s*[0-9a-f]{1,15} / } @lines;
		next if @frames < 2;
		my $complete = $frames[-1][1] =~ /^_start\b/;
		shift @frames;
		push @list, ["$s$ns" + 0,
			$complete ? join(' ', map { sprintf '%s+%x', $$_[2], $$_[0] - $less } @frames) : undef];
	}
	return sort { $$a[0] <=> $$b[0] } @list;
}

my @perf = samples_of($ARGV[1], 0);
my ($compared, $different, $at) = (0, 0, 0);
for my $sample (samples_of($ARGV[0], 1)) {
	my ($ns, $callers) = @$sample;
	$at++ while $at < @perf && $perf[$at][0] <= $ns;
	next if !$at || $at == @perf;
	my ($before, $after) = map { $$_[1] } @perf[$at - 1, $at];
	next if !defined $before || !defined $after || $before ne $after;
	$compared++;
	next if defined $callers && $callers eq $before;
	$different++;
	printf STDERR "ours: %s\nperf: %s\n", $callers // 'not complete', $before;
}
my $cut = grep { !defined $$_[1] } @perf;
print "compared $compared, different $different, cut $cut\n";
