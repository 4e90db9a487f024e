# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# stacks_add_up.pl - reads an account: each event that the kernel counted was recorded or lost, and each stack has the
# way it was found and the reason why it ends
use strict;
use warnings;
use JSON::PP;

use List::Util qw(sum0);
my $a = decode_json(join "", <STDIN>);
my ($found, $end) = @{$a->{user_stacks}}{qw(found_by end)};
my $stacks = sum0(values %$found);
my $lost = $a->{lost}{samples};
die "no samples\n" if !$a->{samples};
die "$a->{sampler_runs} runs: $a->{samples} samples, $lost lost\n"
	if $a->{sampler_runs} != $a->{samples} + $lost;
die "$a->{samples} samples, $stacks of them counted\n" if $stacks != $a->{samples};
die "ends are missing\n" if sum0(values %$end) != $stacks - $found->{none};
die "broken events\n" if $a->{lost}{broken_events};
die "out of order\n" if $a->{out_of_order};
