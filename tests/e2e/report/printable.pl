#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# printable.pl [--json [NAME]... | --csv | --folded COUNTS] <OUTPUT - fails when a program or a terminal would get
# what a name must not give it: controls but line ends and tabs, controls of direction, what is no UTF-8.
# --output FILE, --messages FILE (each any number of times, first): instead of standard input; output may be empty, and
# messages are in no form.
# --json: all of it is one document, and each NAME (after the rule of format/text/escape.h) is a text in it.
# --csv: rows have as many cells as the first, and none begins a formula.  --folded: lines are as flamegraph.pl
# reads them, with so many counts.
use strict;
use warnings;
use Encode;

my @files;
push @files, [shift =~ s/^--//r, shift] while ($ARGV[0] // '') =~ /^--(output|messages)$/;
my $form = shift // '';
require JSON::PP if $form eq '--json'; # takes long to load
local $/;

# The text of these bytes; dies when it must not be printed.
sub printable {
	my ($bytes) = @_;
	$bytes =~ s/\r{1,2}\n/\n/g; # CSV's, and a terminal's own
	my $text = eval { decode('UTF-8', $bytes, Encode::FB_CROAK | Encode::LEAVE_SRC) };
	die "no UTF-8: $@\n" unless defined $text;
	die sprintf("U+%04X in '%s'\n", ord $2, encode('UTF-8', $1))
		if $text =~ /([^\n]{0,40})([\x00-\x08\x0b-\x1f\x7f-\x9f\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}])/;
	return $text;
}

# What a name becomes in JSON: itself, but for bytes that are no UTF-8.
sub expected {
	my ($name) = @_;
	return decode('UTF-8', $name, sub { join '', map { sprintf '\\x%02x', $_ } @_ });
}

sub texts {
	my ($v) = @_;
	return ref $v eq 'HASH' ? map { texts($_) } %$v : ref $v eq 'ARRAY' ? map { texts($_) } @$v : ($v // ());
}

sub check_form {
	my ($text) = @_;
	if ($form eq '--json') {
		my %texts = map { $_ => 1 } texts(JSON::PP->new->utf8->decode(encode('UTF-8', $text)));
		for my $name (@ARGV) {
			my $want = expected($name);
			die "no text is '" . encode('UTF-8', $want =~ s/([^\x20-\x7e])/sprintf '<%02x>', ord $1/ger) . "'\n"
				unless $texts{$want};
		}
	} elsif ($form eq '--csv') {
		my ($width, @cells, $rows);
		while ($text =~ /\G("(?:[^"]|"")*"|[^,"\n]*)(,|\n)/g) {
			my ($cell, $end) = ($1, $2);
			$cell = $1 =~ s/""/"/gr if $cell =~ /^"(.*)"$/s;
			die "a formula: $cell\n" if $cell =~ /^[=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]/ && $cell !~ /^-?\d+(\.\d+)?$/;
			push @cells, $cell;
			next if $end eq ',';
			if (@cells == 1 && $cells[0] eq '') { # another table
				($width, @cells) = ();
				next;
			}
			$width //= @cells;
			die "$width cells, then " . @cells . ": @cells\n" if @cells != $width;
			@cells = ();
			$rows++;
		}
		die "no rows\n" unless $rows;
	} elsif ($form eq '--folded') {
		for my $line (split /\n/, $text) {
			for (1 .. $ARGV[0]) {
				$line =~ s/^(.*)\s+?(\d+(?:\.\d*)?)$/$1/ or die "no count: $line\n";
			}
			die "one count more: $line\n" if $line =~ /^(.*)\s+?(\d+(?:\.\d*)?)$/;
		}
	}
}

if (!@files) {
	my $text = printable(scalar <STDIN>);
	check_form($text);
	die "nothing\n" unless length $text;
}
for (@files) {
	my ($kind, $path) = @$_;
	open my $file, '<', $path or die "$path: $!\n";
	my $bytes = <$file> // '';
	eval {
		my $text = printable($bytes);
		check_form($text) if $kind eq 'output' && length $text;
	};
	die "$path: $@" if $@;
}
