# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# awk -v most=N -f stacks_differ.awk FOLDED FOLDED - prints the stacks whose counts differ by more than N; one that is in one file
# alone counts 0 in the other
{
	n = $NF
	sub(/ [0-9]+$/, "")
	seen[$0]
	sum[$0] += FNR == NR ? n : -n
}
END {
	for (stack in seen)
		if (sum[stack] > most || sum[stack] < -most)
			print stack, sum[stack]
}
