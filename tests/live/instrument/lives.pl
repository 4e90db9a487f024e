# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# lives.pl NAME - checks lives.json, the output of `ebprec sched --json` of lives.bats, by the function NAME of the table below
#
# @all: all lives; %of: lists of them by process; $lost: events, which leave times unknown; $stolen: nanoseconds that a
# hypervisor may have taken of a wait, between the start of its timer and its switch.
use strict;
use warnings;
use JSON::PP;

local $/;
open my $f, "<", "lives.json" or die;
my $s = decode_json(<$f>);
my ($lost, @all, %of) = ($s->{sched}{lost}, @{$s->{threads}});
open $f, "<", "stolen" or die;
my $stolen = 1e6 * <$f>;
push @{$of{$_->{pid}}}, $_ for @all;
sub of { open my $f, "<", shift or die; map { @{$of{$_} || []} } split " ", <$f> }
# No time is missing, and none is unknown where no event is.  Some machines hide the switches of
# their agents, which contradicts the others.
sub adds_up {
	for my $t (@_) {
		my $sum = 0;
		$sum += $t->{"${_}_ns"} for qw(run wait sleep block stop unknown);
		die "$t->{comm} $t->{tid}: $sum of $t->{elapsed_ns}\n" if $sum != $t->{elapsed_ns};
		die "$t->{comm} $t->{tid}: $t->{unknown_ns} ns unknown\n" if $t->{unknown_ns} && !$lost && !$s->{sched}{contradictions};
		# A thread that is preempted on its way to sleep sleeps shorter.
		$t->{off_ns} = $t->{sleep_ns} + $t->{wait_ns} + $t->{unknown_ns};
	}
	return @_;
}

my %check = (
	storm => sub {
		my ($parent) = of("many") or die "no parent\n";
		my @short = adds_up(grep { $_->{comm} eq "python3" && $_->{tid} != $parent->{tid} && $_->{ended}
			&& $_->{start_ns} > $parent->{start_ns} && $_->{elapsed_ns} < 60e9 } @all);
		my $n = grep { $_->{runs} || ($s->{sched}{contradictions} && $_->{unknown_ns} == $_->{elapsed_ns}) } @short;
		die "$n lives, $lost lost\n" if $n + $lost < 700;
	},
	never_ran => sub {
		my @crowd = adds_up(of("pids"));
		die scalar(@crowd), " of them\n" if @crowd != 4 && !$lost;
		for (@crowd) {
			next if $lost;
			die "$_->{tid} ran\n" if $_->{runs} || $_->{run_ns} || $_->{ended};
			die "$_->{tid} slept $_->{sleep_ns} of $_->{elapsed_ns}\n" if $_->{sleep_ns} != $_->{elapsed_ns};
			die "$_->{tid} was not there all the time\n" if $_->{elapsed_ns} != $s->{sched}{elapsed_ns};
		}
	},
	began_before => sub {
		my ($t) = adds_up(of("waiter")) or die "no waiter\n";
		return if $lost;
		die "began at $t->{start_ns}\n" if $t->{start_ns} != $s->{sched}{start_ns};
		die "did not end\n" unless $t->{ended} && $t->{runs};
		# All but what it did when the pipe was opened.
		die "$t->{off_ns}, slept $t->{sleep_ns}\n" if $t->{off_ns} < 350e6 - $stolen || $t->{sleep_ns} < 100e6;
	},
	execed => sub {
		my @t = adds_up(of("execed"));
		return if $lost;
		my ($new) = grep { $_->{comm} eq "sleep" } @t or die "no thread sleeps\n";
		my ($first) = grep { $_->{comm} eq "python3" && $_->{tid} == $new->{tid} } @t or die "no first thread\n";
		die "first: $first->{off_ns}, slept $first->{sleep_ns}\n" if $first->{off_ns} < 150e6 - $stolen || $first->{sleep_ns} < 150e6 / 3;
		die "first goes on\n" if !$first->{ended};
		# Its sleep before that is its own, too.
		die "new: $new->{off_ns}, slept $new->{sleep_ns}\n" if $new->{off_ns} < 350e6 - $stolen || $new->{sleep_ns} < 350e6 / 3;
		die "new goes on\n" if !$new->{ended};
		die "at the same time\n" if $new->{start_ns} < $first->{start_ns};
		my @ended = grep { $_->{pid} == $new->{pid} } @{$s->{exited}};
		die scalar(@ended), " processes ended\n" if @ended != 1;
		die "$ended[0]{comm} ended, of $ended[0]{threads}\n" if $ended[0]{comm} ne "sleep" || $ended[0]{threads} != 2;
	},
	moved => sub {
		my ($t) = adds_up(of("moved")) or die "no mover\n";
		return if $lost;
		die "$t->{migrations} migrations\n" if $t->{migrations} < 59;
	},
);
$check{$ARGV[0]}->();
