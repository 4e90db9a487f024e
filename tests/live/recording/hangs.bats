#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# It runs alone: its processes hang any that looks at them, and while its probes wait no process of the machine can fork
# Files and processes that do not answer: a process that reads them hangs, and the recording goes on.  The others of the
# kind are in lab/faults/hangs.bats.

# shellcheck disable=SC2034,SC2154 # variables of lib/hangs.bash
load ../../lib/helper
load ../../lib/hangs

# bats test_tags=long
@test "the recorder waits milliseconds for a file that is mapped while it records and does not answer" {
	hanging map far/program
	shares 600 >/dev/null 3>&- &
	other=$!
	ebprec-record -a -F 997 -q --duration 4 -o r.data 2>err 3>&- &
	recorder=$!
	await test -s r.data
	now_hangs
	wait $recorder || fail "$(cat err)"
	kill $other
	grep -q "^ebprec: the file system of '$PWD/far/program' does not answer: " err || fail "$(cat err)"
	intact r.data
	longest=$(account r.data longest_pass_ns)
	echo "# rings were not looked at for $((longest / 1000000)) ms" >&3
	[ "$longest" -lt 1000000000 ] || fail "$longest ns"
	[ "$(samples_of r.data shares)" -gt 100 ] || fail "others were not sampled"
	[ "$(samples_of r.data computes)" -gt 100 ] || fail "its threads were not sampled"
}

# bats test_tags=long
@test "a process whose mmap lock is held is sampled, counted, and not waited for" {
	hanging lock far/program
	now_hangs
	asks_and_hangs "$load" || skip "this kernel does not hold the lock for it"
	shares 600 >/dev/null 3>&- &
	other=$!
	cp "$(command -v shares)" newcomer
	begin=$(date +%s%N)
	(sleep 2 && exec ./newcomer 600) >/dev/null 3>&- &
	late=$!
	timeout -s KILL 30 ebprec-record -a -F 997 -q --duration 3 -o r.data 2>err 3>&- || fail "$(cat err)"
	took=$((($(date +%s%N) - begin) / 1000000))
	kill $other $late
	echo "# 3 s of recording took $took ms" >&3
	[ $took -lt 9000 ] || fail "$took ms"
	grep -q '^ebprec: 1 process did not answer ' err || fail "$(cat err)"
	same 1 "$(account r.data not_answered processes)"
	intact r.data
	[ "$(account r.data longest_pass_ns)" -lt 1000000000 ] || fail "$(account r.data longest_pass_ns) ns"
	[ "$(samples_of r.data computes)" -gt 100 ] || fail "its threads were not sampled"
	[ "$(samples_of r.data shares)" -gt 100 ] || fail "others were not sampled"
	# All is known about the other processes, also about files that were new while it hung.
	ebprec report -q --folded -i r.data --comm newcomer 2>/dev/null >new
	grep -q ";share_three;burn_three " new || fail "$(head new)"
	ebprec report --folded -i r.data 2>/dev/null >folded
	grep -q ";share_three;burn_three " folded || fail "$(grep ^shares folded)"
}

# The kernel reads the page of a probe, and holds off every fork of the machine until it has it.
@test "marks of a program on a file system of FUSE are not listened for, which is noted" {
	mkdir marked
	stuckfs marked "$(type -P marker)" >marked.mounted 3>&- &
	unclosed=$!
	await grep -q mounted marked.mounted
	ebprec-record -q -o r.data -- sh -c 'sleep 0.3; marked/program points 5; sleep 0.3' 2>err 3>&- || fail "$(cat err)"
	intact r.data
	same 1 "$(grep -c "^ebprec: cannot listen for marks in '$PWD/marked/program': " err)"
	same '' "$(ebprec script -i r.data 2>/dev/null | grep 'marker/points')"
}

# The kernel waits for that process before it sets the probes of a file that it maps.  No process of the machine can fork
# meanwhile, so nothing here does, until it goes on.
# bats test_tags=long
@test "a process that maps a program with marks and holds its mmap lock does not stop the recording" {
	hanging lock far/program
	now_hangs
	asks_and_hangs "$load" || skip "this kernel does not hold the lock for it"
	mkfifo never
	exec 8<>never
	ebprec-record -a -F 997 -q -o r.data 2>err 3>&- 8>&- &
	recorder=$!
	await has_samples r.data
	hangs code /dev/null >ready 3>&- 8>&- & # the same program, and seen
	again=$!
	read -rt 4 -u 8 || true
	kill -TERM "$served"
	served=
	kill -INT $recorder
	wait $recorder || fail "$(cat err)"
	kill -KILL $again
	exec 8>&-
	intact r.data
	longest=$(account r.data longest_pass_ns)
	echo "# rings were not looked at for $((longest / 1000000)) ms" >&3
	grep -q "^ebprec: cannot listen for marks in '.*/hangs': a process that maps it, " err || fail "$(cat err)"
	[ "$longest" -lt 1000000000 ] || fail "$longest ns"
}

# Before it removes the probes of a file, too, the kernel waits so.
# bats test_tags=long
@test "a capture is finished while a process with probes holds its mmap lock" {
	hanging lock far/program
	mkfifo never
	exec 8<>never
	ebprec-record -a -F 997 -o r.data 2>err 3>&- 8>&- &
	recorder=$!
	await has_samples r.data
	now_hangs
	asks_and_hangs "$load" || skip "this kernel does not hold the lock for it"
	kill -INT $recorder
	for ((i = 0; i < 40; i++)); do # no process can be started meanwhile
		mapfile messages <err
		[[ "${messages[*]}" != *"'r.data'"* && "${messages[*]}" != *" r.data"* ]] || break
		read -rt 0.5 -u 8 || true
	done
	kill -TERM "$served"
	served=
	wait $recorder || fail "$(cat err)"
	exec 8>&-
	echo "# it was finished in the $i. half second" >&3
	[ $i -lt 40 ] || fail "$(cat err)"
	grep -q '^ebprec: the kernel has not removed the probes of ' err || fail "$(cat err)"
	intact r.data
}
