#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# perf_words.bash <LINES - types what users of perf type, a line "COMMAND... OPTION" each
#
# Fails at the first option that neither works nor is answered by one line that names what does the
# thing.  perf_words.bats reads the functions from here; the loop over all options is a program of
# its own, since bats looks at each command that a test executes.

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	set -e
	bats_require_minimum_version() { :; }
	# shellcheck source=tests/lib/helper.bash
	. "${BASH_SOURCE[0]%/*}/../../lib/helper.bash"
fi

# The reply to an option that got a value.
value_reported="takes no value|unknown option '-1'|^ebprec[a-z-]*: option '--[a-z-]*' (is|cannot be|needs|has|does not) "
declare -gA options=() # of the commands that were asked for, "COMMAND --option"

# is_option COMMAND OPTION - the command's help has this long option
is_option() {
	local option
	if [ -z "${options[$1]-}" ]; then
		options[$1]=asked
		while read -r option; do
			options[$1 $option]=there
		done < <(ebprec "$1" --help=lines | cut -f 2,4 |
			sed 's/^\(--\)\([^\t]*\)\tswitch$/\1\2\n\1no-\2/; s/\t.*//')
		[ "${#options[@]}" -gt 1 ] || fail "no command '$1'"
	fi
	[ -n "${options[$1 $2]-}" ]
}

# names_options COMMAND TEXT - each long option in the text is one of that command's help
names_options() {
	local rest=$2
	while [[ $rest =~ --[a-z][a-z-]+ ]]; do
		is_option "$1" "${BASH_REMATCH[0]}" || fail "'${BASH_REMATCH[0]}' is no option of '$1': $2"
		rest=${rest#*"${BASH_REMATCH[0]}"}
	done
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
	local status=0 reply
	reply=$(ebprec "$@" 2>&1 >out </dev/null) || status=$?
	if [ "$status" -eq 0 ]; then
		[[ $'\n'$(<out) == *$'\n'"usage: "* ]] || fail "$*: $(head -3 out)"
		return
	fi
	if [ "$status" != 2 ] || [[ $reply == *$'\n'* ]]; then fail "$*: $status $reply"; fi
	reply=${reply% (see *}
	case $reply in
	*" of perf is not known here: "*) leads_somewhere "$1" "${reply##*here: }" ;;
	*"there is no command '$1': "*) leads_somewhere none "${reply##*"'$1': "}" ;;
	*) fail "$*: $reply" ;;
	esac
}

# tries_value COMMAND... OPTION - with a value, behind which stands --help; a switch reports that it has none
tries_value() {
	local words=("${@:1:$#-1}") option=${!#}
	case $option in
	--*) option=$option=1 ;;
	*) option=${option}1 ;;
	esac
	reply=$(ebprec "${words[@]}" "$option" --help 2>&1 >out </dev/null) || true
	[[ $reply =~ $value_reported ]] || tries "${words[@]}" "$option" --help
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	while read -r words; do
		# A value for those that take one; help, so that nothing is done.
		# shellcheck disable=SC2086 # words
		[ "${words#\#}" != "$words" ] || tries_value $words
	done
fi
