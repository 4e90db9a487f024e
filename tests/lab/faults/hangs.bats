#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Files and processes that do not answer: each costs itself alone, and is counted.  The first of the kind is in live/recording/hangs.bats.

# shellcheck disable=SC2034,SC2154 # variables of lib/hangs.bash
load ../../lib/helper
load ../../lib/hangs

# FUSE asks its server when a descriptor is closed, also when other processes have descriptors of the file.
@test "a file whose file system does not answer when it is closed costs others nothing" {
	mkdir closed
	stuckfs closed "$(type -P true)" close >closed.mounted 3>&- &
	unclosed=$!
	await grep -q mounted closed.mounted
	hanging map closed/program
	shares 600 >/dev/null 3>&- &
	other=$!
	ebprec-record -a -F 997 -q -o r.data 2>err 3>&- &
	recorder=$!
	await has_samples r.data
	kill -USR1 "$load"
	sleep 3
	cp "$(type -P shares)" newcomer
	./newcomer 600 >/dev/null 3>&- &
	late=$!
	sleep 2
	kill -INT $recorder
	complete_soon
	kill -TERM $unclosed # the process that closes it goes on
	wait $recorder || fail "$(cat err)"
	kill $other $late
	longest=$(account r.data longest_pass_ns)
	echo "# rings were not looked at for $((longest / 1000000)) ms" >&3
	[ "$longest" -lt 1000000000 ] || fail "$longest ns"
	# Its file was read, and so were those that came later.
	perf script -i r.data --show-mmap-events 2>/dev/null | grep -q 'closed/program' || fail "it was not mapped"
	ebprec report -q --folded -i r.data --comm newcomer 2>/dev/null >new
	grep -q ";share_three;burn_three " new || fail "$(head new)"
}

# The process that reads files of others waits for it then, and SIGKILL does not end that.
@test "another user's file that is never read to its end leaves other files their build-ids" {
	mkdir unread
	stuckfs unread "$(type -P true)" read >unread.mounted 3>&- &
	unclosed=$!
	await grep -q mounted unread.mounted
	hanging map unread/program
	ebprec-record -a -F 997 -q -o r.data 2>err 3>&- &
	recorder=$!
	await has_samples r.data
	kill -USR1 "$load"
	sleep 4
	cp "$(type -P shares)" newcomer
	chown 12345 newcomer
	./newcomer 600 >/dev/null 3>&- &
	late=$!
	sleep 2
	kill -INT $recorder
	complete_soon
	kill -TERM $unclosed
	wait $recorder || fail "$(cat err)"
	kill $late
	perf script -i r.data --show-mmap-events 2>/dev/null | grep MMAP2 >mapped
	grep -q 'unread/program' mapped || fail "it was not mapped"
	id=$(readelf -n newcomer | sed -n 's/.*Build ID: //p')
	grep 'r-xp .*/newcomer$' mapped | grep -q "<$id>" || fail "$(grep /newcomer mapped)"
}

# Its numbers may be another file's, so size and times are part of its identity, and are known late.
@test "a program without a build-id has its names, though its file system answers slowly" {
	objcopy --remove-section .note.gnu.build-id "$(type -P shares)" plain
	mkdir slow
	stuckfs slow plain >slow.mounted 3>&- &
	slow=$!
	await grep -q mounted slow.mounted
	kill -USR2 $slow
	ebprec-record -q -F 997 -o r.data -- slow/program 0.6 >/dev/null || fail "it cannot be recorded"
	ebprec report -q --folded -i r.data >folded 2>err
	ebprec report -q --symbols-report -i r.data >sources 2>&1
	kill -TERM $slow
	grep -q ";share_three;burn_three " folded || fail "$(cat folded sources)"
	# Not by the inode alone.
	grep 'slow/program' sources | grep -q 'size and time, or checksum' || fail "$(cat sources)"
}

# More hang than there are threads, so that each process is waited for, and each wait is short and in vain.
@test "the start waits once for all files that do not answer, and reports files that are read later" {
	for i in {1..40}; do
		nice -n 19 hangs lock far/program >"ready.$i" 3>&- &
		loads+=($!)
	done
	for i in {1..40}; do await grep -q ready "ready.$i"; done
	load=${loads[0]}
	kill -USR1 "$served"
	sleep 0.2
	kill -USR1 "${loads[@]}"
	sleep 0.2
	asks_and_hangs "$load" || skip "this kernel does not hold the lock for it"
	crowd 700 >ready 3>&- &
	await grep -q ready ready
	ebprec-record -a -F 97 -q -o r.data -- true 2>err 3>&- || fail "$(cat err)"
	kill "${loads[@]}" $! 2>/dev/null
	intact r.data
	later=$(account r.data not_answered at_start)
	echo "# began after $(($(account r.data startup_ns) / 1000000)) ms, $later were read later" >&3
	[ "$later" -gt 0 ] || fail "$(cat err)"
	same 1 "$(grep -c "^ebprec: the recording began after 2 s .*: $later of them are read while it runs" err)"
}

@test "Ctrl-C ends a recording while a process hangs whose mmap lock is held" {
	hanging lock far/program
	now_hangs
	asks_and_hangs "$load" || skip "this kernel does not hold the lock for it"
	ebprec-record -a -F 97 -q -o r.data 2>err 3>&- &
	recorder=$!
	for _ in {1..100}; do
		[ ! -s r.data ] || break
		sleep 0.1
	done
	kill -INT $recorder
	begin=$(date +%s%N)
	for _ in {1..100}; do
		kill -0 $recorder 2>/dev/null || break
		sleep 0.1
	done
	took=$((($(date +%s%N) - begin) / 1000000))
	kill -KILL $recorder 2>/dev/null || true
	echo "# it ended within $took ms" >&3
	[ $took -lt 5000 ] || fail "$took ms"
	intact r.data
	same interrupted "$(account r.data ended)"
}

@test "the map of a JIT compiler on a file system that does not answer is given up, and counted" {
	# In its own /tmp, which is that file system's; the program may lie below the other one.
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c 'exec 5<"$(command -v hangs)" && mount --bind far /tmp && exec /proc/self/fd/5 code /dev/null' >ready 3>&- &
	load=$!
	await grep -q ready ready
	ebprec-record -a -F 997 -q -o r.data 2>err 3>&- &
	recorder=$!
	await has_samples r.data
	now_hangs
	for _ in {1..30}; do
		kill -0 $recorder || fail "$(cat err)"
		sleep 0.1
	done
	kill -INT $recorder
	begin=$(date +%s%N)
	complete_soon
	took=$((($(date +%s%N) - begin) / 1000000))
	echo "# complete within $took ms" >&3
	[ $took -lt 6000 ] || fail "$took ms"
	kill -TERM "$served"
	wait $recorder || fail "$(cat err)"
	served=
	[ "$(account r.data jit processes_without_file)" -gt 0 ] || fail "not counted"
	[ "$(account r.data longest_pass_ns)" -lt 1000000000 ] || fail "$(account r.data longest_pass_ns) ns"
}

@test "a JIT map of 32 MiB is read and compressed while the rings are emptied" {
	hanging code /dev/null
	perl -e 'printf "%x 40 a_function_of_many_%d\n", 2**28 + 64 * $_, $_ for 0 .. 1e6' |
		head -c 32M >/tmp/perf-$load.map
	ebprec-record -a -F 997 -q -o r.data 2>err 3>&- &
	recorder=$!
	await has_samples r.data
	kill -USR1 "$load"
	sleep 2
	kill -INT $recorder
	wait $recorder || fail "$(cat err)"
	rm /tmp/perf-$load.map
	intact r.data
	# Other programs of the machine may have maps, too.
	ebprec info --objects r.data | grep -qF "perf-$load.map" || fail "$(ebprec info --objects r.data)"
	echo "# rings were not looked at for $(($(account r.data longest_pass_ns) / 1000000)) ms" >&3
	[ "$(account r.data longest_pass_ns)" -lt 700000000 ] || fail "$(account r.data longest_pass_ns) ns"
}

@test "a container whose user's home does not answer has no name, which is counted" {
	groups=$(cgroup2_root)
	[ -n "$groups" ] || skip "no cgroups to make"
	id=$(printf '%064x' $((RANDOM * 65536 + $$)) | rev)
	group=$groups/libpod-$id.scope
	# The monitor of the container reads the home of its user from a passwd of its own.
	echo "distant:x:12345:12345::$PWD/far:/bin/sh" >passwd
	# shellcheck disable=SC2016 # for the inner shells
	unshare -m sh -c 'mount --bind passwd /etc/passwd && exec setpriv --reuid=12345 --regid=12345 --clear-groups sh -c "
		sleep 600 & echo \$!; wait"' >child 3>&- &
	load=$!
	await test -s child
	mkdir "$group"
	child=$(cat child)
	echo "$child" >"$group/cgroup.procs"
	kill -USR1 "$served"
	sleep 0.2
	ebprec-record -a -F 97 -q --duration 2 -o r.data 2>err 3>&- &
	recorder=$!
	complete_soon
	kill -TERM "$served"
	wait $recorder || fail "$(cat err)"
	served=
	kill "$child"
	await rmdir "$group"
	[ "$(account r.data lost container_names)" -gt 0 ] || fail "it is not counted"
	[ "$(account r.data longest_pass_ns)" -lt 1000000000 ] || fail "$(account r.data longest_pass_ns) ns"
}
