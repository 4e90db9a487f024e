# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# stacks_of_jstack.awk - of what jstack prints: THREAD;CLASS.METHOD;..., outermost first
/^"/ {
	split($0, parts, "\"")
	name = parts[2]
	stack = ""
}
/^\tat / {
	sub(/^\tat /, "")
	sub(/\(.*/, "")
	sub(/^[a-z.]*[@0-9.]*\//, "")
	stack = ";" $0 stack
}
/^$/ && stack {
	print name stack
	stack = ""
}
