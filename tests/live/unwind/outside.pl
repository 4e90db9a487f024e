# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# outside.pl START END - of lines that begin with an address, those where it is not from START to before END; all hexadecimal
use strict;
use warnings;
no warnings "portable";

my ($start, $end) = map { hex } splice @ARGV, 0, 2;
while (<STDIN>) {
	my ($address) = split or next;
	print if hex $address < $start || hex $address >= $end;
}
