# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# parse_and_price.awk - a story for gen_story: 20 requests by the program -v file=PATH -v name=COMM at 99 Hz
#
# Its function at -v parse=ADDRESS has 3000 samples, that at -v price=ADDRESS has -v prices=COUNT.
BEGIN {
	printf "0 comm 7 7 %s\n0 map 7 0x400000 0x100000 0 %s\n", name, file
	for (i = 0; i < 3000 + prices; i++) {
		# As many prices behind each sample of parse() as have their turn.
		is_price = int((i + 1) * prices / (3000 + prices)) > int(i * prices / (3000 + prices))
		printf "%.0f sample 7 7 0 10101010 u:%s\n", i * 10101010, is_price ? price : parse
		if (i * 20 % (3000 + prices) < 20)
			printf "%.0f mark 0 7 7 0 0 0 shop request\n", i * 10101010 + 1
	}
}
