# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# denet_adds_up.pl ENTIRE INTERVALS - of documents of denet: calls of the intervals, and of the categories, are those of
# the entire time, and processes add up to all of them; prints the number of calls
use strict;
use warnings;
use JSON::PP;

sub total { my $n = 0; for (@_) { my $d = decode_json($_); $n += ($d->{aggregated} // $d)->{ebpf}{syscalls}{total} // 0 } $n }
my ($entire, $parts) = map { open my $f, "<", $_ or die; [<$f>] } @ARGV;
die total(@$entire) . " " . total(@$parts) . "\n" if total(@$entire) != total(@$parts);
my $s = decode_json($entire->[0])->{ebpf}{syscalls};
my $n = 0;
$n += $_ for values %{$s->{by_category}};
die "$n of $s->{total}\n" if $n != $s->{total};
# Processes add up to all of them.
for my $t (map { decode_json($_) } @$parts) {
	for my $name (qw(mem_rss_kb disk_read_bytes page_faults_cached thread_count)) {
		my $sum = 0;
		$sum += $_->{metrics}{$name} for @{$t->{children} // []};
		$sum += $t->{parent}{$name} if $t->{parent};
		die "$name: $sum\n" if $sum != ($t->{aggregated}{$name} // 0);
	}
}
print "$n\n"
