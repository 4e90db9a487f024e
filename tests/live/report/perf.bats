#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# A recording of this machine, read by stock perf: the same words as for its plain rewrite.
# shellcheck disable=SC2154 # run sets stderr
# runs beside others: it compares what two programs print of one file

load ../../lib/helper

# One recording for all tests: processes that start, switch and end, and two marks.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	[ "$(id -u)" -eq 0 ] && command -v perf ebprec-record >/dev/null || return 0
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
	ebprec record -a -F 499 -q -o live.data -- sh -c '
		for i in 1 2 3; do
			ls -lR /usr/lib 2>/dev/null | md5sum >/dev/null
		done
		ebprec mark "first text"
		ebprec mark --group "grüppe" --name n "it'\''s \"second\""
		sleep 0.3' >record.out 2>&1 || return 0
	ebprec export --raw -q -i live.data -o raw.data
}

setup() {
	need_bpf
	need_perf
	cd "$BATS_FILE_TMPDIR" || return
	export HOME=$PWD PERF_BUILDID_DIR=$PWD/debug
	[ -s raw.data ] || fail "nothing was recorded: $(cat record.out)"
}

# perf_prints FILE WORDS... - stdout of perf, which must exit with 0 and print nothing on stderr.
perf_prints() {
	local file=$1
	shift
	perf "$@" -i "$file" >out 2>err || fail "perf $* -i $file: $? $(head -3 err)"
	[ -z "$(complaints err)" ] || fail "perf $* -i $file: $(complaints err)"
	grep -v '^# (Tip:' out || true
}

# equal WORDS... - perf prints the same of the capture and of its plain rewrite, and prints something.
equal() {
	perf_prints live.data "$@" >capture
	perf_prints raw.data "$@" >raw
	cmp capture raw || fail "perf $* differs"
	[ -s capture ] || fail "perf $* prints nothing"
}

@test "perf script prints the same as of the plain rewrite" {
	equal script
	equal script -F +tod
}

@test "perf report prints the same as of the plain rewrite" {
	equal report --stdio --no-children
	equal report --stdio --sort comm,dso,cgroup
}

@test "perf sched timehist prints the same as of the plain rewrite" {
	equal sched timehist
	grep -q 'sleep' capture
}

@test "perf sched latency prints the same as of the plain rewrite" {
	equal sched latency
	grep -q 'sleep' capture
}

@test "perf buildid-list and evlist print the capture's files and events" {
	equal buildid-list
	perf_prints live.data evlist -v >capture
	grep -q '^cpu-clock\|^cycles' capture
	grep -q '^sched:sched_switch' capture
}

# bats test_tags=long
@test "inject, diff, header-only and script -D end with 0" {
	perf inject -b -i live.data -o injected.data
	perf_prints live.data script >capture
	perf script -i injected.data 2>/dev/null | cmp - capture
	for command in "report --header-only" "script -D" "report --stats" "script --header"; do
		# shellcheck disable=SC2086 # words
		perf $command -i live.data >out 2>err || fail "perf $command: $? $(head -3 err)"
	done
	perf record -q -o theirs.data true 2>/dev/null
	for name in live theirs; do
		perf report --header-only -I -i $name.data 2>/dev/null | grep '^# sibling\|^# CPU [0-9]' >$name.cpus
	done
	cmp live.cpus theirs.cpus # CPUs that share a socket, a die, a core
	perf diff live.data raw.data >out 2>err || fail "perf diff: $? $(head -3 err)"
}

# bats test_tags=long
@test "a slice prints the same as --time of the complete capture" {
	perf script -i live.data -F time --ns 2>/dev/null | tr -d ' :' | sort -n >times.txt
	count=$(wc -l <times.txt)
	for part in "4 3" "10 9" "100 99" "2 1"; do
		from=$(sed -n "$((count / ${part% *}))p" times.txt)
		to=$(sed -n "$((count * ${part#* } / ${part% *}))p" times.txt)
		perf script -i live.data --time "$from,$to" >capture
		ebprec slice --time "$from,$to" -q -i live.data -o slice.data
		perf_prints slice.data script >sliced
		cmp sliced capture || fail "$from,$to: $(diff capture sliced | head -n 8)"
		[ -s capture ] || fail "$from,$to is empty"
		perf_prints slice.data sched timehist >timehist.txt
	done
}

@test "marks from a shell are in the capture, with their text, in the order of their time" {
	perf script -i live.data -F comm,event,trace 2>/dev/null | grep ebprec:mark |
		sed 's/^ *//; s/  */ /g' >marks
	same 'ebprec ebprec:mark: shell/mark dur=0 ns: first text
ebprec ebprec:mark: grüppe/n dur=0 ns: it'\''s "second"' "$(cat marks)"
}

@test "info knows the machine and finds nothing damaged" {
	ebprec info live.data >info.txt
	grep -qx "  host *$(hostname)" info.txt
	grep -qx "  kernel *$(uname -r)" info.txt
	grep -qx "  cpus online *$(getconf _NPROCESSORS_ONLN)" info.txt
	grep -qx '  state *finished' info.txt
	grep -qx '  any *no' info.txt
	grep -qx 'mark .*' info.txt
	ebprec info --json --blocks --objects live.data >info.json
	same "1 2" "$(jq -r '"\(.schema) \(.events[] | select(.name == "ebprec:mark").samples)"' info.json)"
}

# bats test_tags=long
@test "records that the kernel stretches beside another recorder are corrected" {
	perf record -a -q -e cpu-clock -o other.data sh -c ': >other; sleep 60' >/dev/null 2>&1 3>&- &
	other=$!
	await test -e other
	ebprec record -a -q -o two.data -- sh -c ': >two; until [ -e three ]; do sleep 0.1; done' \
		>/dev/null 2>&1 3>&- &
	two=$!
	await test -e two
	ebprec record -a -q -o three.data -- true # loads BPF programs: KSYMBOL and BPF_EVENT records
	: >three
	wait $two
	kill $other
	wait $other || true
	perf_prints two.data script >capture
	ebprec export --raw -q -i two.data -o two-raw.data
	perf script -i two-raw.data -D 2>/dev/null | grep -a PERF_RECORD_BPF_EVENT >events
	[ "$(wc -l <events)" -gt 5 ] || fail "only $(cat events)"
	# 24 bytes and a tail of 32; twice the tail where the kernel stretched it.
	same "" "$(grep -v '\[0x38\]' events | head -3)"
}

# attr.build_id in one listener makes the kernel mark everybody's MMAP2 records: we must not set it.
# bats test_tags=long
@test "a file of perf without stacks: report --waits gives the reason, and what to record" {
	perf record -q -a -e sched:sched_switch,sched:sched_wakeup -o bare.data -- sh -c 'sleep 0.1; sleep 0.1'
	run --separate-stderr ebprec report --waits bare.data
	[ "$status" -eq 0 ] || fail "$stderr"
	contains "$stderr" "the file has no stacks"
	contains "$stderr" "record with 'perf sched record -g', or 'ebprec record'"
	perf record -q -a -g -e sched:sched_switch,sched:sched_wakeup -o stacks.data -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.03; done'
	run --separate-stderr ebprec report --waits stacks.data
	[[ $stderr != *"has no stacks"* ]] || fail "$stderr"
	# perf has no event of wakers: the sample of sched_wakeup is of the thread that woke, or met an interrupt.
	ebprec report -q --waits --csv --min-percent 0 stacks.data | tr -d '\r' >stacks.csv
	# A wait whose end the machine hides (docs/TESTING.md) has no wakeup, and one whose switch it hides no row.
	grep -q '^sleep,nanosleep,\[interrupt\],[5-8],' stacks.csv || fail "$(grep ^sleep stacks.csv)"
	grep -q '^sh,child,sleep,' stacks.csv || fail "$(grep ^sh, stacks.csv)"
}

# bats test_tags=long
@test "perf record beside us has its own mappings, untouched" {
	perf record -q -B -e cpu-clock -F 99 -a -o beside.data -- \
		sh -c ': >beside; until [ -e enough ]; do sleep 0.1; done' 2>beside.err 3>&- &
	perf=$!
	await test -e beside
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -a -o ours.data -- sh -c 'for i in $(seq 200); do /bin/true; done'
	: >enough
	wait $perf
	same "" "$(complaints beside.err)"
	perf script -i beside.data --show-mmap-events 2>/dev/null >beside.txt
	[ "$(grep -c PERF_RECORD_MMAP2 beside.txt)" -gt 200 ] || fail "$(wc -l beside.txt)"
	run grep -c 'PERF_RECORD_MMAP2.* @ [^ ]* <' beside.txt
	same 0 "$output"
	# While ours know their files, also of processes that were gone at once.
	perf script -i ours.data --show-mmap-events 2>/dev/null | grep 'MMAP2.*/bin/true$' >true.txt
	[ "$(wc -l <true.txt)" -ge 200 ] || fail "only $(wc -l <true.txt) of 200"
	run grep -vc '<[0-9a-f]*>' true.txt
	same 0 "$output"
}

# Puts probes at the entry (twice) and the return of a function of a program below /home, and records them.
record_probes() {
	mkdir -p "$1"
	cat >probed.c <<-'EOS'
		__attribute__((noinline)) int hidden_step(int i) { __asm__ volatile(""); return i * 3; }
		int main(void) { volatile int s = 0; for (int i = 0; i < 100; i++) s += hidden_step(i); return 0; }
	EOS
	cc -g -O1 -o "$1/private_tool-9" probed.c
	for how in '' ' ' %return; do
		perf probe -q -f -x "$1/private_tool-9" "hidden_step${how% }" || return
	done
	perf record -q -o probes.data -e '{probe_private_tool:*}' "$1/private_tool-9"
}

# bats test_tags=long
@test "scrub: names of probes do not have those of hidden programs and functions" {
	[ -w /sys/kernel/tracing/uprobe_events ] || [ -w /sys/kernel/debug/tracing/uprobe_events ] ||
		skip "no probes can be set here"
	local home=/home/ebprec-test-$$
	record_probes "$home" >probe.out 2>&1 || touch failed
	perf probe -q -d 'probe_private_tool:*' || true
	rm -rf "$home"
	[ ! -e failed ] || fail "$(cat probe.out)"
	refuses ebprec scrub probes.data --check private_tool
	ebprec scrub -q -o clean.data probes.data --symbol '^hidden_step$' --check private_tool --check hidden_step
	# As long as before, and the same in the list of events and in their formats.
	perf script -i probes.data -F event 2>/dev/null | sed 's/^ *//' | sort | uniq -c >before
	perf script -i clean.data -F event 2>/dev/null | sed 's/^ *//' | sort | uniq -c >after
	same "$(sed -E 's/private_tool/............/; s/hidden_step/.........../' before)" \
		"$(sed -E 's/probe_[a-z0-9]{12}:[a-z0-9]{11}/probe_............:.........../' after)"
	same 3 "$(wc -l <before)"
	same 1 "$(grep -o 'probe_[a-z0-9]*:[a-z0-9]*' after | sort -u | wc -l)"
	# Arguments that stay, and a word that the user names, behind "probe_", too.
	ebprec scrub -q -o arguments.data probes.data --keep cmdline --check private_tool
	contains "$(ebprec info arguments.data)" ":hidden_step"
	ebprec scrub -q -o word.data probes.data --keep home --word private_tool --check private_tool
}
