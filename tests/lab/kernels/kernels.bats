#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Recordings on a stock Debian kernel, read outside of it.  EBPREC_KERNEL is a folder that fetch made.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"
# shellcheck source=tests/lib/metrics.bash
. "$BATS_TEST_DIRNAME/../../lib/metrics.bash"

# boot JOB [KERNEL WORDS...] - what the job left is in $OUT/JOB
boot() {
	"$BATS_TEST_DIRNAME/boot" "$EBPREC_KERNEL" "$BATS_FILE_TMPDIR/initramfs" "$OUT/$1" "$@"
}

setup_file() {
	: "${EBPREC_KERNEL:?}"
	export OUT=$BATS_FILE_TMPDIR/out
	"$BATS_TEST_DIRNAME/pack" "$EBPREC_KERNEL" "$BUILD" "$BATS_FILE_TMPDIR/initramfs"
	boot load
	boot limits
	boot lockdown lockdown=confidentiality
	boot metrics
	boot cpus
	for job in load limits lockdown metrics cpus; do
		echo "# $job: booted in $(cat "$OUT/$job/boot_s") s, done after $(cat "$OUT/$job/end_s") s" >&3
	done
}

setup() {
	need_perf
	cd "$OUT/load" || return
	export HOME=$BATS_TEST_TMPDIR PERF_BUILDID_DIR=$BATS_TEST_TMPDIR/debug
}

# folded FILE - its stacks, as text
folded() {
	ebprec report --folded -i "$1" 2>/dev/null
}

# complete FILE - prints samples with a user stack, and how many of these are complete
complete() {
	ebprec report -i "$1" 2>&1 >/dev/null |
		sed -n 's/.* samples, \([0-9]*\) with a user stack; \([0-9]*\) of these complete.*/\1 \2/p'
}

# words NAME - prints the step's messages, without those that a slow emulator made it lose something, that
# there is no PMU, and that command lines are not read without BPF
words() {
	grep -vE 'no hardware counters here|, [0-9]+ lost( \([0-9]+ of them samples\))?, [0-9.]+ s of CPU$|: cannot read command lines: |recording began after [0-9]+ s of waiting|no answer in time|only [0-9]+ of about [0-9]+ samples' \
		"$1.err" || true
}

# recorded NAME - the step succeeded, and printed no other message
recorded() {
	same 0 "$(cat "$1.status")"
	same '' "$(words "$1")"
}

# refused NAME LINE - the step failed with this line, and left no file
refused() {
	same "ebprec: $2" "$(cat "$1.err")"
	same 1 "$(cat "$1.status")"
	[ ! -e "$1.data" ] || fail "left a file"
}

@test "the kernel that ran is the one that was meant" {
	contains "$(grep -m1 'Linux version' dmesg)" "$(cat "$EBPREC_KERNEL/release")"
	contains "$(ebprec info shares.data)" "$(cat "$EBPREC_KERNEL/release")"
}

# shared FILE - shares spent its time as 3:2:1, under the complete chain of calls
shared() {
	# Emulated, on a machine that others use, too: what is exact is tested outside.
	folded "$1" | grep '^shares;' | awk -v least=101 -v named=85 -v slack=0.15 -f "$TEST_LIB/shares.awk" >&2
}

@test "time is shared 3:2:1, under the complete chain of calls" {
	recorded shares
	shared shares.data
}

@test "stacks of a program without frame pointers are complete" {
	recorded xz
	read -r samples full <<<"$(complete xz.data)"
	[ "$samples" -gt 200 ] && [ $((full * 1000)) -ge $((samples * 995)) ] ||
		fail "$full of $samples are complete"
	folded xz.data | grep '^xz;.*__libc_start_main.*;liblzma\.so[^;]*+0x' >/dev/null
}

@test "stacks of a Python program have its frames, and those that the program has" {
	recorded python
	folded python.data >"$BATS_TEST_TMPDIR/folded"
	python3 "$BATS_TEST_DIRNAME/../../lib/python/stacks.py" check python.truth <"$BATS_TEST_TMPDIR/folded" \
		>"$BATS_TEST_TMPDIR/counts" 2>"$BATS_TEST_TMPDIR/others"
	read -r all merged equal <"$BATS_TEST_TMPDIR/counts"
	if [ "$all" -le 100 ] || [ $((merged * 100)) -lt $((all * 99)) ] || [ "$equal" -ne "$merged" ]; then
		fail "$all stacks, $merged joined, $equal known: $(sort "$BATS_TEST_TMPDIR/others" | head -5)"
	fi
}

@test "kernel frames have the names of the kernel that ran" {
	folded short.data | grep ';do_syscall_64;' >/dev/null
	folded short.data | grep do_execveat_common >/dev/null
}

@test "a trampoline of ftrace that is made during a recording has its name, its caller and its callee" {
	recorded trampoline
	folded trampoline.data | grep ';__x64_sys_kill;ftrace_trampoline;function_trace_call' >/dev/null
}

@test "every switch is there, as the kernel counted them" {
	recorded pingpong
	[ "$(wc -l <pingpong.out)" -eq 2 ]
	while read -r pid voluntary involuntary; do
		# It may wait or be preempted some more between counting and its end.
		read -r slept ran <<<"$(switches pingpong.data "$pid")"
		[ "$slept" -ge "$voluntary" ] && [ "$slept" -le $((voluntary + 20)) ] &&
			[ "$ran" -ge "$involuntary" ] && [ "$ran" -le $((involuntary + 20)) ] ||
			fail "$pid: $slept $ran, not $voluntary $involuntary"
	done <pingpong.out
	same 0 "$(account pingpong.data lost switches)"
}

@test "23 marks in, 23 marks out, with thread and text" {
	recorded marks
	perf script -i marks.data -F tid,event,trace 2>/dev/null | grep ebprec:mark |
		sed 's/^ *\([0-9]*\) .*ebprec:mark: \(.*\)$/\1 \2/' >"$BATS_TEST_TMPDIR/got"
	sed 's|\([0-9]*\) \([0-9]*\)|\1 g\2/n \2 dur=0 ns: text \2|' marks.out >"$BATS_TEST_TMPDIR/want"
	[ "$(wc -l <marks.out)" -eq 23 ]
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got" >&2
}

@test "short-lived programs: each has its name, and its files their build-ids" {
	recorded short
	perf script -i short.data --show-task-events --show-mmap-events 2>/dev/null >"$BATS_TEST_TMPDIR/events"
	cd "$BATS_TEST_TMPDIR"
	same 40 "$(grep -c 'PERF_RECORD_COMM exec: true:' events)"
	for file in /usr/bin/true "$(realpath /lib/x86_64-linux-gnu/libc.so.6)"; do
		id=$(file -bL "$file" | sed -n 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/p')
		grep PERF_RECORD_MMAP2 events | grep 'true ' | grep "r-xp $file" >maps ||
			grep 'PERF_RECORD_MMAP2.*r-xp.*' events | grep "$file" >maps
		[ "$(wc -l <maps)" -ge 40 ] || fail "$file is mapped $(wc -l <maps) times"
		same '' "$(grep -v "<$id>" maps | head -n 3)"
	done
}

@test "-p takes a process that runs, and no other" {
	recorded pid
	same shares "$(folded pid.data | cut -d';' -f1 | sort -u)"
}

@test "in a pid namespace its processes are recorded by BPF: names, and each switch by the ids there" {
	recorded pidns # by perf events it would print a message, and have no switches
	folded pidns.data >"$BATS_TEST_TMPDIR/folded"
	[ "$(weight '^shares;(.*;)?burn_(one|two|three)[; ]' <"$BATS_TEST_TMPDIR/folded")" -gt 100 ]
	[ "$(account pidns.data user_stacks found_by tables)" -gt 100 ]
	grep -E '^[0-9]+ [0-9]+ [0-9]+$' pidns.out >"$BATS_TEST_TMPDIR/counted"
	same 2 "$(wc -l <"$BATS_TEST_TMPDIR/counted")"
	while read -r pid voluntary _; do
		read -r slept _ <<<"$(switches pidns.data "$pid")"
		[ "$pid" -lt 100 ] && [ "$slept" -ge "$voluntary" ] && [ "$slept" -le $((voluntary + 20)) ] ||
			fail "$pid: $slept, not $voluntary"
	done <"$BATS_TEST_TMPDIR/counted"
	same 0 "$(account pidns.data lost switches)"
}

@test "the wall clock jumps to 2001 and to 2096: the times of records go on" {
	recorded clock
	[ "$(cat clock.out)" -ge 4000000000 ] || fail "it did not jump: $(cat clock.out)"
	ebprec info clock.data >"$BATS_TEST_TMPDIR/info"
	grep -qx '  state *finished' "$BATS_TEST_TMPDIR/info"
	grep -qx '  any *no' "$BATS_TEST_TMPDIR/info"
	ms=$(($(account clock.data duration_ns) / 1000000))
	[ $ms -ge 1000 ] && [ $ms -lt 600000 ] || fail "$ms ms"
	perf script -F time -i clock.data 2>/dev/null | tr -d ': ' >"$BATS_TEST_TMPDIR/times"
	sort -c -g "$BATS_TEST_TMPDIR/times"
	numbers_hold "$(tail -n 1 "$BATS_TEST_TMPDIR/times") - $(head -n 1 "$BATS_TEST_TMPDIR/times") <= $ms / 1000 + 1"
}

@test "perf opens all captures" {
	for file in *.data; do
		perf script -i "$file" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
		[ -s "$BATS_TEST_TMPDIR/out" ] || fail "$file: nothing"
		# Its only complaint: this is not the machine whose kernel that was.
		same '' "$(grep -v 'No kallsyms or vmlinux with build-id' "$BATS_TEST_TMPDIR/err")"
		perf report -i "$file" --stdio >"$BATS_TEST_TMPDIR/out" 2>/dev/null
	done
}

# only_message NAME LINE - the step succeeded, and LINE is its only message
only_message() {
	same "ebprec: $2" "$(words "$1")"
	same 0 "$(cat "$1.status")"
}

@test "Debian's perf_event_paranoid=3 is refused in one line with the remedy, without a file" {
	cd "$OUT/limits"
	same 3 "$(cat paranoid.out)"
	hint="kernel.perf_event_paranoid forbids it: as root, sysctl kernel.perf_event_paranoid=2"
	refused stock_unprivileged "cannot watch processes by perf_event_open: Permission denied ($hint)"
	refused stock_no_admin "cannot watch the machine by perf_event_open: Permission denied ($hint)"
}

without="recording by perf events, without marks"

@test "a kernel without BTF is noted, and recorded by perf events" {
	cd "$OUT/limits"
	only_message no_btf "$without: no BTF: cannot read '/sys/kernel/btf/vmlinux': No such file or directory (a kernel with CONFIG_DEBUG_INFO_BTF is needed)"
	shared no_btf.data
}

@test "BPF refused by a seccomp filter is noted, and recorded by perf events" {
	cd "$OUT/limits"
	only_message refused "$without: cannot use BPF: Operation not permitted (a container or a security module forbids it)"
	shared refused.data
}

# found NAME STATUS LINE... - the doctor of step NAME ended with STATUS, and printed lines that begin so
found() {
	local name=$1 printed line
	same "$2" "$(cat "$1.status")"
	same "" "$(cat "$1.err")"
	printed=$(sed 's/  */ /g' "$name.out")
	shift 2
	for line; do
		contains $'\n'"$printed" $'\n'"$line"
	done
}

@test "the doctor reports the same beforehand" {
	cd "$OUT/limits"
	found doctor_root 0 "works rights root" "works BTF" "works BPF" "works context switches" \
		"works marks" "works perf events of all processes" "works kernel names" \
		"works tracefs" "works sandbox" "all processes can be recorded here"
	found doctor_unprivileged 1 "missing rights CAP_" "missing BPF need root" \
		"missing perf events Permission denied: kernel.perf_event_paranoid is 3"$'\n'" > sudo sysctl kernel.perf_event_paranoid=2" \
		"degraded kernel names" "nothing can be recorded here"
	found doctor_btf 1 "missing BTF cannot read /sys/kernel/btf/vmlinux: No such file" "works perf events" \
		"all processes can be recorded here, without BPF"
	found doctor_refused 1 "works rights" "missing BPF Operation not permitted, though the capabilities are there" \
		"missing perf events Operation not permitted" "nothing can be recorded here"
	found doctor_kptr 0 "degraded kernel names kernel functions have no names (kernel.kptr_restrict is 2)"$'\n'" > sudo sysctl kernel.kptr_restrict=0"
	cd "$OUT/lockdown"
	found doctor 1 "missing lockdown confidentiality: BPF may not read" "works perf events" \
		"missing BPF the kernel is locked down" "missing context switches the kernel is locked down" \
		"all processes can be recorded here, without BPF"
}

@test "a missing CAP_BPF is named, and recorded by perf events" {
	cd "$OUT/limits"
	only_message no_bpf "$without: cannot use BPF: Operation not permitted (CAP_BPF is missing)"
	shared no_bpf.data
}

@test "a missing CAP_PERFMON is refused in one line, without a file" {
	cd "$OUT/limits"
	refused no_perfmon "cannot watch the machine by perf_event_open: Permission denied (CAP_PERFMON is missing, see kernel.perf_event_paranoid; without, record processes of your own: -- COMMAND, or -p PID)"
}

@test "an unprivileged user records a program" {
	cd "$OUT/limits"
	same 0 "$(cat unprivileged.status)"
	# An emulated machine cannot keep up with 997 stack copies a second, and the recorder reports that.
	same '' "$(words unprivileged)"
	shared unprivileged.data
}

@test "with kptr_restrict=2 root records, without the kernel's names" {
	cd "$OUT/limits"
	only_message hardened "cannot read the kernel's symbols: Permission denied (see kernel.kptr_restrict), skipping"
	shared hardened.data
	read -r samples full <<<"$(complete hardened.data)"
	[ $((full * 1000)) -ge $((samples * 995)) ] || fail "$full of $samples are complete"
}

@test "a user with a few capabilities records the machine" {
	cd "$OUT/limits"
	for name in two_caps more_caps; do
		same 0 "$(cat $name.status)"
		shared $name.data
	done
	contains "$(cat two_caps.err)" "see kernel.kptr_restrict"
	contains "$(cat two_caps.err)" "cannot read the format of sched:sched_switch"
	# Before 6.10 uprobes are perf events, which take more.
	want=
	has_uprobe_links "$(cat "$EBPREC_KERNEL/release")" ||
		want="ebprec: cannot listen for marks in '$(command -v ebprec)': Permission denied (CAP_SYS_ADMIN is missing, which uprobes take; --without mark does without), skipping"
	same "$want" "$(words more_caps)"
	folded more_caps.data | grep ';do_syscall_64;' >/dev/null
	perf script -f -i more_caps.data -F event 2>/dev/null | grep sched_switch >/dev/null
}

@test "lockdown=confidentiality is noted, and recorded by perf events" {
	cd "$OUT/lockdown"
	contains "$(cat state.out)" "[confidentiality]"
	# Some such kernels have no tracefs, others an empty one, as the doctor saw.
	grep -q '^degraded *tracefs ' doctor.out && without="recording by perf events, without context switches and marks"
	only_message lockdown "$without: cannot load the CPU sampler: Invalid argument (the kernel is locked down: boot without lockdown=confidentiality)"
	shared lockdown.data
}

@test "a CPU that went and came back, or came later, is sampled again, and the gap is recorded" {
	cd "$OUT/cpus"
	for name in bpf perf quick late late_perf; do
		same 0 "$(cat $name.status)"
		contains "$(cat $name.err)" "CPU 1 came online: it is sampled again, after "
		same 0 "$(account $name.data lost broken_events)"
		# perf gives up at a record with an id that it does not know.
		same "$(account $name.data samples)" "$(perf script -f -i $name.data -F event 2>/dev/null | grep -c cpu-clock)"
		read -r from to <<<"$(account_json $name.data |
			jq -r '.cpus_not_sampled | select(map(.cpu) == [1])[0] | "\(.from_mono_ns) \(.to_mono_ns)"')"
		read -r first second during <<<"$(perf script -f -i $name.data -F event,comm,cpu,time 2>/dev/null | tr -d '[]:' |
			awk -v "from=$from" -v "to=$to" -v thread=shares -f "$TEST_LIB/cpu_samples.awk")"
		[ "$to" -gt "$from" ] && [ "$second" -gt 100 ] && [ "$second" -gt $((10 * first)) ] && [ "$during" -eq 0 ] ||
			fail "$name: $first and $second samples, $during during the gap"
	done
}

@test "each instrument works, or one line has the reason why not" {
	cd "$OUT/metrics" || return
	# Programs load, too, that use what this kernel lacks: they print nothing.
	same 0 "$(cat metrics.status)"
	# One event or two may find no space (docs/instruments/runq.md): the last line reports that.
	words metrics | grep -v ' interrupted the program that' >messages || true
	# For what this kernel lacks there is one line an instrument, in the capture, too, and no column.
	case $(cat "$EBPREC_KERNEL/release") in
	6.1.*)
		same "'block' 'cache' 'net'" "$(sed -n "s/^ebprec: \('[a-z]*'\) measures less on this kernel: no tracepoint .*/\1/p" messages | sort | paste -sd' ')"
		same 3 "$(wc -l <messages)"
		ebprec metrics cache -i metrics.data >table 2>why
		contains "$(cat why)" "no column faults, mapped_pages"
		same 0 "$(grep -c 'FAULTS\|MAPPED' table || true)"
		;;
	*) same '' "$(cat messages)" ;;
	esac
	ebprec metrics -i metrics.data --list >tables
	for name in syscalls exits faults block cache kmem runq irq tcp net locks counters; do
		grep -q " $name " tables || fail "$name has no table"
	done
	# shellcheck disable=SC2126 # counts the lines that remain
	same 0 "$(grep 'here:  no' list.out | grep -vc 'no hardware counters here')"
}

@test "counts of instruments are those of programs that know them" {
	cd "$OUT/metrics" || return
	[ "$(grep -c ^count metrics.out)" -ge 4 ] || fail "$(cat metrics.err metrics.out)"
	while read -r _ _ tid name count errors; do
		name=${name/_(/ (}
		same "$name $count" "$name $(field metrics.data syscalls "syscall=$name" count --by syscall --tid "$tid")"
		same "$name $errors" "$name $(field metrics.data syscalls "syscall=$name" errors --by syscall --tid "$tid")"
	done < <(grep ^count metrics.out)
	read -r _ _ pid status _ _ minor _ < <(grep '^ended work' metrics.out)
	same "$status" "$(field metrics.data exits "pid=$pid" exit_code)"
	[ "$minor" -ge 1009 ]
	got=$(field metrics.data faults "pid=$pid" minor)
	if [ "$got" -lt "$minor" ] || [ "$got" -gt $((minor + 3)) ]; then
		fail "$got faults, not $minor"
	fi
	read -r _ address waits timeouts _ < <(grep ' 0x' metrics.out)
	same "$waits" "$(field metrics.data futexes "address=$address" waits --by address)"
	same "$timeouts" "$(field metrics.data futexes "address=$address" timeouts --by address)"
	read -r _ _ pid _ < <(grep '^cached write' metrics.out)
	same 1009 "$(field metrics.data cache "pid=$pid" write_pages)"
	read -r _ _ pid _ < <(grep '^cached warm' metrics.out)
	same 3027 "$(field metrics.data cache "pid=$pid" read_hits)"
	same 503 "$(field heap.data heap_held kind=calloc held)"
}
