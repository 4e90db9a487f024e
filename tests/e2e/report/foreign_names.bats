#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# Names are strangers' bytes: what of them gets out of every command, view and form, on a terminal and into a pipe.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	unset COLUMNS
	export PAGER=cat TERM=xterm NO_COLOR=1
}

printable() {
	perl "$BATS_TEST_DIRNAME/printable.pl" "$@"
}

# Names of up to 15 bytes, without blanks: a comm has no more room.
comms=($'=\033[2J\x9b\xc2\x9b\x7f\xe2\x80\xae' $'-\xd8\x9c"\xe2\x81\xa6;\xff,\r\007' $'@\xe2\x80\x8f\xe2\x80\xa8\xc0\xaf\x08\xf0\x9f')
# Longer ones.
long=$'+\033]0;title\007 \xe2\x80\xaa\xe2\x81\xa9\x85\xed\xa0\x80\t"quoted", \xe2\x80\x8e\xef\xbc\x9d'

# shows FORM COMMAND... - what it prints is printable in a pipe and on a terminal, and so are its messages; FORM: of
# printable.pl, "text" is none
shows() {
	local form=$1 line
	shift
	[ "$form" != text ] || form=
	"$@" >pipe 2>messages || [ -s messages ] || fail "$*: failed without a word"
	line=$(printf ' %q' "$@")
	timeout 20 script -qec "stty cols 300; $line 2>messages.terminal" /dev/null </dev/null >terminal || true
	# shellcheck disable=SC2086 # words
	printable --output pipe --output terminal --messages messages --messages messages.terminal \
		$form "${names[@]}" 2>why || fail "$*: $(cat why)"
}

# story COMM - a line a record, each with a NUL behind
story() {
	local comm=$1 line
	printf '7f2200000000 100 %s\n7f2200000100 100 f(%s)::g 12\n' "$comm" "$long" >map
	for line in \
		"0 kmap 0xffffffff81000000 0x10000 _text" "0 kmap 0xffffffffc0000000 0x1000 $comm" \
		"- kallsyms ffffffff81000100 T $comm" "- kallsyms ffffffffc0000100 t nice [$comm]" \
		"- file perf-100.map map" "- file $comm map" "- note $long" \
		"- meta {\"command_line\": [\"$comm\"], \"affinity\": \"$comm\"}" "- cgroup 7 /$comm/$long" \
		"0 fork 1 100 100" "0 comm 100 100 $comm" "0 fork 1 101 101" "0 exec 101 101 $long" \
		"0 args 100 $comm $comm -- NAME=$comm" \
		"0 map 100 0x400000 0x1000 0 /$comm/$long" "0 map 100 0x500000 0x1000 0 $comm" \
		"0 map 100 0x7f2200000000 0x10000 0 //anon" \
		"0 ksym 0xffffffffc0001000 64 $comm" \
		"10 sample 100 100 0 10 k:0xffffffff81000110,0xffffffffc0000110 u:0x400100,0x500100,0x7f2200000010" \
		"15 sample 100 100 0 10 u:0x7f2200000110,0x400100" "16 sample 101 101 0 10 k:0xffffffffc0001010" \
		"20 mark 0 100 100 0 0 0 $comm $comm $long" "21 mark 0 100 100 1 5 0 $comm $comm" "25 mark 0 100 100 2 5 0 $comm $comm" \
		"30 switch 0 100 100 1 $comm 101 $comm 0 5000 k:0xffffffff81000110 u:0x400100" \
		"32 wakeup 0 101 101 100 $comm" "34 switch 0 101 101 1 $comm 100 $comm" \
		"40 sample 100 100 0 10 u:0x400100" "45 ended 0 100 100 1 120 0 0 1000 1 1 0 $comm"; do
		printf '%s\0' "$line"
	done
}

# bats test_tags=long
@test "stacks, marks, switches: no name moves a cursor, ends a line or turns it around" {
	for comm in "${comms[@]}"; do
		names=()
		story "$comm" | gen_story --null --host "$comm$long" s.data
		cp map first
		story "${comms[0]}" | sed -z 's/^15 /17 /' | gen_story --null --host "$comm" other.data
		for view in "" --tree --bottom-up "--callers $comm" "--callees g" --symbols-report --off-cpu --wakers --wall --brief \
			"--process 100" "--sort comm,pid,tid,cpu,cgroup,container" "--sort dso,build_id,symbol,line,srcfile" \
			"--threads" "--sort category,symbol" "--event $comm" "--comm $comm" "--dso $comm" "--during $comm"; do
			# shellcheck disable=SC2086 # words
			shows text ebprec report $view s.data
		done
		ebprec report -q --svg s.svg s.data
		printable <s.svg
		ebprec report -q --html s.html s.data
		printable <s.html
		shows "--folded 1" ebprec report --folded s.data
		shows "--folded 1" ebprec report --folded --annotations --off-cpu s.data
		shows --csv ebprec report --csv -q --sort comm,dso,symbol s.data
		shows text ebprec script -F comm,pid,tid,cpu,time,period,event,trace,ip,sym,symoff,dso,cgroup,container s.data
		shows text ebprec script s.data
		for view in info "info --objects" "info --blocks" summary sched "sched --threads" \
			"sched --exited" marks "marks --summary" "marks --waterfall" "marks --comm $comm" metrics "metrics $comm"; do
			# shellcheck disable=SC2086 # words
			shows text ebprec $view s.data
		done
		# A file is itself in a pipe; a terminal would obey it.
		same "$(cksum <first)" "$(ebprec info --extract "$comm" s.data | cksum)"
		printf -v quoted %q "$comm"
		script -qec "ebprec info --extract $quoted s.data" /dev/null </dev/null >terminal
		printable <terminal
		contains "$(cat terminal)" ::g
		shows text ebprec diff --sort comm,dso,symbol s.data other.data
		shows "--folded 2" ebprec diff --folded s.data other.data
		shows text ebprec "$comm"
		shows text ebprec report "--$comm" "/$long"
		shows text ebprec report "/$long"
		shows text ebprec export --to callgrind s.data
		shows "--folded 1" ebprec export --to folded s.data
		shows --csv ebprec export --to csv s.data
		ebprec export --to pprof -q s.data | gzip -dc | perl "$BATS_TEST_DIRNAME/pprof_texts.pl" >texts
		printable <texts
		shows text ebprec bundle --list s.data
		shows text ebprec scrub --list -o "scrubbed.$comm" s.data
		rm -f scrubbed*
	done
}

@test "JSON is valid, and a reader gets the names; a byte that is no UTF-8 is \\xNN" {
	for comm in "${comms[@]}"; do
		names=()
		story "$comm" | gen_story --null --host "$comm" s.data
		story "$comm" | sed -z 's/^15 /17 /' | gen_story --null --host "$comm" other.data
		for view in "report --symbols-report --json" "export --to chrome" "report --json=denet" "info --json" "sched --json" \
			"report --process 100 --json" "bundle --list --json"; do
			# shellcheck disable=SC2086 # words
			shows --json ebprec $view s.data
		done
		names=("$comm")
		for view in "report --json --sort comm,symbol" "report --tree --json" "summary --json" "sched --json" "marks --json" \
			"export --to speedscope" "export --to firefox" "export --to json" "info --json"; do
			# shellcheck disable=SC2086 # words
			shows --json ebprec $view s.data
		done
		shows --json ebprec diff --sort comm,symbol --json --min-percent 0 s.data other.data
	done
}

# bats test_tags=long
@test "tables of instruments: texts in them, groups and dimensions" {
	part=0
	for comm in "${comms[@]}"; do
		names=()
		perl "$BATS_TEST_DIRNAME/rename_rows.pl" "$comm" <"$BATS_TEST_DIRNAME/../../golden/metrics/story" >story
		gen_tables --null --host "$comm" t.data <story
		for view in "" "--by comm" "--by cgroup" "--by container" "--by process,cgroup" "--histogram" "--interval" --list; do
			# shellcheck disable=SC2086 # words
			shows text ebprec metrics $view t.data
		done
		# Each table with one of the names.
		part=$((part + 1))
		for table in $(ebprec metrics --list t.data | each_nth 3 $((part % 3)) | awk '{ print $1 }'); do
			shows text ebprec metrics "$table" --histogram --top 0 -i t.data
			shows --csv ebprec metrics "$table" --csv -i t.data
			shows --json ebprec metrics "$table" --json -i t.data
		done
		shows --json ebprec metrics --json=denet -i t.data
		shows text ebprec summary t.data
		shows text ebprec info t.data
		names=("$comm")
		shows --json ebprec metrics syscalls --json -i t.data
	done
}

@test "usual names come out byte for byte" {
	gen_story s.data <"$BATS_TEST_DIRNAME/../../golden/report-story/story"
	printf '%s\n' '0 fork 1 9 9' '0 comm 9 9 grün-€' '0 map 9 0x1000 0x1000 0 //anon' \
		'5 sample 9 9 0 1 u:0x1010' >story
	printf '1000 100 std::vector<int, std::allocator<int> >::push_back(int const&) [clone .isra.0]\n' >map
	echo '- file perf-9.map map' >>story
	gen_story one.data <story
	same 'grün-€;std::vector<int, std::allocator<int> >::push_back(int const&) [clone .isra.0] 1' \
		"$(ebprec report -q --folded one.data)"
	contains "$(ebprec report -q --csv --sort comm,symbol one.data)" \
		'grün-€,"std::vector<int, std::allocator<int> >::push_back(int const&) [clone .isra.0]"'
}
