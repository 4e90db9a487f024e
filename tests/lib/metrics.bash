# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# metrics.bash - what the tests of instruments share
# shellcheck shell=bash

# field FILE TABLE KEY=VALUE,... FIELD [OPTION...] - the sum of a field over the matching rows of a
# table; over rows below them, where a key is only there.  hist_NAME: how many it counts.
field() {
	local file=$1 table=$2 want=$3 name=$4
	shift 4
	ebprec metrics "$table" -i "$file" --json "$@" 2>/dev/null |
		jq -n --arg table "$table" --arg want "$want" --arg name "$name" -f "$TEST_LIB/metric_field.jq"
}
