# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# man.awk - a manual page from its text (docs/man) and the program's own table of options
#
#	ebprec report --help=lines | awk -f scripts/man.awk - docs/man/ebprec-report.1
#
# A line `.\" option: NAME...` of the text becomes the heading of these options, as the table has them;
# the text about them follows there.  `.\" options` becomes all others, with the words of --help.
# An option that the table does not have is an error.

BEGIN { FS = "\t" }

# Words of the table, as troff takes them.
function plain(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	return text
}

function value(text) {
	gsub(/[A-Z][A-Z0-9]*/, "\\fI&\\fR", text)
	return text
}

# One heading: a line for each option; of a switch also its --no- alone.
function heading(names, count,    i, n, line) {
	for (i = 1; i <= count; i++) {
		n = names[i]
		print i == 1 ? ".TP" : ".TQ"
		line = ".BR "
		if (!(n in kind)) {
			print line plain("--" n)
			continue
		}
		if (short[n] != "")
			line = line plain(short[n]) " \", \" "
		line = line plain("--" n)
		if (kind[n] == "switch")
			line = line " \", \" " plain("--no-" n)
		if (kind[n] == "value")
			line = line " \" " value(values[n]) "\""
		if (kind[n] == "form")
			line = line " \"[=" value(values[n]) "]\""
		print line
	}
}

function rest(    i, n, one, text) {
	for (i = 1; i <= total; i++) {
		n = order[i]
		if (described[n])
			continue
		one[1] = n
		heading(one, 1)
		text = help[n]
		print "\\&" plain(toupper(substr(text, 1, 1)) substr(text, 2)) "."
	}
}

FNR == NR {
	name = substr($2, 3)
	order[++total] = name
	short[name] = $1
	values[name] = $3
	kind[name] = $4
	help[name] = $5
	next
}

/^\.\\" option: / {
	count = split(substr($0, 12), names, " ")
	for (i = 1; i <= count; i++) {
		name = names[i]
		if (!(name in kind) && sub(/^no-/, "", name) && (name in kind) && kind[name] != "switch")
			name = "" # not to be taken back
		if (!(name in kind)) {
			print FILENAME ":" FNR ": there is no option --" names[i] > "/dev/stderr"
			failed = 1
		}
		described[name] = 1
	}
	heading(names, count)
	next
}

/^\.\\" options$/ {
	rest()
	complete = 1
	next
}

# A heading that is written out, because no table has it so.
/^\.SH/ { in_options = $0 == ".SH OPTIONS" }
in_options && /^\.B[RI]? .*\\-\\-[a-z]/ && (before == ".TP" || before == ".TQ") {
	line = $0
	gsub(/\\-/, "-", line)
	while (match(line, /--[a-z][a-z0-9-]*/)) {
		name = substr(line, RSTART + 2, RLENGTH - 2)
		line = substr(line, RSTART + RLENGTH)
		if (!(name in kind))
			sub(/^no-/, "", name)
		described[name] = 1
	}
}

{
	print
	before = $0
}

END {
	if (!complete) {
		print FILENAME ": no line '.\\\" options'" > "/dev/stderr"
		failed = 1
	}
	exit failed
}
