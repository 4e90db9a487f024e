# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# perf_rows.awk - of `perf report -t '|'` with the columns overhead (and children), dso, sym: "SYMBOL NUMBER..." of each
# function of shares, of the first event
BEGIN { FS = OFS = "|" }
/^# Samples: / { sections++ }
sections > 1 { exit }
{
	gsub(/%/, "")
	gsub(/ *\| */, "|")
	sub(/^ */, "")
}
/shares\|\[\.\]/ {
	sub(/^\[.\] /, "", $NF)
	print $NF " " $1 " " (NF > 3 ? $2 : "")
}
