# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# stacks_in_common.awk PERF OURS - two files of folded stacks: 99 of 100 samples of PERF, of which are more than 100, have their
# stack in OURS, too.  Prints how many; status 1 when they are fewer.
{ n = $NF; sub(/ [0-9]+$/, "") }
FNR == NR { perf[$0] += n; all += n; next }
{ ours[$0] += n }
END {
	for (stack in perf)
		same += perf[stack] < ours[stack] ? perf[stack] : ours[stack]
	printf "%d of %d samples have the same stack\n", same, all
	exit !(all > 100 && same >= 0.99 * all)
}
