#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec report --html: the page's numbers, counted by its own modules in node, against those of ebprec report.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	golden=$BATS_TEST_DIRNAME/../../golden
}

need_node() {
	command -v node >/dev/null || skip "needs node"
}

# agrees CAPTURE SELECTIONS SEED OPTION... - the page made with these options has the numbers of ebprec report
agrees() {
	local capture=$1 count=$2 seed=$3
	shift 3
	ebprec report -q --html x.html "$@" "$capture" || fail "report --html $*"
	node "$BATS_TEST_DIRNAME/../../lib/web/oracle.mjs" "$capture" x.html "$count" "$seed" 2>why ||
		fail "$capture $*: $(cat why)"
}

@test "random selections of a story have the folded stacks and functions of ebprec report" {
	need_node
	gen_story x.data <"$golden/report-story/story"
	agrees x.data 30 1
	agrees x.data 10 2 --weight period
	agrees x.data 10 3 --comm sh --no-kernel-threads
	agrees x.data 10 17 --symbol "!default_idle"
}

@test "random selections of 20,000 samples in 7 processes have the numbers of ebprec report" {
	need_node
	gen_capture -o x.data --samples 20000 --depth 20 --pids 7
	agrees x.data 20 4
	agrees x.data 10 5 --time 20%-60%
	agrees x.data 10 6 --pid 1003,1004
}

# bats test_tags=long
@test "waits and their wakers, of all kinds and with stacks of some, have the microseconds, times and places of ebprec report" {
	need_node
	for story in offcpu wall sched sched-reused; do
		gen_story x.data <"$golden/$story/story"
		agrees x.data 8 9
	done
	gen_story x.data <"$golden/offcpu/story"
	agrees x.data 5 10 --time +0.01,+0.5
	agrees x.data 5 11 --comm worker
	sed -e '/^1004500000/d' -e '$a 1010000001 slost 1' "$golden/sched/story" | gen_story x.data
	agrees x.data 8 12
}

@test "wall: samples share the time of the thread that had their tid then, and none before its first switch" {
	need_node
	local symbols
	symbols=$(grep -e '^-' -e ' kmap ' "$golden/wall/story"; printf '%s\n' "0 fork 1 10 10" "0 comm 10 10 make")
	# The wakeup of 20 and its first switch to a CPU are missing: it is known to live from its first switch from one on.
	{
		echo "$symbols"
		cat <<'END'
1000000000 switch 0 0 0 0 swapper/0 10 make
1001000000 fork 10 20 20
1001000000 child 0 10 10 20 make
1001500000 sample 20 20 1 1000000 k:0xffffffff81004010
1002500000 sample 20 20 1 1000000 k:0xffffffff81004010
1003000000 switch 1 20 20 1 make 0 swapper/1 202 0
1004000000 wakeup 1 10 10 20 make
1004100000 switch 1 0 0 0 swapper/1 20 make
1005500000 sample 20 20 1 1000000 k:0xffffffff81004010
1006500000 sample 20 20 1 1000000 k:0xffffffff81002010
1007000000 switch 1 20 20 1 make 0 swapper/1 202 0
1008000000 switch 0 10 10 1 make 0 swapper/0 202 0
END
	} | gen_story x.data
	same "make;copy_page 1450" "$(ebprec report -q --wall --folded x.data | grep copy_page)"
	agrees x.data 12 18
	# 20 is forked before the first switch of all, and then by an event as well: there is no other one.
	{
		echo "$symbols"
		cat <<'END'
1000000000 fork 10 20 20
1000000000 child 0 10 10 20 make
1000500000 wakeup_new 0 10 10 20 make
1001000000 switch 0 10 10 1 make 0 swapper/0 202 0
1002000000 switch 1 0 0 0 swapper/1 20 make
1003000000 sample 20 20 1 1000000 k:0xffffffff81004010
1004000000 switch 1 20 20 1 make 0 swapper/1 202 0
END
	} | gen_story x.data
	same "make;copy_page 2000" "$(ebprec report -q --wall --folded x.data | grep copy_page)"
	agrees x.data 12 19
	agrees x.data 4 20 --time 1.0025,1.004
}

@test "waits whose stacks break off in code of a runtime, or anywhere else, are in the page" {
	need_node
	for walk in "3 255 0xf0" "2 1 0x60"; do
		{ echo "- walks $walk"; cat "$golden/offcpu/story"; } | gen_story x.data
		agrees x.data 5 16
	done
}

@test "processes: times, samples, names and command lines are those of ebprec summary" {
	need_node
	gen_story x.data <"$golden/report-story/story"
	ebprec report -q --html x.html x.data
	node "$BATS_TEST_DIRNAME/../../lib/web/processes.mjs" x.data x.html
	need_bpf
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -F 997 -o x.data -- sh -c 'ls -R /usr/include | cksum; (exit 3); sh -c "kill -9 \$\$"; :'
	ebprec report -q --html x.html x.data
	run node "$BATS_TEST_DIRNAME/../../lib/web/processes.mjs" x.data x.html
	same 0 "$status"
	contains "$output" "sh:3"
	contains "$output" "sh:signal 9"
}

@test "waits of a real recording, most of them without a stack, have the numbers of ebprec report" {
	need_node
	need_bpf
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -F 997 -o x.data -- sh -c '(i=0; while [ $i -lt 3000 ]; do echo x; i=$((i + 1)); done) | while read -r l; do :; done; sleep 0.05; ls -R /usr/include | tail -n 1; python3 -c "import time; time.sleep(0.01)"'
	agrees x.data 8 13
	agrees x.data 4 14 --time 20%-60%
}

@test "marks: summed up and all occurrences of a span as the selection, as ebprec marks and --during have them" {
	need_node
	gen_story x.data <"$golden/marks/story"
	agrees x.data 40 5
	node "$BATS_TEST_DIRNAME/../../lib/web/modules.mjs" x.html
	agrees x.data 10 6 --comm worker
	agrees x.data 10 7 --time 1.002,1.0045
}

@test "counters: the lines over time have the numbers of ebprec metrics --interval, of every table and group" {
	need_node
	local counters=$BATS_TEST_DIRNAME/../../lib/web/counters.mjs
	gen_tables tables.data <"$golden/metrics/story"
	ebprec report -q --html x.html --of syscalls tables.data
	run node "$counters" tables.data x.html
	contains "$output" "counters_cpu"
	contains "$output" "pressure on cpu: some task waiting"
	ebprec report -q --html x.html --of syscalls --time 1.4,2.1 tables.data
	node "$counters" tables.data x.html --time 1.4,2.1
	sed 's/rx_packets=[0-9]*/rx_packets=0x1000000000000000/' "$golden/metrics/story" | gen_tables large.data
	ebprec report -q --html x.html --of syscalls large.data
	node "$counters" large.data x.html
	ebprec report -q --html - --of syscalls tables.data | cmp - <(ebprec report -q --html - -j 1 --of syscalls tables.data)
	need_bpf
	ebprec record -aq --with counters,runq,block --interval 0.1 -o x.data -- sh -c 'dd if=/dev/zero of=file bs=64k count=300 conv=fsync 2>/dev/null; sleep 0.3; ls -R /usr/include | cksum'
	ebprec report -q --html x.html x.data
	run node "$counters" x.data x.html
	same 0 "$status"
	contains "$output" "counters_memory"
	contains "$output" "runq"
	ebprec report -q --html x.html --comm dd x.data
	node "$counters" x.data x.html --comm dd
}

@test "two ranges of time: waits have the times of ebprec report --waits of each, and what is real is what changed throughout" {
	need_node
	local lib=$BATS_TEST_DIRNAME/../../lib/web
	node "$lib/wait_phases.mjs" | gen_story x.data
	ebprec report -q --html x.html x.data
	run node "$lib/changed_waits.mjs" x.html x.data
	same "grown more, shrunk less" "$output"
	gen_story x.data <"$golden/wall/story"
	ebprec report -q --html x.html x.data
	run node "$lib/changed_waits.mjs" x.html x.data
	same 0 "$status"
	node "$lib/wait_phases.mjs" 0 | gen_story before.data
	node "$lib/wait_phases.mjs" 1 | gen_story after.data
	ebprec diff -q --html y.html before.data after.data
	run node "$lib/changed_waits.mjs" y.html before.data after.data
	same "grown more, shrunk less" "$output"
	gen_story x.data <"$golden/offcpu/story"
	ebprec diff -q --html y.html x.data before.data
	run node "$lib/changed_waits.mjs" y.html x.data before.data
	same 0 "$status"
}

@test "two ranges of time: costs, ratios, intervals and results are those of ebprec diff, of samples and of instruments" {
	need_node
	local compare=$BATS_TEST_DIRNAME/../../lib/web/compare.mjs
	node "$BATS_TEST_DIRNAME/../../lib/web/phases.mjs" 0 8000 | gen_story x.data
	ebprec report -q --html x.html x.data
	run node "$compare" x.html 12 1
	same "noise,real,unsure" "$output"
	ebprec report -q --html x.html --weight period --comm worker x.data
	node "$compare" x.html 3 2
	need_bpf
	# Functions of files without symbols are one row.
	# shellcheck disable=SC2016 # the shell that is recorded expands them
	ebprec record -q -F 997 --with kmem:sample-bytes=65536 -o x.data -- sh -c 'i=0; while [ $i -lt 80000 ]; do i=$((i + 1)); done; head -c 20000000 /dev/zero >held; ls -R /usr/include >/dev/null; cat held >held2'
	ebprec report -q --html x.html x.data
	grep -q '"names: [^0]' x.html
	# The page has the package that would name them, where dpkg knows it.
	[ ! -e /var/lib/dpkg/info/dash.list ] || grep -q 'install its debug symbols: dash-dbgsym' x.html
	node "$compare" x.html 6 3
	node "$compare" x.html 6 4 1
}

@test "with --lines functions are by source line; graphs, waits and changes are those of functions" {
	need_node
	need_bpf
	cat >two.c <<'END'
#include <stdio.h>
static volatile long sum;
static long inner(long n)
{
	long r = 0;
	for (long i = 0; i < n; i++)
		r += i * i % (7 + sum % 2);
	for (long i = 0; i < n; i++)
		r += (r >> 3) % (i + 3 + sum % 3);
	return r;
}
__attribute__((noinline)) static long outer(long n)
{
	long a = inner(n);
	return a + inner(n * 2);
}
int main(void)
{
	for (int i = 0; i < 900; i++)
		sum += outer(20000);
	return sum == 1;
}
END
	cc -g -O1 -fno-inline -o two two.c
	ebprec record -q -F 997 -o x.data -- ./two
	agrees x.data 12 1 --lines
	agrees x.data 4 2 --lines --inline
	node "$BATS_TEST_DIRNAME/../../lib/web/compare.mjs" x.html 2 3
	# Both loops are there, which are one function without lines.
	ebprec report -q --csv --lines x.data | grep -q ',inner,two.c:7'
	ebprec report -q --html x.html --lines x.data
	node "$BATS_TEST_DIRNAME/../../lib/web/lines.mjs" x.html inner >lines
	grep -qx two.c:7 lines
	grep -qx two.c:9 lines
	ebprec report -q --html x.html x.data
	same "" "$(node "$BATS_TEST_DIRNAME/../../lib/web/lines.mjs" x.html inner)"
}

@test "the page of two captures: each has its stacks, and the changes are those of ebprec diff, with filters and files of other names" {
	need_node
	local compare=$BATS_TEST_DIRNAME/../../lib/web/compare.mjs phases=$BATS_TEST_DIRNAME/../../lib/web/phases.mjs words
	node "$phases" 0 3960 | gen_story before.data
	node "$phases" 3960 8000 | gen_story after.data
	ebprec diff -q --html x.html before.data after.data
	run node "$compare" x.html before.data after.data
	same "noise,real,unsure" "$output"
	node "$BATS_TEST_DIRNAME/../../lib/web/modules.mjs" x.html
	untraced renamed_file 0x400030 0 lib.so.1 | gen_story a.data
	untraced renamed_file 0x500030 1 lib.so.2 | gen_story b.data
	for words in "" --rename=lib.so.1=lib.so.2 --comm=prog --time=+0.1,+0.3; do
		# shellcheck disable=SC2086 # none or one
		ebprec diff -q --html y.html $words a.data b.data
		# shellcheck disable=SC2086 # none or one
		run node "$compare" y.html a.data b.data $words
		same "noise,real" "$output"
	done
	ebprec diff --html - a.data b.data 2>/dev/null | cmp - <(ebprec diff -q --html - a.data b.data)
	same 600 "$(stat -c %a x.html)"
	contains "$(sed -n '/<pre id="summary">/,/<\/pre>/p' y.html)" "95 % interval"
	refuses ebprec diff --html a.data a.data b.data
	refuses ebprec diff --html x.html --html-limit 10K a.data b.data
	for words in --json --sort=comm --normalize=run --per=x --folded; do
		run ebprec diff --html x.html $words a.data b.data
		same 2 "$status"
	done
}

# renamed_file ADDRESS PHASE NAME - a story of 400 samples, of which some are in a file of that name.
renamed_file() {
	local i at
	printf '%s\n' "0 fork 1 100 100" "0 comm 100 100 prog" "0 map 100 0x400000 0x1000 0 /no/such/main" \
		"0 map 100 0x500000 0x1000 0 /no/such/$3" "0 map 100 0x600000 0x1000 0 /no/such/noisy"
	for i in $(seq 400); do
		case $((i % 10)) in
		0) at=0x500010,0x400020 ;;
		1 | 2) at=$1,0x400020 ;;
		3) at=$((0x600010 - (i / 40 + $2) % 2 * 0x200000)) ;;
		*) at=0x400010 ;;
		esac
		echo "$((i * 1000000)) sample 100 100 0 10 u:$at"
	done
}

@test "the state of a thread at each moment: all that threads lived, by what they did, as ebprec report --wall has it" {
	need_node
	gen_story x.data <"$golden/wall/story"
	ebprec report -q --html x.html x.data
	node "$BATS_TEST_DIRNAME/../../lib/web/states.mjs" x.data x.html
}

# bats test_tags=long
@test "random selections of a real recording have the numbers of ebprec report" {
	need_node
	need_bpf
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -F 997 -o x.data -- sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; ls -R /usr/include >/dev/null; dd if=/dev/zero bs=4k count=20000 2>/dev/null | cksum'
	agrees x.data 15 7
}

@test "random selections of what instruments recorded have the numbers of ebprec report --of" {
	need_node
	need_bpf
	ebprec record -q -F 997 --with kmem:sample-bytes=65536 --with syscalls --slower 1ms -o x.data -- sh -c 'ls -R /usr/include >/dev/null; head -c 20000000 /dev/zero >held; sleep 0.02; sleep 0.01'
	agrees x.data 12 15 --of kmem
	# All of them in one page, on one axis, each with its own command.
	ebprec report -q --html x.html x.data
	for i in 1 2; do
		node "$BATS_TEST_DIRNAME/../../lib/web/oracle.mjs" x.data x.html 6 18 $i
	done
	same "kmem syscalls" "$(sed -n 's/^  "of": "\(.*\)",$/\1/p' x.html | sort | paste -sd " ")"
	same 1 "$(grep -o '"base_us": [0-9]*' x.html | sort -u | wc -l)"
	same 1 "$(grep -o '"span_us": [0-9]*' x.html | sort -u | wc -l)"
	ebprec report -q --html - x.data | cmp - <(ebprec report -q -j 1 --html - x.data)
	for words in --no-html-instruments "--of kmem" "--weight period" "--event cpu-clock"; do
		# shellcheck disable=SC2086 # words
		ebprec report -q --html y.html $words x.data
		same 0 "$(grep -c 'id="of1"' y.html)"
	done
}

@test "the viewer's expressions match as those of JavaScript, and end on names on which those do not" {
	need_node
	timeout 60 node "$BATS_TEST_DIRNAME/../../lib/web/regexes.mjs" 1 3000
}

@test "the viewer's modules: numbers and texts come back, frames lie within their callers, every count has the same sum" {
	need_node
	gen_story x.data <"$golden/report-story/story"
	ebprec report -q --html x.html x.data
	node "$BATS_TEST_DIRNAME/../../lib/web/modules.mjs" x.html
	gen_capture -o x.data --samples 5000 --depth 20 --pids 20
	ebprec report -q --html x.html x.data
	node "$BATS_TEST_DIRNAME/../../lib/web/modules.mjs" x.html
}

@test "the same capture gives the same bytes, into a file and into a pipe, with any number of threads" {
	gen_capture -o x.data --samples 50000 --depth 12 --pids 30
	ebprec report -q --html a.html x.data
	ebprec report -q -j 1 --html b.html x.data
	ebprec report -q -j 4 --html - x.data >c.html
	cmp a.html b.html
	cmp a.html c.html
	same 600 "$(stat -c %a a.html)"
}

@test "a page is not larger than its limit, and the error has how to get a smaller one" {
	gen_capture -o x.data --samples 300000 --depth 40 --pids 300
	refuses ebprec report -q --html x.html --html-limit 64K x.data
	contains "$stderr" "--html-limit"
	contains "$stderr" "--last"
	[ ! -e x.html ]
	ebprec report -q --html x.html --html-limit 20M x.data
}

@test "the viewer, its styles and the policy of a page take no more than 150 KiB" {
	gen_capture -o x.data --samples 0
	ebprec report -q --html x.html x.data
	local bytes
	bytes=$(sed -n '1,/<\/style>/p; /^<script>/,$p' x.html | wc -c)
	[ "$bytes" -gt 100000 ] || fail "$bytes bytes: this is no viewer"
	[ "$bytes" -le 153600 ] || fail "$bytes bytes"
}

@test "a page without waits is smaller, and has the samples, marks and first view that were asked for" {
	need_node
	gen_story x.data <"$golden/offcpu/story"
	ebprec report -q --html all.html x.data
	ebprec report -q --html x.html --no-html-waits --html-view '#rows=cpu&theme=dark' x.data
	[ "$(stat -c %s x.html)" -lt "$(stat -c %s all.html)" ]
	grep -q '"name": "waits"' all.html
	[ "$(grep -c '"name": "waits"' x.html)" -eq 0 ]
	grep -qF '"view": "rows=cpu\u0026theme=dark"' x.html
	node "$BATS_TEST_DIRNAME/../../lib/web/names.mjs" x.html
	refuses ebprec report -q --html y.html --html-limit 10K x.data
	contains "$stderr" "--no-html-waits"
}

@test "samples that filters leave out are not in the page, neither their names nor their threads" {
	gen_story x.data <"$golden/report-story/story"
	ebprec report -q --html all.html x.data
	pid=$(ebprec report -q --csv --sort pid x.data | tail -n 1 | cut -d, -f3 | tr -d '\r')
	ebprec report -q --html one.html --pid "$pid" x.data
	need_node
	node "$BATS_TEST_DIRNAME/../../lib/web/names.mjs" one.html | sort -u >one
	node "$BATS_TEST_DIRNAME/../../lib/web/names.mjs" all.html | sort -u >all
	same "" "$(comm -13 all one)"
	[ "$(wc -l <one)" -lt "$(wc -l <all)" ]
	ebprec report -q --csv --min-percent 0 --pid "$pid" --sort symbol x.data | tail -n +2 | cut -d, -f3 | tr -d '"\r' | sort -u >wanted
	same "" "$(grep -vxFf one wanted)"
	same "" "$(sed -n 's/^frame //p' one | grep -vxFf wanted)"
}

@test "names with markup, controls, and no UTF-8 are text: nothing of them is outside the data" {
	need_node
	local name=$'</SCRIPT ><!--]]>"\'`&\xe2\x80\xa8\xe2\x80\xae\x9b\xff;=1+1,\x01'
	local long
	long=$(printf '%65000s' "" | tr ' ' 'x')
	printf '%s\0' "0 fork 1 10 10" "0 comm 10 10 </SCRIPT >\"\`" "0 kmap 0xffffffff81000000 0x10000 _text" \
		"0 map 10 0x400000 0x1000 0 /$name" "- kallsyms ffffffff81000100 T $name" "- kallsyms ffffffff81000200 T $long" \
		"10 sample 10 10 0 10 k:0xffffffff81000110 u:0x400100" "12 sample 10 10 0 10 k:0xffffffff81000210 u:0x400100" >story
	printf '%s\0' "20 switch 0 10 10 1 </SCRIPT>\"\` 0 swapper/0 202 1 k:0xffffffff81000110" "30 mark 0 10 10 0 0 0 </SCRIPT><img </SCRIPT><b> $name" >>story
	gen_story --null --host "$name" x.data <story
	ebprec report -q --html x.html x.data
	# The page of no names, line by line: what differs is in the text, the title and the data.
	same "$(grep -c '<script' x.html)" "$(grep -ic '<script' x.html)"
	same 0 "$(sed -n '/<pre id="summary">/,/<\/pre>/p' x.html | sed '1d;$d' | grep -c '[<>]')"
	same 0 "$(sed -n '/id="head">/,/<\/script>/p' x.html | sed '1d;$d' | grep -c '[<>&]')"
	LC_ALL=C.UTF-8 grep -qaxv '.*' x.html && fail "not UTF-8"
	node "$BATS_TEST_DIRNAME/../../lib/web/oracle.mjs" x.data x.html 5 8
}

# shown PAGE FRAGMENT - writes dom: what chromium made of the page, from the disk and without a network; fails when it has to report something
shown() {
	chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr \
		--virtual-time-budget=100000 --dump-dom "file://$PWD/$1#$2" 2>messages >dom
	! grep CONSOLE messages
}

@test "in chromium a page has the numbers of ebprec report for the selection of its address, and a name that is markup is text" {
	command -v chromium >/dev/null || skip "needs chromium"
	gen_capture -o x.data --samples 3000 --depth 20 --pids 7
	ebprec report -q --html x.html x.data
	shown x.html "pids=1003&cpus=0"
	grep -q 'data-ready="yes"' dom
	grep -qF ">$(ebprec report -q --folded --pid 1003 --cpu 0 x.data | weight) samples selected, " dom
	grep -qF "ebprec report --pid=1003 --cpu=0 -i x.data" dom
	printf '%s\0' "0 fork 1 10 10" "0 comm 10 10 <img src=x>" "0 kmap 0xffffffff81000000 0x10000 _text" \
		"- kallsyms ffffffff81000100 T <img/src=x onerror=alert(1)>" "10 sample 10 10 0 10 k:0xffffffff81000110" "12 sample 10 10 0 10 k:0xffffffff81000110" >story
	gen_story --null y.data <story
	ebprec report -q --html y.html y.data
	shown y.html ""
	grep -qF "&lt;img/src=x onerror=alert(1)&gt;</button>" dom
	same 0 "$(grep -ci '<img' dom)"
	# The policy refuses a viewer that was changed: chromium reports that.
	sed 's/"use strict";/"use strict"; /' y.html >changed.html
	shown changed.html "" && fail "a viewer that was changed was run"
	grep -q "Content Security Policy" messages
	same 0 "$(grep -c 'data-ready' dom)"
}

@test "a capture without samples is a page, and one that is cut or changed is refused in one line" {
	need_node
	gen_capture -o x.data --samples 0
	ebprec report -q --html x.html x.data
	node "$BATS_TEST_DIRNAME/../../lib/web/names.mjs" x.html
	contains "$(cat x.html)" "no samples of 'cpu-clock': record longer"
	local story
	for story in offcpu marks report-story; do
		gen_story x.data <"$golden/$story/story"
		ebprec report -q --html x.html x.data 2>/dev/null
		timeout 300 node "$BATS_TEST_DIRNAME/../../lib/web/damage.mjs" x.html 120
	done
}

@test "a page that carries its capture is an input of every command, which then has what it has of the capture" {
	gen_story x.data <"$golden/report-story/story"
	ebprec report -q --html x.html --comm sh --with-capture x.data
	same 600 "$(stat -c %a x.html)"
	local words
	for words in report "report --folded" "report --json" "report --wall" "script" "summary" "info --json" "marks" "process"; do
		# shellcheck disable=SC2086 # words
		ebprec $words -i x.data 2>&1 | sed 's/x\.data/x.html/g' >wanted
		[ -s wanted ]
		# shellcheck disable=SC2086 # words
		ebprec $words -i x.html 2>&1 | diff wanted - || fail "ebprec $words"
	done
	ebprec report -q --folded - <x.html | cmp - <(ebprec report -q --folded x.data)
	ebprec slice -q --time 0%-100% -o a.data x.data
	ebprec slice -q --time 0%-100% -o b.data x.html
	cmp a.data b.data
	ebprec recover -q -o c.data x.html
	cmp x.data c.data
	refuses ebprec recover x.html
	contains "$stderr" "-o"
	ebprec diff -q --json x.data x.html | jq -e 'any(.. ; . == "real") | not' >/dev/null
	# A page made of the page carries the same; and it is no output of its own.
	ebprec report -q --html y.html --comm sh --with-capture x.html
	same "$(grep -o 'id="capture">.*' x.html | cksum)" "$(grep -o 'id="capture">.*' y.html | cksum)"
	local sum
	sum=$(cksum <x.html)
	refuses ebprec report --html x.html x.html
	same "$sum" "$(cksum <x.html)"
	need_node
	node "$BATS_TEST_DIRNAME/../../lib/web/oracle.mjs" x.data x.html 5 8
}

@test "a page without a capture, a cut one and one whose capture was changed are refused in one line" {
	gen_capture -o x.data --samples 2000
	ebprec report -q --html bare.html x.data
	ebprec report -q --html x.html --with-capture x.data
	refuses ebprec report -i bare.html
	contains "$stderr" "--with-capture"
	same 1 "$(wc -l <<<"$stderr")"
	local at size
	size=$(stat -c %s x.html)
	at=$(grep -abo 'id="capture">' x.html | cut -d: -f1)
	for cut in 20 $((at - 5)) $((at + 14)) $((at + 5000)); do
		head -c "$cut" x.html >cut.html
		refuses ebprec report -i cut.html
		same 1 "$(wc -l <<<"$stderr")"
	done
	sed 's/\(id="capture">....................\)./\1!/' x.html >changed.html
	refuses ebprec info -i changed.html
	contains "$stderr" "was changed"
	sed 's/data-bytes="/data-bytes="9/' x.html >changed.html
	refuses ebprec info -i changed.html
	head -c $((size - 100)) x.html >cut.html # behind the capture
	ebprec report -q --folded -i cut.html | cmp - <(ebprec report -q --folded -i x.data)
	refuses ebprec report --html y.html --html-limit 64K --with-capture x.data
	contains "$stderr" "--with-capture"
	run ebprec report --with-capture x.data
	same 2 "$status"
}

@test "a page is one view, and has no other form" {
	gen_capture -o x.data --samples 10
	for words in "--tree" "--json" "--csv" "--off-cpu" "--wall" "--svg x.svg"; do
		# shellcheck disable=SC2086 # words
		run ebprec report --html x.html $words x.data
		same 2 "$status"
	done
	sum=$(cksum <x.data)
	refuses ebprec report --html x.data x.data
	same "$sum" "$(cksum <x.data)"
}
