# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# double_samples.awk - of a story for gen_story: each sample (that matches -v at=PATTERN) twice, a nanosecond apart
/ sample / && $0 ~ at {
	print
	$1 += 1
}
{ print }
