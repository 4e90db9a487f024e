#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Recordings on Debian's kernel for aarch64, read on this machine and by the programs for that one.  EBPREC_KERNEL is a folder
# that fetch made, EBPREC_GUEST a tree of scripts/sysroot, EBPREC_NATIVE the build for this machine.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"
# shellcheck source=tests/lib/metrics.bash
. "$BATS_TEST_DIRNAME/../../lib/metrics.bash"

PATH=$EBPREC_NATIVE:$PATH

setup_file() {
	: "${EBPREC_KERNEL:?}" "${EBPREC_GUEST:?}"
	export OUT=$BATS_FILE_TMPDIR/out
	export EMULATOR="qemu-aarch64-static -L $EBPREC_GUEST"
	"$BATS_TEST_DIRNAME/pack" "$EBPREC_KERNEL" "$BUILD" "$BATS_FILE_TMPDIR/initramfs" "$EBPREC_GUEST"
	LIMIT=${LIMIT:-1500} "$BATS_TEST_DIRNAME/boot" "$EBPREC_KERNEL" "$BATS_FILE_TMPDIR/initramfs" "$OUT" shapes
	echo "# booted in $(cat "$OUT/boot_s") s, done after $(cat "$OUT/end_s") s" >&3
}

setup() {
	need_perf
	cd "$OUT" || return
	export HOME=$BATS_TEST_TMPDIR PERF_BUILDID_DIR=$BATS_TEST_TMPDIR/debug
}

# folded FILE - its stacks, as text
folded() {
	ebprec report --folded -i "$1" 2>/dev/null
}

# complete FILE [OPTIONS] - prints samples with a user stack, and how many of these are complete
complete() {
	ebprec report -i "$@" 2>&1 >/dev/null |
		sed -n 's/.* samples, \([0-9]*\) with a user stack; \([0-9]*\) of these complete.*/\1 \2/p'
}

# are_complete PERMILLE LEAST FILE [OPTIONS] - at least so many samples, and so many of a thousand have complete user stacks
are_complete() {
	local share=$1 least=$2
	shift 2
	read -r samples full <<<"$(complete "$@")"
	if [ "$samples" -lt "$least" ] || [ $((full * 1000)) -lt $((samples * share)) ]; then
		fail "$1: $full of $samples are complete"
	fi
}

# all_complete LEAST FILE [OPTIONS] - 99.5 %
all_complete() { are_complete 995 "$@"; }

@test "the machine that ran is the one that was meant" {
	contains "$(ebprec info shares.data)" "$(cat "$EBPREC_KERNEL/release")"
	grep -q '^  arch *aarch64$' <(ebprec info shares.data)
}

@test "time is shared 3:2:1, under the complete chain of calls: by tables, by copies, without BPF" {
	for name in shares copies no_bpf; do
		same 0 "$(cat $name.status)"
		folded $name.data | grep '^shares;' | awk -v least=101 -v named=85 -v slack=0.15 -f "$TEST_LIB/shares.awk" >&2
		all_complete 100 $name.data --comm shares
	done
}

@test "stacks of a program without frame pointers are complete" {
	same 0 "$(cat xz.status)"
	all_complete 200 xz.data
	folded xz.data | grep '^xz;.*__libc_start_main.*;liblzma\.so[^;]*+0x' >/dev/null
}

# has_share FILE FUNCTION PERCENT - so much of the time of its programs' samples is in or below it, give or take a tenth of all
has_share() {
	local part all
	read -r part all < <(folded "$1" | part_of_weight "(^|;)$2")
	[ "$all" -gt 0 ] || fail "no samples"
	numbers_hold "(100 * $part / $all - $3 | fabs) <= 10" || fail "$2: $part of $all"
}

@test "a program of C++ has its shares, through virtual calls, the library's sort and exceptions, and complete stacks" {
	same 0 "$(cat cpp.status)"
	all_complete 200 cpp.data --comm cpp_shares
	has_share cpp.data 'Part<3>::run' 50
	has_share cpp.data 'Part<2>::run' 33
	has_share cpp.data 'Part<1>::run' 17
	folded cpp.data | grep ';Part<3>::run;unit;.*std::__introsort_loop' >/dev/null
	folded cpp.data | grep '_Unwind_RaiseException' >/dev/null
}

@test "a program of Go has the shares of callers above a function without a frame, and complete stacks" {
	same 0 "$(cat go.status)"
	# Go's start, signals and calls of the kernel move to other stacks, by code that Go's table leaves out (docs/design/stacks.md).
	are_complete 970 200 go.data --comm go_shares
	has_share go.data main.thirty 30
	has_share go.data main.seventy 70
}

@test "stacks of a Python program have its frames, and those that the program has" {
	same 0 "$(cat python.status)"
	ebprec report --folded --symfs "$EBPREC_GUEST" -i python.data >"$BATS_TEST_TMPDIR/folded" 2>/dev/null
	python3 "$TEST_LIB/python/stacks.py" check python.truth <"$BATS_TEST_TMPDIR/folded" \
		>"$BATS_TEST_TMPDIR/counts" 2>"$BATS_TEST_TMPDIR/others"
	read -r all merged equal <"$BATS_TEST_TMPDIR/counts"
	if [ "$all" -le 100 ] || [ $((merged * 100)) -lt $((all * 99)) ] || [ "$equal" -ne "$merged" ]; then
		fail "$all stacks, $merged joined, $equal known: $(sort "$BATS_TEST_TMPDIR/others" | head -5)"
	fi
}

@test "every switch is there, as the kernel counted them" {
	same 0 "$(cat pingpong.status)"
	[ "$(wc -l <pingpong.out)" -eq 2 ]
	while read -r pid voluntary involuntary; do
		read -r slept ran <<<"$(switches pingpong.data "$pid")"
		[ "$slept" -ge "$voluntary" ] && [ "$slept" -le $((voluntary + 20)) ] &&
			[ "$ran" -ge "$involuntary" ] && [ "$ran" -le $((involuntary + 20)) ] ||
			fail "$pid: $slept $ran, not $voluntary $involuntary"
	done <pingpong.out
	same 0 "$(account pingpong.data lost switches)"
}

@test "23 marks in, 23 marks out, with thread and text" {
	same 0 "$(cat marks.status)"
	perf script -i marks.data -F tid,event,trace 2>/dev/null | grep ebprec:mark |
		sed 's/^ *\([0-9]*\) .*ebprec:mark: \(.*\)$/\1 \2/' >"$BATS_TEST_TMPDIR/got"
	sed 's|\([0-9]*\) \([0-9]*\)|\1 g\2/n \2 dur=0 ns: text \2|' marks.out >"$BATS_TEST_TMPDIR/want"
	[ "$(wc -l <marks.out)" -eq 23 ]
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got" >&2
}

@test "counts of system calls are those of a program that knows them, by their names on that machine" {
	same 0 "$(cat metrics.status)"
	[ "$(grep -c ^count metrics.out)" -ge 4 ] || fail "$(cat metrics.err metrics.out)"
	while read -r _ _ tid name count errors; do
		name=${name/_(/ (}
		same "$name $count" "$name $(field metrics.data syscalls "syscall=$name" count --by syscall --tid "$tid")"
		same "$name $errors" "$name $(field metrics.data syscalls "syscall=$name" errors --by syscall --tid "$tid")"
	done < <(grep ^count metrics.out)
}

@test "waits have their reasons" {
	same 0 "$(cat waits.status)"
	contains "$(ebprec report --off-cpu --folded -i waits.data --comm sleep 2>/dev/null)" "[nanosleep]"
	contains "$(ebprec report --off-cpu --folded -i waits.data --comm futexes 2>/dev/null)" "[futex]"
}

# same_there VIEW NAME CMD... - CMD prints here, to the byte, what it did in the guest; messages are of the files that are there
same_there() {
	local view=$1 name=$2
	shift 2
	"$@" >"$BATS_TEST_TMPDIR/here" 2>/dev/null || :
	cmp "$name.$view" "$BATS_TEST_TMPDIR/here" >&2 || fail "$name: $view: $(diff "$name.$view" "$BATS_TEST_TMPDIR/here" | head -n 5)"
}

@test "a report is the same, to the byte, there and here" {
	for name in shares copies xz marks waits metrics; do
		[ -s $name.folded ] || fail "$name: nothing"
		same_there folded $name ebprec report -i $name.data --folded
		same_there off-cpu $name ebprec report -i $name.data --off-cpu
		same_there script $name ebprec script -i $name.data
		same_there metrics $name ebprec metrics -i $name.data
		same_there sched $name ebprec sched -i $name.data
	done
}

@test "unit tests that the emulator of programs cannot run pass there" {
	[ "$(find units -name '*.tap' | wc -l)" -ge 18 ] || fail "only $(ls units)"
	for tap in units/*.tap; do
		read -r passed failed _ < <(awk -v status="$(cat "$tap.status")" -v name="${tap#units/}" -f "$TEST_LIB/../../scripts/tap-sum.awk" "$tap")
		[ "$passed" -ge 1 ] && [ "$failed" -eq 0 ] || fail "$tap: $passed passed, $failed failed: $(grep -A3 '^not ok' "$tap")"
	done
}

@test "perf opens all captures" {
	for file in *.data; do
		perf script -i "$file" >"$BATS_TEST_TMPDIR/out" 2>/dev/null
		[ -s "$BATS_TEST_TMPDIR/out" ] || fail "$file: nothing"
	done
}
