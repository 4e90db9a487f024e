# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# thread_times.pl TRUTH SCHED_JSON STOLEN - compares the times and switches of each thread in the JSON of `ebprec sched` with
# the kernel's counts, as `waits` prints them (TRUTH), and prints both.  STOLEN has the ms that a hypervisor took.  Fails when
# they differ by more than the cost of switches and what was stolen.
use strict;
use warnings;
use JSON::PP;

sub slurp { local (@ARGV, $/) = @_; scalar <> }

my ($truth, $json, $stolen_ms) = @ARGV;
my %by = map { $_->{tid} => $_ } @{decode_json(slurp($json))->{threads}};
my $stolen = 1e6 * slurp($stolen_ms);
my $bad = 0;
for (grep { /^thread/ } split /\n/, slurp($truth)) {
	my (undef, $pid, $tid, $name, $run, $wait, $vol, $invol) = split / /;
	my $t = $by{$tid} or die "no thread $tid";
	# The kernel charges a switch to the next thread, we to the previous one: half a microsecond, and as much
	# as all recorders do in it, and more where a CPU has just been idle; 2 to 11 us were seen.
	# Switches that the kernel did not report are unknown time: some kernels hide their agents.
	# Time that a hypervisor takes in the middle of a switch is charged to either.
	my $most = 20000 * ($vol + $invol) + 500000 + $t->{unknown_ns} + $stolen;
	print STDERR "$name: run $t->{run_ns} $run, wait $t->{wait_ns} $wait, switches ",
		"$t->{voluntary} $vol, $t->{involuntary} $invol\n";
	# Nor does it count time that a hypervisor or an interrupt took meanwhile; the clock does.  For a
	# thread that ran for a millisecond that can be most of its time: 0.6 ms of 1.7 were seen.
	my $taken = 0.2 * ($run + $wait) + 2e6;
	$bad ||= $t->{run_ns} < $run - $most - 0.02 * $run
		|| $t->{run_ns} > $run + $most + $taken
		|| abs($t->{wait_ns} - $wait) > $most + $taken
		|| $t->{voluntary} != $vol || $t->{involuntary} != $invol
		|| $t->{comm} ne $name || $t->{pid} != $pid;
}
exit($bad ? 1 : 0);
