# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# tree_adds_up.pl VIEW - reads the JSON of a tree: parts add up to their parent, and in complete trees to all
use strict;
use warnings;
use JSON::PP;

my $d = decode_json(join "", <STDIN>);
my (%total, %sum);
for (@{$d->{nodes}}) {
	$total{$_->{id}} = $_->{total};
	$sum{$_->{id}} += $_->{self};
	$sum{$_->{parent}} += $_->{total};
}
die "no tree\n" if @{$d->{nodes}} < 3;
$total{$_} == $sum{$_} or die "node $_: $total{$_}, parts $sum{$_}\n" for keys %total;
die "more than all\n" if $sum{0} > $d->{sum};
die "tops $sum{0}, all $d->{sum}\n" if $ARGV[0] =~ /^--(tree|bottom)/ && $sum{0} != $d->{sum};
