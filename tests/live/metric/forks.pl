# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# forks.pl - prints its pid and forks 37 times, a child after the other
use strict;
use warnings;

$| = 1;
print "$$\n";
for (1 .. 37) {
	my $pid = fork;
	exit if !$pid;
	waitpid $pid, 0;
	select undef, undef, undef, 0.01;
}
