#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# draw-layers.sh BUILD_DIR OUT.svg - draws the folders and their includes, as the compiler saw them
#
# The arrows are those of the dependency files that the build wrote (BUILD_DIR/**/*.d): a folder points
# to each folder whose headers its sources read, without the arrows that follow from others.
# Needs graphviz (dot, tred).
set -eu

build=${1:?which build folder?}
out=${2:?which file?}

find "$build/format" "$build/record" "$build/analyze" "$build/bpf" -name '*.d' | sort | xargs cat | awk -v build="$build/" '
	function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }
	# "build/record/main.o: record/main.c record/cli.h \" and its continued lines
	/^[^ ].*\.o:/ { from = ""; first = 1; $1 = "" }
	/^[^ ]*:$/ { from = ""; next }
	{
		for (i = 1; i <= NF; i++) {
			path = $i
			if (path == "" || path == "\\" || path ~ /^\//)
				continue
			if (index(path, build) == 1)
				path = substr(path, length(build) + 1)
			folder = folder_of(path)
			if (first) {
				from = folder
				first = 0
				seen[from] = 1
			} else if (from != "" && folder != from && !((from, folder) in arrow)) {
				arrow[from, folder] = 1
				seen[folder] = 1
			}
		}
	}
	END {
		print "digraph layers {"
		print "\trankdir=TB; node [shape=box, fontname=\"sans-serif\", fontsize=11]; edge [color=gray40, arrowsize=0.6];"
		for (name in seen)
			print "\t\"" name "\";" | "sort"
		for (pair in arrow) {
			split(pair, part, SUBSEP)
			print "\t\"" part[1] "\" -> \"" part[2] "\";" | "sort"
		}
		close("sort")
		print "}"
	}' | tred | dot -Tsvg | sed '/^<!--/d; /^ -->/d; 1a <!-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later -->' >"$out"
