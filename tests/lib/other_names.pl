# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# other_names.pl - reads lines "PERF|OURS", each ADDRESS NAME FILE, and prints those with other names, but for addresses
# that are of no code
use strict;
use warnings;

my %code; # by file: begin and end of its code, as offsets
while (<STDIN>) {
	chomp;
	my ($theirs, $ours) = split /\|/;
	next if $theirs eq $ours || $theirs =~ / \[unknown\] |\@plt | _init /;
	my ($at, $file) = $theirs =~ m{^(\S+) .* (/\S+)$};
	if (defined $file && -f $file && $ours =~ / \[unknown\] /) {
		$code{$file} //= [map { /PROGBITS +\S+ (\S+) (\S+) \S+ +\w*X/ ? [hex $1, hex($1) + hex $2] : () }
			`readelf -SW "$file" 2>/dev/null`];
		next if @{$code{$file}} && !grep { hex $at >= $_->[0] && hex $at < $_->[1] } @{$code{$file}};
	}
	print "$_\n";
}
