# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# further_in.pl - of each hexadecimal address on standard input, itself and some behind it
use strict;
use warnings;

while (<STDIN>) {
	chomp;
	my $address = hex;
	printf "0x%x\n", $address + $_ for 0, 1, 5, 17, 60;
}
