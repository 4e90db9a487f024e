# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# exits_agree.pl - sched.json and exits.json have the same facts of the processes work and killed
use strict;
use warnings;
use JSON::PP;

my ($sched, $exits) = map { local (@ARGV, $/) = $_; decode_json(<>) } qw(sched.json exits.json);
exit if $sched->{sched}{lost}; # it reports that
my %by = map { $_->{pid} => $_ } @{$sched->{exited}};
my $n = 0;
for my $e (grep { $_->{comm} =~ /^(work|killed)$/ } @{$exits->{tables}[0]{rows}}) {
	my $s = $by{$e->{pid}} or die "no $e->{comm}\n";
	for (qw(comm ppid prio nice voluntary involuntary threads runtime_ns)) {
		die "$e->{comm}: $_ $s->{$_}, in the table $e->{$_}\n" if $s->{$_} ne $e->{$_};
	}
	my $code = $s->{exit_code} << 8 | $s->{signal};
	die "$e->{comm}: ended $code, not $e->{exit_code}\n" if $code != $e->{exit_code};
	die "$e->{comm}: $s->{policy}\n" if uc $s->{policy} ne $e->{policy};
	$n++;
}
die "only $n\n" if $n != 2
