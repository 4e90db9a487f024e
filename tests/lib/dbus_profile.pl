#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# dbus_profile.pl - calls with their replies in the output of dbus-monitor --profile, joined without ebprec
#
# A line each, sorted: INTERFACE.MEMBER SENDER DESTINATION, returned, error or open.
use strict;
use warnings;

my (%calls, %states);
while (<STDIN>) {
	chomp;
	my ($type, $time, $serial, $sender, $destination, @rest) = split /\t/;
	next if !defined $destination || $type !~ /^(mc|mr|err)$/;
	if ($type eq 'mc') {
		$calls{"$sender $serial"} = "$rest[1].$rest[2] $sender $destination";
		$states{"$sender $serial"} = 'open';
	} elsif (exists $calls{"$destination $rest[0]"}) {
		$states{"$destination $rest[0]"} = $type eq 'mr' ? 'returned' : 'error';
	}
}
print sort map { "$calls{$_} $states{$_}\n" } keys %calls;
