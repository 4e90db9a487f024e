#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Instruments against programs of others in the same recording: fio with io_uring, perf, tcpstates and
# biolatency of libbpf-tools, strace -c of a 32-bit program, taskset and chrt; and heap with allocators of
# others, against a program that knows what it forgot.

load ../../lib/helper
load ../../lib/metrics

# A tool that has its programs in the kernel when this returns.
begin() {
	"$@" >"$1.txt" 2>"$1.err" 3>&- &
	local tool=$!
	for _ in {1..400}; do
		! find "/proc/$tool/fd" -lname '*bpf_link' -o -lname '*bpf-prog' 2>/dev/null | grep -q . || break
		sleep 0.05
	done
	sleep 0.5
	tools+=("$tool")
}

setup_file() {
	[ "$(id -u)" -eq 0 ] || return 0
	PATH=$PATH:/usr/sbin
	cd "$BATS_FILE_TMPDIR" || return
	read -r folder name < <(disk_folder "$PWD" "$BUILD" /var/tmp)
	echo "${name:-none}" >disk
	export FILE=${folder:-.}/fio.$$ HERE=$BATS_TEST_DIRNAME
	gcc -m32 -O1 -o calls32 "$HERE/calls32.c"
	tools=()
	begin tcpstates
	begin biolatency
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -aq --without sched,mark --with syscalls,block,exits,runq,tcp -o w.data -- bash -c '
		strace -c -o strace.txt ./calls32 >calls
		grep -w "$(cat disk)" /proc/diskstats >disk0
		perf record -aqe block:block_rq_issue -o perf.data -- fio --name=w --ioengine=io_uring --direct=1 \
			--rw=write --bs=12k --size=1212k --iodepth=8 --filename="$FILE" >fio.txt 2>perf.err
		grep -w "$(cat disk)" /proc/diskstats >disk1
		cpu=$(taskset -cp $$ | sed "s/.*[-,: ]//")
		echo "$cpu" >cpu
		one() { echo "$1 $(taskset -c "$cpu" "${@:2}" sh -c "echo \$\$")"; }
		{
			one fifo chrt -f 3
			one rr chrt -r 11
			one batch chrt -b 0
			one idle chrt -i 0
			one nice nice -n 7
		} >policies
		perl "$HERE/../../live/metric/tcp.pl" >connections' 2>err 3>&- || true
	kill -INT "${tools[@]}"
	wait "${tools[@]}" || true
	rm -f "$FILE"
}

setup() {
	need_bpf
	need_perf
	cd "$BATS_FILE_TMPDIR" || return
	same 0 "$(account w.data lost rows)"
}

@test "a 32-bit program: strace -c, call by call" {
	pid=$(cat calls)
	n=0
	while read -r count errors name; do
		same "$name $count $errors" "$name $(field w.data syscalls "syscall=$name (32-bit)" count --pid "$pid" --by syscall) $(field w.data syscalls "syscall=$name (32-bit)" errors --pid "$pid" --by syscall)"
		n=$((n + 1))
	done < <(sed -n '/32 bit mode/,$p' strace.txt | strace_counts | grep -v '_group\|execve\| total$')
	[ "$n" -ge 8 ] || fail "$(cat strace.txt)"
	same 307 "$(field w.data syscalls "syscall=getppid (32-bit)" count --pid "$pid" --by syscall)"
	[ "$(field w.data syscalls "syscall=access (32-bit)" errors --pid "$pid" --by syscall)" -ge 101 ]
}

@test "block: io_uring's direct writes of fio, as fio, perf and /proc/diskstats have them" {
	[ "$(cat disk)" != none ] || skip "no folder is on a disk"
	grep -q 'issued rwts: total=0,101,0,0' fio.txt || fail "$(cat fio.txt perf.err)"
	got=$(ebprec metrics block -i w.data --json --by process,disk |
		jq -r '[.tables[0].rows[] | select(.comm | test("^(fio|iou-)"))] | "\(map(.write_ios) | add) \(map(.write_bytes) | add)"')
	# perf counts for the thread that hands a request to the device, which may be a kernel thread.
	ios=$(perf script -f -i perf.data -F comm,trace 2>/dev/null | grep -cw 12288)
	[ "$ios" -ge 101 ] || fail "perf saw $ios"
	# fio may have what the file system writes for it besides.
	read -r n b <<<"$got"
	[ "$n" -ge 101 ] && [ "$b" -ge $((101 * 12288)) ] || fail "want 101 of 12288 bytes, got $got"
	read -r all_n all_b < <(written_between disk0 disk1)
	[ "$n" -le "$all_n" ] && [ "$b" -le "$all_b" ] || fail "$got, but the disk had $all_n $all_b"
}

@test "block: no more requests than biolatency has" {
	all=$(pick_fields 2 '->' 5 <biolatency.txt | sum_field 1)
	got=$(field w.data block_ops '' ios --by disk)
	[ "$got" -ge 101 ] || [ "$(cat disk)" = none ] || fail "only $got"
	# It does not count requests whose end the kernel does not report.
	unseen=$(field w.data block_ops '' unseen --by disk)
	[ $((got - unseen)) -le "$all" ] || fail "$got of $all, $unseen unseen"
}

@test "exits and runq: taskset and chrt" {
	cpu=$(cat cpu)
	while read -r name pid; do
		case $name in
		fifo) want="FIFO 96 0" ;; # the kernel counts from the other end
		rr) want="RR 88 0" ;;
		batch) want="BATCH 120 0" ;;
		idle) want="IDLE 120 0" ;;
		nice) want="OTHER 127 7" ;;
		esac
		policy=${want%% *}
		prio=$(field w.data exits "pid=$pid,policy=$policy" prio)
		same "$name $want $cpu" "$name $policy $prio $(field w.data exits "pid=$pid,policy=$policy" nice) $(field w.data exits "pid=$pid,policy=$policy" cpu)"
		same "$name $prio" "$name $(field w.data runq "pid=$pid" prio)"
	done <policies
	same 5 "$(wc -l <policies)"
}

@test "tcp: each change of state that tcpstates saw of these connections" {
	while read -r _ _ _ port; do
		stood=$(pick_fields 7 "$port" 8 10 <tcpstates.txt | grep -c '^SYN_SENT ESTABLISHED$')
		[ "$stood" -gt 0 ] || fail "$(cat tcpstates.txt tcpstates.err)"
		same "$port $stood" "$port $(ebprec metrics tcp_connects -i w.data --csv | grep -c ",$port,[^,]*,ok$")"
	done <connections
}

@test "heap: allocators of others" {
	n=0
	for lib in /usr/lib/x86_64-linux-gnu/lib{jemalloc.so.2,tcmalloc_minimal.so.4}; do
		ebprec record -q --without sched,mark --with heap --heap-lib "$lib" --sample-bytes 1 -o h.data -- \
			env "LD_PRELOAD=$lib" leaks >leaked 2>err || fail "$(cat err)"
		missed=$(account h.data lost interrupted)
		ebprec report --of heap -i h.data --folded >folded 2>/dev/null
		while read -r _ function _ bytes; do
			got=$(weight ";$function [0-9]+$" <folded)
			[ "$got" -ge $((bytes - missed * 6007)) ] && [ "$got" -le $((bytes + missed * 6007)) ] ||
				fail "$lib: $function forgot $bytes, got $got, $missed missed"
			n=$((n + 1))
		done < <(grep ^leaked leaked)
	done
	same 8 "$n"
}
