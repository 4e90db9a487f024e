# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# functions_on_stacks.awk - reads folded stacks, and prints "COUNT FUNCTION" of each that is on a stack, once a stack; no function
# of Python's code and not the interpreter's loop
{
	count = $NF
	sub(/ [0-9]+$/, "")
	n = split($0, frames, ";")
	split("", seen)
	for (i = 1; i <= n; i++)
		if (!seen[frames[i]]++ && frames[i] !~ /^(py::|_PyEval_EvalFrameDefault)/)
			sum[frames[i]] += count
}
END { for (f in sum) print sum[f], f }
