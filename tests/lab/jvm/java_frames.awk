# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# java_frames.awk - of folded stacks without counts: the first part, and the frames that are Java's, as CLASS.METHOD
BEGIN { FS = ";" }
{
	stack = $1
	for (i = 2; i <= NF; i++) {
		if ($i !~ /^java::/)
			continue
		sub(/^java::/, "", $i)
		sub(/ \(.*/, "", $i)
		stack = stack ";" $i
	}
	print stack
}
