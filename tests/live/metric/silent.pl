# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# silent.pl - a connection that is not answered: the listener's queue is full.  Prints port, errno.
use strict;
use warnings;
use Socket;

sub made { socket(my $s, PF_INET, SOCK_STREAM, 0) or die "socket: $!"; return $s }
my ($listen, $first, $second) = (made(), made(), made());
bind $listen, sockaddr_in(0, INADDR_LOOPBACK) or die "bind: $!";
listen $listen, 0;
my ($port) = sockaddr_in(getsockname $listen);
connect $first, sockaddr_in($port, INADDR_LOOPBACK) or die "connect: $!";
setsockopt $second, 6, 7, 1; # TCP_SYNCNT: one more SYN
print "$port ", connect($second, sockaddr_in($port, INADDR_LOOPBACK)) ? 0 : $! + 0, "\n";
