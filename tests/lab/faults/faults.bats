#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The longer faults: `make check-faults`.  After each there is a capture that can be read, and an account
# of what is missing.

load ../../lib/helper
load ../../lib/metrics

setup() {
	need_bpf
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
}

teardown() {
	end_background
	[ -z "$mounted" ] || umount -l "$mounted"
	[ -z "$group" ] || rmdir "$group"
	[ -z "$cpu" ] || echo 1 >"$cpu"
}
mounted='' group='' cpu=''

busy() {
	storm 300 "$1" >/dev/null 2>&1 3>&- &
	load=$!
}

# ends_with WORDS - the recording of small/r.data failed with these words, in one line, and what was
# written before is there.  Where the account still found room, the rest is counted.
ends_with() {
	same 1 "$status"
	same "ebprec: cannot write 'small/r.data': $1 (what was recorded before is readable)" \
		"$(grep cannot err)"
	cp small/r.data r.data
	if ebprec info r.data | grep -qx '  state *unfinished'; then
		ebprec recover -q r.data
		ebprec info r.data | grep -qx '  any *no'
		perf script -i r.data 2>/dev/null | grep -q cpu-clock
		return
	fi
	intact r.data
	same failed "$(account r.data ended)"
	[ "$(account r.data lost samples)" -gt 0 ] || fail "nothing was lost"
}

record_small() {
	status=0
	"$@" ebprec-record -a -F 997 -q -o small/r.data sleep 60 2>err 3>&- || status=$?
}

@test "a full disk (tmpfs) ends the recording, and the capture is readable" {
	mkdir small
	mount -t tmpfs -o size=1200k none small
	mounted=$PWD/small
	busy 60
	record_small
	ends_with "No space left on device"
}

@test "a full disk (ext4) ends the recording, and the capture is readable" {
	truncate -s 4M image
	mkfs.ext4 -q -m 0 -O ^has_journal image
	mkdir small
	mount -o loop image small
	mounted=$PWD/small
	dd if=/dev/zero of=small/filler bs=64k count=36 2>/dev/null
	busy 60
	record_small
	ends_with "No space left on device"
}

@test "a quota that is reached ends the recording, and the capture is readable" {
	mkdir small
	busy 60
	record_small env LD_PRELOAD="$BUILD/tests/lab/faults/badwrite.so" BADWRITE_AFTER=1200000 BADWRITE_ERRNO=122
	ends_with "Disk quota exceeded"
}

@test "a limit of the file's size ends the recording, and the capture is readable" {
	mkdir small
	busy 60
	record_small sh -c 'ulimit -f 2400; exec "$@"' -
	ends_with "File too large"
}

# The kernel does this to a disk with errors; `mount -o remount,ro` is refused while a file is written.
@test "a disk that becomes read-only ends the recording, and the capture is readable" {
	truncate -s 64M image
	mkfs.ext4 -q -m 0 image
	mkdir small
	mount -o loop,errors=remount-ro image small
	mounted=$PWD/small
	device=$(findmnt -no SOURCE small)
	[ -w "/sys/fs/ext4/${device#/dev/}/trigger_fs_error" ] || skip "ext4 cannot be made to fail"
	busy 60
	record_small sh -c "(until [ -s small/r.data ]; do sleep 0.1; done; sleep 3; echo fault >/sys/fs/ext4/${device#/dev/}/trigger_fs_error) & exec \"\$@\"" -
	same 1 "$status"
	grep -qE "^ebprec: cannot write 'small/r.data': (Read-only file system|Input/output error) \(what" err ||
		fail "$(cat err)"
	# Nothing can be written any more, not even the account: what was flushed is there.
	cp small/r.data r.data
	ebprec info r.data >info.txt
	grep -qx '  state *unfinished' info.txt
	ebprec recover -q r.data
	ebprec info r.data | grep -qx '  any *no'
	perf script -i r.data 2>/dev/null | grep -q cpu-clock
}

@test "a slow disk: what the rings cannot hold is counted" {
	busy 60
	LD_PRELOAD=$BUILD/tests/lab/faults/badwrite.so BADWRITE_MS=400 \
		ebprec-record -a -F 997 -m 128K -q -o r.data sleep 8 3>&- 2>err
	intact r.data
	all=$(weight '^ *(events|side records) lost ' <info.txt)
	[ "$all" -gt 0 ] || fail "nothing was lost"
	# perf reads them as many.
	same "$all" "$(perf script --show-lost-events -i r.data 2>/dev/null | lost_by_perf)"
}

@test "a recorder that stands still for a while, as in a suspend: what the rings cannot hold is counted" {
	busy 60
	ebprec-record -a -F 997 -m 128K -q -o r.data sleep 8 2>err 3>&- &
	pid=$!
	sleep 2
	kill -STOP $pid
	sleep 3
	kill -CONT $pid
	wait $pid
	intact r.data
	all=$(sed -n 's/^ *events lost *\([0-9]*\).*/\1/p' info.txt)
	[ "$all" -gt 0 ] || fail "nothing was lost"
}

@test "a reader of a pipe that stops for a while: what the rings cannot hold is counted" {
	busy 60
	ebprec-record -a -F 997 -m 128K -q -o - sleep 8 2>err 3>&- | { head -c 65536; sleep 5; cat; } >p
	ebprec info p >info.txt
	grep -qx '  state *finished' info.txt
	grep -qx '  any *no' info.txt
	all=$(sed -n 's/^ *events lost *\([0-9]*\).*/\1/p' info.txt)
	[ "$all" -gt 0 ] || fail "nothing was lost"
	same "$(account p samples)" "$(perf script -F event -i - <p 2>/dev/null | grep -cE 'cpu-clock|cycles')"
}

@test "a reader of a pipe that never reads: the recorder ends when it is asked to" {
	mkfifo pipe
	sleep 600 <>pipe 3>&- &
	load=$!
	dd if=/dev/zero of=pipe bs=4096 count=16 oflag=nonblock 2>/dev/null || true # a user with many pipes gets small ones
	ebprec-record -a -q -o - -d 600 >pipe 2>err 3>&- &
	pid=$!
	# Until it reads signals itself.
	while [ $((0x$(pick_fields 1 SigBlk: 2 </proc/$pid/status) & 0x4000)) -eq 0 ]; do
		sleep 0.1
	done
	kill $pid
	status=0
	wait $pid || status=$?
	same 1 "$status"
	contains "$(cat err)" "cannot write 'standard output': Connection timed out (its reader does not read)"
}

# The recorded command that brings CPU 1 back: it waits until the recorder knows, and runs a program there
# for 2 s.
# shellcheck disable=SC2016 # for that shell
back='echo 1 >/sys/devices/system/cpu/cpu1/online; sleep 1.5; exec taskset -c 1 shares 2'

# gap - from and to, of the only CPU that was not sampled for a while
gap() {
	account_json r.data | jq -r '.cpus_not_sampled | if map(.cpu) == [1] then .[0] else error("not one gap of CPU 1") end |
		"\(.from_mono_ns) \(.to_mono_ns // "")"'
}

# sampled_again - CPU 1 is sampled again, and the capture has the time for which it was not: perf finds samples
# of the program there for as long as the program ran by the context switches
sampled_again() {
	same 1 "$(grep -c '^ebprec: CPU 1 came online: it is sampled again, after ' err)"
	same 0 "$(account r.data lost broken_events)"
	ebprec summary -q r.data | grep -A1 '^cpu ' | grep -q '^  1 ' || fail "the summary does not show it"
	read -r from to <<<"$(gap)"
	pid=$(ebprec info --json r.data | jq '.meta.text | fromjson | .options.command_pid')
	ran_ns=$(ebprec summary -q --json -n 1000 r.data |
		jq --argjson pid "$pid" '.processes[] | select(.pid == $pid and .comm == "shares").cpu_time_ns')
	read -r _ seen during <<<"$(perf script -i r.data -F event,pid,cpu,time 2>/dev/null | tr -d '[]:' |
		awk -v "from=$from" -v "to=$to" -v "thread=$pid" -f "$TEST_LIB/cpu_samples.awk")"
	want=$((ran_ns * 997 / 1000000000))
	{ [ "$want" -ge 100 ] && [ "$seen" -ge $((want * 9 / 10)) ] && [ "$seen" -le $((want * 11 / 10)) ] && [ "$during" -eq 0 ]; } ||
		fail "$seen samples of $want, $during during the gap: $(cat err)"
}

@test "a CPU that goes offline and comes back is sampled again, and the gap is recorded" {
	cpu=/sys/devices/system/cpu/cpu1/online
	[ -w $cpu ] || skip "no CPU can be taken away here"
	for how in "" --no-bpf; do
		# shellcheck disable=SC2086 # no word, or one
		ebprec-record -a -F 997 $how -o r.data sh -c "sleep 0.5; echo 0 >$cpu; sleep 1; $back" 3>&- 2>err >printed
		intact r.data
		same 1 "$(grep -c '^ebprec: CPU 1 went offline$' err)"
		sampled_again
		# It was away for a second, and for the time that it took to be noticed.
		read -r from to <<<"$(gap)"
		[ $((to - from)) -ge 900000000 ] && [ $((to - from)) -lt 3000000000 ] || fail "$from to $to"
	done
}

# So does suspend with all CPUs but the first: no process sees them offline.
@test "a CPU that goes offline and is back at once is sampled again, and the gap is recorded" {
	cpu=/sys/devices/system/cpu/cpu1/online
	[ -w $cpu ] || skip "no CPU can be taken away here"
	ebprec-record -a -F 997 -o r.data sh -c "sleep 0.5; echo 0 >$cpu; $back" 3>&- 2>err >printed
	intact r.data
	sampled_again
}

# About 2 s of a program on CPU 1, and one that touches 1009 fresh pages.
@test "a CPU that goes offline and comes back is counted again by perf events of pmu and faults" {
	cpu=/sys/devices/system/cpu/cpu1/online
	[ -w $cpu ] || skip "no CPU can be taken away here"
	ebprec-record -a -F 99 --with pmu,faults --pmu cpu-clock,page-faults -o r.data sh -c "sleep 0.5; echo 0 >$cpu
		sleep 0.3; echo 1 >$cpu; sleep 1.5; taskset -c 1 leaks >/dev/null; exec taskset -c 1 shares 2" \
		3>&- 2>err >printed
	intact r.data
	same 1 "$(grep -c '^ebprec: CPU 1 came online: it is sampled again, after ' err)"
	same 0 "$(grep -c 'does not count' err || true)"
	ran_ns=$(ebprec summary -q --json -n 1000 r.data | jq '[.processes[] | select(.comm == "shares").cpu_time_ns] | add')
	[ "$ran_ns" -gt 500000000 ] || fail "it ran $ran_ns ns"
	got=$(field r.data pmu comm=shares cpu_clock)
	[ "$got" -gt $((ran_ns * 9 / 10)) ] && [ "$got" -lt $((ran_ns * 11 / 10)) ] || fail "$got of $ran_ns ns"
	# One stack in 10 ms is drawn of it.
	got=$(ebprec report -q --of pmu_cpu_clock --folded -i r.data | weight '^shares;')
	[ "$got" -gt $((ran_ns / 2)) ] && [ "$got" -lt $((ran_ns * 2)) ] || fail "$got of $ran_ns ns are drawn"
	[ "$(field r.data pmu comm=leaks page_faults)" -ge 1009 ] || fail "$(ebprec metrics pmu -i r.data)"
	[ "$(ebprec report -q --of faults --folded -i r.data | weight '^leaks;')" -ge 485 ] ||
		fail "$(ebprec metrics faults -i r.data)"
	# The counter goes on from its value before: the sum is no more than there was time.
	read -r from to <<<"$(ebprec info --json r.data | jq -r '.time | "\(.first_sample_ns) \(.last_sample_ns)"')"
	all=$(field r.data pmu '' cpu_clock --top 0)
	[ "$all" -lt $(((to - from + 500000000) * 2)) ] || fail "$all ns from $from to $to"
}

@test "a CPU that was offline when the recording began" {
	cpu=/sys/devices/system/cpu/cpu1/online
	[ -w $cpu ] || skip "no CPU can be taken away here"
	echo 0 >$cpu
	ebprec-record -a -F 997 -o r.data sh -c "sleep 0.5; $back" 3>&- 2>err >printed
	intact r.data
	sampled_again
}

@test "a CPU that comes back when its events cannot be opened any more: noted, and in the account" {
	cpu=/sys/devices/system/cpu/cpu1/online
	[ -w $cpu ] || skip "no CPU can be taken away here"
	# shellcheck disable=SC2016 # for that shell
	ebprec-record -a -F 997 -q -o r.data sh -c '
		kill -KILL $(pgrep -P $PPID -f "record --reopene[r]")
		echo 0 >'$cpu'; sleep 0.3; echo 1 >'$cpu'; sleep 1.5' 3>&- 2>err
	intact r.data
	same "ebprec: CPU 1 came online: what runs on it is not sampled, and what starts there has no name: Broken pipe (record anew)" \
		"$(grep "CPU 1" err)"
	read -r from to <<<"$(gap)"
	[ "$from" -gt 0 ] && [ -z "$to" ] || fail "$from $to"
	ebprec summary -q r.data | grep -A1 '^cpu ' | grep -q '^  1 .* -$' || fail "the summary does not show it"
}

@test "with little memory a recording succeeds or is refused in one line" {
	root=/sys/fs/cgroup/memory
	[ -w $root/memory.limit_in_bytes ] || skip "no memory cgroup (v1)"
	group=$root/ebprec-fault
	mkdir $group
	for mib in 16 48 96 256; do
		echo "${mib}M" >$group/memory.limit_in_bytes
		status=0
		rm -f r.data
		sh -c "echo \$\$ >$group/cgroup.procs; exec ebprec-record -a -F 997 -q -o r.data sleep 2" \
			2>err 3>&- || status=$?
		echo "# $mib MiB: status $status, $(head -1 err)" >&3
		case $status in
		0) intact r.data ;;
		137) # the kernel's doing: what was flushed is there
			[ ! -s r.data ] || ebprec recover -q r.data ;;
		*)
			same 1 "$status"
			same 1 "$(wc -l <err)"
			;;
		esac
	done
	same 0 "$status"
}

@test "ten thousand processes are recorded" {
	crowd 10000 >ready 3>&- &
	load=$!
	for _ in $(seq 600); do
		[ ! -s ready ] || break
		sleep 0.1
	done
	ebprec-record -a -F 99 -q -o r.data sleep 2 3>&-
	kill $load
	intact r.data
	[ "$(perf script --show-task-events -i r.data 2>/dev/null |
		grep -c 'PERF_RECORD_COMM: crowd:')" -ge 10000 ] || fail "names are missing"
	same 0 "$(account r.data lost side_records)"
}

@test "a backlog or a rotated file that finds no space on the disk is reported in one line" {
	mkdir small
	mount -t tmpfs -o size=500k none small
	mounted=$PWD/small
	busy 60
	status=0
	ebprec-record -a -F 997 -q --ring 60s -o small/r.data sleep 6 2>err 3>&- || status=$?
	ends_with "No space left on device"
	rm small/*
	mount -o remount,size=1500k small
	status=0
	ebprec-record -a -F 997 -q --rotate 600K -o small/r.data sleep 60 2>err 3>&- || status=$?
	same 1 "$status"
	same 1 "$(grep -c '^ebprec: cannot write .*No space left on device' err)"
	cp small/r.data r.data
	intact r.data
}

@test "pressure triggers a snapshot" {
	[ -r /proc/pressure/cpu ] || skip "no PSI here"
	for _ in 1 2 3 4 5 6; do
		shares 4 >/dev/null 3>&- &
	done
	ebprec-record -a --ring 10s --trigger psi:cpu:some:5ms/2s -q -o r.data sleep 4 3>&-
	intact r.data.1
	same psi:cpu:some:5ms/2s "$(account r.data.1 ended)"
	[ ! -e r.data.2 ] || fail "twice within 10 s"
}

@test "a long wait for a CPU triggers a snapshot, a shorter one does not" {
	taskset -c 0 shares 60 >/dev/null 3>&- &
	load=$!
	taskset -c 0 chrt -i 0 shares 4 >/dev/null 3>&- &
	# The thread that waits may have no unwind tables yet: what triggered belongs into the snapshot all the same.
	EBPREC_TABLE_CACHE=$PWD/none ebprec-record -a --ring 10s --trigger runq:2ms -q -o r.data sleep 3 3>&-
	intact r.data.1
	same runq:2ms "$(account r.data.1 ended)"
	[ ! -e r.data.2 ] || fail "twice within 10 s"
	# perf finds such a wait in it, too.
	most_ms=$(perf sched latency -i r.data.1 2>/dev/null | sed -nE 's/.*max: *([0-9]+)\..*/\1/p' | sort -n | tail -n 1)
	[ "$most_ms" -ge 2 ] || fail "at most $most_ms ms"
	ebprec-record -a --ring 10s --trigger runq:60s -q -o s.data sleep 2 3>&-
	[ ! -e s.data.1 ] || fail "no thread waited for a minute"
}

@test "a file system that does not answer costs what is in its files, not the recording" {
	mkdir far
	stuckfs far "$(command -v shares)" >printed 3>&- &
	served=$!
	await grep -q mounted printed
	far/program 600 >/dev/null 2>&1 3>&- &
	load=$!
	# It runs, and needs no more of its file.
	has_run() { [ "$(pick_fields 2 '(program)' 14 <"/proc/$load/stat")" -gt 20 ]; }
	await has_run
	kill -USR1 $served
	timeout -s KILL 100 ebprec-record -a -F 997 -q --duration 3 -o r.data 2>err 3>&- || fail "$(cat err)"
	same 1 "$(grep -c "the file system of '$PWD/far/program' does not answer: " err)"
	# From here on there is an error where there was no answer.
	kill -TERM $served
	wait $served
	intact r.data
	# Nothing is known of its file, but that it ran.
	ebprec script -i r.data -F comm,ip,sym,dso 2>/dev/null >out
	grep -q '^program' out || fail "no samples of it"
	grep -q '(.*/far/program)' out || fail "without its file"
}

@test "another user's request is not answered" {
	ebprec-record -a --ring 10s -q -o r.data sleep 3 3>&- &
	pid=$!
	sleep 1
	refuses as_unprivileged "$(command -v ebprec)" snapshot $pid
	wait $pid
	[ ! -e r.data.1 ]
}

# EBPREC_RING_SECONDS=3600 is the hour.
@test "a backlog that records for a long time takes constant memory" {
	busy 3700
	ebprec-record -a --ring 10s -q -o r.data sleep "${EBPREC_RING_SECONDS:-60}" 3>&- &
	pid=$!
	sleep 25
	first=$(pick_fields 1 VmRSS: 2 </proc/$pid/status)
	while [ -e /proc/$pid ]; do
		rss=$({ pick_fields 1 VmRSS: 2 </proc/$pid/status; } 2>/dev/null)
		last=${rss:-$last}
		sleep 1
	done
	wait $pid
	intact r.data
	echo "# $first KiB after 25 s, $last KiB at the end" >&3
	[ "$last" -lt $((first * 5 / 4 + 4096)) ] || fail "grew from $first to $last KiB"
}
