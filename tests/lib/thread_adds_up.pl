# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# thread_adds_up.pl NAME WANT_NS - of the one thread in part.json, and of its stacks in wall and off: the times add up
# to WANT_NS
use strict;
use warnings;
use JSON::PP;

my ($name, $want) = splice @ARGV, 0, 2;
my ($json, $wall, $off) = map { local (@ARGV, $/) = $_; scalar <> } qw(part.json wall off);
my @t = @{decode_json($json)->{threads}};
die "$name: ", scalar(@t), " threads\n" if @t != 1;
my $sum = 0;
$sum += $t[0]{"${_}_ns"} for qw(run wait sleep block stop unknown);
die "$name: $sum, lasted $want\n" if $sum != $want || $t[0]{elapsed_ns} != $want;
for ([wall => $wall, $want], [off => $off, $want - $t[0]{run_ns}]) {
	my ($what, $text, $ns) = @$_;
	my ($us, $lines) = (0, 0);
	$text =~ s/ (\d+)$/$us += $1, $lines++/gem;
	# Each line is rounded.
	die "$name: $us us $what, not $ns ns\n"
		if abs($us - $ns / 1000) > $lines + 1 + $t[0]{unknown_ns} / 1000;
}
