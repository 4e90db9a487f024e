#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# compare.pl ADDRESSES OURS ADDR2LINE EU_ADDR2LINE LLVM - classes of differences between chains
#
# Each file but the first has, for each address, pairs of lines "function", "file:line", innermost
# first, and an empty line.  Prints how many addresses are in each class; status 1 when one has no
# explanation.  Unexplained ones are shown on stderr.
use strict;
use warnings;

my @symbols; # of each address, as llvm-symbolizer names the outermost function

sub slurp_chains {
	open my $in, '<', shift or die "$!\n";
	local $/ = '';
	my (@all, @outer);
	while (my $chunk = <$in>) {
		my @lines = split /\n/, $chunk;
		my (@chain, $symbol);
		while (my ($function, $place) = splice @lines, 0, 2) {
			$place = '??:0' unless defined $place;
			$place =~ s/ \(discriminator \d+\)//;
			$place =~ s/:\?/:0/g;
			$place =~ s/^(.*?:\d+):\d+$/$1/;
			$place =~ s{^.*/}{};
			$function =~ s/ inlined at .*//;
			$symbol = $function;
			$function =~ s/^p\d+_\d+_//;      # the linker's name of the copy
			push @chain, [$function, $place];
		}
		push @outer, $symbol;
		push @all, \@chain;
	}
	@symbols = @outer;
	return \@all;
}

sub places { return join ' < ', map { $_->[1] } @{$_[0]} }

# base NAME - without what the symbol table adds: parts of a function.
sub base {
	my $name = shift;
	$name =~ s/\.(cold|part|constprop|isra|llvm)\b.*//;
	return $name;
}

# How one witness differs from us; '' when it does not.
sub difference {
	my ($ours, $theirs) = @_;
	# No tool knows a line: the file may then be that of a symbol.
	return 'outer' if $ours->[0][0] eq '??' && $ours->[0][1] eq '??:0' &&
		$theirs->[0][1] =~ /:0$/ && $theirs->[0][0] ne '??';
	return $theirs->[0][1] eq $ours->[0][1] ? 'fewer' : 'lines' if @$theirs < @$ours;
	return 'more' if @$theirs > @$ours;
	return 'lines' if places($ours) ne places($theirs);
	for my $i (0 .. $#$ours) {
		my ($a, $b) = (base($ours->[$i][0]), base($theirs->[$i][0]));
		next if $a eq $b;
		$b =~ s/([CD])1/${1}2/g;         # constructors of two names at one address
		(my $c = $a) =~ s/([CD])1/${1}2/g;
		return 'alias' if $b eq $c;
		return $i == $#$ours ? 'outer' : $i == 0 ? 'inner' : 'name';
	}
	return '';
}

# The witness, how it differs, whether both others then have to be of our opinion, and why it does.
my @explained = (
	['addr2line', 'fewer', 0, 'binutils 2.40 does not read range lists of DWARF 5 that are named by index (clang)', qr/clang/],
	['addr2line', 'fewer', 1, 'binutils 2.40 stops at a row of line 0', qr/./],
	['addr2line', 'inner', 1, 'binutils give an inlined function without a linkage name the name of the symbol', qr/./],
	['addr2line', 'name', 1, 'binutils give an inlined function without a linkage name the name of the symbol', qr/./],
	['addr2line', 'outer', 1, 'binutils name the symbol where there is no DWARF, or of several at one address another', qr/./],
	['addr2line', 'alias', 1, 'a constructor has two names', qr/./],
	['addr2line', 'lines', 1, 'binutils 2.40 count the files of DWARF 5 from 1 in places', qr/DWARF 5|other/],
	['eu-addr2line', 'fewer', 0, 'elfutils 0.188 does not find the scopes in some functions of clang', qr/clang/],
	['eu-addr2line', 'more', 0, 'elfutils sees another nesting: that of the abstract function', qr/./],
	['eu-addr2line', 'lines', 0, 'elfutils sees another nesting: that of the abstract function', qr/./],
	['eu-addr2line', 'fewer', 0, 'elfutils sees another nesting: that of the abstract function', qr/./],
	['eu-addr2line', 'outer', 0, 'elfutils names the symbol where there is no DWARF', qr/./],
	['eu-addr2line', 'alias', 1, 'a constructor has two names', qr/./],
	['llvm-symbolizer', 'alias', 1, 'a constructor has two names', qr/./],
	['llvm-symbolizer', 'outer', 1, 'llvm names the symbol, of several at one address another', qr/./],
);

sub explain {
	my ($tool, $how, $others, $unit) = @_;
	for my $e (@explained) {
		next if $e->[0] ne $tool || $e->[1] ne $how || $unit !~ $e->[4];
		next if $e->[2] && $others > 1;
		return $e->[3];
	}
	return undef;
}

my $addresses = shift;
my ($ours, @theirs) = map { slurp_chains($_) } @ARGV;
my @tools = ('addr2line', 'eu-addr2line', 'llvm-symbolizer');
open my $in, '<', $addresses or die "$!\n";
chomp(my @at = <$in>);
for (@theirs) { die "not as many chains\n" if @$_ != @$ours }

# The unit of an address: the copy's number is the object's, and every fourth has the same compiler.
my @compilers = ('gcc DWARF 5', 'gcc DWARF 4', 'clang DWARF 5', 'clang DWARF 4');
sub unit_of {
	my $name = shift // '';
	return $name =~ /^p(\d+)_/ ? $compilers[$1 % 4] : 'other';
}

my (%class, %agree, $known, $bad);
$known = $bad = 0;
for my $n (0 .. $#$ours) {
	my $o = $ours->[$n];
	my @d = map { difference($o, $_->[$n]) } @theirs;
	my $unit = unit_of($symbols[$n]);
	# The tools that differ from ours in depth, files or lines.
	my $others = grep { /fewer|more|lines/ } @d;

	$known++ if $o->[0][1] ne '??:0';
	$class{'all four agree'}{all}++ if !grep { $_ ne '' } @d;
	for my $w (0 .. 2) {
		$agree{$tools[$w]}++ if $d[$w] !~ /fewer|more|lines/;
		next if $d[$w] eq '';
		my $why = $others > 2 ? undef : explain($tools[$w], $d[$w], $others, $unit);
		if (!defined $why) {
			$bad++;
			$why = 'NOT EXPLAINED';
			print STDERR "$at[$n] $unit, $tools[$w]: $d[$w]\n";
			for (['ours', $ours], map { [$tools[$_], $theirs[$_]] } 0 .. 2) {
				print STDERR "  $_->[0]: ", join(' < ', map { "$_->[0] $_->[1]" } @{$_->[1][$n]}), "\n";
			}
		}
		$class{"$tools[$w]: $why"}{$unit}++;
	}
}
printf "%d addresses, %d with a line\n", scalar(@$ours), $known;
printf "  the same depth, files and lines as %-16s %d\n", "$_:", $agree{$_} // 0 for @tools;
for my $name (sort keys %class) {
	my $by = $class{$name};
	my $all = 0;
	$all += $_ for values %$by;
	printf "%8d  %s%s\n", $all, $name,
		$name =~ /:/ ? ' (' . join(', ', map { "$_ $by->{$_}" } sort keys %$by) . ')' : '';
}
print $bad ? "$bad not explained\n" : "every difference is explained\n";
exit($bad != 0);
