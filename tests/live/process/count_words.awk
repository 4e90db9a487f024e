# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# count_words.awk - how often each first word of a line is there: a load
{ count[$1]++ }
END {
	for (word in count)
		print word, count[word]
}
