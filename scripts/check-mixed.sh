#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-mixed.sh BUILD_DIR [SECONDS [PERCENT]] - are the stacks of a mixed load complete?
#
# Records tests/live/workloads/mixed-load.sh and walks the folded output: at least PERCENT (99.5) of the user
# stacks must begin at _start, at the caller of __libc_start_main, or at clone or clone3.  Stacks
# with JIT code in them are counted apart.  Needs root and BPF.
set -eu

cd "$(dirname "$0")/.."
build=$(cd "${1:?which build folder?}" && pwd)
seconds=${2:-20}
percent=${3:-99.5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

"$build/ebprec" record -q -F 499 --without sched -o "$work/mixed.data" -- \
	tests/live/workloads/mixed-load.sh "$work" "$seconds"
"$build/ebprec" report --folded -i "$work/mixed.data" >"$work/folded" 2>"$work/quality"
perl -e '
	my ($percent) = @ARGV;
	my ($complete, $broken, $jit, $jit_complete, %where, %comm) = (0, 0, 0, 0);
	while (<STDIN>) {
		my ($stack, $n) = /^(.*) (\d+)$/ or die "not folded: $_";
		my ($comm, @f) = split /;/, $stack;
		# A process between two programs has kernel frames alone.
		next if !@f || $f[0] =~ /^(entry_|asm_|ret_from_fork)/;
		my $is_complete = $f[0] =~ /^(_start|_dl_start_user|clone3?|__clone3?)(@|$)/ ||
			@f > 1 && $f[1] =~ /^__libc_start_main/;
		$comm{$comm} += $n;
		if (grep { /^\[(anon|memfd:.*)\]$/ } @f) {
			$jit += $n;
			$jit_complete += $n if $is_complete;
		} elsif ($is_complete) {
			$complete += $n;
		} else {
			$broken += $n;
			$where{join ";", $comm, grep { defined } @f[0 .. 2]} += $n;
		}
	}
	my $all = $complete + $broken;
	die "check-mixed: no samples\n" if !$all;
	printf "%d user stacks, %d begin where they should (%.2f %%); %d with JIT code, %d of these begin there\n",
		$all, $complete, 100 * $complete / $all, $jit, $jit_complete;
	my @most = sort { $comm{$b} <=> $comm{$a} || $a cmp $b } keys %comm;
	print "programs: ", join(", ", map { "$_ $comm{$_}" } splice @most, 0, 12), "\n";
	my @worst = sort { $where{$b} <=> $where{$a} || $a cmp $b } keys %where;
	print "  $where{$_}  $_\n" for splice @worst, 0, 10;
	exit($complete * 100 < $all * $percent);' "$percent" <"$work/folded" || status=1
cat "$work/quality"
exit $status
