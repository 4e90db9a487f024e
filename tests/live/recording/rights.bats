#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The rights that a recorder keeps while it records, and the owner of its files.
# runs beside others: rights and owners do not depend on time

# shellcheck disable=SC2016 # what is in single quotes is for another shell
# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	need_bpf
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test
	cd "$BATS_TEST_TMPDIR" || return
	chmod 755 .
}

teardown() {
	end_background
	[ ! -e recorder.pid ] || kill "$(cat recorder.pid)" 2>/dev/null || true
}

# bits CAP... - what /proc/PID/status shows for them
bits() {
	local cap all=0
	local -A bit=([chown]=0 [dac_override]=1 [dac_read_search]=2 [fowner]=3 [kill]=5 [setgid]=6 [setuid]=7 [sys_ptrace]=19 [sys_admin]=21
		[sys_nice]=23 [syslog]=34 [perfmon]=38 [bpf]=39 [checkpoint_restore]=40)
	for cap; do all=$((all | 1 << ${bit[$cap]:?no such capability})); done
	printf '%016x\n' $all
}

reading="sys_ptrace dac_read_search checkpoint_restore"
# A recorder that may not raise the limit (CAP_SYS_RESOURCE) keeps the right to real-time priority.
priority=
prlimit --rtprio=1:1 true 2>/dev/null || priority=sys_nice

# started FILE ARGS... - starts a recorder, and waits until FILE is there: then it has given up rights.
started() {
	local file=$1
	shift
	"$BUILD/ebprec-record" -q -o x.data "$@" 3>&- &
	echo $! >recorder.pid
	for _ in {1..400}; do
		[ ! -e "$file" ] || break
		sleep 0.05
	done
	[ -e "$file" ] || fail "no $file"
}

# has KEY THREAD CAP... - /proc/PID/task/THREAD/status has exactly these; THREAD "other": all but the first
has() {
	local pid key=$1 thread=$2 files
	pid=$(cat recorder.pid)
	shift 2
	files=/proc/$pid/task/$pid/status
	[ "$thread" = main ] || files=$(grep -Hl . /proc/"$pid"/task/*/status | grep -v "/$pid/status$")
	[ -n "$files" ] || fail "there is no other thread"
	# The file appears a moment before they go.
	for _ in {1..100}; do
		# shellcheck disable=SC2086 # words
		[ "$(sed -n "s/^$key:\t//p" $files | sort -u)" != "$(bits "$@")" ] || return 0
		sleep 0.05
	done
	# shellcheck disable=SC2086
	same "$(bits "$@")" "$(sed -n "s/^$key:\t//p" $files | sort -u)"
}

@test "a recorder of root keeps only the rights for reading, and can get no others back" {
	started x.data -a
	for key in CapEff CapPrm CapBnd; do
		# shellcheck disable=SC2086 # words
		has $key main $reading syslog bpf $priority
		# shellcheck disable=SC2086
		[ $key = CapBnd ] || has $key other $reading
	done
	# A thread that starts later cannot lower its bounding set (CAP_SETPCAP is gone): it has that of the main thread.
	# shellcheck disable=SC2086
	sed -n "s/^CapBnd:\t//p" /proc/"$(cat recorder.pid)"/task/*/status |
		grep -vx "$(bits $reading)" | grep -vx "$(bits $reading syslog bpf $priority)" >others || :
	[ ! -s others ] || fail "$(cat others)"
	for key in CapInh CapAmb; do
		has $key main
	done
	for file in /proc/"$(cat recorder.pid)"/task/*/status; do
		same $'NoNewPrivs:\t1' "$(grep NoNewPrivs "$file")"
		same $'Seccomp:\t2' "$(grep '^Seccomp:' "$file")"
	done
}

@test "without a filter of system calls the recorder records with a note" {
	forbidding seccomp 1 "$BUILD/ebprec-record" -a -d 0.3 -o x.data 2>err
	contains "$(cat err)" "cannot give up system calls: Operation not permitted, skipping"
	ebprec info x.data >/dev/null
}

@test "the capability that is missing is named" {
	cp "$(command -v ebprec)" "$BUILD/ebprec-record" .
	chmod 777 .
	few() {
		local caps=$1
		shift
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" \
			./ebprec-record "$@"
	}
	refuses few +bpf -a -o x.data -d 0.1
	# shellcheck disable=SC2154 # of refuses
	contains "$stderr" "Permission denied (CAP_PERFMON is missing, see kernel.perf_event_paranoid"
	few +perfmon -a -o x.data -d 0.1 2>err
	contains "$(cat err)" "cannot use BPF: Operation not permitted (CAP_BPF is missing)"
	before_uprobe_links few +perfmon,+bpf -a -o x.data -d 0.1 2>err
	contains "$(cat err)" "cannot read the kernel's symbols: Permission denied (CAP_SYSLOG is missing, or see"
	contains "$(cat err)" "Permission denied (CAP_SYS_ADMIN is missing, which uprobes take; --without mark does without), skipping"
}

# bats test_tags=long
@test "marks need no more rights than BPF where the kernel links uprobes" {
	need_uprobe_links
	cp "$(command -v ebprec)" "$(command -v marker)" "$BUILD/ebprec-record" .
	chmod 777 .
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon \
		./ebprec-record -q -a -o x.data -- sh -c './marker points 1; sleep 1; ./marker points 2; ./ebprec mark hello'
	# That of a program which was not known when it came is another matter.
	ebprec marks x.data | grep -o 'marker/points.*point 1\|shell/mark.*hello' >got
	same $'marker/points: point 1\nshell/mark: hello' "$(sed 's/  */ /g' got)"
}

@test "a recorder of a command keeps the right to end it, one with --rotate those to make files" {
	started x.data --without mark -- sleep 60
	# shellcheck disable=SC2086
	has CapEff main $reading syslog bpf kill $priority
	kill "$(cat recorder.pid)"
	wait
	started x.data -a --without mark --rotate 1h
	# shellcheck disable=SC2086
	has CapEff main $reading syslog bpf dac_override chown fowner $priority
	kill "$(cat recorder.pid)"
	wait
	started x.data -a --no-bpf
	# shellcheck disable=SC2086
	has CapEff main $reading syslog
}

# bats test_tags=long
@test "programs that start afterwards are recorded completely: another user's, deleted and replaced" {
	started x.data -a -F 997 -d 3
	mkdir -m 700 closed
	cp "$(command -v shares)" closed/mine
	chown -R 65534 closed
	setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'cd closed && ./mine 1 & sleep 0.1; cd closed && rm mine && echo no >mine; wait' >printed
	wait "$(cat recorder.pid)"
	rm recorder.pid
	ebprec report --folded -i x.data --comm mine 2>quality |
		stacks_match '^mine;_start;|^mine;\[mine|;__libc_start' 80 50 || fail "$(cat quality)"
}

# helper WORD - the process of the recorder that is for this
helper() {
	for _ in {1..400}; do
		pgrep -P "$(cat recorder.pid)" -f -- "--$1" && return
		sleep 0.05
	done
	fail "there is none"
}

@test "ELF files are read by a helper without rights, descriptors and system calls" {
	started x.data -a --table-cache none
	cp /usr/bin/true theirs
	chown 65534 theirs
	./theirs
	tables=$(helper elf-worker)
	facts=$(helper elf-facts) # of files of others
	for pid in $tables $facts; do
		for _ in {1..100}; do
			! grep -q '^Seccomp:.*2' "/proc/$pid/status" || break
			sleep 0.05
		done
		for key in CapEff CapPrm CapInh CapAmb; do
			same "$(bits)" "$(sed -n "s/^$key:\t//p" "/proc/$pid/status")"
		done
		contains "$(cat "/proc/$pid/status")" $'NoNewPrivs:\t1'
		contains "$(cat "/proc/$pid/status")" $'Seccomp:\t2'
		[ ! -s "/proc/$pid/environ" ] || fail "it has an environment"
		# Its socket, nothing else; a file that it reads just now comes and goes.
		for _ in {1..100}; do
			fds=$(for fd in /proc/"$pid"/fd/*; do readlink "$fd"; done | sort -u | sed 's/:.*//')
			[ "$fds" != $'/dev/null\nsocket' ] || break
			sleep 0.05
		done
		same $'/dev/null\nsocket' "$fds"
	done
	kill -INT "$(cat recorder.pid)"
	wait "$(cat recorder.pid)"
	rm recorder.pid
	id=$(file -b theirs | sed -n 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/p')
	contains "$(perf buildid-list -i x.data)" "$id $PWD/theirs"
}

# bats test_tags=long
@test "functions and probes that the user names are looked for by that helper, not by root" {
	cp "$(command -v ownheap)" theirs
	cp "$(command -v probes)" theirs-too
	chown 65534 theirs theirs-too
	chmod 777 theirs theirs-too
	strace -f -y -e trace=execve,read,pread64,mmap -o trace \
		"$BUILD/ebprec-record" -q --without sched --mark "uprobe:$PWD/theirs:keep_small" --mark "usdt:$PWD/theirs-too:tests:twice" \
		--with heap --heap-lib ./theirs --sample-bytes 1 -o x.data -- sh -c 'sleep 0.2' 3>&-
	reader=$(sed -n 's/^\([0-9]*\) .*execve(.*"--elf-facts".*/\1/p' trace)
	[ -n "$reader" ] || fail "there is no such process"
	grep '/theirs>' trace >reads || fail "no process read it"
	grep '/theirs-too>' trace >>reads || fail "no process read the one with probes"
	! grep -v "^$reader " reads || fail "another process did"
	# And broken ones end it, with a reason.
	head -c 5000 theirs >short
	refuses "$BUILD/ebprec-record" -q --mark "uprobe:$PWD/short:keep_small" -o y.data -- touch ran
	# shellcheck disable=SC2154 # of refuses
	contains "$stderr" "cannot listen to 'uprobe:$PWD/short:keep_small': No such file or directory (no such file, or it has no such function)"
	cp theirs headless
	printf '\0\0' | dd of=headless bs=1 seek=$((0x3a)) conv=notrunc status=none # the size of a section header
	refuses "$BUILD/ebprec-record" -q --mark "uprobe:$PWD/headless:keep_small" -o y.data -- touch ran
	contains "$stderr" "(it is no ELF file of x86-64)"
	refuses "$BUILD/ebprec-record" -q --mark "usdt:$PWD/headless:tests:twice" -o y.data -- touch ran
	contains "$stderr" "(it is no ELF file of x86-64)"
	mkfifo fifo
	refuses "$BUILD/ebprec-record" -q --mark "uprobe:$PWD/fifo:f" -o y.data -- touch ran
	contains "$stderr" "(no regular file)"
	[ ! -e ran ] || fail "it was recorded"
}

@test "uprobes by perf events are set by a helper that has this right alone, and reads no files" {
	export LD_PRELOAD=$BUILD/tests/lab/faults/olderkernel.so
	started x.data -a 2>err
	unset LD_PRELOAD
	pid=$(helper prober)
	for _ in {1..100}; do
		! grep -q '^Seccomp:.*2' "/proc/$pid/status" || break
		sleep 0.05
	done
	for key in CapEff CapPrm CapBnd; do
		same "$(bits sys_admin)" "$(sed -n "s/^$key:\t//p" "/proc/$pid/status")"
	done
	contains "$(cat "/proc/$pid/status")" $'NoNewPrivs:\t1'
	contains "$(cat "/proc/$pid/status")" $'Seccomp:\t2'
	same $'/dev/null\nsocket' "$(for fd in /proc/"$pid"/fd/*; do readlink "$fd"; done | sort -u | sed 's/:.*//')"
	# Without this helper programs that come later are recorded without their marks, and that is reported.
	kill -KILL "$pid"
	cp "$(command -v marker)" fresh
	./fresh points 1
	for _ in {1..400}; do
		! grep -q 'cannot listen' err || break
		sleep 0.05
	done
	kill -INT "$(cat recorder.pid)"
	wait "$(cat recorder.pid)"
	rm recorder.pid
	contains "$(cat err)" "cannot listen for marks in"
	contains "$(ebprec info x.data)" "cannot listen for marks in"
}

@test "events of CPUs that come back are opened by a helper that has this right alone" {
	started x.data -a
	pid=$(helper reopener)
	for _ in {1..100}; do
		! grep -q '^Seccomp:.*2' "/proc/$pid/status" || break
		sleep 0.05
	done
	for key in CapEff CapPrm CapBnd; do
		same "$(bits perfmon)" "$(sed -n "s/^$key:\t//p" "/proc/$pid/status")"
	done
	contains "$(cat "/proc/$pid/status")" $'NoNewPrivs:\t1'
	contains "$(cat "/proc/$pid/status")" $'Seccomp:\t2'
	same $'/dev/null\nsocket' "$(for fd in /proc/"$pid"/fd/*; do readlink "$fd"; done | sort -u | sed 's/:.*//')"
}

# spin NAME - runs a new program of that name, without frame pointers, for a while
spin() {
	cc -O1 -fomit-frame-pointer -D_GNU_SOURCE -DNAME="$1" -o "$1" "$BATS_TEST_DIRNAME/../workloads/shares.c"
	./"$1" 1 >printed
}

# bats test_tags=long
@test "a reader that is killed costs a table, not the recording, and the account counts it" {
	started x.data -a -F 997 --table-cache none 2>err
	# It waits for a question: one that is killed behind an answer, before it is ready again, costs no file.
	pid=$(helper elf-worker)
	await grep -q unix_stream_read /proc/"$pid"/wchan
	kill -KILL "$pid"
	spin first
	spin second
	kill -INT "$(cat recorder.pid)"
	wait "$(cat recorder.pid)"
	rm recorder.pid
	died=$(account x.data user_stacks tables reader_died)
	[ "$died" -ge 1 ] || fail "nothing died: $(ebprec info x.data | grep reader)"
	contains "$(cat err)" "no unwind tables of $died files: the process that reads them died (killed by signal 9, last of /"
	contains "$(ebprec info x.data)" "the process that reads them died"
	ebprec report --folded -i x.data --comm second 2>quality |
		stacks_match '^second;_start;.*;main;outer;inner;' 80 50 || fail "$(cat quality)"
}

@test "a command that became another user is still ended" {
	ebprec record -q -o x.data -d 0.5 -- setpriv --reuid=65534 --regid=65534 --clear-groups sleep 100
	[ -s x.data ]
}

@test "ebprec is run after a recording with the rights for that alone, and its process waits with no others" {
	cp "$BUILD/ebprec-record" .
	chmod 777 .
	cat >ebprec <<-'END'
		#!/bin/sh
		# In the place of ebprec.
		grep "^Cap\|^NoNewPrivs" /proc/self/status >"rights.$1"
	END
	chmod 755 ebprec
	unset SUDO_UID SUDO_GID
	./ebprec-record -q -a --without mark --bundle --with journal --html x.html -o x.data 3>&- &
	echo $! >recorder.pid
	await [ -e x.data ]
	writing="dac_read_search dac_override chown fowner"
	for pid in $(pgrep -P "$(cat recorder.pid)"); do
		# The recorder's other processes are called otherwise.
		! cmp -s "/proc/$pid/cmdline" "/proc/$(cat recorder.pid)/cmdline" || sed -n 's/^CapPrm:\t//p' "/proc/$pid/status"
	done >waiting
	# shellcheck disable=SC2086 # words
	same "$(bits $writing) $(bits $writing) $(bits $writing setuid setgid) " "$(sort waiting | tr '\n' ' ')"
	kill "$(cat recorder.pid)"
	wait "$(cat recorder.pid)" || true
	rm recorder.pid
	for word in bundle journal report; do
		for key in CapPrm CapEff; do
			# shellcheck disable=SC2086
			same "$word $key $(bits $writing)" "$word $key $(sed -n "s/^$key:\t//p" rights.$word)"
		done
		# That of a page keeps the two in its bounding set, which no_new_privs makes harmless.
		same $'NoNewPrivs:\t1' "$(grep NoNewPrivs rights.$word)"
	done
	# As the unit of systemd starts it.
	caps=+bpf,+perfmon,+sys_ptrace,+dac_read_search,+checkpoint_restore,+syslog
	rm rights.bundle
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$caps --ambient-caps=$caps \
		./ebprec-record -q -a --without mark --bundle -d 0.2 -o y.data
	for key in CapPrm CapEff CapInh CapAmb; do
		same "$key $(bits dac_read_search)" "$key $(sed -n "s/^$key:\t//p" rights.bundle)"
	done
}

@test "a process that waits to bundle and is killed costs the names, not the capture" {
	started x.data -a --without mark --bundle 2>err
	for pid in $(pgrep -P "$(cat recorder.pid)"); do
		! cmp -s "/proc/$pid/cmdline" "/proc/$(cat recorder.pid)/cmdline" || kill -KILL "$pid"
	done
	kill "$(cat recorder.pid)"
	wait "$(cat recorder.pid)" || true
	rm recorder.pid
	same 1 "$(grep -c "^ebprec: 'x.data' is without names of its own, skipping$" err)"
	ebprec info x.data | grep -qx '  state *finished'
}

# bats test_tags=long
@test "the user of sudo owns the file, also the next ones and the bundled one" {
	export SUDO_UID=65534 SUDO_GID=65534
	# That user makes the page, and may have no way to the tree.
	cp "$(command -v ebprec)" "$BUILD/ebprec-record" .
	PATH=$PWD:$PATH
	ebprec record -q -o x.data -- true
	same "600 65534 65534" "$(stat -c '%a %u %g' x.data)"
	ebprec record -q -o x.data --bundle -- true
	same "600 65534 65534" "$(stat -c '%a %u %g' x.data)"
	same "600 65534 65534" "$(stat -c '%a %u %g' x.data.old)"
	mkdir -m 755 his
	chown 65534 his
	ebprec record -q -o his/p.data --html his/p.html -- true
	same "600 65534 65534" "$(stat -c '%a %u %g' his/p.html)"
	# Root alone may not write there without its override.
	"$BUILD/ebprec-record" -q -a --ring 10s -o his/x.data 3>&- &
	echo $! >recorder.pid
	# Before it has given up rights it does not listen to the signal.
	for _ in {1..400}; do
		! grep -q 'NoNewPrivs:.*1' /proc/$!/status || break
		sleep 0.05
	done
	kill -USR2 $!
	for _ in {1..400}; do
		[ ! -e his/x.data.1 ] || break
		sleep 0.05
	done
	same "600 65534 65534" "$(stat -c '%a %u %g' his/x.data.1)"
	kill $!
	wait $! || true
	for broken in "" x -1 4294967295 "1 2" 99999999999999999999; do
		SUDO_UID=$broken ebprec record -q -o y.data -- true
		same "600 0 0" "$(stat -c '%a %u %g' y.data)"
		rm y.data
	done
}

# bats test_tags=long
@test "with file capabilities a user records the machine, and the command gets no capability" {
	mkdir -m 777 out
	cp "$(command -v ebprec)" "$(command -v ebprec-record)" .
	setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_checkpoint_restore,cap_syslog=ep ebprec-record ||
		skip "no file capabilities on this file system"
	user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	cd out
	$user ../ebprec record -q -F 997 -o x.data -a -- sh -c '
		grep Cap /proc/self/status >status; i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
	same "600 65534" "$(stat -c '%a %u' x.data)"
	same 3 "$(grep -cE 'Cap(Eff|Prm|Inh):.*0000000000000000' status)"
	contains "$(ebprec info x.data)" '"bpf": true'
	# This user cannot search the folder; neither can the command that the user records.
	mkdir -m 700 ../closed
	cp "$(type -P true)" ../closed
	run $user ../ebprec record -q -o y.data -- ../closed/true
	same 126 "$status"
	# SUDO_UID of a user means nothing.
	SUDO_UID=0 SUDO_GID=0 $user ../ebprec record -q -o z.data -- true
	same 65534 "$(stat -c %u z.data)"
	$user ../ebprec doctor >found || true
	contains "$(cat found)" "by capabilities"
	# Root's recorder starts helpers, of the same file, after it gave up its own rights.
	../ebprec record -q -o r.data -- true 2>err
	same "" "$(cat err)"
}

# planted - makes a sticky folder for all, in which an unprivileged user has put things
planted() {
	mkdir -m 1777 tmp
	echo precious >victim
	chmod 600 victim
	setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "$1"
}

@test "a link in the place of the capture is not followed" {
	planted 'ln -s ../victim tmp/x.data'
	refuses ebprec record -q -o tmp/x.data -- true
	contains "$stderr" "not a regular file"
	same precious "$(cat victim)"
}

@test "a link in the place of the older capture is replaced, not followed" {
	planted 'ln -s ../victim tmp/x.data.old'
	ebprec record -q -o tmp/x.data -- true
	ebprec record -q -o tmp/x.data -- true
	same precious "$(cat victim)"
	[ ! -L tmp/x.data.old ] || fail "still a link"
}

@test "a hard link in the place of the capture keeps its contents" {
	planted true
	ln victim tmp/x.data
	ebprec record -q -o tmp/x.data -- true
	same "precious 2" "$(cat victim) $(stat -c %h victim)"
	same "600 0 1" "$(stat -c '%a %u %h' tmp/x.data)"
}

@test "a folder that another user's link leads to is not entered" {
	mkdir etc
	planted 'ln -s ../etc tmp/dir'
	refuses ebprec record -q -o tmp/dir/x.data -- true
	contains "$stderr" "another user's link"
	same "" "$(ls etc)"
	# A link of one's own, there or elsewhere, is.
	ln -s ../etc tmp/own
	ebprec record -q -o tmp/own/x.data -- true
	[ -s etc/x.data ]
	# Nor behind a link of one's own.
	ln -s tmp/dir mine
	refuses ebprec record -q -o mine/y.data -- true
}
