#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Help, manual and programs agree.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_DIRNAME/../../.." || return
}

# The words of `ebprec help` that start a line of its list, but those without options, and another name of one.
commands() {
	ebprec help | sed -n 's/^  *\([a-z][a-z-]*\)  .*/\1/p' | grep -vxE 'help|version|top'
}

@test "every command has a page, and every page a command" {
	same "$(commands | sort)" \
		"$(find docs/man -name 'ebprec-*.1' | sed 's|.*/ebprec-||; s|\.1$||' | sort)"
}

# options PAGE - those that have a heading there.
options() {
	sed 's/\\-/-/g; s/\\f.//g' "$1" | sed -n '/^\.T[PQ]/{n;p}' | grep -oE -- '--[a-z][a-z0-9-]*' |
		sed 's/^--no-/--/' | sort -u
}

@test "a page has the options of the help, under the same names" {
	for command in $(commands); do
		want=$(ebprec "$command" --help=lines | cut -f 2 | sort -u)
		same "$want" "$(options "$BUILD/man/ebprec-$command.1")"
	done
	contains "$(sed 's/\\-/-/g' "$BUILD/man/ebprec-report.1")" '.BR -c ", " --comm " \fINAME\fR,..."'
	contains "$(sed 's/\\-/-/g' "$BUILD/man/ebprec-report.1")" '.BR --no-idle'
	contains "$(sed 's/\\-/-/g' "$BUILD/man/ebprec.1")" '.BR --pager ", " --no-pager'
}

@test "a text about an option that is none fails; one that it forgets has the help's words" {
	cd "$BATS_TEST_TMPDIR" || return
	awk=$BATS_TEST_DIRNAME/../../../scripts/man.awk
	ebprec slice --help=lines >lines
	printf '%s\n' '.\" option: last no-sandbox' 'Words.' '.\" options' >page
	awk -f "$awk" lines page >got
	same '.BR \-\-last " \fISECONDS\fR"' "$(sed -n 2p got)"
	same '.BR \-\-no\-sandbox' "$(sed -n 4p got)"
	same 1 "$(grep -c 'during' got)"
	for word in lost no-last no-; do
		printf '%s\n' ".\\\" option: $word" '.\" options' >bad
		run awk -f "$awk" lines bad
		same 1 "$status"
		contains "$output" "bad:1: there is no option --$word"
	done
	printf '.\\" option: last\n' >bad
	run awk -f "$awk" lines bad
	same 1 "$status"
	contains "$output" "no line"
}

@test "the pages are good troff" {
	for page in "$BUILD"/man/*.1; do
		bad=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
		[ -z "$bad" ] || fail "$page: $bad"
	done
}

@test "ebprec(1) lists every command, and refers to its page" {
	rendered=$(groff -man -Tascii -P -cbou -rLL=200n "$BUILD/man/ebprec.1")
	for command in $(commands); do
		grep -qE "^ {7}$command( |$)" <<<"$rendered" || fail "COMMANDS of ebprec(1) lacks '$command'"
		grep -q "ebprec-$command(1)" <<<"$rendered" || fail "SEE ALSO of ebprec(1) lacks ebprec-$command(1)"
	done
	contains "$(ebprec help)" "'man ebprec-COMMAND'"
}

@test "no page shows markup, an option twice, or a text that refers to nothing" {
	for page in "$BUILD"/man/*.1; do
		rendered=$(groff -man -Tascii -P -cbou -rLL=200n "$page")
		bad=$(grep -nE '(^|[ ,;(])\.(B|I|R|BR|BI|IR|IB|RB|RI|SH|SS|TP|TQ|PP|IP|nf|fi|br)( |$)|\\[-&ef]' <<<"$rendered" || true)
		[ -z "$bad" ] || fail "$page shows markup: $bad"
		bad=$(grep -nE '^ *The same as [A-Z]+\.$' <<<"$rendered" || true)
		[ -z "$bad" ] || fail "$page refers to nothing: $bad"
		# A heading of options stands seven columns in, and its text below it.
		bad=$(sed -n '/^OPTIONS/,/^EXIT/s/^ \{7\}\(-[^ ,=[]*\).*/\1/p' <<<"$rendered" | sort | uniq -d)
		[ -z "$bad" ] || fail "$page has an option twice: $bad"
	done
}

@test "a page has the sections of a manual page, in their order" {
	for page in docs/man/*.1; do
		for section in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" "SEE ALSO"; do
			grep -qx "\.SH $section" "$page" || fail "$page lacks $section"
		done
		same "$(printf '.SH %s\n' NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" EXAMPLES "SEE ALSO" | grep -xFf "$page")" \
			"$(grep -xE '\.SH (NAME|SYNOPSIS|DESCRIPTION|OPTIONS|EXIT STATUS|EXAMPLES|SEE ALSO)' "$page")"
	done
}

@test "what a page refers to is there: pages, and the options of each command in an example" {
	for page in "$BUILD"/man/*.1; do
		rendered=$(groff -man -Tascii -P -cbou -rLL=200n "$page")
		sed -n '/^SEE ALSO/,$p' <<<"$rendered" | grep -oE 'ebprec[a-z-]*\(1\)' | while read -r other; do
			[ -e "$BUILD/man/${other%(1)}.1" ] || fail "$page refers to $other"
		done
		# ebprec COMMAND ... up to a pipe, a second command or the end.
		sed -n '/^EXAMPLES/,/^SEE ALSO/p' <<<"$rendered" | grep -oE 'ebprec [a-z]+[^|&]*' | while read -r _ command words; do
			known=$(ebprec "$command" --help=lines | cut -f 1,2) || fail "$page: ebprec $command"
			sed 's/ -- .*//; s/ -- *$//' <<<"$words" | grep -oE -- '(^| )--?[a-zA-Z][a-z-]*' | while read -r option; do
				grep -qwF -- "$option" <<<"$known" || grep -qwF -- "--${option#--no-}" <<<"$known" ||
					fail "$page: ebprec $command has no $option"
			done
		done
	done
}

@test "every line of help is at most 80 columns, and defaults have one form" {
	for command in $(commands); do
		bad=$(ebprec "$command" --help=lines | grep '(default ' || true)
		[ -z "$bad" ] || fail "$command: $bad"
		long=$(ebprec "$command" --help | grep -E '.{81}' || true)
		[ -z "$long" ] || fail "$command: $long"
	done
}
