# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# text.bash - what the tests read out of printed text: fields, sums, shares; helper.bash loads it
#
# Each function reads standard input.  A field has the number that awk gives it, or is NF, the last one.
# shellcheck shell=bash

# pick_fields [-F SEPARATOR] KEY VALUE FIELD... - of the lines whose field KEY is VALUE, these fields
pick_fields() {
	local separator=' '
	[ "$1" != -F ] || {
		separator=$2
		shift 2
	}
	value=$2 awk -F "$separator" -v "key=$1" -v "fields=${*:3}" -f "$TEST_LIB/pick_fields.awk"
}

# sum_field FIELD [SEPARATOR] - the sum of a field of all lines; words count as 0
sum_field() {
	awk -F "${2:- }" -v "at=$1" '{ n += at == "NF" ? $NF : $at } END { printf "%.0f\n", n }'
}

# weight [PATTERN] - the sum of the folded lines that match
weight() {
	pattern=${1:-.} awk '$0 ~ ENVIRON["pattern"] { n += $NF } END { printf "%.0f\n", n }'
}

# part_of_weight PATTERN [OF] - "PART ALL": the sum of the folded lines (that match OF) and match PATTERN, and of all these
part_of_weight() {
	pattern=$1 of=${2:-.} awk '
		$0 ~ ENVIRON["of"] { all += $NF; part += $0 ~ ENVIRON["pattern"] ? $NF : 0 }
		END { printf "%.0f %.0f\n", part, all }'
}

# stacks_match PATTERN PERCENT LEAST [OF] - of the folded lines (that match OF) are LEAST samples, and PERCENT of them match
# PATTERN
stacks_match() {
	local part all
	read -r part all < <(part_of_weight "$1" "${4:-.}")
	if [ "$all" -lt "$3" ] || [ $((100 * part)) -lt $(($2 * all)) ]; then
		fail "$part of $all samples match $1"
	fi
}

# sum_stacks - adds up the counts of equal stacks in the folded lines, and sorts them
sum_stacks() {
	awk '{ n = $NF; sub(/ [0-9]*$/, ""); sum[$0] += n } END { for (s in sum) print s, sum[s] }' | sort
}

# multiply_stacks TIMES - the folded lines, each with so many times its count
multiply_stacks() {
	awk -v "times=$1" '{ n = $NF; sub(/ [0-9]+$/, ""); print $0, n * times }'
}

# each_nth N [FIRST] - each Nth line, from line FIRST (N) on
each_nth() {
	sed -n "${2:-$1}~$1p"
}

# times_cpu_ms - milliseconds of the CPU time of children, which is the last line of what the shell's `times` printed
times_cpu_ms() {
	tail -n 1 | tr 'ms' '  ' | awk '{ print int(1000 * ($1 * 60 + $2 + $3 * 60 + $4)) }'
}

# symbol_address NAME - of the lines of nm, the address of a symbol
symbol_address() {
	pick_fields 3 "$1" 1
}

# lost_by_perf - of `perf script --show-lost-events`, the sum of the losses
lost_by_perf() {
	sed -n 's/.*PERF_RECORD_LOST lost \([0-9]*\).*/\1/p' | sum_field 1
}
