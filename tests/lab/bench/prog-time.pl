#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# prog-time.pl PID - how long the BPF program of a recorder's samples ran, as the kernel counts it
#
# Looks at the descriptors of PID until it ends, and prints what the last look saw: ns in the
# perf_event program, and how often it ran.  Needs kernel.bpf_stats_enabled=1.
use strict;
use warnings;

my ($pid) = @ARGV;
my @last;
while (-d "/proc/$pid/fdinfo") {
	for my $file (glob "/proc/$pid/fdinfo/*") {
		open my $in, '<', $file or next;
		my %field = map { /^(\w+):\s*(\S+)/ ? ($1, $2) : () } <$in>;
		# 7: BPF_PROG_TYPE_PERF_EVENT
		next unless ($field{prog_type} // '') eq '7';
		@last = ($field{run_time_ns}, $field{run_cnt});
	}
	open my $in, '<', "/proc/$pid/stat" or last;
	last if (<$in> // '') =~ /\) Z /;
	close $in;
	select undef, undef, undef, 0.02;
}
print "@last\n" if @last;
exit !@last;
