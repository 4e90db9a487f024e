#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# cpu-later.pl PID AFTER_S FOR_S - CPU time that all threads of PID take, in ms a second, from
# AFTER_S from now on and for FOR_S
use strict;
use warnings;
use Time::HiRes qw(sleep);

my ($pid, $after_s, $for_s) = @ARGV;

sub cpu_ns {
	my $sum = 0;
	for my $file (glob "/proc/$pid/task/*/schedstat") {
		open my $in, '<', $file or next;
		$sum += (split ' ', <$in>)[0];
	}
	return $sum;
}

sleep $after_s;
my $before = cpu_ns();
sleep $for_s;
my $ns = cpu_ns() - $before;
die "cpu-later: $pid is gone\n" unless -d "/proc/$pid/task";
printf "%.3f\n", $ns / $for_s / 1e6;
