#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# sample-bytes.pl FILE - how many samples a plain perf.data holds, and in how many bytes
#
# Walks the records of the data section by their sizes; prints "SAMPLES BYTES".
use strict;
use warnings;

open my $file, '<:raw', $ARGV[0] or die "sample-bytes.pl: $ARGV[0]: $!\n";
read($file, my $header, 104) == 104 or die "sample-bytes.pl: $ARGV[0] has no header\n";
die "sample-bytes.pl: $ARGV[0] is no perf.data file\n" unless substr($header, 0, 8) eq 'PERFILE2';
my ($offset, $size) = unpack 'Q<2', substr($header, 40, 16);
my ($samples, $bytes) = (0, 0);

seek $file, $offset, 0;
for (my $left = $size; $left >= 8;) {
	read($file, my $head, 8) == 8 or last;
	my ($type, $misc, $record) = unpack 'L<S<S<', $head;
	last if $record < 8;
	if ($type == 9) {	# PERF_RECORD_SAMPLE
		$samples++;
		$bytes += $record;
	}
	seek $file, $record - 8, 1 or last;
	$left -= $record;
}
print "$samples $bytes\n";
