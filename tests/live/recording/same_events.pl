# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# same_events.pl LOST - compares ours.txt with kernel.txt: lines "CPU SECONDS EVENT: ...", by time.  Prints how many events of
# kernel.txt, while both recorded that CPU, are in both; fails when more are missing than LOST and one in 200, or fewer than
# half of ours are in both.
use strict;
use warnings;

my $lost = $ARGV[0];
my ($missing, $common, $seen, $near) = (0, 0, 0, 1e-3);
my (%ours, %first, %last);
sub events {
	open my $f, "<", $_[0] or die;
	return map { s/prev_state=Z/prev_state=X/; /^(\d+) (\S+) (.*?)\s*$/ ? [$1, $2, $3] : () } <$f>;
}
for (events("ours.txt")) {
	my ($cpu, $at, $what) = @$_;
	push @{$ours{"$cpu $what"}}, $at;
	$seen++;
	# Programs are attached and detached one after another, that for switches within all others.
	next unless $what =~ /^sched_switch/;
	$first{$cpu} //= $at;
	$last{$cpu} = $at;
}
for (events("kernel.txt")) {
	my ($cpu, $at, $what) = @$_;
	next if !$first{$cpu} || $at < $first{$cpu} + 1e-5 || $at > $last{$cpu} - 1e-5;
	my $like = $ours{"$cpu $what"} // [];
	shift @$like while @$like && $like->[0] < $at - $near;
	if (@$like && $like->[0] < $at + $near) {
		shift @$like;
		$common++;
	} else {
		$missing++;
		print STDERR "not ours: $cpu $at $what\n" if $missing < 10;
	}
}
print STDERR "$seen events, $common in both, $missing missing, $lost counted as lost\n";
exit($common < $seen / 2 || $missing > $lost + $common / 200);
