# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# bash completion for ebprec: commands and options as the program's own help lists them
# shellcheck shell=bash

_ebprec_commands() {
	ebprec help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'
}

_ebprec_options() {
	ebprec "$1" --help 2>/dev/null | sed -n 's/^ *\(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p'
}

_ebprec() {
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ] || { [ "$command" = help ] && [ "$COMP_CWORD" -eq 2 ]; }; then
		mapfile -t COMPREPLY < <(compgen -W "$(_ebprec_commands)" -- "$word")
	elif [ "${word#-}" != "$word" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_ebprec_options "$command")" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _ebprec ebprec
