# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# js_leaves.awk - reads `perf script` or `ebprec script` with -F ip,sym, and prints "PERCENT NAME" of the functions of JavaScript
# (LazyCompile: of node 18) that the samples were in, of those that were in one
NF == 0 { first = 1; next }
first || NR == 1 {
	first = 0
	if (match($0, /(JS|LazyCompile):[^(]*/)) {
		name = substr($0, RSTART, RLENGTH)
		sub(/ *$/, "", name)
		count[name]++
		all++
	}
}
END { for (name in count) print int(100 * count[name] / all), name }
