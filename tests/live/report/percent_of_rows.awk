# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# percent_of_rows.awk - of the CSV of ebprec report: "symbol total self", in percent, of the program shares; with
# -v columns=self "symbol self" of functions that have some
NR > 1 { sum += $1; self[NR] = $1; total[NR] = $2; dso[NR] = $3; name[NR] = $4 }
END {
	for (i in self) {
		if (dso[i] != "shares")
			continue
		if (columns != "self")
			printf "%s %.2f %.2f\n", name[i], 100 * total[i] / sum, 100 * self[i] / sum
		else if (self[i])
			printf "%s %.2f \n", name[i], 100 * self[i] / sum
	}
}
