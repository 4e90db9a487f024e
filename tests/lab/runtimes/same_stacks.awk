# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# same_stacks.awk PREFIX=rb:: FROM=m_round OF=stacks.rb LOOP=rb_vm_exec TRUTH FOLDED - counts of samples in the loop, of those with
# functions, of those with functions of the program, and of those of these whose functions are a stack of TRUTH; the others go
# to the standard error
#
# TRUTH has a stack a line, its frames "NAME LINE" outermost first; those called SKIPPED may be missing in the recorder's.
# CUT=1: all of the outermost ones may be.  Frames
# before FROM are left out on both sides: the program was begun in another way.

# All that a stack begins with are stacks, too: a function has them before it calls, and after.
function learn(stack,   count, part, i, at) {
	count = split(from_there(stack), part, ";")
	for (i = 1; i <= count; i++) {
		at = at (i > 1 ? ";" : "") part[i]
		known[at] = 1
	}
	if (CUT)
		for (at = from_there(stack); sub(/^[^;]*;/, "", at);)
			known[at] = 1
}

function from_there(stack,   at) {
	at = index(stack, FROM " ")
	return at ? substr(stack, at) : stack
}

FILENAME == truth || truth == "" {
	truth = FILENAME
	count = split($0, frame, ";")
	stack = less = ""
	for (i = 1; i <= count; i++) {
		sub(/ [0-9]*$/, "", frame[i])
		stack = stack (stack == "" ? "" : ";") frame[i]
		if (SKIPPED == "" || index(frame[i], SKIPPED " ") != 1)
			less = less (less == "" ? "" : ";") frame[i]
	}
	learn(stack)
	learn(less)
	next
}

{
	weight = $NF
	line = $0
	sub(/ [0-9]+$/, "", line)
	count = split(line, frame, ";")
	stack = ""
	in_loop = 0
	for (i = 1; i <= count; i++) {
		in_loop += frame[i] == LOOP
		if (index(frame[i], PREFIX) == 1)
			stack = stack (stack == "" ? "" : ";") substr(frame[i], length(PREFIX) + 1)
	}
	if (!in_loop)
		next
	all += weight
	joined += weight * (stack != "")
	if (!index(stack, OF))
		next
	of_program += weight
	sub(/;[^;]* \(internal\)$/, "", stack) # a function of C has no statement to be seen at
	if (from_there(stack) in known)
		equal += weight
	else
		print weight, from_there(stack) | "sort -rn >&2"
}

END { print all + 0, joined + 0, of_program + 0, equal + 0 }
