# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# waiter_times.pl - reads sched --json of a recorded `waits`: no other threads are in it, and times and switches of the
# waiter are those in truth2; the hypervisor may have taken $stolen_ms
use strict;
use warnings;
use JSON::PP;

local $/;
my $s = decode_json(<STDIN>);
my @others = grep { $_->{comm} !~ /^(waits|waiter|holder|feeder)$/ } @{$s->{threads}};
die "also $others[0]{comm}" if @others;
my ($t) = grep { $_->{comm} eq "waiter" } @{$s->{threads}};
open my $f, "<", "truth2";
<$f> =~ /waiter (\d+) \d+ (\d+) (\d+)/ or die;
print STDERR "run $t->{run_ns} $1, switches $t->{voluntary} $2, $t->{involuntary} $3\n";
my $most = 20000 * ($2 + $3) + 500000 + $t->{unknown_ns} + 1e6 * $ENV{stolen_ms};
die if $t->{run_ns} < $1 - $most - 0.02 * $1 || $t->{run_ns} > $1 + $most + 0.2 * $1;
die if $t->{voluntary} != $2 || $t->{involuntary} != $3;
