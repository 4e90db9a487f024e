#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# draw-layers.sh OUT.svg - draws the folders and their includes, without those that follow from others
#
# scripts/check-layers.sh compares the drawing with the sources.  Needs graphviz (dot, tred).
set -eu

out=${1:?which file?}
list=$(dirname "$0")/list-includes.sh

{
	echo 'digraph layers {'
	echo '	rankdir=TB; node [shape=box, fontname="sans-serif", fontsize=11]; edge [color=gray40, arrowsize=0.6];'
	"$list" | awk '{ print "\t\"" $2 "\";"; print "\t\"" $3 "\";" }' | LC_ALL=C sort -u
	"$list" | awk '{ print "\t\"" $2 "\" -> \"" $3 "\";" }' | LC_ALL=C sort -u
	echo '}'
} | tred | dot -Tsvg | sed '/^<!--/d; /^ -->/d; 1a <!-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later -->' >"$out"
