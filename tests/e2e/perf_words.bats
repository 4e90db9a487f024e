#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# What users of perf type: each of its options works, or one line names what does the thing; and what is named is there.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# options_of COMMAND - its long options as its help has them, one a line, in the file COMMAND.options
options_of() {
	[ -e "$1.options" ] || ebprec "$1" --help=lines | cut -f 2,4 | sed 's/^\(--\)\([^\t]*\)\tswitch$/\1\2\n\1no-\2/; s/\t.*//' >"$1.options"
	[ -s "$1.options" ] || fail "no command '$1'"
}

# names_options COMMAND TEXT - each long option in the text is one of that command's help
names_options() {
	local option
	options_of "$1"
	while read -r option; do
		grep -qx -- "$option" "$1.options" || fail "'$option' is no option of '$1': $2"
	done < <(grep -oE -- '--[a-z][a-z-]+' <<<"$2")
}

# leads_somewhere COMMAND HINT - what the hint names is there: "'ebprec X --y'", and options of this command
leads_somewhere() {
	local hint=$2 quoted
	while [[ $hint =~ \'ebprec\ ([a-z]+)([^\']*)\' ]]; do
		quoted=${BASH_REMATCH[0]}
		names_options "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
		hint=${hint/"$quoted"/}
	done
	case $hint in
	*"perf script "*) ;; # perf's own, which reads our files
	*) [ "$1" = none ] || names_options "$1" "$hint" ;;
	esac
}

# tries COMMAND ARGS... - ends with help, or with one line that names what does the thing
tries() {
	local status=0
	ebprec "$@" >out 2>err </dev/null || status=$?
	if [ "$status" -eq 0 ]; then
		grep -q '^usage: ' out || fail "$*: $(head -3 out)"
		return
	fi
	[ "$status:$(wc -l <err)" = 2:1 ] || fail "$*: $status $(cat err)"
	said=$(sed 's/ (see .*//' err)
	case $said in
	*" of perf is not known here: "*) leads_somewhere "$1" "${said##*here: }" ;;
	*"there is no command '$1': "*) leads_somewhere none "${said##*"'$1': "}" ;;
	*) fail "$*: $said" ;;
	esac
}

@test "each option of perf's commands works here, or one line names what does" {
	while read -r words; do
		case $words in
		"#"*) continue ;;
		esac
		# A value for those that take one; help, so that nothing is done.
		# shellcheck disable=SC2086 # words
		tries_value $words
	done <"$BATS_TEST_DIRNAME/perf_options"
}

# tries_value COMMAND... OPTION - with a value, behind which stands --help; a switch says that it has none
tries_value() {
	local words=("${@:1:$#-1}") option=${!#}
	case $option in
	--*) option=$option=1 ;;
	*) option=${option}1 ;;
	esac
	ebprec "${words[@]}" "$option" --help >out 2>err </dev/null || true
	grep -qE "takes no value|unknown option '-1'|^ebprec[a-z-]*: option '--[a-z-]*' (is|cannot be|needs|has|does not) " err ||
		tries "${words[@]}" "$option" --help
}

@test "commands and words of perf that are none here name what does the thing" {
	for words in annotate archive buildid-list c2c evlist flamegraph kmem list lock mem probe stat timechart top trace \
		"sched latency" "sched timehist -V" "sched map" "sched record -a" "script flamegraph" "script record"; do
		# shellcheck disable=SC2086 # words
		tries $words
	done
}

@test "record --off-cpu records what it asks for, as every recording" {
	need_bpf
	ebprec record -q --off-cpu -o x.data -- sleep 0.2
	ebprec report -q --waits x.data | grep -qE '^sleep +nanosleep +\[interrupt\] +1 +0\.2' ||
		fail "$(ebprec report --waits x.data)"
}

@test "--of and metrics of what was not recorded: how to record that, not something else" {
	gen_capture -o x.data --samples 10
	refuses ebprec report --of locks x.data
	# shellcheck disable=SC2154 # of refuses
	contains "$stderr" "'x.data' has no stacks of 'locks' (record some: ebprec record --with locks --slower 10ms)"
	refuses ebprec report --of heap x.data
	contains "$stderr" "(record some: ebprec record --with heap)"
	refuses ebprec metrics locks x.data
	contains "$stderr" "'x.data' has no tables (record some: ebprec record --with locks)"
	refuses ebprec metrics futexes x.data
	contains "$stderr" "(record some: ebprec record --with locks)"
}

@test "did you mean: only what the command's help lists" {
	for words in "report --stdioo" "report --percent-limt 1" "report --tuii" "script --forcee" "record --graphh" "diff --modulez" \
		"report --show-nr-sample" "record --sample-cpuu" "record --off-cpuu"; do
		# shellcheck disable=SC2086 # words
		run -2 ebprec $words
		contains "$output" "unknown option"
		near=$(sed -n "s/.*did you mean '\(--[a-z-]*\)'.*/\1/p" <<<"$output")
		[ -z "$near" ] || names_options "${words%% *}" "$near"
	done
}
