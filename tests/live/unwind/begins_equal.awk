# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# begins_equal.awk PERF OURS - two outputs of frames_of_samples.awk: the frames of PERF, which may give up, are the first ones
# of OURS, in 99 of 100 of the more than 100 samples.  Prints how many; status 1 when they are fewer.
FNR == NR { perf[FNR] = $0; next }
{
	all++
	same += index($0 " ", perf[FNR] " ") == 1
}
END {
	printf "%d of %d\n", same, all
	exit !(all > 100 && same >= 0.99 * all && all == length(perf))
}
