# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# halve_frequency.awk - of a story for gen_story: each second sample, which stands for twice the time
/ sample / {
	if (++n % 2)
		next
	sub(" 1000000 u:", " 2000000 u:")
}
{ print }
