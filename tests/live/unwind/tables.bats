#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# It runs alone: it starts a thousand programs a second, and the kernel counts runs of the sampler
# The recorder when unwinding gets hard: no room, broken files, files that change, many programs.
# It survives, and every sample and every stack is accounted for.
load ../../lib/helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	local src=$BATS_TEST_DIRNAME/../../lib/fixtures
	cc -O2 -fomit-frame-pointer -o stand "$src/stand.c" -ldl -lpthread
	cc -O2 -fomit-frame-pointer -shared -fPIC -o callback.so "$src/callback.c"
	sysctl -n kernel.bpf_stats_enabled >stats
	sysctl -qw kernel.bpf_stats_enabled=1 # the kernel counts the sampler's runs
}

teardown_file() {
	sysctl -qw kernel.bpf_stats_enabled="$(cat "$BATS_FILE_TMPDIR/stats")"
}

setup() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	pids=()
}

teardown() {
	[ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || true
}

# adds_up FILE - each event that the kernel counted was recorded or is counted as lost, and each recorded
# stack has the way it was found and the reason why it ends.
adds_up() {
	account_json "$1" | perl "$TEST_LIB/stacks_add_up.pl"
	# The file has as many samples as its account.
	same "$(account "$1" samples)" "$(ebprec info --json "$1" | jq 'first(.blocks[] | select(.stream == "cpu")).samples')"
}

# stands WORDS... - starts a program and waits until it stands.
stands() {
	rm -f out.txt
	"$@" >out.txt 3>&- &
	pids+=($!)
	for _ in $(seq 100); do
		! grep -q ready out.txt || return 0
		sleep 0.05
	done
	fail "$* does not stand"
}

# bats test_tags=long
@test "with one megabyte for tables, code without space is reported" {
	# A compiler's table alone is larger.
	printf '#include <%s.h>\n' stdio stdlib string math time >a.c
	for i in $(seq 120); do echo "int f$i(int a) { int s = 0; while (a--) s += a * a / $i; return s; }"; done >>a.c
	ebprec record -q -a -F 999 --tables 1M -o cap.data -- cc -O2 -c -o a.o a.c
	adds_up cap.data
	[ "$(account cap.data user_stacks tables bytes)" -le 1048576 ]
	[ "$(account cap.data user_stacks tables no_room)" -ge 1 ]
	[ "$(account cap.data user_stacks end "no room for the unwind table (see record --tables)")" -gt 20 ]
	ebprec report -i cap.data 2>&1 >/dev/null | grep -q 'in cc1.*no room for the unwind table'
	# With space for it they are complete.
	ebprec record -q -a -F 999 -o room.data -- cc -O2 -c -o a.o a.c
	same 0 "$(account room.data user_stacks tables no_room)"
}

# bats test_tags=long
@test "with a ring of 64 KiB, lost events are counted" {
	stands ./stand deep 200
	stands ./stand deep 200
	# shellcheck disable=SC2016 # for sh
	ebprec record -q -a -F 999 -m 128K -o ring.data -- sh -c '
		kill -STOP $PPID; sleep 0.5; kill -CONT $PPID; sleep 0.2' 2>messages
	contains "$(cat messages)" lost
	adds_up ring.data
	[ "$(account ring.data lost samples)" -gt 10 ] || fail "only $(account ring.data lost samples)"
}

# damage FILE HOW - as compilers never write it.
damage() {
	local off size
	read -r off size < <(readelf -SW "$1" | sed -nE 's/.* \.eh_frame +[A-Z0-9_]+ +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) .*/\1 \2/p')
	perl "$TEST_LIB/damage_section.pl" "$1" "$2" "$off" "$size"
}

# bats test_tags=long
@test "programs with a damaged .eh_frame are recorded, and every stack is accounted for" {
	for how in noise ones lengths sections codes; do
		cp stand "stand-$how"
		damage "stand-$how" "$how"
		stands "./stand-$how" deep 20
	done
	ebprec record -q -a -F 499 -d 1 -o damaged.data
	adds_up damaged.data
	kill -KILL "${pids[@]}"
	ebprec report --folded -i damaged.data 2>/dev/null | cut -d';' -f1 | sort -u >seen
	for how in noise ones lengths sections codes; do
		grep -qx "stand-$how" seen || fail "no stand-$how"
	done
}

# bats test_tags=long
@test "files that are truncated and replaced while they are mapped do not stop the recorder" {
	{
		for i in $(seq 30); do
			cp callback.so "gone-$i.so"
			timeout 0.2 ./stand library "$PWD/gone-$i.so" >/dev/null &
			sleep 0.02
			case $((i % 3)) in
			0) : >"gone-$i.so" ;;             # it dies of it
			1) cp stand new && mv new "gone-$i.so" ;;
			2) rm "gone-$i.so" ;;
			esac
		done
		wait
	} 3>&- 2>/dev/null &
	ebprec record -q -a -F 499 -d 1.5 -o gone.data
	wait
	adds_up gone.data
	ebprec report -i gone.data >/dev/null 2>&1
}

# recording OPTIONS... - starts a recorder in the background, in $recorder, and waits for its first event.
recording() {
	rm -f late.data
	"$BUILD/ebprec-record" -q -F 997 --without sched --table-cache none -o late.data "$@" 3>&- &
	recorder=$!
	pids+=($!)
	for _ in $(seq 200); do
		[ ! -e late.data ] || return 0
		sleep 0.05
	done
	fail "the recorder does not begin"
}

finish() {
	kill -INT "$recorder"
	wait "$recorder" || true # 130 is for two signals
}

# bats test_tags=long
@test "a table that is not ready yet: the stacks have the reason" {
	local worker
	command -v strace >/dev/null || skip "needs strace"
	cc -O2 -fomit-frame-pointer -DROWS=10 -o rows "$BATS_TEST_DIRNAME/../../lib/fixtures/rows.c"
	recording -a --call-graph cfi
	# The process that makes the tables: each of its reads takes half a second from here on.
	await pgrep -P "$recorder" -f elf-worker >worker.pid
	worker=$(cat worker.pid)
	strace -q -p "$worker" -e trace=pread64 -e inject=pread64:delay_enter=500000 -o /dev/null 2>messages 3>&- &
	pids+=($!)
	for _ in $(seq 100); do
		! grep -q '^TracerPid:.*[1-9]' "/proc/$worker/status" || break
		sleep 0.05
	done
	echo | ./rows 700
	kill -INT "${pids[-1]}"
	finish
	adds_up late.data
	[ "$(account late.data user_stacks end "unwind table not ready")" -gt 20 ] ||
		fail "$(ebprec info late.data | grep -A9 -i 'stacks')"
	ebprec report --comm rows -i late.data 2>&1 >/dev/null | grep -q 'in rows: sampled before its unwind table was built'
}

# makes_room SECONDS - a program runs so long that needs the room of another one's table, which waits.
makes_room() {
	local waiting
	rm -f "$BATS_TEST_TMPDIR/go" "$BATS_TEST_TMPDIR/idle"
	mkfifo -m 600 "$BATS_TEST_TMPDIR/go" "$BATS_TEST_TMPDIR/idle"
	# Both wait; the second is a shell until it reads a line, so that the first has its table before.
	./rows-idle 0 <>"$BATS_TEST_TMPDIR/idle" 3>&- &
	pids+=($!)
	sh -c 'read -r _; exec ./rows-busy 100000' <>"$BATS_TEST_TMPDIR/go" 3>&- &
	waiting=$!
	pids+=("$waiting")
	recording -p "${pids[-2]},$waiting" --tables 1M --call-graph cfi
	printf '\n\n' >"$BATS_TEST_TMPDIR/go" # a line for each
	sleep "$1"
	finish
	ebprec report --folded --last 200ms --comm rows-busy -i late.data >folded.txt 2>/dev/null
}

# bats test_tags=long
@test "unused tables are removed when others need the space" {
	local stack='_start;.*main;rows_outer;rows_inner'
	cc -O2 -fomit-frame-pointer -DROWS=100000 -o rows-idle "$BATS_TEST_DIRNAME/../../lib/fixtures/rows.c"
	cc -O2 -fomit-frame-pointer -DROWS=70000 -o rows-busy "$BATS_TEST_DIRNAME/../../lib/fixtures/rows.c"
	makes_room 3
	# Room that was not there yet is looked for again after 5 s: a slow machine needs these.
	grep -q "$stack" folded.txt || makes_room 15
	grep -q "$stack" folded.txt || fail "not complete at the end"
	[ "$(account late.data user_stacks tables evicted)" -ge 1 ] || fail "nothing left"
	[ "$(account late.data user_stacks tables no_room)" -ge 1 ]
	[ "$(account late.data user_stacks end "no room for the unwind table (see record --tables)")" -ge 1 ]
}

# With STORM_SECONDS=10: make storm.
# bats test_tags=long
@test "a thousand programs a second" {
	ebprec record -q -a -F 499 -o storm.data -- storm 1000 "${STORM_SECONDS:-2}" >started
	adds_up storm.data
	[ "$(cat started)" -gt 100 ] || fail "only $(cat started) programs"
	# Rings and maps are 30 MB of it on two CPUs; what is left does not grow with the programs.
	[ "$(account storm.data own_memory_peak_bytes)" -lt $((64 + 16 * $(nproc) + 32))000000 ]
	same 0 "$(account storm.data user_stacks processes_without_room)"
	# On a machine that is busy with other things, too, a few may be.
	lost=$(account storm.data lost samples)
	[ $((lost * 100)) -le "$(account storm.data samples)" ] || fail "$lost samples lost"
}
