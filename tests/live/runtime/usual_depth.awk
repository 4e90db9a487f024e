# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# usual_depth.awk - of folded stacks: how many frames of py::deep those have that most samples have
/py::deep/ { samples[gsub(/py::deep/, "")] += $NF }
END {
	for (depth in samples)
		if (samples[depth] > samples[usual])
			usual = depth
	print usual
}
