#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec agent: what was rotated is not lost, whenever the recorder is killed.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	need_root
	cd "$BATS_TEST_TMPDIR" || return
	ebprec agent -q --spool spool --rotate 1s -F 199 2>err &
	agent=$!
	disown
}

teardown() {
	kill -9 "$agent" 2>/dev/null || true
	[ -z "$busy" ] || kill -9 "$busy" 2>/dev/null || true
}

rotated() {
	[ "$(find spool -name '*.data.*' 2>/dev/null | wc -l)" -ge "$1" ]
}

indexed() {
	[ -e spool/index.sqlite ]
}

gone() {
	[ ! -d "/proc/$1" ] || [ "$(pick_fields 1 State: 2 <"/proc/$1/status")" = Z ]
}

# bats test_tags=long
@test "killed at any moment, an agent leaves complete captures that queries answer from, and no process" {
	shares 600 &
	busy=$!
	await rotated 3
	await indexed
	keeper=$(pgrep -P "$agent" -x ebprec-keeper)
	same "CapEff:	0000000000000000" "$(grep CapEff "/proc/$keeper/status")"
	sleep "0.$((RANDOM % 10))"
	kill -9 "$agent"
	await gone "$keeper"
	kill -9 "$busy"
	busy=
	last=$(find spool -name '*.data*' -printf '%f\n' | sort -V | tail -n 1)
	# All but the last one are complete; that one is, up to its last flush.
	ebprec spool --json --spool spool | jq -r '.captures[] | "\(.name) \(.state)"' >states
	same "" "$(grep -v ' complete$' states | grep -v "^$last " || true)"
	ebprec spool check --spool spool || fail "$(cat states)"
	for capture in spool/*.data*; do
		ebprec report -q --folded "$capture"
	done | sum_stacks >sums
	ebprec query -q --folded --spool spool --last 1h >got 2>err
	same "$(weight <sums)" "$(weight <got)"
	same "$(grep '^shares;' sums | weight)" "$(grep '^shares;' got | weight)"
	ebprec query -q --folded --spool spool --last 1h --service shares 2>/dev/null | cmp - <(grep '^shares;' got)
	ebprec query --spool spool --last 1h --waits --json -q >/dev/null
}
