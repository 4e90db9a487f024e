#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# serve.pl HOW - a server of symbols that is not what it should be; prints its port
#
#	silent    takes connections and never answers
#	FILE      answers every question with FILE
use strict;
use warnings;
use IO::Socket::INET;

my $how = shift or die "how?\n";
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 8) or die "$!\n";
$| = 1;
print $server->sockport, "\n";
alarm 60;    # it ends by itself
my @open;
while (my $c = $server->accept) {
	if ($how eq 'silent') {
		push @open, $c;
		next;
	}
	my $line = '';
	while (defined($line = <$c>) && $line ne "\r\n") { }
	open my $in, '<:raw', $how or die "$!\n";
	my $data = do { local $/; <$in> };
	print $c "HTTP/1.1 200 OK\r\nContent-Length: ", length $data, "\r\nConnection: close\r\n\r\n", $data;
	close $c;
}
