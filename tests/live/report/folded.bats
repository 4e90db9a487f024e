# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# It runs alone: its perf asks the kernel for build-ids, which then stand in the files of any other perf
# `ebprec report --folded` of perf's own files against `perf script`, line by line
load ../../lib/helper

HERE=$BATS_TEST_DIRNAME

# One recording for the tests that take any.
setup_file() {
	[ "$(id -u)" -eq 0 ] && command -v perf >/dev/null || return 0
	cd "$BATS_FILE_TMPDIR" || return
	export -f load_
	record p.data -g -- bash -c load_
}

setup() {
	need_root
	need_perf
	cd "$BATS_TEST_TMPDIR" || return
}

# Short-lived processes, libraries, C++, a deep stack, a pipe: what makes stacks differ.
load_() {
	shares 0.3
	for _ in 1 2 3; do
		find /usr/include -ls | sort | md5sum
		python3 -c 'import json; [json.dumps({i: [i] * 5}) for i in range(20000)]'
	done
	c++ -O1 -x c++ -c -o /dev/null - <<<'#include <map>
std::map<int, int> m; int f() { return m[1]; }'
}

# record FILE OPTIONS... -- CMD...
# While another recorder that asks for build-ids runs on the machine, Linux 6.18 marks all MMAP2
# records as having one, and perf aborts on them; perf that asks for them too is not hurt.  It then does not
# look at the samples when it ends, and does not note when the first and the last were.
record() {
	local file=$1
	shift
	perf record -q -F 997 -e cpu-clock -o "$file" "$@" >out 2>&1 &&
		perf script -i "$file" >/dev/null 2>&1 && return
	perf record -q -F 997 -e cpu-clock --buildid-mmap -o "$file" "$@" >out 2>&1
}

# compare FILE - every sample equal or explained; most of them equal
compare() {
	# shellcheck disable=SC2094 # "script" is also a file here
	perf script --no-inline -i "$1" -F comm,tid,time,event,ip,sym,symoff,dso >script 2>script.err
	ebprec report -q --folded --no-function-addresses -i "$1" >ours
	LC_ALL=C sort -c ours
	run "$HERE/explain.pl" ours <script
	echo "$output" | head -40
	[ "$status" -eq 0 ]
	samples=$(weight <ours)
	equal=$(sed -n 's/^equal: *\([0-9]*\).*/\1/p' <<<"$output")
	stale=$(sed -n 's/^explained by stale: *\([0-9]*\).*/\1/p' <<<"$output")
	[ "$samples" -gt 100 ]
	[ "$equal" -ge $((samples * 80 / 100)) ]
	[ "${stale:-0}" -le $((samples / 200)) ]
}

@test "folded stacks of perf record -g are perf script's" {
	compare "$BATS_FILE_TMPDIR/p.data"
}

# bats test_tags=long
@test "folded stacks of perf record -g -z are perf script's" {
	export -f load_
	record p.data -g -z -- bash -c load_
	compare p.data
}

# bats test_tags=long
@test "folded stacks of a file from a pipe are perf script's" {
	export -f load_
	perf record -q -g -F 997 -e cpu-clock --buildid-mmap -o - -- bash -c 'load_ >&2' 2>err >p.pipe
	compare p.pipe
}

@test "folded stacks do not depend on how the file comes in" {
	cd "$BATS_FILE_TMPDIR"
	ebprec report -q --folded -i p.data >by-name
	ebprec report -q --folded -i - <p.data >by-stdin
	cmp by-name by-stdin
	[ -s by-name ]
}

# bats test_tags=long
@test "a name of the file is not enough: another build of it gives no names" {
	cp "$BUILD/tests/live/workloads/shares" ./prog
	export HOME=$PWD # perf keeps copies below, which have the names
	record p.data -g -N -- ./prog 0.3
	ebprec report -q --folded -i p.data >before
	cc -Wl,--build-id -x c -o prog - <<<'int main(void) { return 0; }'
	ebprec report --folded -i p.data >after 2>err
	grep -q 'shares\|main' before
	same 0 "$(grep -c ';main;' after)"
	grep -q '\[prog\]' after
	grep -q 'prog.*version' err
}

# bats test_tags=long
@test "--comm, --tid, --cpu and --time leave the samples that perf leaves" {
	# A short one: perf asks each sample of the machine for its symbols, ten times.
	record p.data -a -g -- sh -c 'shares 0.2; python3 -c "for i in range(1000000): pass"; sleep 0.2'
	count() { ebprec report -q --folded -i p.data "$@" | weight; }
	lines() { perf script -i p.data -F comm,pid,tid,cpu,time "$@" >lines 2>err && wc -l <lines || cat err; }
	[ "$(count)" -gt 0 ]
	same "$(lines)" "$(count)"
	same "$(lines --comms python3)" "$(count --comm python3)"
	same "$(lines --cpu 0)" "$(count --cpu 0)"
	same "$(lines --tid 0)" "$(count --tid 0)"
	perf script -i p.data --ns -F time 2>/dev/null | tr -d ' :' >times.txt
	# Where perf has not noted the first and the last time it knows no shares.
	share=10%-40%
	if perf report -i p.data --header-only 2>/dev/null | grep -q 'time of last sample : 0\.0*$'; then
		first_ns=$(head -n 1 times.txt | tr -d .) last_ns=$(tail -n 1 times.txt | tr -d .)
		from_ns=$((first_ns + (last_ns - first_ns) / 10)) to_ns=$((first_ns + (last_ns - first_ns) * 4 / 10))
		share=${from_ns:0:-9}.${from_ns: -9},${to_ns:0:-9}.${to_ns: -9}
	fi
	same "$(lines --time "$share")" "$(count --time 10%-40%)"
	from=$(sed -n 200p times.txt)
	same "$(lines --time "$from,")" "$(count --time "$from,")"
}

# bats test_tags=long
@test "with several events the first with samples is shown, and a note names it" {
	export -f load_
	record p.data -g -e page-faults -- bash -c load_
	count() { ebprec report -q --folded -i p.data "$@" | weight; }
	ebprec report --folded -i p.data >ours 2>err
	grep "these are 'cpu-clock'" err
	# Folded stacks and CSV do not name it, so -q does not hide the note; JSON names it.
	contains "$(ebprec report -q --folded -i p.data 2>&1 >/dev/null)" "these are 'cpu-clock'"
	contains "$(ebprec report -q --json -i p.data 2>/dev/null)" '"event": "cpu-clock"'
	contains "$(ebprec report -q --tree --json --event page-faults -i p.data)" '"event": "page-faults'
	same "" "$(ebprec report -q --folded --event page-faults -i p.data 2>&1 >/dev/null)"
	of_event() { perf script -i p.data -F event 2>/dev/null | grep -c "$1"; }
	[ "$(of_event page-faults)" -gt 0 ]
	same "$(of_event cpu-clock)" "$(count)"
	same "$(of_event page-faults)" "$(count --event page-faults)"
}

# So many samples are counted by the parts of code that have one name, and few by address.
# bats test_tags=long
@test "a recording repeated to 300000 samples has its sums, multiplied" {
	export -f load_
	need_bpf
	ebprec record -q -F 997 --without sched -o few.data -- bash -c load_ >/dev/null 2>&1
	"$BUILD/tests/lab/bench/bench_multiply" few.data many.data 300000
	for which in few many; do
		ebprec report --folded -i $which.data 2>$which.err >$which.txt
	done
	few=$(weight <few.txt)
	many=$(weight <many.txt)
	n=$((many / few))
	[ "$few" -lt 30000 ]
	[ "$many" -ge 300000 ]
	# Sums without the comm: for a program that execs just then, the repetition before has recorded another one.
	sed 's/^[^;]*;//' few.txt | multiply_stacks "$n" | sum_stacks >few.sums
	sed 's/^[^;]*;//' many.txt | sum_stacks >many.sums
	# The same for mappings: of two samples at most, each of which is missing here and there too many.
	different=$(diff few.sums many.sums | weight '^[<>]')
	[ "$different" -le $((4 * n)) ] || fail "$(diff few.sums many.sums | head)"
}
