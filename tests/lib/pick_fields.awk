# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# pick_fields.awk - of the lines whose field -v key=FIELD is $value of the environment, the fields -v fields="FIELD..."
#
# A field is a number, or NF: the last one.
function field(name) {
	return name == "NF" ? $NF : $name
}
BEGIN { count = split(fields, names, " ") }
field(key) "" == ENVIRON["value"] {
	line = field(names[1])
	for (i = 2; i <= count; i++)
		line = line " " field(names[i])
	print line
}
