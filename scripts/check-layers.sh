#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-layers.sh BUILD_DIR - holds the tree to the rules of docs/STYLE.md that a machine can check
#
# Who may include whom, that each header compiles alone, that libraries neither print nor exit nor
# keep variables at file scope, and that every file names its licence.  Prints TAP.
set -eu

cd "$(dirname "$0")/.."
build=${1:-build}
cc=${CC:-cc}
work=$(mktemp)
shown=$(mktemp)
trap 'rm -f "$work" "$shown"' EXIT
count=0
failed=0

# verdict NAME - a rule holds when nothing was written to $work.
verdict() {
	count=$((count + 1))
	if [ -s "$work" ]; then
		echo "not ok $count - $1"
		head -40 "$work" | sed 's/^/# /'
		failed=$((failed + 1))
	else
		echo "ok $count - $1"
	fi
	: >"$work"
}

files() {
	scripts/list-files.sh
}

sources_in() {
	files | grep -E "^($1)/.*\\.[ch]$" | grep -v '\.bpf\.[ch]$' || true
}

# includes FOLDERS - prints "file:line: include <x>" or "file:line: include \"x\"" of each include.
includes() {
	sources_in "$1" | xargs -r grep -nHE '^[[:space:]]*#[[:space:]]*include' |
		sed -E 's/#[[:space:]]*include/include/' || true
}

# only_project FOLDERS PATTERN - project includes that are not PATTERN.
only_project() {
	includes "$1" | grep '"' | grep -vE "include \"($2)" >"$work" || true
}

# never_system FOLDERS PATTERN - system includes that are PATTERN.
never_system() {
	includes "$1" | grep -E "include <($2)" >"$work" || true
}

live='bpf/|libbpf'
elf='libelf|gelf|elfutils|dwarf|libdw|dwelf'
names='traceevent|libiberty|demangle'

only_project format 'format/'
verdict "format/ includes only format/"
never_system format "$live|$elf|$names|lzma"
verdict "format/ needs no library but libc, libzstd and libZydis"
only_project analyze 'analyze/|format/'
verdict "analyze/ includes only analyze/ and format/"
never_system analyze "$live"
verdict "analyze/ does not know libbpf"
includes analyze | grep -v '^analyze/sym/' | grep -E "include <($elf|lzma|libiberty|demangle)" >"$work" || true
verdict "only analyze/sym/ knows libelf, libdw, liblzma and libiberty"
# Each folder of analyze/ knows those before it: FOLDER:THOSE.  What lies in analyze/ itself knows sym/.
for rule in :sym sym: rewrite: sched:rewrite metric:report report:'sched|sym' 'export:metric|report|sched'; do
	folder=${rule%%:*}
	includes "analyze${folder:+/$folder}" | grep -E "^analyze${folder:+/$folder}/[a-z_0-9]+\.[ch]:" |
		grep '"analyze/[a-z]*/' | grep -vE "include \"analyze/($folder|${rule#*:})/" |
		grep -v '^analyze/main\.c:.*"analyze/cmd/' || true
done >"$work"
verdict "each folder of analyze/ knows only those before it"
only_project record 'record/|format/|bpf/(events|walkmaps)\.h|bpf/[a-z_]+\.skel\.h'
verdict "record/ includes only record/, format/, bpf's contracts and skeletons"
never_system record "$names|elfutils|libdw|dwarf"
verdict "record/ never symbolizes"
files | grep -E '^bpf/' | while read -r f; do
	grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$f" | grep -vE '"(bpf|format)/' || true
done >"$work"
verdict "bpf/ includes only bpf/ and pure headers of format/"

# What a .c includes first, its compilation has shown.
# shellcheck disable=SC2016 # for awk
sources_in 'format|record|analyze' | grep '\.c$' | xargs -r awk '
	FNR == 1 { seen = 0 }
	/^#[ ]*include/ && !seen++ && $2 ~ /^"/ { gsub(/"/, "", $2); print $2 }' | sort -u >"$shown"
files | grep -E '^(format|record|analyze)/.*\.h$|^bpf/events\.h$' | grep -vxFf "$shown" | while read -r f; do
	"$cc" -std=gnu11 -D_GNU_SOURCE -I. -Wall -Wextra -Werror -Wno-unused-parameter -fsyntax-only \
		-include "$f" -x c /dev/null 2>&1 || true
done >"$work"
verdict "each header compiles alone"

files | grep -E '^(format|record|analyze)/.*\.h$' | while read -r f; do
	guard=EBPREC_$(echo "$f" | tr 'a-z/.-' 'A-Z___')
	grep -q "^#ifndef $guard\$" "$f" || echo "$f: the include guard is not $guard"
done >"$work"
verdict "include guards are named after their files"

# An archive keeps one object of a name: a second one would replace the first.
sources_in 'format|record|analyze' | grep '\.c$' | sed 's|.*/||' | grep -vx 'main\.c' | sort | uniq -d >"$work"
verdict "file names are unique"

# Commands speak, and say and usage are how they do it; children of workload, bundler and trialload are programs of their own.
sources_in 'format|record|analyze' | grep -vE '/(main|cmd_[a-z_]+|say|usage|workload|bundler|trialload)\.[ch]$' | while read -r f; do
	grep -nHE '(^|[^a-z_>.])(printf|puts|perror|exit|_exit|abort|err|errx|warn|warnx)[[:space:]]*\(|[^a-z_](stderr|stdout)[^a-z_]' \
		"$f" | grep -vE '^[^:]+:[0-9]+:[[:space:]]*(\*|/\*)' || true
done >"$work"
verdict "libraries neither print nor exit"

# .data and .bss of the objects; tables of pointers are in .data.rel.ro.  `ebprec mark` marks as any
# program does, by the variables of format/ebprec-mark.h.
for dir in format record analyze; do
	[ -d "$build/$dir" ] || continue
	find "$build/$dir" -name '*.o' | sort | xargs -r objdump -t | awk '
			/file format/ { o = substr($1, 1, length($1) - 1) }
			($4 ~ /^\.(data|bss)(\.|$)/ && $4 !~ /^\.data\.rel\.ro/ && $3 == "O") ||
			($5 ~ /^\.(data|bss)(\.|$)/ && $4 == "O" && $5 !~ /^\.data\.rel\.ro/) {
				print o ": " $NF }' | grep -vE 'record/main\.o: stop_requested$|cmd_mark\.o: ebprec_mark_spans$' || true
done >"$work"
case $build in
*san-*) : >"$work" ;; # sanitizers add variables of their own
esac
verdict "no variables at file scope but stop_requested"

files | grep -vE '\.md$|^LICENSE$|(^|/)\.gitignore$|^tests/golden/.*/expected|^tests/fuzz/corpus/' >"$shown"
# shellcheck disable=SC2094 # it is only read
xargs -r awk 'FNR > 3 { nextfile } /SPDX-License-Identifier: BSD-2-Clause OR GPL-2\.0-or-later/ { print FILENAME }' \
	<"$shown" | grep -vxFf - "$shown" | while read -r f; do
	# Data files say nothing about themselves.
	! grep -Iq . "$f" || echo "$f: no SPDX line in the first three"
done >"$work"
verdict "every file names its licence"

files | grep -E '\.([ch]|sh|bats|awk|pl)$|^Makefile$|^scripts/' |
	xargs -r grep -nHE '[[:space:]]$' >"$work" || true
verdict "no white space at the end of a line"

echo "1..$count"
[ "$failed" -eq 0 ]
