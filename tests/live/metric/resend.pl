# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# resend.pl FILE - makes TCP send segments again.  SYN-ACKs: the listener wants data before it accepts
# (TCP_DEFER_ACCEPT), and gets none.  And data: a filter at the receiver's socket drops all until some of it
# was sent again.  FILE gets ss's lines for both ends.  Prints "deferred PID PORT" and
# "again PID PORT-OF-CLIENT PORT-OF-SERVER".
use strict;
use warnings;
use Socket;

my ($file) = @ARGV;
$| = 1;
alarm 60;

# The kernel remembers how slow an address was: so each has its own.
sub listener {
	my ($address, $seconds) = @_;
	socket(my $s, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
	!$seconds or setsockopt $s, 6, 9, $seconds or die "TCP_DEFER_ACCEPT: $!";
	bind $s, sockaddr_in(0, inet_aton($address)) or die "bind: $!";
	listen $s, 5;
	return $s;
}

sub connected {
	my ($listen) = @_;
	socket(my $c, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
	setsockopt $c, 6, 2, 500 or die "TCP_MAXSEG: $!"; # so that much is many segments
	connect $c, getsockname $listen or die "connect: $!";
	accept my $s, $listen or die "accept: $!";
	return ($c, $s);
}

sub ends_of {
	my ($client, $server) = @_;
	return `ss -HtinO '( sport = :$client and dport = :$server ) or ( sport = :$server and dport = :$client )'`;
}

sub take {
	my ($from, $left) = @_;
	my $text;
	while ($left) {
		my $got = sysread $from, $text, $left or die "it ended early";
		$left -= $got;
	}
}

my $listen = listener("127.0.0.2", 1);
my ($port) = sockaddr_in(getsockname $listen);
my ($quiet, $late) = connected($listen); # accepted when its answer was sent again
print "deferred $$ $port\n";
close $_ for $quiet, $late, $listen;

$listen = listener("127.0.0.1", 0);
($port) = sockaddr_in(getsockname $listen);
my ($c, $s) = connected($listen);
my ($mine) = sockaddr_in(getsockname $c);
my $nothing = pack "SCCL", 6, 0, 0, 0; # return 0
setsockopt $s, SOL_SOCKET, 26, pack "Sx6P", 1, $nothing or die "SO_ATTACH_FILTER: $!";
syswrite($c, "x" x 7919) == 7919 or die "write: $!";
until (ends_of($mine, $port) =~ m{ retrans:\d+/(\d+)} && $1 >= 2) { select undef, undef, undef, 0.05 }
setsockopt $s, SOL_SOCKET, 27, pack "i", 0 or die "SO_DETACH_FILTER: $!";
take($s, 7919);
syswrite $s, "y" x 211;
take($c, 211);
# until the last of both is acknowledged
my $ends;
do { $ends = ends_of($mine, $port) } while $ends !~ /^(ESTAB +0 +0 .*\n){2}$/;
open my $to, ">", $file or die "$file: $!";
print $to $ends;
print "again $$ $mine $port\n";
