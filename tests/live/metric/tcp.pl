# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# tcp.pl - connections in known numbers: 11 by IPv4 and 7 by IPv6 that send 10007 bytes and get 101,
# and 3 that are refused.  Prints the ids of client and server, and the ports.
use strict;
use warnings;
use IO::Socket::IP;
use Socket;

$| = 1;
for my $way (["127.0.0.1", 11], ["::1", 7]) {
	my ($host, $count) = @$way;
	my $listen = IO::Socket::IP->new(Listen => 5, LocalHost => $host, LocalPort => 0, GetAddrInfoFlags => 0)
		or die "listen: $@";
	my $port = $listen->sockport;
	my $server = fork;
	if (!$server) {
		$0 = "server";
		for (1 .. $count) {
			my $c = $listen->accept or die "accept: $!";
			my $text;
			1 while sysread $c, $text, 65536;
			syswrite $c, "y" x 101;
			close $c;
		}
		exit;
	}
	close $listen;
	for (1 .. $count) {
		my $c = IO::Socket::IP->new(PeerHost => $host, PeerPort => $port, GetAddrInfoFlags => 0) or die "connect: $@";
		my ($left, $text) = 10007;
		$left -= syswrite $c, "x" x $left while $left;
		shutdown $c, 1;
		1 while sysread $c, $text, 65536;
		close $c;
	}
	waitpid $server, 0;
	print "$host $$ $server $port\n";
}
# No socket listens on the port that was just given back.
socket(my $free, PF_INET, SOCK_STREAM, 0);
bind $free, sockaddr_in(0, INADDR_LOOPBACK);
my ($port) = sockaddr_in(getsockname $free);
for (1 .. 3) {
	socket(my $s, PF_INET, SOCK_STREAM, 0);
	connect($s, sockaddr_in($port, INADDR_LOOPBACK)) and die "a closed port answers";
}
