#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# first-sample.pl FILE CMD... - runs a recorder that writes FILE with times of CLOCK_MONOTONIC, and
# prints the ms from its start to the first sample
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($file, @cmd) = @ARGV;
my $start_s = clock_gettime(CLOCK_MONOTONIC);
system(@cmd) == 0 or die "first-sample: @cmd failed\n";
my $first_s;
open my $in, '-|', "perf script --ns -F time -i '$file' 2>/dev/null" or die "first-sample: perf: $!\n";
while (<$in>) {
	next unless /(\d+\.\d+):/;
	$first_s = $1 if !defined $first_s || $1 < $first_s;
}
die "first-sample: no sample in $file\n" unless defined $first_s;
printf "%.0f\n", 1000 * ($first_s - $start_s);
