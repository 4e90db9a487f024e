#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# dbus_messages.pl [big] - writes a pcap file of D-Bus messages, in one order of bytes or the other
#
# From lines of standard input: TIME_US TYPE SERIAL REPLY_SERIAL SENDER DESTINATION INTERFACE MEMBER [ERROR], TIME_US since the
# Epoch, TYPE call, oneway, return, error or signal, "-" for what a message does not have.
use strict;
use warnings;

my $big = @ARGV && $ARGV[0] eq 'big';
my ($u32, $u16) = $big ? ('N', 'n') : ('V', 'v');
my %types = (call => 1, oneway => 1, return => 2, error => 3, signal => 4);

sub field {
	my ($message, $code, $type, $value) = @_;
	return if $value eq '-' || $value eq '0';
	$$message .= "\0" x (-length($$message) % 8);
	$$message .= pack('CCaC', $code, 1, $type, 0);
	$$message .= $type eq 'u' ? pack($u32, $value) : pack("${u32}a*x", length $value, $value);
}

binmode STDOUT;
print pack("$u32$u16$u16$u32$u32$u32$u32", 0xa1b2c3d4, 2, 4, 0, 0, 1 << 27, 231);
while (<STDIN>) {
	my ($us, $type, $serial, $reply, $sender, $destination, $interface, $member, $error) = split;
	my $fields = '';
	my $message = pack('aCCC', $big ? 'B' : 'l', $types{$type}, $type eq 'oneway', 1);
	field(\$fields, 1, 'o', '/an/object');
	field(\$fields, 2, 's', $interface);
	field(\$fields, 3, 's', $member);
	field(\$fields, 4, 's', $error // '-');
	field(\$fields, 5, 'u', $reply);
	field(\$fields, 6, 's', $destination);
	field(\$fields, 7, 's', $sender);
	$message .= pack("$u32$u32$u32", 6, $serial, length $fields) . $fields;
	$message .= "\0" x (-length($message) % 8) . "secret";
	print pack("$u32$u32$u32$u32", int($us / 1e6), $us % 1e6, length $message, length $message), $message;
}
