# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# burner.pl - fills 30 MB, takes 0.4 s of CPU time and stops itself
use strict;
use warnings;

my $memory = "y" x 30e6;
my ($i, $user, $system) = (0, times);
while ($user + $system < 0.4) {
	$i++ for 1 .. 1e5;
	($user, $system) = times;
}
kill STOP => $$;
