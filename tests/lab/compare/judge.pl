# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# judge.pl < what `run` printed: a line with the steps of the hot function, one with the CPU times of burn_hot by its
# own clock, then the comparisons by share, by span, and by what diff chooses without options: the times of the run
#
# Wanted, by share, which does not change with the speed of the machine: the true ratio of burn_hot is inside
# of its interval in 19 of 20 pairs, and of 20 tables without a change one at most has a row of the program that is
# real.  Rows of the kernel that are called real there are printed, and are no failure: a load beside one of the two
# recordings, of this test or of others on the machine, interrupts the program more often, which is a change.
# The same by run, where the true ratio is that of the clock, as the machine and the number of rounds are in it.
# By span it is shown, and not wanted: it has in it how fast the machine was.
use strict;
use warnings;
use JSON::PP;

$| = 1;

my @others = (1000, 800, 600, 400, 300, 200, 100, 50);
my $before = 1000;
$before += $_ for @others;
my (%pairs, %inside, %tables, %alarms, %rows, %rows_inside, %found);
while (my $hot = <STDIN>) {
	chomp $hot;
	my $growth = $hot / 1000;
	my ($ns_before, $ns_after) = split ' ', scalar <STDIN>;
	for my $how ("share", "span", "run") {
		my $d = decode_json(scalar <STDIN>);
		die "diff compared by $d->{unit}" if $how eq "run" && $d->{unit} ne "per_run";
		my $factor = $how eq "share" ? $before / ($before + $hot - 1000) :
			$how eq "run" ? $ns_after / $ns_before / $growth : 1;
		my $real = 0;
		for my $row (@{$d->{rows}}) {
			my $truth = $factor * ($row->{symbol} eq "burn_hot" ? $growth : 1);
			my $in = $row->{low} <= $truth && (!defined $row->{high} || $truth <= $row->{high});
			if ($row->{symbol} =~ /^burn_/) {
				$rows{$how}++;
				$rows_inside{$how} += $in;
			}
			if ($growth == 1 && $row->{verdict} eq "real") {
				$real ||= $row->{symbol} =~ /^burn_/;
				print "  by $how: $row->{symbol} x$row->{ratio} ($row->{low} .. $row->{high}) is called real\n";
			}
			next if $row->{symbol} ne "burn_hot";
			$pairs{$how}++;
			$inside{$how} += $in;
			$found{$how}{$growth} .= " " . $row->{verdict};
			printf "%-5s x%.3f: true x%.3f, found x%.3f, %.3f .. %.3f %s%s\n", $how, $growth, $truth,
				$row->{ratio}, $row->{low}, $row->{high}, $row->{verdict}, $in ? "" : " OUTSIDE";
		}
		next if $growth != 1;
		$tables{$how}++;
		$alarms{$how} += $real;
	}
}
my $failed = 0;
for my $how ("share", "span", "run") {
	printf "by %s: the true size is inside in %d of %d pairs, of all functions in %d of %d; " .
		"%d of %d tables without a change have a real row of the program\n", $how, $inside{$how}, $pairs{$how},
		$rows_inside{$how}, $rows{$how}, $alarms{$how}, $tables{$how};
	print "  x$_:$found{$how}{$_}\n" for sort { $a <=> $b } keys %{$found{$how}};
}
for my $how ("share", "run") {
	$failed ||= 20 * $inside{$how} < 19 * $pairs{$how};
	$failed ||= 20 * $alarms{$how} > $tables{$how};
}
exit $failed;
