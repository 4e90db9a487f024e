# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# metric_field.pl TABLE KEY=VALUE,... FIELD - reads the JSON of `ebprec metrics` on standard input and prints the sum of a
# field over the matching rows of a table; over rows below them, where a key is only there
use strict;
use warnings;
use JSON::PP;

my ($table, $want, $name) = @ARGV;
my %want = map { split /=/, $_, 2 } split /,/, $want;
my $sum = 0;
for my $t (@{decode_json(join "", <STDIN>)->{tables}}) {
	next if $t->{name} ne $table;
	for my $top (@{$t->{rows}}) {
		my @rows = ($top);
		@rows = map { { %$top, %$_ } } @{$top->{rows}} if grep { !exists $top->{$_} } keys %want;
		for my $r (@rows) {
			next if grep { ($r->{$_} // "") ne $want{$_} } keys %want;
			my $is = $r->{$name} // die "no $name\n";
			$sum += $_ for ref $is ? @$is : $is;
		}
	}
}
print $sum, "\n"
