#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# How programs were called is in the capture, also of those that lived for a moment.
# shellcheck disable=SC2016 # for sh and python3
# runs beside others: names do not depend on time

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
}

# called PID [FILE] - the last command line of the process, a word a line, as a shell divides it.
called() {
	ebprec report -q --json --process "$1" "${2:-ebprec.data}" | jq -r '.programs[-1].command_line' >line
	eval "printf '%s\n' $(cat line)"
}

@test "short-lived programs, forks without an exec and processes from before have their command lines" {
	sleep 543.21 &
	before=$!
	until [ "$(cat /proc/$before/comm)" = sleep ]; do sleep 0.05; done
	tr '\0' '\n' <"/proc/$before/cmdline" >witness
	ebprec record -q -a -- sh -c '
		for i in 1 2 3; do sh -c "echo \$\$ >pid.$i; exec true $i \"a  b\" \"it'\''s\" é \"\""; done
		( sh -c "echo \$PPID" >fork; : )
		exec sleep 0.3'
	kill $before
	same "$(cat witness)" "$(called $before)"
	for i in 1 2 3; do
		same "$(printf '%s\n' true $i 'a  b' "it's" é '')" "$(called "$(cat pid.$i)")"
	done
	same "sh" "$(called "$(cat fork)" | head -n 1)"
	[ "$(account ebprec.data command_lines told)" -ge 5 ]
	same 0 "$(account ebprec.data lost command_lines)"
	need_perf
	perf script -f --ns -i ebprec.data 2>&1 >/dev/null | grep -v '^$' >messages || true
	same "" "$(complaints messages | grep -ivE 'lost|kernel.*symbol|kptr')"
}

@test "long command lines are truncated and counted, environments are recorded only on request, and scrub removes them" {
	long=$(printf '%05000d' 0)
	SECRET_WORD=opensesame ebprec record -q -o without.data -- sh -c "echo \$\$ >pid; exec env true $long"
	pid=$(cat pid)
	line=$(called "$pid" without.data | sed -n 2p)
	[ ${#line} -gt 4000 ] && [ ${#line} -lt 4200 ] || fail "${#line}"
	contains "$line" "000..."
	ebprec report -q --json --process "$pid" without.data >p.json
	! grep -q opensesame p.json || fail "it has an environment that was not asked for"
	SECRET_WORD=opensesame ebprec record -q --environment -o with.data -- sh -c 'echo $$ >pid; exec true'
	contains "$(ebprec report -q --process "$(cat pid)" with.data)" "opensesame"
	ebprec scrub -q -o scrubbed.data --check opensesame with.data
	ebprec scrub -q -o cmdlines.data --keep cmdline --check opensesame with.data
	same "" "$(called "$(cat pid)" scrubbed.data)"
	same "true" "$(called "$(cat pid)" cmdlines.data)"
	ebprec record -q --no-command-lines -o none.data -- sh -c 'echo $$ >pid; exec true'
	same "" "$(called "$(cat pid)" none.data)"
	contains "$(ebprec summary -q none.data)" "command lines     no"
}

@test "without BPF command lines are read from /proc, and processes that are gone are counted" {
	ebprec record -q --no-bpf -a -- sh -c '
		i=0
		while [ $i -lt 50 ]; do sh -c :; i=$((i + 1)); done
		echo $$ >pid
		exec sleep 0.4 0.1'
	same $'sleep\n0.4\n0.1' "$(called "$(cat pid)")"
	reported=$(account ebprec.data command_lines told)
	[ $((reported + $(account ebprec.data lost command_lines))) -ge 50 ]
}
