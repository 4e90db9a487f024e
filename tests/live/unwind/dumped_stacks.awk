# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# dumped_stacks.awk - reads `perf script -D`, and prints the user stack of each sample of thread -v tid=TID on a line: its
# addresses in hex, the leaf first, with a blank before each
function print_stack() {
	if (stack) print stack
	stack = ""
}
/PERF_RECORD_/ { print_stack(); on = 0 }
/PERF_RECORD_SAMPLE/ { split($0, part, /\/|: 0x/); split(part[2], thread, ":"); on = thread[1] == tid }
on && /^\.+ +[0-9]+: [0-9a-f]+$/ && $NF !~ /^ffff/ { at = $NF; sub(/^0+/, "", at); stack = stack " " at }
END { print_stack() }
