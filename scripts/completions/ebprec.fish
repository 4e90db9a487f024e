# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# fish completion for ebprec: commands and options from the program's own tables

function __ebprec_commands
	ebprec help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end

function __ebprec_options
	set -l words (commandline -opc)
	ebprec $words[2] --help=lines 2>/dev/null |
		awk -F '\t' '{ print $2 "\t" $5 } $4 == "switch" { print "--no-" substr($2, 3) "\tnot so" }'
end

complete -c ebprec -n 'test (count (commandline -opc)) -eq 1' -f -a '(__ebprec_commands)'
complete -c ebprec -n 'test (commandline -opc)[2] = help 2>/dev/null; and test (count (commandline -opc)) -eq 2' -f -a '(__ebprec_commands)'
complete -c ebprec -n 'test (count (commandline -opc)) -gt 1; and string match -q -- "-*" (commandline -ct)' -f -a '(__ebprec_options)'
