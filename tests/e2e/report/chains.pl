#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# chains.pl OURS ADDR2LINE EU_ADDR2LINE LLVM - compares the chains of many addresses
#
# Each file has, for each address, pairs of lines "function", "file:line", innermost first, and an
# empty line.  A chain agrees when its depth, files and lines are equal, and its functions but for
# two conventions: the outermost is the name of the symbol table ("main.cold"), and binutils put that name
# also in the place of an innermost function that has no linkage name.
use strict;
use warnings;

sub chains {
	open my $in, '<', shift or die "$!\n";
	local $/ = '';
	my @all;
	while (my $chunk = <$in>) {
		my @lines = split /\n/, $chunk;
		my @chain;
		while (my ($function, $place) = splice @lines, 0, 2) {
			$place = '??:0' unless defined $place;
			$place =~ s/ \(discriminator \d+\)//;
			$place =~ s/:\?/:0/g;
			$place =~ s/^(.*?:\d+):\d+$/$1/;
			$place =~ s{^.*/}{};
			$function =~ s/ inlined at .*//;
			push @chain, [$function, $place];
		}
		push @all, \@chain;
	}
	return \@all;
}

sub agree {
	my ($ours, $theirs, $binutils) = @_;
	return 0 if @$ours != @$theirs;
	for my $i (0 .. $#$ours) {
		return 0 if $ours->[$i][1] ne $theirs->[$i][1];
		next if $i == $#$ours || ($binutils && $i == 0);
		return 0 if $ours->[$i][0] ne $theirs->[$i][0];
	}
	return 1;
}

my ($ours, $binutils, $eu, $llvm) = map { chains($_) } @ARGV;
my ($known, $all3, $bad) = (0, 0, 0);
die "not as many chains\n" if @$ours != @$binutils || @$ours != @$eu || @$ours != @$llvm;
for my $n (0 .. $#$ours) {
	next if $ours->[$n][0][0] eq '??' && $ours->[$n][0][1] eq '??:0' && $binutils->[$n][0][1] =~ /:0$/;
	$known++;
	my @votes = (agree($ours->[$n], $binutils->[$n], 1), agree($ours->[$n], $eu->[$n], 0),
		agree($ours->[$n], $llvm->[$n], 0));
	my $votes = $votes[0] + $votes[1] + $votes[2];
	$all3++ if $votes == 3;
	next if $votes >= 2;
	$bad++;
	for my $tool (['ours', $ours], ['binutils', $binutils], ['elfutils', $eu], ['llvm', $llvm]) {
		print STDERR "$n $tool->[0]: ", join(' < ', map { "$_->[0] $_->[1]" } @{$tool->[1][$n]}), "\n";
	}
}
print "$known $all3 $bad\n";
