#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# rename_rows.pl NAME - reads a story for gen_tables on standard input, and prints it with NAME for each name in its rows and
# cgroups; a NUL instead of a newline ends each line, so that NAME may have newlines
use strict;
use warnings;

my ($name) = @ARGV;
while (<STDIN>) {
	chomp;
	s/^(row .*? )(comm|device|disk|cache|memory|resource|zone|name|kind|adapter|battery|sensor)=\S+/$1$2=$name/;
	s{^(cgroup \d+) .*}{$1 /$name};
	print "$_\0";
}
