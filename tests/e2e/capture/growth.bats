#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Twice as large a file takes twice the work: instructions are counted, times are not.

load ../../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	command -v valgrind >/dev/null || skip "needs valgrind"
}

# instructions COMMAND... - how many it executes.
instructions() {
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null ebprec "$@" >out 2>err ||
		fail "$* failed: $(tail -n 3 err)"
	sed -n 's/.*I  *refs: *//p' err | tr -d ,
}

# is_linear GENERATE COUNT COMMAND... - GENERATE N writes x.data of N things; what 4 COUNT of them take beyond one
# is at most 6 times what COUNT take.  Where each looks at all others it is 16 times.
is_linear() {
	local generate=$1 count=$2
	shift 2
	untraced "$generate" 1
	least=$(instructions "$@")
	untraced "$generate" "$count"
	some=$(instructions "$@")
	untraced "$generate" $((4 * count))
	many=$(instructions "$@")
	[ $((many - least)) -lt $((6 * (some - least))) ] ||
		fail "1: $least, $count: $some, $((4 * count)): $many instructions"
}

marks_of_processes() {
	for ((i = 1; i <= $1; i++)); do
		echo "$((1000 + i)) mark 0 $i $i 3 0 10 group name"
	done | gen_story x.data
}

@test "marks: many processes are no product" {
	is_linear marks_of_processes 2000 marks --no-sandbox -i x.data
	contains "$(ebprec marks -i x.data)" 8000
}

maps_of_compilers() {
	echo '1000 10 f' >perf.map
	for ((i = 1; i <= $1; i++)); do
		echo "- file perf-$i.map perf.map"
		echo "10 comm $i $i jit"
		echo "20 map $i 0x1000 0x1000 0 //anon"
		echo "$((30 + i)) sample $i $i 0 1 u:0x1004"
	done | gen_story x.data
}

@test "report: many processes with a JIT are no product" {
	is_linear maps_of_compilers 600 report --no-sandbox -j 1 -i x.data
}

# shellcheck disable=SC2016 # assembly
# A stripped program whose function has the bytes of a jump to a cold part in many constants.
constants_like_jumps() {
	{
		printf '%s\n' 'f: .cfi_startproc' 'sub $16, %rsp' '.cfi_def_cfa_offset 24' "$(for ((i = 0; i < $1; i++)); do
			echo '.byte 0x48, 0xb8, 0xe9; .long part - . - 4; .byte 0, 0, 0' # movabs
		done)" 'add $16, %rsp' '.cfi_def_cfa_offset 8' 'ret' '.cfi_endproc' \
			'part: .cfi_startproc' '.cfi_def_cfa_offset 24' 'nop' '.cfi_endproc'
	} | as -o x.o && ld -s -Ttext=0x1000000 -e 0x1000000 -o "$BATS_TEST_TMPDIR/x" x.o || return
	printf '%s\n' "10 comm 5 5 x" \
		"20 map 5 0x1000000 0x1000000 0x1000 $BATS_TEST_TMPDIR/x" \
		"30 sample 5 5 0 1 u:$(printf '0x%x' $((0x1000000 + 10 * $1 + 9)))" | gen_story x.data
}

@test "report: constants like jumps in a stripped program are no product" {
	is_linear constants_like_jumps 2000 report --no-sandbox -j 1 -i x.data
	contains "$(ebprec report -i x.data)" x+0x
}

lives_of_a_pid() {
	{
		for ((i = 1; i <= $1; i++)); do
			echo "${i}000 fork 1 7 7"
			echo "${i}500 exit 7 7"
		done
		echo "999999999 sample 7 7 0 1 u:0x1000"
	} | gen_story x.data
}

@test "summary: many lives of one pid are no product" {
	is_linear lives_of_a_pid 1200 summary --no-sandbox -i x.data
}

rows_of_processes() {
	{
		echo "table cache key.pid:u4 key.device:t16 comm:t16 reads:u8 read_pages:u8"
		for ((i = 1; i <= $1; i++)); do
			echo "row $((1000 + i)) 1 1 0 cache pid=$i device=vda reads=1 read_pages=1"
		done
	} | gen_tables x.data
}

# bats test_tags=long
@test "metrics: the rows below many processes are no product" {
	is_linear rows_of_processes 400 metrics --no-sandbox --json -i x.data
	is_linear rows_of_processes 400 metrics --no-sandbox --top 0 -i x.data
	same 1600 "$(ebprec metrics --json -i x.data | grep -c '"device": "vda"')"
}

rows_of_cgroups() {
	{
		echo "table faults key.pid:u4 comm:t16 cgroup:u8 minor:u8 major:u8"
		for ((i = 1; i <= $1; i++)); do echo "cgroup $i /slice$i"; done
		for ((i = 1; i <= $1; i++)); do echo "row $((1000 + i)) 1 1 0 faults pid=$i cgroup=$i minor=1"; done
	} | gen_tables x.data
}

@test "metrics: many cgroups are no product" {
	is_linear rows_of_cgroups 800 metrics --no-sandbox --by cgroup --json -i x.data
	contains "$(ebprec metrics --by cgroup --json -i x.data)" '"/slice3200"'
}

# Each thread's waits last as long as all others', and no other has a waker of its own.
waits_with_wakers() {
	{
		for ((i = 1; i <= $1; i++)); do echo "$((1000 + i)) switch 0 $i $i 1 w 0 swapper/0 202 1 k:0xffffffff81001010"; done
		for ((i = 1; i <= $1; i += 2)); do echo "$((100000 + i)) waker 0 1 1 $i k:0xffffffff81001010"; done
		for ((i = 1; i <= $1; i++)); do echo "$((200000 + i)) wakeup 0 1 1 $i w"; done
		for ((i = 1; i <= $1; i++)); do
			echo "$((300000 + 2 * i)) switch 0 0 0 0 swapper/0 $i w"
			echo "$((300001 + 2 * i)) switch 0 $i $i 0 w 0 swapper/0"
		done
	} | gen_story x.data
}

@test "waits: those with and without wakers are no product" {
	is_linear waits_with_wakers 3200 report --no-sandbox -j 1 --off-cpu --wakers --folded -i x.data
	same 6400 "$(ebprec report -q --off-cpu --wakers --folded -i x.data | grep -c '\[futex\];\[woken by\]')"
}

values_of_meta() {
	{
		echo -n '- meta {"x": ['
		for ((i = 1; i <= $1; i++)); do echo -n '"kernel": "release", "memory_bytes": 4711, '; done
		echo '0]}'
		echo "10 sample 7 7 0 1 u:0x1000"
	} | gen_story x.data
}

@test "scrub: many values of META are no product" {
	is_linear values_of_meta 1200 scrub --no-sandbox -q -i x.data -o y.data
	ebprec scrub -q --check release --check 4711 -i x.data -o y.data
}

many_tracepoints() {
	gen_tracepoints x.data "$1"
}

# bats test_tags=long
@test "scrub: many tracepoints and their formats are no product" {
	is_linear many_tracepoints 250 scrub --no-sandbox -q -i x.data -o y.data
	ebprec scrub -q --comm secret --check secret -i x.data -o y.data
}

# Each place of the second word but the first begins a part of it that is as long as the first.
names_in_words() {
	{
		printf -- '- note /home/'
		head -c "$1" /dev/zero | tr '\0' a
		printf ' b'
		head -c $(($1 * 2)) /dev/zero | tr '\0' a
		printf '\n10 sample 7 7 0 1 u:0x1000\n'
	} | gen_story x.data
}

@test "scrub: a long name in a longer word is no product" {
	is_linear names_in_words 2000 scrub --no-sandbox -q -i x.data -o y.data
	ebprec scrub -q --check /home/aaaa -i x.data -o y.data
}

# bats test_tags=long
@test "scrub: a capture with more names than each text can be searched for is refused" {
	# shellcheck disable=SC2046,SC2183 # numbers, each twice
	{ printf -- '- container %064d name-%d\n' $(seq 16385 | sed p); echo '10 sample 7 7 0 1 u:0x1000'; } | gen_story x.data
	run --separate-stderr ebprec scrub -i x.data -o y.data
	same 1 "$status"
	# shellcheck disable=SC2154 # of run
	same "ebprec: cannot scrub 'x.data': it has more than 16384 names of users, hosts and containers, or one of more than 255 bytes (leave one of these kinds with --keep)" "$stderr"
	[ ! -e y.data ]
	ebprec scrub -q --keep container -i x.data -o y.data
}

@test "metrics: rows that take much more memory than the file has bytes are refused, unless a limit is named" {
	{ echo 'table x pid:u4 a:u4*250'; yes 'row 1000 1 1 0 x pid=1' | head -n 60000; } |
		gen_tables x.data
	run --separate-stderr ebprec metrics -i x.data
	same 1 "$status"
	contains "$stderr" "ebprec: cannot read 'x.data': the rows of its tables take more than "
	contains "$stderr" " MiB (--unpack-limit SIZE reads more)"
	same "" "$output"
	same 60001 "$(ebprec metrics --unpack-limit 512M --csv -i x.data | wc -l)"
}
