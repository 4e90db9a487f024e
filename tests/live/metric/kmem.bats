#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Memory of the kernel, each allocation of a program that opens a known number of files.
# runs beside others: it counts what one program does

load ../../lib/helper
load ../../lib/metrics

FILES=10007

setup_file() {
	PATH=$PATH:/usr/sbin bpftool prog list >/dev/null 2>&1 || return 0
	cd "$BATS_FILE_TMPDIR" || return
	mkfifo hold
	exec 8<>hold
	# The process that holds the files does so until the end of the recording.
	ebprec record -q -m 128 --with kmem --sample-bytes 1 -o k.data -- opened $FILES hold >truth 2>&1 8>&- || true
	exec 8>&-
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	read -r _ _ pid before after rss_kib size_kib < <(grep '^opened held ' truth) || fail "$(cat truth)"
	read -r _ _ freed < <(grep '^opened freed ' truth) || true
	[ -n "$freed" ] || fail "$(cat truth)"
}

@test "objects that a process holds are the files that it opened" {
	# and the FIFO
	same $((FILES + 1)) "$(field k.data kmem_held "pid=$pid,comm=holds,kind=filp" held)"
	ebprec metrics kmem_held -i k.data --pid "$pid" --histogram -n 0 >text
	grep -q "age_ms : count" text || fail "$(cat text)"
	# The sum of all processes lies in a range: others open and close files, too.
	if [ "$before" -gt 0 ]; then
		grown=$((after - before))
		if [ $grown -lt $((FILES * 7 / 10)) ] || [ $grown -gt $((FILES * 2)) ]; then
			fail "/proc/slabinfo: $grown more"
		fi
	fi
}

@test "freed objects are not held" {
	allocs=$(field k.data kmem "pid=$freed,comm=frees" allocs)
	# each open is a name and a file at least
	[ "$allocs" -ge $((2 * FILES)) ] || fail "$allocs allocations"
	same 0 "$(field k.data kmem_held "pid=$freed,kind=names_cache" held)"
	held=$(field k.data kmem "pid=$freed" held)
	[ "$held" -lt $FILES ] || fail "$held of $allocs are held"
}

@test "the table has the process's own memory, as /proc/PID/status has it" {
	same $((size_kib * 1024)) "$(field k.data kmem "pid=$pid" now_size_bytes)"
	off=$(($(field k.data kmem "pid=$pid" now_rss_bytes) / 1024 - rss_kib))
	# each CPU adds up 32 pages or more of each kind before it updates the process
	if [ ${off#-} -gt $((rss_kib / 4)) ]; then
		fail "RSS is $off KiB off $rss_kib"
	fi
}

@test "stacks of held objects weigh their bytes" {
	bytes=$(field k.data kmem_held "pid=$pid,kind=filp" held_bytes)
	ebprec report --of kmem -i k.data --folded 2>/dev/null |
		grep -E '^holds;.*;alloc_empty_file;kmem_cache_alloc[a-z_]* [0-9]+$' >stacks
	sum=$(weight <stacks)
	grep -q ';open_files;' stacks || fail "open_files is in none of: $(cat stacks)"
	# the FIFO, and what the recorder's child opened before it was this program, have stacks of their own
	if [ "$sum" -lt $((bytes * 8 / 10)) ] || [ "$sum" -gt "$bytes" ]; then
		fail "$sum of $bytes bytes"
	fi
}

@test "the verifier checks fewer than 200,000 instructions of each program" {
	# shellcheck disable=SC2016 # of the recorder, whose child the command is
	ebprec record -q --without sched,mark --with kmem -o short.data -- sh -c 'cat /proc/$PPID/fdinfo/* >fdinfo'
	pick_fields 1 verified_insns: 2 <fdinfo | sort -n | tail -n 1 >most
	# At 1 000 000 instructions it refuses a program; 400 000 take it half a second.
	[ "$(cat most)" -gt 10000 ] && [ "$(cat most)" -lt 200000 ] || fail "$(cat most) instructions"
}
