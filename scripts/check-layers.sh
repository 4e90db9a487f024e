#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-layers.sh BUILD_DIR - holds the tree to the rules of docs/STYLE.md that a machine can check
#
# The includes between folders, that each header compiles alone, that libraries neither print nor exit nor
# keep variables at file scope, and that every file names its licence.  Prints TAP.
set -eu

cd "$(dirname "$0")/.."
build=${1:-build}
cc=${CC:-cc}
work=$(mktemp)
shown=$(mktemp)
arrows=$(mktemp)
trap 'rm -f "$work" "$shown" "$arrows"' EXIT
count=0
failed=0

# report_rule NAME - a rule holds when nothing was written to $work.
report_rule() {
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

# never_system FOLDERS PATTERN - system includes that are PATTERN.
never_system() {
	includes "$1" | grep -E "include <($2)" >"$work" || true
}

live='bpf/|libbpf'
elf='libelf|gelf|elfutils|dwarf|libdw|dwelf'
names='traceevent|libiberty|demangle'

# The layers, lowest first, a folder a line: FOLDER: the other folders whose headers it may include.
# The headers in bpf/ itself are the contract of its programs with record/.
layers() {
	cat <<-'END'
	format/include:
	format/base:
	format/text: format/base
	format/os: format/base
	format/unwind: format/base
	format/unwind/table: format/base format/unwind
	format/contract: format/text
	format/perf: format/base format/unwind
	format/payload: format/base format/unwind format/perf
	format/reader: format/base format/perf
	format/writer: format/base format/perf format/reader
	bpf: format/unwind
	bpf/lib: format/base format/unwind bpf
	bpf/runtime: bpf bpf/lib
	bpf/core: bpf/lib bpf/runtime
	bpf/tables: bpf/lib
	record/base: format/base format/text format/os bpf
	record/privsep/elf: format/base format/unwind format/payload format/reader bpf
	record/privsep: format/base format/text format/os format/unwind/table format/contract format/perf format/payload record/base record/privsep/elf
	record/events/tracepoint: format/base format/os format/perf
	record/events: format/base format/os format/perf format/payload format/writer bpf record/base record/privsep
	record/output: format/base format/text format/os format/unwind format/perf format/payload format/writer bpf record/base record/events
	record/output/snapshot: format/base format/text format/perf format/payload format/writer record/base record/events record/output
	record/process/proc: format/base format/os
	record/process/file: format/base format/os format/perf format/payload format/writer record/base record/privsep/elf record/privsep record/events record/process/proc
	record/process/container: format/base format/os format/contract format/payload format/writer bpf record/base record/privsep record/output record/process/proc
	record/process: format/base format/os format/payload format/writer bpf bpf/core record/base record/privsep record/events record/output record/process/proc record/process/file
	record/kernel: format/base format/os record/base record/privsep record/output record/process/file
	record/runtime: format/base format/os format/unwind bpf record/base record/privsep/elf record/privsep record/output record/process/file
	record/unwind: format/base format/os format/unwind format/unwind/table bpf record/base record/privsep record/output record/process/proc record/process/file record/process record/runtime
	record/instrument: format/base format/os format/unwind format/perf bpf bpf/core record/base record/privsep/elf record/privsep record/events/tracepoint record/events record/output record/output/snapshot record/process/file record/process record/kernel record/unwind record/runtime
	record/metric/table: format/base format/payload record/events record/output record/instrument
	record/metric: format/base format/os bpf bpf/tables record/base record/events record/process/proc record/process/file record/process record/instrument record/metric/table
	record/recording: format/base format/os format/perf record/base record/privsep record/events/tracepoint record/events record/output record/output/snapshot record/process/proc record/process/file record/process/container record/process record/kernel record/unwind record/instrument record/metric record/runtime
	record: format/base format/text format/os format/contract record/base record/privsep record/events/tracepoint record/events record/output/snapshot record/process/proc record/process/file record/process record/kernel record/instrument record/metric record/recording
	analyze/base: format/base format/os
	analyze/out: format/base format/text
	analyze/sym/elf: format/base
	analyze/sym/locate: format/base format/os format/payload analyze/base analyze/sym/elf
	analyze/sym/dwarf: format/base format/os analyze/sym/elf
	analyze/sym/symtab: format/base format/unwind analyze/sym/elf analyze/sym/dwarf
	analyze/sym: format/base format/os analyze/base analyze/sym/elf analyze/sym/locate analyze/sym/dwarf analyze/sym/symtab
	analyze/input/event: format/base format/text format/unwind format/perf format/payload format/reader analyze/base
	analyze/input/tracepoint: format/base format/reader analyze/out
	analyze/input: format/base format/text format/perf format/payload format/reader analyze/base analyze/input/event
	analyze/metric/syscall: format/base
	analyze/process: format/base format/contract format/perf format/payload format/reader analyze/base analyze/sym/locate analyze/input/event analyze/input
	analyze/process/liveness: format/base format/reader analyze/base analyze/input/event analyze/process
	analyze/fold/location: format/base analyze/process
	analyze/fold: format/base format/os format/unwind format/unwind/table format/perf format/reader analyze/sym/locate analyze/input/event analyze/input analyze/process analyze/process/liveness analyze/fold/location
	analyze/spool: format/base format/text format/os format/reader analyze/base analyze/input/event analyze/input analyze/process analyze/fold
	analyze/names: format/base format/text format/contract format/payload format/reader analyze/base analyze/sym analyze/input analyze/process analyze/fold/location analyze/fold
	analyze/metric: format/base format/text format/perf format/payload format/reader analyze/base analyze/out analyze/input/event analyze/input/tracepoint analyze/metric/syscall analyze/process analyze/names
	analyze/dbus: format/base analyze/base
	analyze/rewrite: format/base format/text format/os format/perf format/payload format/reader format/writer analyze/base analyze/input/event analyze/input
	analyze/rewrite/scrub: format/base format/perf format/payload format/reader analyze/base analyze/input/event analyze/input/tracepoint analyze/input analyze/rewrite
	analyze/sched: format/base format/perf format/payload format/reader analyze/base analyze/input/event analyze/input/tracepoint analyze/input analyze/process analyze/fold analyze/names
	analyze/report/key: format/base format/text analyze/base analyze/sym analyze/process analyze/fold analyze/names
	analyze/report/profile: format/base format/text format/os analyze/base analyze/out analyze/fold analyze/report/key
	analyze/report/annotate: format/base format/text analyze/base analyze/out analyze/sym analyze/fold analyze/names
	analyze/report/quality: format/base format/unwind analyze/base analyze/out analyze/sym/locate analyze/sym analyze/process analyze/fold analyze/names
	analyze/report/script: format/base format/perf format/reader analyze/base analyze/out analyze/sym analyze/input/event analyze/input/tracepoint analyze/process analyze/fold/location analyze/fold analyze/names
	analyze/report: format/base format/perf format/reader analyze/base analyze/out analyze/sym analyze/input/event analyze/input analyze/process analyze/fold analyze/names analyze/sched analyze/report/key analyze/report/profile analyze/report/annotate analyze/report/quality
	analyze/report/process: format/base analyze/input/event analyze/process analyze/sched analyze/report
	analyze/report/diff: format/base format/text format/reader analyze/base analyze/out analyze/sym analyze/input/event analyze/input analyze/report/key analyze/report/profile analyze/report
	analyze/export: format/base format/text format/perf format/reader analyze/base analyze/out analyze/input/event analyze/input analyze/metric/syscall analyze/metric analyze/sched analyze/report/profile analyze/report
	analyze/page/table: format/base format/text analyze/base
	analyze/page/counters: format/base analyze/base analyze/metric analyze/report analyze/page/table
	analyze/push/forms: format/base format/os format/text analyze/base analyze/export
	analyze/push: format/base format/os format/reader format/text analyze/base analyze/input analyze/process analyze/metric analyze/report/profile analyze/report analyze/export analyze/push/forms
	analyze/push/ask: format/base analyze/base analyze/names analyze/report/profile analyze/push/forms analyze/push
	analyze/serve: format/base format/os format/text analyze/base analyze/input analyze/push/forms
	analyze/page: format/base format/text format/reader analyze/sym/locate analyze/sym analyze/input/event analyze/input analyze/process analyze/fold analyze/sched analyze/report/key analyze/report/profile analyze/report analyze/page/table analyze/page/counters
	analyze/screen: format/base format/text format/perf analyze/base analyze/input analyze/fold analyze/names analyze/report/profile analyze/report
	analyze/lib: format/base format/os format/perf format/reader analyze/input/event analyze/input analyze/names analyze/report/profile analyze/report/script analyze/report
	analyze/cmd/sandbox: format/base format/os format/contract analyze/sym/locate
	analyze/cmd/common: format/base format/text format/reader analyze/base analyze/out analyze/sym/locate analyze/sym analyze/input/event analyze/input analyze/spool analyze/names analyze/metric analyze/report/key analyze/report/profile analyze/report/quality analyze/report analyze/cmd/sandbox
	analyze/cmd/html: analyze/out analyze/metric analyze/report analyze/page analyze/cmd/common
	analyze/cmd/push: format/base format/os format/text format/perf format/reader analyze/base analyze/out analyze/sym analyze/input/event analyze/push/forms analyze/push analyze/push/ask analyze/cmd/common
	analyze/cmd/summary: format/base analyze/out analyze/input/event analyze/input analyze/metric analyze/report/key analyze/report/profile analyze/report analyze/report/process analyze/export analyze/cmd/common
	analyze/cmd/metrics: analyze/out analyze/input analyze/process analyze/fold analyze/metric analyze/export analyze/cmd/common
	analyze/cmd/live: format/text format/os format/reader analyze/out analyze/fold analyze/metric analyze/screen analyze/cmd/common analyze/cmd/metrics
	analyze/cmd/diff: format/base analyze/out analyze/input analyze/report/diff analyze/cmd/common analyze/cmd/html
	analyze/cmd/marks: format/include format/reader format/writer analyze/base analyze/out analyze/input/event analyze/input analyze/dbus analyze/rewrite analyze/report analyze/cmd/common
	analyze/cmd/sched: format/base analyze/base analyze/out analyze/fold analyze/sched analyze/cmd/common
	analyze/cmd/report: format/base format/text analyze/base analyze/out analyze/input/event analyze/input analyze/report/key analyze/report/profile analyze/report/quality analyze/report analyze/report/process analyze/export analyze/page/counters analyze/cmd/common analyze/cmd/html analyze/cmd/summary analyze/cmd/diff
	analyze/cmd/query: format/os format/text analyze/input/event analyze/input analyze/out analyze/rewrite analyze/spool analyze/report/profile analyze/push/forms analyze/push/ask analyze/cmd/common analyze/cmd/report analyze/cmd/diff
	analyze/cmd: format/base format/text format/os format/contract format/reader format/writer analyze/base analyze/out analyze/sym analyze/input/event analyze/input analyze/spool analyze/names analyze/metric analyze/rewrite analyze/rewrite/scrub analyze/sched analyze/report/script analyze/report analyze/export analyze/serve analyze/cmd/sandbox analyze/cmd/common
	analyze: format/text analyze/out analyze/cmd/common
	END
}

scripts/list-includes.sh >"$arrows"

layers | awk -F ': *' '{ count = split($2, may, " "); for (i = 1; i <= count; i++) print $1, may[i] }' >"$shown"
awk 'FILENAME == ARGV[1] { allowed[$0] = 1; next }
	!(($2 " " $3) in allowed) { print $1 ": " $2 " may not include " $3 }' "$shown" "$arrows" >"$work"
report_rule "each folder includes only the folders that its line names"

awk 'FILENAME == ARGV[1] { used[$2 " " $3] = 1; next }
	!($0 in used) { print "the line of " $1 " names " $2 ", of which it includes nothing" }' "$arrows" "$shown" >"$work"
report_rule "each folder includes all the folders that its line names"

# A folder of sources has a line; one of unit tests has the sources that it tests.
{
	layers | sed 's/:.*//' | sort >"$shown"
	files | grep -E '^(format|record|analyze|bpf)/.*\.[ch]$' | sed 's,/[^/]*$,,' | sort -u | comm -23 - "$shown" |
		sed 's/$/: no layer has this folder/'
	files | sed -n 's,^tests/unit/\(.*\)/[^/]*\.c$,\1,p' | sort -u | comm -23 - "$shown" |
		sed 's,.*,tests/unit/&: no folder of sources has this name,'
} >"$work"
report_rule "each folder of sources has a layer, and each of unit tests has its sources"

# The drawing leaves out arrows that follow from others, so what can be reached is compared.
{
	sed -n 's,^<title>\(.*\)&#45;&gt;\(.*\)</title>$,drawn \1 \2,p' docs/layers.svg
	awk '{ print "built", $2, $3 }' "$arrows"
} | awk '
	{ reaches[$1, $2, $3] = 1; seen[$2]; seen[$3] }
	function close_over(which,   via, from, to) {
		for (via in seen)
			for (from in seen)
				if ((which, from, via) in reaches)
					for (to in seen)
						if ((which, via, to) in reaches)
							reaches[which, from, to] = 1
	}
	END {
		close_over("drawn")
		close_over("built")
		for (from in seen)
			for (to in seen) {
				drawn = ("drawn", from, to) in reaches
				if (drawn != (("built", from, to) in reaches))
					print from " -> " to ": only the " (drawn ? "drawing has" : "sources have") " it (make graph)"
			}
	}' | sort >"$work"
report_rule "docs/layers.svg shows the includes of today"

# A line names folders of earlier lines only, so the folders have no circle.
layers | awk -F ': *' '
	{
		count = split($2, below, " ")
		for (i = 1; i <= count; i++)
			if (!(below[i] in seen))
				print $1 " stands above " below[i] ", which has no earlier line"
		seen[$1] = 1
	}' >"$work"
report_rule "the layers have an order"

# Headers and what they include, as pairs: an error of tsort names a circle.
# shellcheck disable=SC2016 # awk expands
files | grep -E '^(format|record|analyze|bpf)/.*\.h$' | xargs -r awk '
	/^[ \t]*#[ \t]*include[ \t]*"/ { split($0, quoted, "\""); print FILENAME, quoted[2] }' |
	tsort 2>"$work" >/dev/null || true
report_rule "no header includes itself through others"
never_system format "$live|$elf|$names|lzma"
report_rule "format/ needs no library but libc, libzstd and libZydis"
never_system analyze "$live"
report_rule "analyze/ does not know libbpf"
includes analyze | grep -v '^analyze/sym/' | grep -E "include <($elf|lzma|libiberty|demangle)" >"$work" || true
report_rule "only analyze/sym/ knows libelf, libdw, liblzma and libiberty"
never_system record "$names|elfutils|libdw|dwarf"
report_rule "record/ never symbolizes"

# The compilation has shown that the first include of each .c suffices.
# shellcheck disable=SC2016 # for awk
sources_in 'format|record|analyze' | grep '\.c$' | xargs -r awk '
	FNR == 1 { seen = 0 }
	/^#[ ]*include/ && !seen++ && $2 ~ /^"/ { gsub(/"/, "", $2); print $2 }' | sort -u >"$shown"
files | grep -E '^(format|record|analyze)/.*\.h$|^bpf/events\.h$' | grep -vxFf "$shown" | while read -r f; do
	"$cc" -std=gnu11 -D_GNU_SOURCE -I. -Wall -Wextra -Werror -Wno-unused-parameter -fsyntax-only \
		-include "$f" -x c /dev/null 2>&1 || true
done >"$work"
report_rule "each header compiles alone"

files | grep -E '^(format|record|analyze)/.*\.h$' | while read -r f; do
	guard=EBPREC_$(echo "$f" | tr 'a-z/.-' 'A-Z___')
	grep -q "^#ifndef $guard\$" "$f" || echo "$f: the include guard is not $guard"
done >"$work"
report_rule "include guards are named after their files"

# Commands print, by message and usage; children of workload, name_bundler, reader_process, trial_load and recorder_rights are programs of their own.
sources_in 'format|record|analyze' | grep -vE '^(record|analyze)/main\.c$|/(cmd_[a-z_]+|message|usage|common_options|name_options|open_report|workload|name_bundler|opener_process|reader_process|trial_load|recorder_rights)\.[ch]$' | while read -r f; do
	grep -nHE '(^|[^a-z_>.])(printf|puts|perror|exit|_exit|abort|err|errx|warn|warnx)[[:space:]]*\(|[^a-z_](stderr|stdout)[^a-z_]' \
		"$f" | grep -vE '^[^:]+:[0-9]+:[[:space:]]*(\*|/\*)' || true
done >"$work"
report_rule "libraries neither print nor exit"

# .data and .bss of the objects; tables of pointers are in .data.rel.ro.  `ebprec mark` marks as any
# program does, by the variables of format/include/ebprec-mark.h.
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
report_rule "no variables at file scope but stop_requested"

files | grep -vE '\.md$|^LICENSE$|(^|/)\.gitignore$|^tests/golden/.*/expected|^tests/fuzz/corpus/|^scripts/package/debian/(changelog|copyright|source/format)$' >"$shown"
# shellcheck disable=SC2094 # it is only read
xargs -r awk 'FNR > 3 { nextfile } /SPDX-License-Identifier: BSD-2-Clause OR GPL-2\.0-or-later/ { print FILENAME }' \
	<"$shown" | grep -vxFf - "$shown" | while read -r f; do
	# Data files have no comment.
	! grep -Iq . "$f" || echo "$f: no SPDX line in the first three"
done >"$work"
report_rule "every file names its licence"

files | grep -E '\.([ch]|sh|bats|awk|pl)$|^Makefile$|^scripts/' |
	xargs -r grep -nHE '[[:space:]]$' >"$work" || true
report_rule "no white space at the end of a line"

# Modules of the viewer: data is below count, count below view, and only what shows has a document.
{
	grep -nHE 'from "\.\./(count|view)/' analyze/web/data/*.mjs || true
	grep -nHE 'from "\.\./view/' analyze/web/count/*.mjs || true
	grep -nHE '\<(document|window|location)\.' analyze/web/data/*.mjs analyze/web/count/*.mjs || true
} >"$work"
report_rule "the viewer's modules that count know no document, and nothing above them"

echo "1..$count"
[ "$failed" -eq 0 ]
