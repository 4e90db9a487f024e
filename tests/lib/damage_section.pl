# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# damage_section.pl FILE HOW OFFSET SIZE - damages a section of FILE in one of five ways; OFFSET and SIZE are
# hexadecimal
use strict;
use warnings;
my ($file, $how, $off, $size) = ($ARGV[0], $ARGV[1], hex $ARGV[2], hex $ARGV[3]);
open my $f, "+<", $file or die; binmode $f; local $/; my $b = <$f>;
my $at = sub { substr($b, $_[0], length $_[1]) = $_[1] };
srand 7;
if ($how eq "noise") { $at->($off, join "", map { chr rand 256 } 1 .. $size) }
elsif ($how eq "ones") { $at->($off, "\xff" x $size) }
elsif ($how eq "lengths") { $at->($off, pack "V", $size * 100) }
elsif ($how eq "sections") { $at->(unpack("Q<", substr $b, 40, 8), "\xff" x 640) }
elsif ($how eq "codes") { substr($b, $off + $_, 1) ^= chr(1 << rand 8) for map { int rand $size } 1 .. $size / 8 }
else { die }
seek $f, 0, 0; print $f $b
