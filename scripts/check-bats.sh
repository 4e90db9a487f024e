#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# check-bats.sh [FILE...] - no programs of awk or perl in .bats files (default: all of them)
#
# A program with conditions, loops or sums is a function of tests/lib/text.bash or a file, which has a name.  In a .bats file awk
# only prints fields, as in awk -F, '{ print $2, $NF }', or runs a file by -f; perl -e is a load of at most 100
# characters, perl -pe a substitution.  Prints each line that has more; status 1 when there is one.
set -eu

cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
	# shellcheck disable=SC2046 # names without blanks
	set -- $(scripts/list-files.sh | grep '\.bats$')
fi

# sed takes the allowed programs out of a copy of the line and prints the line if the copy still has one.  \x27 is a quote.
found=$(grep -nHE '(^|[^.$/_[:alnum:]])(awk|perl +-[^ ]*) ' "$@" | grep -vE '^[^:]*:[0-9]+:[[:space:]]*#' | sed -E '
	h
	s/\bawk (-F *\S+ )?\x27\{ print [^;{}=?]* \}\x27//g
	s/\bawk [^|\x27]*-f //g
	s/\bawk (-v (\x27[^\x27]*\x27|\S+) )*(-f |\\$)//g
	s/\bperl (-M\S+ )?-e (\x27[^\x27]{0,100}\x27|\\?"(\\.|[^"\\]){0,100}\\?")//g
	s#\bperl (-0777 )?-pe \x27s/[^\x27/]*/[^\x27/]*/[^\x27;]*\x27##g
	/(^|[^.$\/_[:alnum:]])(awk|perl +-[^ ]*) /!d
	g')
[ -z "$found" ] || {
	printf '%s\n' "$found"
	exit 1
}
