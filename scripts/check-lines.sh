#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-lines.sh BUILD_DIR [FILE] - functions, inlined functions and lines of a large capture, by four tools
#
# With FILE, a program or a debug file of a -dbg package: addresses at even distances in its code.
# Else it
# records a program with 200 MB of DWARF of two compilers, takes all distinct addresses that its
# stacks have, and compares the answers of addr2line, eu-addr2line and llvm-symbolizer with ours.  Ends with
# status 1 when a difference has no explanation in tests/lab/bigdwarf/compare.pl.
set -euo pipefail

cd "$(dirname "$0")/.."
build=$1
work=$build/bigdwarf
program=${2:-$work/bigdwarf}
export LC_ALL=C

mkdir -p "$work"
[ -e "$program" ] || tests/lab/bigdwarf/build "$work"

# addresses - all distinct ones of the program in the capture, hex.  For a return address it is the byte
# before it is asked for, as reports do.
addresses() {
	local base
	base=$(readelf -lW "$program" | awk '$1 == "LOAD" && !n++ { print $3 }')
	"$build/ebprec" script -q -i "$work/x.data" -F ip,dso | awk '
		NF == 0 { first = 1; next }
		$NF ~ /bigdwarf\)$/ { print first, $1 }
		{ first = 0 }' | perl -ne '
		BEGIN { $base = hex(shift) }
		my ($first, $offset) = split;
		printf "0x%x\n", $base + hex($offset) - ($first ? 0 : 1)' "$base" | sort -u
}

# even - addresses of its .text, so many that they can be divided further
even() {
	readelf -SW "$program" | sed 's/^ *\[ *[0-9]*\] //' | awk '$1 == ".text" { print $3, $5 }' | perl -ne '
		my ($at, $size) = map { hex } split;
		printf "0x%x\n", $at + int($_ * $size / 20000) for 0 .. 19999' | uniq
}

blocks() {
	awk '/^0x/ { if (n++) print ""; next } { print } END { print "" }'
}

if [ $# -lt 2 ]; then
	"$build/ebprec" record -q -F 4999 -o "$work/x.data" -- "$program" "${LINES_ROUNDS:-800}"
	addresses >"$work/all"
else
	even >"$work/all"
fi
# eu-addr2line takes 3 ms for each: LINES_MOST=3000 takes that many, evenly.
awk -v all="$(wc -l <"$work/all")" -v most="${LINES_MOST:-0}" '
	!most || int(NR * most / all) != int((NR - 1) * most / all)' "$work/all" >"$work/addresses"
"$build/tests/lib/gen/chains" --all "$program" <"$work/addresses" >"$work/ours"
addr2line -afie "$program" <"$work/addresses" | blocks >"$work/binutils"
# Its status is not 0 when it did not know one of them.
(eu-addr2line -afie "$program" <"$work/addresses" || :) | blocks >"$work/elfutils"
llvm-symbolizer --functions=linkage --no-demangle -e "$program" <"$work/addresses" >"$work/llvm"
tests/lab/bigdwarf/compare.pl "$work"/{addresses,ours,binutils,elfutils,llvm}
