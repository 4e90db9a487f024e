# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# complete_stacks.pl - reads folded stacks: 99 of 100 of them begin where a thread does, and none is of a nameless process;
# prints the counts
use strict;
use warnings;

my ($all, $complete, $foreign) = (0, 0, 0);
while (<STDIN>) {
	my ($stack, $n) = /^(.*) (\d+)$/ or die "not folded: $_";
	my ($comm, @f) = split /;/, $stack;
	next if $comm eq "[foreign]" || !@f || $f[0] =~ /^(entry_|asm_|ret_from_fork)/;
	next if grep { /^\[(anon|memfd:.*)\]$/ } @f;
	$all += $n;
	$foreign += $n if $comm =~ /^\[/;
	$complete += $n if $f[0] =~ /^(_start|_dl_start_user|clone3?|__clone3?)(@|$)/ || @f > 1 && $f[1] =~ /^__libc_start_main/;
}
print "$complete of $all complete, $foreign foreign\n";
exit !($all > 1000 && $complete >= 0.99 * $all && $foreign == 0);
