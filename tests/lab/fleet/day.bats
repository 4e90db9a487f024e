#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# A day of an agent, 300 times as fast: 144 captures of two seconds in place of ten minutes, into a spool that is full after a
# fraction of them, beside the mixed load.  CAPTURES=144 is the day, by default it is four hours of it.  The cost of recording is not that of a day: a
# new file each two seconds has the state of the machine each time.

load ../../lib/helper

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	end_background
}

# pss PID - its memory in KiB
pss() {
	pick_fields 1 Pss: 2 <"/proc/$1/smaps_rollup"
}

# newest - the number in the name of the last capture
newest() {
	find spool -name '*.data.*' -printf '%f\n' | sed 's/.*\.//' | sort -n | tail -n 1
}

rotated() {
	local last
	last=$(newest)
	[ "${last:-0}" -ge "$1" ]
}

@test "a day of captures: the spool stays in its limits, nothing is lost, memory does not grow" {
	count=${CAPTURES:-24}
	limit=$((count * 1024 * 1024 / 12)) # a quarter of what comes, or less
	[ "$limit" -ge 4194304 ] || limit=4194304
	ebprec agent -q --spool spool --rotate 2s --max-size "$((limit / 1024))K" --min-free 1M >agent.out 2>&1 &
	agent=$!
	mkdir work
	"$BATS_TEST_DIRNAME/../../live/workloads/mixed-load.sh" "$PWD/work" 3600 >/dev/null 2>&1 3>&- &
	load=$!
	await rotated 5
	early=$(pss "$agent")
	most=0
	while ! rotated "$count"; do
		sleep 1
		size=$(du -sb --exclude='index*' --exclude=removed spool | cut -f1)
		[ "$size" -le "$most" ] || most=$size
	done
	late=$(pss "$agent")
	kill "$load" || fail "the load has ended"
	kill -INT "$agent"
	wait "$agent"
	# The keeper looks each ten seconds: five captures more may be there by then.
	largest=$(find spool -name '*.data*' -printf '%s\n' | sort -n | tail -n 1)
	echo "# $count captures; the spool had at most $most bytes of $limit, a capture at most $largest; memory of the recorder $early and $late KiB," \
		"load $(cut -d' ' -f1 /proc/loadavg)" >&3
	[ "$most" -le $((limit + 12 * largest)) ]
	[ "$late" -le $((80 * 1024)) ]
	[ "$late" -le $((early * 3 / 2)) ]
	await ebprec spool check --spool spool # a last pass of the keeper may have it
	ebprec spool --json --spool spool >spool.json
	same "" "$(jq -r '.captures[] | select(.state != "complete") | .name' spool.json)"
	for capture in spool/*.data*; do
		same "0" "$(account "$capture" lost samples)"
		same "0" "$(account "$capture" lost switches)"
	done
	# Each answer has how much was removed.
	contains "$(ebprec query --spool spool --last 1h 2>&1 >/dev/null)" "are no longer in the spool"
}
