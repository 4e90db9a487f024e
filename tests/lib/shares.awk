# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# shares.awk - of folded stacks of tests/live/workloads/shares: its time is 3:2:1, below the complete chain of calls
#
# -v least=SAMPLES -v named=PERCENT of them in its three functions -v slack=SHARE: by which a share may differ, or by what
# chance explains, if that is more.  Prints the counts; status 1 when they are others.
{ all += $NF }
/;main;outer;inner;share_three;burn_three[; ]/ { three += $NF }
/;main;outer;inner;share_two;burn_two[; ]/ { two += $NF }
/;main;outer;inner;share_one;burn_one[; ]/ { one += $NF }
function far(got, want,   d) {
	d = got / sum - want
	return d * d > slack * slack && d * d > 16 * want * (1 - want) / sum
}
END {
	sum = three + two + one
	printf "%d samples, %d:%d:%d\n", all, three, two, one
	exit all < least || 100 * sum < named * all || far(three, 1 / 2) || far(two, 1 / 3) || far(one, 1 / 6)
}
