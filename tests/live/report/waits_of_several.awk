# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# waits_of_several.awk - of the table of waits of a summary of one second: a total of more than that is of as many threads
# as it has seconds, "or more".  Prints the rows where it is not; status 1 for one, or when none is so long
NF && $3 > 1.0005 {
	many++
	if ($6 != "or" || $5 < $3 - 0.0005 || $5 > $3 + 1) {
		print
		bad++
	}
}
END { exit bad || !many }
