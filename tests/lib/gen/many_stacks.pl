# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# many_stacks.pl COUNT - prints a story for gen_story: a thread with so many stacks, times 2500, a sample of each
use strict;
use warnings;

my $count = $ARGV[0];
print "0 kmap 0xffffffff81001000 0x5000 _text\n0 fork 1 10 10\n0 comm 10 10 n\n";
print "- kallsyms ffffffff8100${_}00 T f$_\n" for 10 .. 59;
for my $a (10 .. 59) {
	for my $b (10 .. 59) {
		print "1000 sample 10 10 0 10 k:", join(",", map { "0xffffffff8100${_}10" } $a, $b, $_), "\n" for 10 .. 9 + $count;
	}
}
