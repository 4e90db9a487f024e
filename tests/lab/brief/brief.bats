#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec report --brief of recorded situations: what slows the programs down is known, and is the first line.
# The loads that other programs may disturb run before them; the last test needs a machine that does nothing else.
# shellcheck disable=SC2016 # backticks are Markdown

load ../../lib/helper

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
}

# is_quiet - no more than 5 % of the CPUs are busy, for a second; busy: how many percent
is_quiet() {
	grep -m 1 '^cpu ' /proc/stat >before
	sleep 1
	grep -m 1 '^cpu ' /proc/stat >after
	local all idle
	all=$(($(cut -d ' ' -f 3-10 after | tr ' ' +) - ($(cut -d ' ' -f 3-10 before | tr ' ' +))))
	idle=$(($(cut -d ' ' -f 6,7 after | tr ' ' +) - ($(cut -d ' ' -f 6,7 before | tr ' ' +))))
	busy=$((100 * (all - idle) / all))
	[ $((20 * (all - idle))) -le $all ]
}

# begins_with WORDS [OPTION...] - the first line of x.data does, all of it is not too long, and each command in it works
begins_with() {
	local words=$1 command
	shift
	ebprec report --brief "$@" x.data >brief.md 2>brief.err || fail "$(cat brief.err)"
	contains "$(head -n 1 brief.md)" "**$words**: "
	[ "$(wc -c <brief.md)" -le 4096 ] || fail "$(wc -c <brief.md) bytes"
	grep -o '`ebprec [^`]* x.data[^`]*`' brief.md | tr -d '`' | sort -u >commands
	[ "$(wc -l <commands)" -ge 5 ] || fail "few commands: $(cat commands)"
	while read -r command; do
		bash -c "$command" >out 2>err || fail "$command: $(cat err)"
	done <commands
}

@test "one program computes: CPU-bound, and the function" {
	ebprec record -q -o x.data -- chrt -f 10 shares 2
	begins_with CPU-bound
	contains "$(head -n 1 brief.md)" '`shares` ran '
	contains "$(head -n 1 brief.md)" 'are in `burn_three`'
}

@test "eight threads and one lock: lock contention, and where" {
	ebprec record -q -o x.data -- situations convoy 2
	begins_with "Lock contention"
	contains "$(head -n 1 brief.md)" 'most of it `situations` in `take_turn`'
}

@test "a program writes through to the disk: waiting for disks, and where" {
	local folder
	read -r folder _ <<<"$(disk_folder "$BATS_TEST_TMPDIR" /var/tmp /)"
	[ -n "$folder" ] || fail "no folder is on a disk"
	ebprec record -q -o x.data -- chrt -f 10 situations disk 2 "$folder/written.$$"
	rm -f "$folder/written.$$"
	begins_with "Waiting for disks"
	contains "$(head -n 1 brief.md)" 'most of it `situations` in `save_block`'
}

@test "memory is on disk: swapping, and where" {
	local group=/sys/fs/cgroup/memory/ebprec-brief.$$ limit=memory.limit_in_bytes
	[ -d /sys/fs/cgroup/memory ] || group=/sys/fs/cgroup/ebprec-brief.$$ limit=memory.max
	dd if=/dev/zero of=/var/tmp/swap.$$ bs=1M count=256 status=none
	chmod 600 /var/tmp/swap.$$
	PATH=$PATH:/usr/sbin
	if ! { mkswap /var/tmp/swap.$$ && swapon /var/tmp/swap.$$ && mkdir "$group" && echo 64M >"$group/$limit"; } >out 2>&1; then
		swapoff /var/tmp/swap.$$ 2>/dev/null || true
		rm -f /var/tmp/swap.$$
		# A machine that cannot swap gets the recording of one that does.
		gen_story x.data <"$BATS_TEST_DIRNAME/../../golden/report-brief/swap"
		begins_with Swapping
		return
	fi
	ebprec record -q -o x.data -- bash -c 'echo $$ >"$0/cgroup.procs"; exec situations touch 3 128' "$group" || true
	swapoff /var/tmp/swap.$$
	rm -f /var/tmp/swap.$$
	await rmdir "$group"
	begins_with Swapping
	contains "$(head -n 1 brief.md)" 'most of it `situations` in `touch_page`'
}

@test "hundreds of programs a second: a fork storm, and their name" {
	ebprec record -aq -o x.data -- storm 300 2
	begins_with "Fork storm"
	contains "$(head -n 1 brief.md)" ' of them `exe`'
}

@test "a program that collects its garbage all the time: garbage collection" {
	ebprec record -q -o x.data -- situations collect 2
	begins_with "Garbage collection"
	contains "$(head -n 1 brief.md)" 'most ran `situations`'
}

@test "eight threads compute on fewer CPUs: more runnable threads than CPUs" {
	ebprec record -q -o x.data -- taskset -c 0 situations spin 2
	begins_with "More runnable threads than CPUs"
	contains "$(head -n 1 brief.md)" 'most of it `situations` in `'
}

@test "a program that sleeps: mostly waiting, and for what" {
	ebprec record -q -o x.data -- sleep 2
	begins_with "Mostly waiting"
	contains "$(head -n 1 brief.md)" '`sleep` waited '
	contains "$(head -n 1 brief.md)" '(nanosleep)'
}

@test "a recording whose recorder was killed: incomplete" {
	shares 30 3>&- &
	local load=$!
	ebprec record -q -o x.data -p "$load" 3>&- &
	await has_samples x.data
	kill -KILL $! "$load"
	wait || true
	begins_with "Incomplete recording"
	contains "$(head -n 1 brief.md)" "the file is cut or damaged"
}

@test "a machine that does nothing: idle" {
	local looks=0
	until is_quiet || [ $((++looks)) -eq 60 ]; do :; done
	[ $looks -lt 60 ] || fail "not tested: other programs keep $busy % of the CPUs busy, run it where there are none"
	ebprec record -aq -o x.data -- sleep 3
	begins_with "Idle machine"
	contains "$(head -n 1 brief.md)" " CPUs were busy "
}
