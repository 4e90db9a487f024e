# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# congested.pl ADDRESS - asks for a connection when the way to ADDRESS is full for seconds: what is to be sent
# again still waits to be sent.  Prints pid, port, errno; 4 datagrams go before what it asks.
use strict;
use warnings;
use Socket;

my $address = inet_aton($ARGV[0]);
socket(my $full, PF_INET, SOCK_DGRAM, 0) or die "socket: $!";
connect $full, sockaddr_in(9, $address) or die "connect: $!";
syswrite $full, "x" x 1000 for 1 .. 4;
socket(my $asks, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
setsockopt $asks, 6, 7, 1; # TCP_SYNCNT: one more SYN
my $error = connect($asks, sockaddr_in(9, $address)) ? 0 : $! + 0;
my ($port) = sockaddr_in(getsockname $asks);
print "$$ $port $error\n";
