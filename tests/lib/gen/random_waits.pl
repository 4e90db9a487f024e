# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# random_waits.pl SEED - prints a story for gen_story: threads that wait for a futex, for a disk or without a system call, and have a
# sample each time they run.  Of some waits there is a stack, which may stand for others.
use strict;
use warnings;

srand($ARGV[0]);
my $t = 1000000000;
my @tids = map { 10 * $_ } 1 .. 5;
print "- kallsyms $_\n" for "ffffffff81001000 T __schedule", "ffffffff81002000 T futex_wait", "ffffffff81003000 T io_schedule",
	"ffffffff81004000 T do_syscall_64", "ffffffff81005000 T _etext";
print "0 kmap 0xffffffff81001000 0x4000 _text\n";
print "0 fork 1 $_ $_\n0 comm $_ $_ prog$_\n0 map $_ 0x400000 0x10000 0 /no/such/prog\n" for @tids;
for (1 .. 600) {
	my $tid = $tids[rand @tids];
	printf "%d wakeup 1 %d %d %d prog%d\n", $t += 1 + int rand 30000, $tids[0], $tids[0], $tid, $tid;
	printf "%d switch 0 0 0 0 swapper/0 %d prog%d\n", $t += 1 + int rand 10000, $tid, $tid;
	printf "%d sample %d %d 0 %d u:0x400100\n", $t += 1 + int rand 50000, $tid, $tid, 1 + rand 1000;
	my ($call, $kernel) = @{([202, "0xffffffff81002010,"], [0, "0xffffffff81003010,"], [-1, ""])[rand 3]};
	my $weight = int rand 3;
	my $stack = $weight ? sprintf " k:0xffffffff81001010,%s0xffffffff81004010 u:0x4001%d0", $kernel, rand 4 : "";
	printf "%d switch 0 %d %d %d prog%d 0 swapper/0 %d %d%s\n", $t += 1 + int rand 50000, $tid, $tid, 1 + rand 2, $tid, $call, $weight, $stack;
}
