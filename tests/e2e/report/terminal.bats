#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# ebprec on a terminal: a pager, colours, lines, widths; and that none of it gets into files.
# shellcheck disable=SC2089,SC2090 # quotes are for the shell on the terminal

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gen_story capture.data <"$BATS_TEST_DIRNAME/../../golden/report-story/story"
	unset NO_COLOR COLUMNS LESS
	export TERM=xterm
}

# on_terminal COLUMNS COMMAND... - what a terminal of that width gets, line ends made ours.
on_terminal() {
	local columns=$1 status=0
	shift
	timeout 20 script -qec "stty cols $columns rows 200; $*" /dev/null </dev/null >raw || status=$?
	tr -d '\r' <raw
	return $status
}

escape=$'\033'
pipe=$'\xe2\x94\x9c'

@test "a pager gets the answer, and the words about it" {
	on_terminal 80 EBPREC_PAGER="'sed s/^/paged:/'" ebprec report -i capture.data >out
	contains "$(cat out)" "paged:#"
	contains "$(cat out)" "paged:ebprec: stacks"
	same 0 "$(grep -vc '^paged:' out)"
}

@test "EBPREC_PAGER before PAGER, and each may be none" {
	contains "$(on_terminal 80 PAGER="'sed s/^/other:/'" ebprec report capture.data)" "other:#"
	contains "$(on_terminal 80 EBPREC_PAGER="'sed s/^/mine:/'" PAGER=false ebprec report capture.data)" "mine:#"
	for none in "''" cat; do
		contains "$(on_terminal 80 EBPREC_PAGER=$none PAGER="'sed s/^/other:/'" ebprec report capture.data)" "#   "
		same 0 "$(on_terminal 80 EBPREC_PAGER=$none PAGER="'sed s/^/other:/'" ebprec report capture.data | grep -c other)"
	done
}

@test "--no-pager, before and behind the command" {
	for how in "--no-pager report" "report --no-pager"; do
		got=$(on_terminal 80 PAGER="'sed s/^/paged:/'" ebprec "$how" capture.data)
		contains "$got" "%"
		case $got in *paged:*) fail "$how: $got" ;; esac
	done
}

@test "a pager that is not there is none" {
	contains "$(on_terminal 80 PAGER=no-such-program ebprec report capture.data)" "samples"
	contains "$(on_terminal 80 PAGER=/no/such/program ebprec report capture.data)" "samples"
}

@test "the status is the command's, not the pager's" {
	status=0
	on_terminal 80 PAGER="'cat >/dev/null; exit 0'" ebprec report nowhere.data >out || status=$?
	same 1 "$status"
	status=0
	on_terminal 80 PAGER="'cat >/dev/null; exit 7'" ebprec report capture.data >out || status=$?
	same 0 "$status"
	# One that leaves early is no failure either.
	status=0
	on_terminal 80 PAGER="'head -n 1'" ebprec report capture.data >out || status=$?
	same 0 "$status"
}

@test "less itself shows it, and is gone at once when it fits, long lines and all" {
	command -v less >/dev/null || fail "needs less"
	on_terminal 80 ebprec report capture.data >out
	contains "$(cat out)" "samples of"
	run ebprec report capture.data
	[ "$(wc -L <<<"$output")" -gt 80 ] || fail "no line is long: $output"
}

@test "colours on a terminal, and when they are asked for" {
	contains "$(on_terminal 80 PAGER=cat ebprec report capture.data)" "${escape}["
	contains "$(on_terminal 80 PAGER="'sed s/x/x/'" ebprec report capture.data)" "${escape}["
	contains "$(ebprec report --color always capture.data 2>/dev/null)" "${escape}["
	contains "$(NO_COLOR=1 ebprec report --color=always capture.data 2>/dev/null)" "${escape}["
}

@test "no colours in files, for NO_COLOR, dumb terminals and never" {
	plain=$(ebprec report -q capture.data 2>&1)
	for how in "NO_COLOR=1 ebprec" "TERM=dumb ebprec" "ebprec --color=never" "EBPREC_COLOR=never ebprec"; do
		got=$(on_terminal 200 PAGER=cat "$how" report -q capture.data)
		same "$plain" "$got"
	done
	for form in --csv --json --folded; do
		same "$(ebprec report $form -q capture.data)" "$(ebprec report --color always --utf8 $form -q capture.data)"
	done
}

@test "a colour that is none" {
	run ebprec report --color purple capture.data
	same 2 "$status"
	contains "$output" "purple"
	run ebprec report --color
	same 2 "$status"
	run ebprec slice --no-pager
	same 2 "$status"
}

@test "words of another program are left alone" {
	run ebprec diff -- --no-pager --color
	contains "$output" "--no-pager"
}

@test "trees have lines where the locale has them, blanks elsewhere" {
	contains "$(on_terminal 80 LC_ALL=C.UTF-8 PAGER=cat ebprec report --tree capture.data)" "$pipe"
	contains "$(ebprec report --tree --utf8 capture.data 2>/dev/null)" "$pipe"
	for plain in "$(on_terminal 80 LC_ALL=C PAGER=cat ebprec report --tree capture.data)" \
		"$(on_terminal 80 LC_ALL=C.UTF-8 PAGER=cat ebprec report --no-utf8 --tree capture.data)" \
		"$(LC_ALL=C.UTF-8 ebprec report --tree capture.data 2>/dev/null)"; do
		case $plain in *"$pipe"*) fail "$plain" ;; esac
	done
	# Lines and blanks give the same.
	same "$(ebprec report -q --tree capture.data | tr -s ' ')" "$(ebprec report -q --tree --utf8 capture.data |
		sed 's/\xe2\x94\x82/ /g; s/\xe2\x94[\x9c\x94]\xe2\x94\x80/ /' | tr -s ' ')"
}

@test "lines fit the terminal, and are complete in files" {
	name=$(printf 'long_%.0s' $(seq 60))
	{
		printf -- '- kallsyms %s\n' 'ffffffff81000000 T _text' "ffffffff81000100 T $name" 'ffffffff81000200 T _etext'
		printf '0 kmap 0xffffffff81000000 0x1000 _text\n0 map 1 0x400000 0x1000 0 /no/such/lib%s.so\n' "$name"
		echo '1 sample 1 1 0 1 u:0x400010'
		for i in 1 2 3; do
			printf '%d sample 1 1 0 1 k:0xffffffff81000110,0xffffffff81000110,0xffffffff81000110,0xffffffff81000110\n' $i
		done
	} >story
	gen_story long.data <story
	for view in "" --tree --bottom-up "--sort pid,dso,symbol"; do
		for columns in 72 80 132; do
			# shellcheck disable=SC2086 # words
			wide=$(on_terminal $columns NO_COLOR=1 PAGER=cat ebprec report -q $view long.data |
				wc -L)
			[ "$wide" -le $columns ] || fail "$view: $wide columns of $columns"
		done
		# shellcheck disable=SC2086 # words
		contains "$(ebprec report -q $view long.data)" "$name"
		# shellcheck disable=SC2086 # words
		contains "$(on_terminal 80 NO_COLOR=1 PAGER="'sed s/x/x/'" ebprec report -q $view long.data)" "$name"
	done
}

@test "tables fit the terminal: names are cut, numbers are complete or not there" {
	{
		echo '0 fork 1 100 100'
		echo '0 comm 100 100 a_long_comm_100'
		echo "0 map 100 0x400000 0x1000 0 /no/such/$(printf 'folder%.0s/' $(seq 20))program"
		for i in $(seq 40); do
			echo "$((i * 123456789)) sample 100 100 0 10000000 u:0x400010"
		done
	} >story
	gen_story wide.data <story
	ebprec summary -q wide.data >full
	contains "$(cat full)" "over time"
	same 0 "$(grep -c 'without room' full)"
	for view in summary "report --symbols-report" info; do
		for columns in 72 80 110 140; do
			# shellcheck disable=SC2086 # words
			on_terminal $columns NO_COLOR=1 PAGER=cat ebprec $view -q wide.data 2>/dev/null >narrow ||
				on_terminal $columns NO_COLOR=1 PAGER=cat ebprec $view wide.data >narrow
			# Rows of tables: a line without a table's name in front is a row, or names what is missing.
			wide=$(grep '  .*  .*  ' narrow | grep -v '^  ' | wc -L)
			[ "$wide" -le $columns ] || fail "$view: $wide columns of $columns: $(cat narrow)"
		done
	done
	on_terminal 80 NO_COLOR=1 PAGER=cat ebprec summary -q wide.data >narrow
	contains "$(cat narrow)" "without room: over time, command line"
	# All that both show of a row is the same, but for names.
	row=$(grep '^100 ' narrow)
	[ "$(wc -w <<<"$row")" -ge 8 ] || fail "$row"
	for word in $row; do
		case $word in *..) continue ;; esac
		grep '^100 ' full | grep -qF -- " $word" || [ "$word" = 100 ] || fail "$word is not complete: $row"
	done
	same "$(cat full)" "$(on_terminal 300 NO_COLOR=1 PAGER=cat ebprec summary -q wide.data)"
}

@test "the table of threads fits the terminal: comms are cut, times are complete or not there" {
	gen_story sched.data <"$BATS_TEST_DIRNAME/../../golden/sched/story"
	ebprec sched --threads sched.data >full
	same 0 "$(grep -c 'without room' full)"
	for columns in 60 80 110 140; do
		on_terminal $columns PAGER=cat ebprec sched --threads sched.data >narrow
		wide=$(grep -v '^#\|^and \|^without' narrow | wc -L)
		[ "$wide" -le $columns ] || fail "$wide columns of $columns: $(cat narrow)"
		# A row is the beginning of the same row, but for its comm.
		sed -n '/^COMM/,/^without/{ /^COMM\|^without/d; s/^.\{,15\}  *\([0-9]*  *[0-9]* \)/\1/; p }' narrow |
			tr -s ' ' | sed 's/ $//' >rows
		[ -s rows ] || fail "$(cat narrow)"
		tr -s ' ' <full >squeezed
		while read -r row; do
			grep -qF -- "$row" squeezed || fail "'$row' of $columns columns is not in: $(cat full)"
		done <rows
	done
	contains "$(on_terminal 80 PAGER=cat ebprec sched --threads sched.data)" "without room: "
	same "$(cat full)" "$(on_terminal 300 PAGER=cat ebprec sched --threads sched.data)"
}

@test "ebprec help COMMAND, without a terminal and on one" {
	for command in report diff; do
		same "$(ebprec $command --help)" "$(ebprec help $command)"
		contains "$(ebprec help $command)" "--no-pager"
	done
	case $(ebprec help slice) in *--pager*) fail "slice shows nothing" ;; esac
}

@test "a long load shows its progress on a terminal, unless it is quiet" {
	mkfifo quiet file loud
	timeout 60 script -qec "ebprec report --no-pager -q -i - <quiet" /dev/null </dev/null >raw.quiet &
	exec 7>quiet
	timeout 60 script -qec "ebprec report --no-pager -i - <file 2>raw.file" /dev/null </dev/null >raw.out &
	exec 8>file
	timeout 60 script -qec "ebprec report --no-pager -i - <loud" /dev/null </dev/null >raw.loud &
	exec 9>loud
	for _ in $(seq 400); do
		! grep -q "reading" raw.loud || break
		sleep 0.05
	done
	cat capture.data >&7
	cat capture.data >&8
	cat capture.data >&9
	exec 7>&- 8>&- 9>&-
	wait
	contains "$(cat raw.loud)" "${escape}[Kreading ..."
	# It is gone before anything else is there.
	contains "$(tr -d '\r' <raw.loud)" "${escape}[K# "
	for quiet in raw.quiet raw.file raw.out; do
		same 0 "$(grep -c reading $quiet)"
		[ -s $quiet ]
	done
}
