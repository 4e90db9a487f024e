# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# one_class.awk - of folded stacks, those with methods of two classes of Churn: each has a number of four digits in all names
{
	number = ""
	rest = $0
	while (match(rest, /(K|first|second|third)[0-9][0-9][0-9][0-9]/)) {
		this = substr(rest, RSTART + RLENGTH - 4, 4)
		rest = substr(rest, RSTART + RLENGTH)
		if (number && this != number) {
			print
			next
		}
		number = this
	}
}
