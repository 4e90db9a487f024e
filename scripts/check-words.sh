#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-words.sh [FOLDER...] - the words of docs/GLOSSARY.md in names, comments, messages and commits
#
# Prints each line with a word that the glossary's table "Replaced words" lists, each sentence of a
# comment that begins with Who, Whose, Whom, What or Of, and each subject of a commit since the list
# exists that has such a word; status 1 when there is any.  Without arguments it checks the folders
# that are clean already (below); with arguments, those, and no commits.
set -eu

cd "$(dirname "$0")/.."

# Folders and files that were rewritten.  A folder is added when it is clean, and never removed.
clean="format bpf record README.md docs analyze/base analyze/out analyze/input analyze/process analyze/fold analyze/sym analyze/names analyze/metric analyze/rewrite analyze/sched analyze/report analyze/export analyze/page analyze/web analyze/cmd analyze/main.c tests scripts Makefile"

# Commits behind this one are checked, where git has it.
since=8f6631016286

# The words of the first column of the table, as one pattern.
words=$(awk '/^## Replaced words/ { found = 1; next }
	found && n && !/^\|/ { exit }
	found && /^\| / && !/^\| not / { split($0, cell, / *\| */); gsub(/, */, "|", cell[2]); printf "%s%s", n++ ? "|" : "", cell[2] }' \
	docs/GLOSSARY.md)
[ -n "$words" ] || { echo "check-words.sh: docs/GLOSSARY.md has no table of replaced words" >&2; exit 1; }

# A word ends where letters end, so those within a name are found: report_told, told_ns.
whole_words="(^|[^a-zA-Z])($words)([^a-zA-Z]|\$)"
# A comment, or a sentence of one, that begins without a subject.
starts='(/\*|//|^[[:space:]]*(\*|#)|[a-z0-9)][.;]) +(Who|Whose|Whom|Whoever|What|Whatever|Of)( |$)'
# Keys that captures (docs/FORMAT.md 5.1), pages (docs/PAGE.md) and --json have already keep their names; so
# does the user of passwd(5).
# shellcheck disable=SC2016 # a pattern
keys='"hurried"|\| hurried \||\.RB \( hurried|command_lines[. ]told|account r\.data hurried|[`"]verdict(\\)?[`"]|\.B verdict|, verdict, both|head\.verdict|verdict: quality|high,? verdict|row(\.|->\{)verdict|nobody:x:'
status=0

# found PATTERN OPTION... - prints the lines of the files in $files; 0 when there are any.
found() {
	pattern=$1
	shift
	# xargs ends with 123 when one of its greps found nothing, so the output decides
	# shellcheck disable=SC2086 # a list of files
	[ -n "$files" ] && printf '%s\n' $files | xargs grep -HnIE "$@" -e "$pattern" | grep -vE "$keys"
}

# In the glossary and here the words stand as the ones to avoid, in scripts.bats as the ones that are found.
files=$(scripts/list-files.sh | grep -vxE 'docs/GLOSSARY\.md|LICENSE|scripts/check-words\.sh|tests/e2e/program/scripts\.bats' |
	awk -v folders="${*:-$clean}" 'BEGIN { n = split(folders, list, " ") }
		{ for (i = 1; i <= n; i++) if ($0 == list[i] || index($0, list[i] "/") == 1) { print; next } }')
if found "$whole_words" -i; then
	status=1
fi
files=$(printf '%s\n' "$files" | grep -E '\.(c|h|js|mjs|css|sh|bash|bats|awk)$' || :)
if found "$starts"; then
	status=1
fi
if [ $# -eq 0 ] && git rev-parse -q --verify "$since^{commit}" >/dev/null 2>&1; then
	if git log --format='commit %h: %s' "$since..HEAD" | grep -iE "$whole_words|: (Who|Whose|What|Of) "; then
		status=1
	fi
fi
exit $status
