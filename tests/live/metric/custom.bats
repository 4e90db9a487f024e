#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# A BPF object of the user's own: the example of the documentation, and objects that are none.
# runs beside others: it counts what one program does

load ../../lib/helper
load ../../lib/metrics

setup() {
	need_bpf
	cd "$BATS_TEST_TMPDIR" || return
	object=$BUILD/tests/lab/bpf/custom.bpf.o
}

@test "the documented example counts the forks of a process" {
	ebprec record -aq --bpf-object "$object" --interval 0.2 -o x.data -- perl "$BATS_TEST_DIRNAME/forks.pl" >pid
	same 37 "$(field x.data forks "pid=$(cat pid)" count)"
	same 37 "$(field x.data forks comm=perl count --pid "$(cat pid)" --interval)"
	ebprec metrics forks -i x.data --top 0 | grep -qE "^ *$(cat pid) perl +37$"
	perf script -i x.data 2>/dev/null | grep -q 'ebprec:forks: .*interval=0 .*count='
	ebprec metrics -i x.data --list | grep -q ^forks
}

@test "what this kernel lacks is one line of the recording, of the capture and of its views, and no column" {
	ebprec record -aq --without sched,mark --with exits --bpf-object "$BUILD/tests/lab/bpf/lacking.bpf.o" -o x.data -- sh -c '(:)' 2>err ||
		fail "$(cat err)"
	line="'lacking' measures less on this kernel: no tracepoint no_such_tracepoint, no_such_either: every wish is a fork; no column wishes, dreams"
	same "ebprec: $line" "$(grep "^ebprec: '" err)" || fail "$(cat err)"
	contains "$(ebprec info x.data)" "$line"
	ebprec metrics lacking -i x.data >table 2>messages
	same "ebprec: $line" "$(cat messages)"
	same 0 "$(grep -c 'wishes\|dreams' table || true)"
	grep -q 'count  *switches$' table || fail "$(cat table)"
	contains "$(ebprec metrics lacking -i x.data --json 2>messages)" "\"notes\": [\"$line\"]"
	# It is not about others.
	contains "$(ebprec metrics exits -i x.data --json 2>messages)" "\"notes\": []"
	same "" "$(cat messages)"
}

# refused LINES OPTIONS... - a recording that prints so many lines, one for each object that it goes on without
refused() {
	ebprec record -q --without sched,mark "${@:2}" -o y.data -- true 2>err || fail "$(cat err)"
	same "$1" "$(grep -vc "no hardware counters" err)" || fail "$(cat err)"
	same "$1" "$(grep -c '^ebprec: cannot .*, skipping$\|^ebprec: .* has no variable .*, skipping$' err)" ||
		fail "$(cat err)"
	ebprec info y.data >/dev/null
}

@test "an object that is no instrument is reported in one line, and the rest is recorded" {
	echo nothing >bad.o
	cp "$BUILD/ebprec" elf.o
	: >empty.o
	head -c 1000 "$object" >cut.o
	refused 5 --bpf-object bad.o --bpf-object elf.o --bpf-object missing.o --bpf-object empty.o --bpf-object cut.o
	contains "$(cat err)" "is it a BPF object?"
	refuses ebprec metrics -i y.data
}

@test "objects that break the contract are reported in one line each" {
	options=(--with syscalls)
	for case in first pointer unaligned field long name taken; do
		options+=(--bpf-object "$BUILD/tests/lab/bpf/refused_$case.bpf.o")
	done
	refused 7 "${options[@]}"
	same 7 "$(grep -c "cannot understand the tables of 'refused_" err)"
	contains "$(cat err)" "see docs/instruments/custom.md"
	[ "$(field y.data syscalls '' count)" -gt 0 ] # the rest is recorded
	options=()
	for case in nointerval none array tracepoint verifier nobtf; do
		options+=(--bpf-object "$BUILD/tests/lab/bpf/refused_$case.bpf.o")
	done
	refused 6 "${options[@]}"
	contains "$(cat err)" "no tracepoint 'no_such_tracepoint'"
	contains "$(cat err)" "has no variable metric_interval"
	contains "$(cat err)" "cannot load 'refused_verifier': Permission denied (the kernel's verifier refuses it)"
}

@test "a damaged object does not affect the others" {
	# Bytes that made libbpf 1.1 read where nothing is: record/metric/trial_load.c.
	options=()
	for seed in 1 2 3 4 5 6 7 8; do
		perl "$TEST_LIB/damage_bytes.pl" "$seed" <"$object" >"$seed.o"
		options+=(--bpf-object "$seed.o")
	done
	ebprec record -q --without sched,mark "${options[@]}" -o z.data -- true 2>err || fail "$(cat err)"
	same 0 "$(grep -vc '^ebprec: .*, skipping$' err || true)" || fail "$(cat err)"
	ebprec info z.data >/dev/null
}

@test "the kernel's types are read for each object, not for each tracepoint" {
	for also in "" ,net,cache,block; do
		strace -f --seccomp-bpf -qq -e trace=openat -o trace "$BUILD/ebprec-record" -q -a -d 0.1 --with "exits$also" -o x.data 3>&-
		grep -c '"/sys/kernel/btf/vmlinux"' trace >>reads
	done
	# libbpf reads them for each object; its API does not take types that were read before.
	same 3 $(($(tail -n 1 reads) - $(head -n 1 reads)))
}
