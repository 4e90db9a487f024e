#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# collapse.pl [EVENT] - folds the text of `perf script` into "comm;root;...;leaf count"
#
# Reads standard input; with EVENT, only samples of that event.
# What ebprec is measured against and compared with, so it is made fast: a sample's lines of
# frames are counted as one string, and names are cut out of a frame once for each distinct text.
# A frame without a name becomes [file], or [unknown] when perf knew no file either; a semicolon
# in a name becomes a colon.  Counts are samples.  Output is sorted by bytes.
use strict;
use warnings;

my $event = $ARGV[0] // '';
my %stacks;	# comm -> text of the frames -> samples
my %names;	# text of one frame -> name

sub frame_name {
	my ($line) = @_;

	$line =~ s/ \(deleted\)\)$/)/;
	my ($name, $file) = $line =~ /^\s*[0-9a-f]+ (.*) \((.*)\)$/
		or die "collapse.pl: not a frame: $line\n";
	$name =~ s/\+0x[0-9a-f]+$//;
	if ($name eq '[unknown]' && $file ne '[unknown]') {
		$file =~ s{.*/}{};
		$file =~ s/^\[(.*)\]$/$1/;
		$name = "[$file]";
	}
	$name =~ tr/;/:/;
	return $name;
}

{
	local $/ = '';	# one sample: a header line, the frames leaf first, an empty line

	while (my $sample = <STDIN>) {
		my $end = index($sample, "\n");
		next unless $end >= 0;
		next if $event ne '' && index(substr($sample, 0, $end), " $event:") < 0;
		my ($comm) = substr($sample, 0, $end) =~ /^\s*(.+?)\s+-?\d+(?:\/-?\d+)?\s/ or next;
		$comm =~ tr/ ;/_:/;
		$stacks{$comm}{substr($sample, $end + 1)}++;
	}
}

my %folded;
while (my ($comm, $texts) = each %stacks) {
	while (my ($text, $count) = each %$texts) {
		my @frames = map { $names{$_} //= frame_name($_) } grep { /\S/ } split /\n/, $text;
		$folded{join ';', $comm, reverse @frames} += $count;
	}
}
print "$_ $folded{$_}\n" for sort keys %folded;
