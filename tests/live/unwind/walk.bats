#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# User stacks as they are walked in BPF, against eu-stack on the same programs, stopped.
# runs beside others: its programs stand still, and their stacks are those of eu-stack
load ../../lib/helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	local src=$BATS_TEST_DIRNAME/../../lib/fixtures flags="-O2 -fomit-frame-pointer"
	# shellcheck disable=SC2086 # flags are words
	{
		cc $flags -o stand "$src/stand.c" -ldl -lpthread
		cc $flags -static -o stand-static "$src/stand.c" 2>/dev/null
		cc $flags -static-pie -o stand-static-pie "$src/stand.c" 2>/dev/null
		cc -O3 -flto -fomit-frame-pointer -o stand-lto "$src/stand.c" -ldl -lpthread
		cc $flags -shared -fPIC -o callback.so "$src/callback.c"
		# shellcheck disable=SC2016 # for the dynamic linker
		cc $flags -Wl,-z,lazy -o lazy "$src/lazy.c" callback.so -Wl,-rpath,'$ORIGIN'
		c++ $flags -o throw "$src/throw.cc"
	}
}

setup() {
	need_bpf
	need_perf
	command -v eu-stack >/dev/null || skip "needs eu-stack"
	cd "$BATS_FILE_TMPDIR" || return
	pid='' child=''
}

teardown() {
	[ -z "$pid" ] || kill -KILL "$pid" ${child:+"$child"} 2>/dev/null || true
}

# stand WORDS... - starts a program and waits until it stands; its thread is in $tid.
stand() {
	[ -z "$pid" ] || kill -KILL "$pid"
	rm -f out.txt
	"$@" >out.txt 3>&- &
	pid=$!
	for _ in $(seq 100); do
		tid=$(sed -n 's/^ready //p' out.txt 2>/dev/null || true) # not there yet
		[ -z "$tid" ] || return 0
		sleep 0.05
	done
	fail "$* does not stand"
}

# stacks FILE - each sample's user addresses on a line, leaf first; only those of thread $tid.  From
# the dump: perf prints addresses in files otherwise.
stacks() {
	perf script -D -i "$1" 2>/dev/null | awk -v tid="$tid" -f "$BATS_TEST_DIRNAME/dumped_stacks.awk"
}

callers() { # without the leaf
	sed 's/^ [^ ]*//'
}

# oracle - the addresses eu-stack finds in thread $tid, leaf first.
oracle() {
	kill -STOP "$pid" ${child:+"$child"}
	eu-stack -n 0 -p "$1" 2>/dev/null | sed -n "/^TID $tid:/,/^TID/s/^#[0-9]* *0x0*\([0-9a-f]*\).*/ \1/p" | tr -d '\n'
	kill -CONT "$pid" ${child:+"$child"}
}

record() {
	ebprec record -q -F 997 --without sched -p "${child:-$pid}" -d 0.5 -o walk.data "$@"
}

# agrees [LIMIT] - every sample has the callers that eu-stack finds, or the innermost LIMIT.
# On a busy machine tables may not be ready in the first tenth of a second; what is recorded then is
# counted as incomplete, and tested with processes that have just begun (sched.bats, python.bats).
agrees() {
	local want got
	record
	ebprec slice -q --time 20%-100% -o late.data walk.data
	want=$(oracle "${child:-$pid}" | callers | cut -d' ' -f"1-${1:-100000}")
	got=$(stacks late.data | callers | cut -d' ' -f"1-${1:-100000}" | sort | uniq -c | sort -rn)
	[ -n "$want" ] || fail "eu-stack prints nothing"
	same "$want" "$(sed -n '1s/^ *[0-9]* //p' <<<"$got")"
	[ "$(wc -l <<<"$got")" = 1 ] || fail "more than one stack: $got"
	[ "$(awk '{ print $1 }' <<<"$got")" -gt 20 ] || fail "few samples: $got"
}

# outer FRAMES - the outermost FRAMES that eu-stack finds.
outer() {
	oracle "$pid" | grep -oE "( [^ ]+){$1}$" | tr -d '\n'
}

# not_ending WANT - the samples whose outermost frames are not these.
not_ending() {
	stacks walk.data | grep -v -e "$1\$" || true
}

# begins_right FRAMES - the outermost FRAMES of all samples are eu-stack's.
begins_right() {
	local want bad
	record
	want=$(outer "$1")
	bad=$(not_ending "$want")
	[ "$(stacks walk.data | wc -l)" -gt 20 ] || fail "few samples"
	[ -z "$bad" ] || fail "want: $want, not: $bad"
}

# bats test_tags=long
@test "a recursion of 40 frames has all its callers" {
	stand ./stand deep 40
	agrees
}

# bats test_tags=long
@test "a recursion of 2000 frames is truncated behind 256, with the reason" {
	stand ./stand deep 2000
	agrees 256
	contains "$(ebprec info --json walk.data)" 'too many frames'
	same 256 "$(stacks walk.data | head -n 1 | wc -w)"
	record --max-frames 10
	same 10 "$(stacks walk.data | head -n 1 | wc -w)"
	record --max-frames 1024
	same 1024 "$(stacks walk.data | head -n 1 | wc -w)"
}

@test "a callback of qsort has all its callers" {
	stand ./stand qsort
	agrees
}

@test "a signal handler has all its callers" {
	stand ./stand signal
	agrees
}

@test "a signal handler on a stack of its own has all its callers" {
	stand ./stand altstack
	agrees
}

@test "the child of a vfork has all its callers" {
	stand ./stand vfork
	child=$tid
	agrees
}

@test "a thread has all its callers" {
	stand ./stand thread
	agrees
}

@test "a realigned frame with alloca has all its callers" {
	grep -qw avx2 /proc/cpuinfo || skip "needs avx2"
	stand ./stand aligned 100
	agrees
}

@test "a library that was loaded late has all its callers" {
	stand ./stand library "$PWD/callback.so"
	agrees
}

# bats test_tags=long
@test "a static program has all its callers" {
	stand ./stand-static deep 20
	agrees
	stand ./stand-static signal
	agrees
}

@test "a static program at a random address has all its callers" {
	stand ./stand-static-pie deep 20
	agrees
}

@test "a program that is optimised when it is linked has all its callers" {
	stand ./stand-lto deep 20
	agrees
}

@test "a clock read in the vdso has all its callers" {
	stand ./stand vdso
	begins_right 4
}

@test "a system call has all its callers" {
	stand ./stand read
	begins_right 4
}

@test "a call stub that is being bound has all its callers" {
	stand ./lazy resolver
	agrees
}

# In the loop and in the function it calls the stack is known, in the stub it needs its own rule.
# bats test_tags=long
@test "a call stub has all its callers" {
	local base at bytes addresses offset
	stand ./lazy stub
	begins_right 4
	base=$(grep -m 1 " $PWD/lazy$" "/proc/$pid/maps" | cut -d- -f1)
	read -r at bytes < <(readelf -SW lazy | sed 's/^ *\[ *[0-9]*\]//' | pick_fields 1 .plt 3 5)
	while read -ra addresses; do
		offset=$((0x${addresses[0]} - 0x$base - 0x$at))
		[ $offset -ge 0 ] && [ $offset -lt $((0x$bytes)) ] || continue
		echo "${addresses[*]}"
	done < <(stacks walk.data) >in_stub
	[ -s in_stub ] || fail "never in the stub"
	same "" "$(grep -vxE '( *[^ ]+){6}' in_stub || true)"
}

@test "a destructor that a C++ exception runs has all its callers" {
	stand ./throw destructor
	agrees
}

@test "code below the C++ unwinder, where a program is ended, has all its callers" {
	stand ./throw terminate
	agrees
}

# The unwinder overwrites its own frame with the registers of the frame it will leap into, the
# return address among them; from there to the leap no rule is true.  Nothing else may break.
@test "C++ exceptions on their way have all their callers, but at the leap into a handler" {
	local want bad start end
	stand ./throw
	record -F 1997
	want=$(outer 3)
	bad=$(not_ending "$want")
	read -r start end < <(code_range "$pid" libgcc_s)
	[ "$(stacks walk.data | wc -l)" -gt 20 ] || fail "few samples"
	[ $((20 * $(grep -c . <<<"$bad"))) -le "$(stacks walk.data | wc -l)" ] || fail "many: $bad"
	same "" "$(perl "$BATS_TEST_DIRNAME/outside.pl" "$start" "$end" <<<"$bad")" ||
		fail "broken elsewhere than in $start-$end"
}

# bats test_tags=long
@test "stacks from copies are the same, and without tables have only the leaf" {
	stand ./stand deep 40
	record --call-graph copy,8192
	same "$(oracle "$pid" | callers)" "$(stacks walk.data | callers | sort -u)"
	record --call-graph fp
	same "" "$(stacks walk.data | callers | grep -E '( +[^ ]+){6}' || true)"
	record --call-graph none
	same "" "$(stacks walk.data | callers)"
}

@test "a sample without a stack has its address, as perf has it" {
	local start end
	stand ./stand deep 3
	read -r start end < <(code_range "$pid" /stand)
	record --call-graph none
	perf script -F ip -i walk.data 2>/dev/null | grep . | sed 's/^ *//' >ips.txt
	[ "$(grep -vc '^ffff' ips.txt)" -gt 20 ] || fail "$(cat ips.txt)"
	# perf prints addresses in files
	perf script -D -i walk.data 2>/dev/null |
		sed -n 's/.*PERF_RECORD_SAMPLE(IP, 0x2): .*: 0x\([0-9a-f]*\) period.*/\1/p' >user.txt
	[ "$(wc -l <user.txt)" -gt 20 ] || fail "few samples of user code"
	same "" "$(perl "$BATS_TEST_DIRNAME/outside.pl" "$start" "$end" <user.txt)"
}

# kernel_named FILE - its folded stacks have names of the kernel's; but for one in a hundred, where another process
# loads or removes a BPF program: the kernel itself does not know that location then, and its stack ends there
kernel_named() {
	local all
	all=$(weight <"$1")
	[[ $all -gt 50 && $((100 * $(weight '[[]kernel[.]kallsyms[]]' <"$1"))) -le $all ]] ||
		fail "$(grep -F '[kernel.kallsyms]' "$1"; tail -n 3 "$1")"
}

@test "kernel frames in front of a copied stack have names" {
	ebprec record -q -F 997 --without sched --call-graph copy -o walk.data -- \
		dd if=/dev/zero of=/dev/null bs=512 count=3000000 status=none
	ebprec report --folded -i walk.data >dd.txt 2>quality
	grep -q ';do_syscall_64;' dd.txt || fail "$(head dd.txt)"
	kernel_named dd.txt
}

@test "kernel frames of samples whose stack was copied have names" {
	# Without switches, whose kernel stacks would bring the same names.
	ebprec record -q -F 997 --without sched --call-graph copy -o kernel.data -- \
		dd if=/dev/zero of=/dev/null bs=64 count=1000000 2>/dev/null
	ebprec report --folded --comm dd -i kernel.data 2>/dev/null >kernel.txt
	grep -q ';ksys_\(read\|write\)[; ]' kernel.txt || fail "$(cat kernel.txt)"
	kernel_named kernel.txt
}
