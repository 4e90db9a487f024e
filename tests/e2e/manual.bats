#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Help, manual and programs tell the same.

# shellcheck source=tests/helper.bash
. "$BATS_TEST_DIRNAME/../helper.bash"

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
}

# The words of `ebprec help` that start a line of its list, but those without options.
commands() {
	ebprec help | sed -n 's/^  *\([a-z][a-z-]*\)  .*/\1/p' | grep -vxE 'help|version'
}

@test "every command has a page, and every page a command" {
	same "$(commands | sort)" \
		"$(find docs/man -name 'ebprec-*.1' | sed 's|.*/ebprec-||; s|\.1$||' | sort)"
}

@test "every option of the help is in the page" {
	for command in $(commands); do
		page=$(sed 's/\\-/-/g' "docs/man/ebprec-$command.1")
		for option in $(ebprec "$command" --help | grep -oE '^ +(-., )?--[a-z-]+' |
			grep -oE -- '--[a-z-]+' | grep -vx -- --help); do
			case $page in
			*"$option"* | *"--no-${option#--}"*) ;;
			*) fail "ebprec-$command.1 does not have $option" ;;
			esac
		done
	done
}

@test "every option of a page is in the help" {
	for command in $(commands); do
		help=$(ebprec "$command" --help)
		sed 's/\\-/-/g; s/\\f.//g' "docs/man/ebprec-$command.1" |
			awk '/^\.TP/ { getline; print }' | grep -oE -- '--[a-z-]+' |
			grep -v '^--no-' | while read -r option; do
			contains "$help" "$option"
		done
	done
}

@test "the pages are good troff" {
	for page in docs/man/*.1; do
		bad=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
		[ -z "$bad" ] || fail "$page: $bad"
	done
}

@test "every line of help is at most 80 columns" {
	for command in $(commands); do
		long=$(ebprec "$command" --help | awk 'length > 80')
		[ -z "$long" ] || fail "$command: $long"
	done
}
