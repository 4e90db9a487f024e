# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# thread_times.pl TRUTH SCHED_JSON - compares the times and switches of each thread in the JSON of `ebprec sched` with the
# kernel's counts, as `waits --mixed` prints them (TRUTH), and prints both.  Fails when they differ by more than the cost
# of switches, and when the states of a thread do not add up to its life.
use strict;
use warnings;
use JSON::PP;

sub slurp { local (@ARGV, $/) = @_; scalar <> }

my ($truth, $json) = @ARGV;
my %by = map { $_->{tid} => $_ } @{decode_json(slurp($json))->{threads}};
my ($bad, $n, $run, $kernel_run, %before) = (0, 0, 0, 0);
for (grep { /^thread/ } split /\n/, slurp($truth)) {
	my (undef, $pid, $tid, $name, $r, $w, $vol, $invol) = split / /;
	# The first line has the counts of before the load began.
	if (!%before) {
		%before = (tid => $tid, r => $r, w => $w, vol => $vol, invol => $invol);
		next;
	}
	if ($tid == $before{tid}) {
		$r -= $before{r}; $w -= $before{w};
		$vol -= $before{vol}; $invol -= $before{invol};
	}
	my $t = $by{$tid} or die "no thread $name";
	my ($sum, $switches) = (0, $vol + $invol);
	$sum += $t->{"${_}_ns"} for qw(run wait sleep block stop unknown);
	printf STDERR "%-9s run %.1f ms, kernel %+.1f; wait %.1f ms, kernel %+.1f; unknown %.1f ms; %d switches\n",
		$name, $t->{run_ns} / 1e6, ($r - $t->{run_ns}) / 1e6, $t->{wait_ns} / 1e6,
		($w - $t->{wait_ns}) / 1e6, $t->{unknown_ns} / 1e6, $switches;
	$bad ||= "$name: $sum is not $t->{elapsed_ns}" if $sum != $t->{elapsed_ns};
	$bad ||= "$name: $t->{voluntary} and $t->{involuntary} switches, not $vol and $invol"
		if $t->{voluntary} != $vol || $t->{involuntary} != $invol;
	# The kernel charges what these tools do in a switch to the next thread, we in part to the previous one.
	my $most = 8000 * $switches + 3000000 + $t->{unknown_ns} + 0.02 * $t->{run_ns};
	$bad ||= "$name: the kernel counted $r ns, ours $t->{run_ns}"
		if $r > $t->{run_ns} + $most || $r < 0.8 * $t->{run_ns} - $most;
	$run += $t->{run_ns};
	$kernel_run += $r;
	$n++;
}
printf STDERR "all: run %.1f ms, kernel %.1f\n", $run / 1e6, $kernel_run / 1e6;
die "$bad\n" if $bad;
die "only $n threads\n" if $n < 11;
# The kernel leaves out what a hypervisor and interrupts took; that is not in our hands.
die "run\n" if $kernel_run > $run * 1.02 || $kernel_run < $run * 0.8;
