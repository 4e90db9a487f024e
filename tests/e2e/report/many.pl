# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# many.pl SEED SAMPLES GROWTH REQUESTS [LIB [COMM]] - for gen_story: a program that spends its time in 30
# libraries, LIB0 to LIB29 (default: lib), drawn at random, each 0.9 times as much as the one before;
# LIB0 takes GROWTH times its time.  A sample each ms, and so many marks web/request.
use strict;
use warnings;

my ($seed, $n, $growth, $requests, $lib, $comm) = @ARGV;
$lib //= "lib";
$comm //= "prog";
srand($seed);
my @weights = map { 0.9 ** $_ } 0 .. 29;
$weights[0] *= $growth;
my $sum = 0;
$sum += $_ for @weights;
print "0 comm 7 7 $comm\n";
printf "0 map 7 0x%x000000 0x10000 0 /no/such/$lib%d\n", $_ + 1, $_ for 0 .. 29;
my $marked = 0;
for my $i (0 .. $n - 1) {
	my ($r, $at) = ($sum * rand, 0);
	while ($at < 29 && $r >= $weights[$at]) {
		$r -= $weights[$at++];
	}
	my $t = 1000000000 + $i * 1000000;
	printf "$t sample 7 7 0 1000000 u:0x%x000100\n", $at + 1;
	next if $marked >= $requests * ($i + 1) / $n;
	$marked++;
	print $t + 1, " mark 0 7 7 0 0 0 web request\n";
}
