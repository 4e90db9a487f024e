# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# leaked_by_valgrind.awk - "leaked FUNCTION BLOCKS BYTES" of the functions leak_* in valgrind's report, whose numbers have no commas
/ bytes in .* blocks are / { bytes = $2; blocks = $5 }
# A block to which a register points is apart.
/ (by|at) .*: leak_/ { held_bytes[$4] += bytes; held_blocks[$4] += blocks }
END { for (f in held_bytes) print "leaked", f, held_blocks[f], held_bytes[f] }
