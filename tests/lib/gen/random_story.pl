# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# random_story.pl SEED - prints a story for gen_story: processes that fork, rename themselves and map files, with samples in
# the kernel and out, with recursion
use strict;
use warnings;

srand($ARGV[0]);
sub pick { $_[rand @_] }
my $t = 1000000;
my @pids = map { 10 * $_ } 1 .. 5;
print "- kallsyms $_\n" for "ffffffff81000000 T _text", "ffffffff81000100 T entry",
	"ffffffff81000200 T do_read", "ffffffff81000300 T _etext";
print "0 kmap 0xffffffff81000000 0x1000 _text\n";
for my $p (@pids) {
	print "0 fork 1 $p $p\n0 comm $p $p prog", int rand 3, "\n0 fork $p $p ", $p + 1, "\n";
	print "0 map $p 0x400000 0x10000 0 /no/such/prog\n0 map $p 0x700000 0x10000 0 /lib/such.so\n";
}
for (1 .. 400) {
	$t += int rand 5000;
	my $p = pick @pids;
	my $tid = $p + pick 0, 0, 1;
	my $r = rand;
	if ($r < 0.02) { my $c = 100 + 10 * int rand 90; print "$t fork $p $c $c\n$t fork $c $c ", $c + 1, "\n"; push @pids, $c; next }
	if ($r < 0.04) { print "$t comm $p $tid name", int rand 4, "\n"; next }
	if ($r < 0.05) { print "$t exec $p $p other\n", $t + 1, " map $p 0x500000 0x10000 0 /no/such/other\n"; next }
	my @user = map { sprintf "0x%x", pick(0x400000, 0x400000, 0x500000, 0x700000, 0x900000) + 16 * int rand 4 } 1 .. 1 + rand 6;
	my $kernel = rand() < 0.3 ? "k:" . join(",", map { sprintf "0xffffffff81000%03x", 0x110 + 0x100 * int rand 2 } 1 .. 1 + rand 3) . " " : "";
	printf "%d sample %d %d %d %d %su:%s\n", $t, $p, $tid, rand 4, 1 + rand 100, $kernel, join ",", @user;
}
