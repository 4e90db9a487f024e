#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# first-line.pl CMD... - seconds from the start of CMD until it has printed a line that is not empty
use strict;
use warnings;
use Time::HiRes 'time';

my $start = time;
open my $from, '-|', @ARGV or die "first-line.pl: $ARGV[0]: $!\n";
while (my $line = <$from>) {
	next unless $line =~ /\S/;
	printf "%.4f\n", time - $start;
	last;
}
exit 0;
