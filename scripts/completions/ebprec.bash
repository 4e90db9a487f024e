# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# bash completion for ebprec: commands and options from the program's own tables
# shellcheck shell=bash

_ebprec_commands() {
	ebprec help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'
}

_ebprec_options() {
	ebprec "$1" --help=lines 2>/dev/null |
		awk -F '\t' '{ print $2 } $4 == "switch" { print "--no-" substr($2, 3) }'
}

# Whether the word is an option of the command that takes the next one.
_ebprec_takes_value() {
	[ "${2#-}" != "$2" ] && ebprec "$1" --help=lines 2>/dev/null |
		awk -F '\t' -v "o=$2" '$4 == "value" && ($1 == o || $2 == o) { found = 1 } END { exit !found }'
}

_ebprec() {
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} before=

	[ "$COMP_CWORD" -gt 2 ] && before=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ] || { [ "$command" = help ] && [ "$COMP_CWORD" -eq 2 ]; }; then
		mapfile -t COMPREPLY < <(compgen -W "$(_ebprec_commands)" -- "$word")
	elif [ "${word#-}" != "$word" ] && ! _ebprec_takes_value "$command" "$before"; then
		mapfile -t COMPREPLY < <(compgen -W "$(_ebprec_options "$command")" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _ebprec ebprec
