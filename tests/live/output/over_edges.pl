# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# over_edges.pl - sleeps 1.6 s and then has 0.15 s of CPU time, four times; prints what the kernel counted of it
use strict;
use warnings;
use Time::HiRes qw(clock sleep);

$0 = 'over-edges';
for (1 .. 4) {
	sleep 1.6;
	my $end = clock() + 0.15;
	1 while clock() < $end;
}
open(my $from, '<', '/proc/self/schedstat') or die "over_edges.pl: /proc/self/schedstat: $!\n";
print <$from>;
