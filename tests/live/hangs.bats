#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# runs alone: its processes hang any that looks at them, and while its probes wait no process of the machine can fork
# Files and processes that do not answer: a process that reads them hangs, and the recording goes on.

load ../lib/helper

setup() {
	need_bpf
	[ -e /dev/fuse ] || skip "no FUSE here"
	cd "$BATS_TEST_TMPDIR" || return
	mkdir far
	stuckfs far "$(type -P true)" >mounted 3>&- &
	served=$!
	await grep -q mounted mounted
	load='' loads=()
}

teardown() {
	[ -z "$load" ] || kill -KILL "$load" 2>/dev/null || true
	[ -z "$unclosed" ] || kill -TERM "$unclosed" 2>/dev/null || true
	[ -z "$served" ] || kill -TERM "$served" # processes that hang get an error
	wait "$served" "$unclosed" 2>/dev/null || true
	end_background
	umount -l far 2>/dev/null || true
}
served='' load='' unclosed=''

# hanging HOW FILE - starts a process that computes; a process that looks at it may hang when FILE does not answer
hanging() {
	hangs "$1" "$2" >ready 3>&- &
	load=$!
	await grep -q ready ready
}

# now_hangs - as it is to be from now on
now_hangs() {
	kill -USR1 "$served"
	sleep 0.2
	kill -USR1 "$load"
	sleep 0.2
}

# complete_soon - r.data is a finished capture within 15 s, though the recorder may not be able to end: a lookup of a
# name that another process (such as a recorder) is looking up cannot be ended, not even by SIGKILL.
complete_soon() {
	for _ in {1..150}; do
		! ebprec info r.data 2>/dev/null | grep -qx '  state *finished' || break
		sleep 0.1
	done
	intact r.data
}

# samples_of FILE COMM - how many
samples_of() {
	ebprec script -i "$1" -F comm 2>/dev/null | grep -c "^ *$2" || true
}

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

# asks_and_hangs PID - a process that reads its maps waits: its mmap lock is held
asks_and_hangs() {
	! timeout -s KILL 1 cat "/proc/$1/cmdline" >/dev/null 2>&1
}

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
