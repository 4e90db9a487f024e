# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# metrics.bash - what the tests of instruments share
# shellcheck shell=bash

# written_between BEFORE AFTER - "WRITES BYTES" of a disk, from two looks at its line of /proc/diskstats
written_between() {
	local before after
	read -ra before <"$1"
	read -ra after <"$2"
	echo $((after[7] - before[7])) $(((after[9] - before[9]) * 512))
}

# strace_counts - "CALLS ERRORS NAME" of each call of `strace -c`; of that, errors are blank where there are none
strace_counts() {
	sed -nE 's/^ *[0-9.]+ +[0-9.]+ +[0-9]+ +([0-9]+) +([a-z_0-9]+)$/\1 0 \2/p
		s/^ *[0-9.]+ +[0-9.]+ +[0-9]+ +([0-9]+) +([0-9]+) +([a-z_0-9]+)$/\1 \2 \3/p'
}

# field FILE TABLE KEY=VALUE,... FIELD [OPTION...] - the sum of a field over the matching rows of a
# table; over rows below them, where a key is only there.  hist_NAME: how many it counts.
field() {
	local file=$1 table=$2 want=$3 name=$4
	shift 4
	ebprec metrics "$table" -i "$file" --json "$@" 2>/dev/null |
		jq -n --arg table "$table" --arg want "$want" --arg name "$name" -f "$TEST_LIB/metric_field.jq"
}
