# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# hot_story.pl SEED SAMPLES HOT MARKS - the story of a program that spends HOT of its time in a library, a sample
# each ms, with so many marks
use strict;
use warnings;

my ($seed, $n, $hot, $marks) = @ARGV;
srand($seed);
print "0 comm 7 7 prog\n";
printf "0 map 7 0x%x00000 0x10000 0 /no/such/%s\n", @$_ for [4, "prog"], [5, "libhot"], [6, "libcold"];
for my $i (0 .. $n - 1) {
	my ($r, $t) = (rand, 1000000000 + $i * 1000000);
	my $a = $r < $hot ? "0x500100" : $r < 0.8 ? "0x600100" : "0x400100";
	print "$t sample 7 7 0 1000000 u:$a,0x400200\n";
	print $t + 1, " mark 0 7 7 0 0 0 web request\n" if $marks && $i % int($n / $marks) == 0;
}
