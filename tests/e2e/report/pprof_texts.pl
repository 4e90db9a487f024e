#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# pprof_texts.pl - reads a pprof profile, not compressed, on standard input, and prints the strings of its table (field 6
# of a Profile), a line each
use strict;
use warnings;

local $/;
my $profile = <STDIN>;
my $pos = 0;

# A varint of the wire format.
sub number {
	my ($n, $shift, $byte) = (0, 0);
	do {
		$byte = ord substr $profile, $pos++, 1;
		$n |= ($byte & 127) << $shift;
		$shift += 7;
	} while $byte > 127;
	return $n;
}

while ($pos < length $profile) {
	my ($tag, $value) = (number(), number());
	next if ($tag & 7) == 0; # a number; others have a length and so many bytes
	print substr($profile, $pos, $value), "\n" if $tag >> 3 == 6;
	$pos += $value;
}
