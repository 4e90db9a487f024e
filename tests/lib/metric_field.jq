# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# metric_field.jq - reads the JSON of `ebprec metrics` and prints the sum of the field $name over the rows of $table that match
# $want, KEY=VALUE,...; over rows below them, where a key is only there.  A histogram counts as the sum of its slots.
input | ($want | split(",") | map(capture("^(?<key>[^=]*)=(?<value>.*)$"))) as $wanted |
[
	.tables[] | select(.name == $table).rows[] | . as $top |
	if all($wanted[]; .key as $key | $top | has($key)) then . else . + (.rows // [])[] end | . as $row |
	select(all($wanted[]; .value == ($row[.key] | if . == null then "" else tostring end))) |
	.[$name] // error("no " + $name) | if type == "array" then .[] else . end
] | add // 0
