# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# damage_bytes.pl SEED - copies standard input with 16 bytes changed, somewhere
use strict;
use warnings;

srand $ARGV[0];
local $/;
my $bytes = <STDIN>;
substr($bytes, int rand length $bytes, 1) = chr int rand 256 for 1 .. 16;
print $bytes;
