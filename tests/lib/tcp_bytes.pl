# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# tcp_bytes.pl PID... - reads the JSON of tcp_life: 36 connections of these processes, of 10007 bytes one way and 101
# the other
use strict;
use warnings;
use JSON::PP;

my $n = 0;
my %of = map { $_ => 1 } @ARGV;
for my $t (@{decode_json(join "", <STDIN>)->{tables}}) {
	for (@{$t->{rows}}) {
		next if !$of{$_->{pid}};
		my ($more, $less) = $_->{accepted} ? ("received", "sent") : ("sent", "received");
		my ($long, $short) = ($_->{"${more}_bytes"}, $_->{"${less}_bytes"});
		print STDERR "$_->{lport} $_->{dport}: $long $short\n";
		die if $long != 10007 || $short != 101;
		die "port 0\n" if !$_->{lport} || !$_->{dport};
		$n++;
	}
}
die "only $n\n" if $n != 36
