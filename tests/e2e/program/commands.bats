#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# How ebprec is called, and what it replies when it is called wrongly.

# shellcheck disable=SC2154 # run sets stderr

load ../../lib/helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gen_capture -o good.data --samples 500 --flush 100 --object 1000
}

# replies STATUS WORDS CMD... - ebprec CMD exits with STATUS and replies exactly WORDS, in one line.
replies() {
	local want_status=$1 want=$2
	shift 2
	run --separate-stderr ebprec "$@"
	same "$want_status" "$status"
	same "" "$output"
	same "$want" "$stderr"
}

@test "no command: the list, on stderr, status 2" {
	run --separate-stderr ebprec
	same 2 "$status"
	same "" "$output"
	contains "$stderr" "usage: ebprec COMMAND"
}

@test "help lists every command, and each command has its own" {
	run --separate-stderr ebprec help
	same 0 "$status"
	same "" "$stderr"
	commands=$(sed -n 's/^  \([a-z]*\) .*/\1/p' <<<"$output" | grep -v 'record\|help\|version\|top')
	contains "$commands" recover
	same "$(ebprec live --help)" "$(ebprec help top)"
	for command in $commands; do
		same "$(ebprec help "$command")" "$(ebprec "$command" --help)"
		contains "$(ebprec "$command" -h)" "usage: ebprec $command"
	done
}

@test "the version, and what it was built with" {
	same "$(ebprec --version)" "$(ebprec version)"
	same "$(ebprec --version)" "$(ebprec -v)"
	same "$(ebprec --version)" "$(ebprec -V)"
	[[ $(ebprec --version) =~ ^ebprec\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	contains "$(ebprec --version --build-options)" "zstd: "
}

@test "an unknown command: the nearest is named" {
	replies 2 "ebprec: unknown command 'inof', did you mean 'info'? (see 'ebprec help')" inof
	replies 2 "ebprec: unknown command 'xyzzy' (see 'ebprec help')" xyzzy
	replies 2 "ebprec: unknown command 'inof', did you mean 'info'? (see 'ebprec help')" help inof
	replies 2 "ebprec: unknown option '--folded', a command was expected (see 'ebprec help')" --folded
}

@test "words of perf: the error names the equivalent here" {
	replies 2 "ebprec: there is no command 'stat': 'ebprec record' and 'ebprec summary'; of a CPU's counters, where 'ebprec doctor' finds some, 'ebprec record --with pmu' (see 'ebprec help')" \
		stat ls
	replies 2 "ebprec: there is no command 'locks': 'ebprec record --with locks' and 'ebprec metrics locks', or 'ebprec report --waits' (see 'ebprec help')" \
		locks
	replies 2 "ebprec: there is no command 'flamegraph': 'ebprec report --svg FILE' (see 'ebprec help')" \
		flamegraph
	replies 2 "ebprec: 'sched latency' of perf is not known here: --threads, or --latency (see 'ebprec sched --help')" \
		sched latency
	replies 2 "ebprec: 'script flamegraph' of perf is not known here: 'ebprec report --svg FILE' (see 'ebprec script --help')" \
		script flamegraph
	replies 2 "ebprec: option '--inverted' of perf is not known here: --tree, or --bottom-up (see 'ebprec report --help')" \
		report -G good.data
	replies 2 "ebprec: option '--script' of perf is not known here: pipe the text to it, or 'ebprec export' (see 'ebprec script --help')" \
		script -s a.py
	# A capture may be called so.
	cp good.data flamegraph
	same "$(ebprec script good.data)" "$(ebprec script flamegraph)"
}

@test "an unknown option: the nearest is named" {
	replies 2 "ebprec: unknown option '--verison', did you mean '--version'? (see 'ebprec help')" --verison
	replies 2 "ebprec: unknown option '--jsno', did you mean '--json'? (see 'ebprec info --help')" \
		info --jsno
	replies 2 "ebprec: unknown option '--outptu', did you mean '--output'? (see 'ebprec slice --help')" \
		slice --outptu x
	replies 2 "ebprec: unknown option '-y' (see 'ebprec export --help')" export -y
	# One of perf's that is taken, too.
	replies 2 "ebprec: unknown option '--stido', did you mean '--stdio'? (see 'ebprec report --help')" report --stido
	# A name that begins so, before one with a letter more or less.
	[ ! -x "$BUILD/ebprec-record" ] ||
		replies 2 "ebprec: option '--with' does not know 'lock', did you mean 'locks'? (see 'ebprec record --help')" \
			record --with lock -d 0.1 -o x
}

@test "a word of other tools for an option: the one that does it here" {
	leads() { # leads COMMAND WORD OPTION
		replies 2 "ebprec: unknown option '--$2', try '--$3' (see 'ebprec $1 --help')" "$1" "--$2"
	}
	leads report flamegraph "svg FILE"
	leads report top "min-percent P"
	leads report lock "of NAME"
	leads slice from "time FROM,TO"
	leads slice to "time FROM,TO"
	leads summary sort "weight BY"
	leads summary limit "top N"
	leads export format "to FORM"
}

@test "parts of recordings without tables: the command that shows them" {
	replies 1 "ebprec: 'cpu' has no tables: 'ebprec report' shows its samples" live cpu
	replies 1 "ebprec: 'sched' has no tables: 'ebprec sched' shows it" live syscalls sched
	replies 1 "ebprec: 'mark' has no tables: 'ebprec marks' shows them" metrics mark good.data
}

@test "a file that is no capture: the error has an advice" {
	echo text >text.data
	: >empty.data
	replies 1 "ebprec: cannot open 'text.data': not a capture, nor perf.data: text (record one with 'ebprec record', or name another)" \
		report text.data
	replies 1 "ebprec: cannot open 'empty.data': cut short: the file is empty (record again)" report empty.data
}

@test "without ebprec.data a perf.data beside it is named" {
	mkdir perfs
	cp good.data perfs/perf.data
	cd perfs
	for command in report summary script "export --to folded"; do
		# shellcheck disable=SC2086 # words
		replies 1 "ebprec: cannot open 'ebprec.data': No such file or directory (perf.data is here: name it with -i perf.data)" \
			$command
	done
	replies 1 "ebprec: cannot open 'other.data': No such file or directory (record one with 'ebprec record', or name another)" \
		report other.data
}

@test "-g takes perf's list: order, percentage and shape" {
	same "$(ebprec report --tree --min-percent 2 good.data)" "$(ebprec report -g graph,2,caller good.data)"
	same "$(ebprec report --tree --min-percent 2 good.data)" "$(ebprec report -g graph,2,caller,function good.data)"
	same "$(ebprec report --bottom-up good.data)" "$(ebprec report --call-graph=graph,0.1,callee good.data)"
	same "$(ebprec report --folded good.data)" "$(ebprec report -g folded,0.5 good.data)"
	same "$(ebprec report good.data)" "$(ebprec report --no-call-graph good.data)"
	for list in "graph,x" "graph,0.5,fractal" "graph,1,2" "graph,0.5x" caler; do
		run -2 ebprec report -g "$list" good.data
		contains "$output" "option '--call-graph'"
	done
	run -2 ebprec report --call-graph=, good.data
	contains "$output" "option '--call-graph'"
}

@test "-g without an order is a tree, as perf's: at the end, before options and before the file" {
	tree=$(ebprec report --tree good.data)
	same "$tree" "$(ebprec report good.data -g)"
	same "$tree" "$(ebprec report -g good.data)"
	same "$tree" "$(ebprec report --call-graph -i good.data)"
	same "$tree" "$(ebprec report -gq good.data 2>&1)"
	same "$(ebprec report --bottom-up good.data)" "$(ebprec report -gcallee good.data)"
	same "$(ebprec report --tree --min-percent 2 good.data)" "$(ebprec report -g 2 -g graph,2 good.data)"
}

@test "--sort takes perf's columns that are always there, and names what stands for the others" {
	same "$(ebprec report --sort comm good.data)" "$(ebprec report --sort overhead,comm good.data)"
	same "$(ebprec report good.data)" "$(ebprec report --sort overhead good.data)"
	same "$(ebprec diff good.data good.data)" "$(ebprec diff --sort overhead good.data good.data)"
	replies 2 "ebprec: key 'socket' of perf is not known here: cpu (see 'ebprec report --help')" report --sort comm,socket good.data
}

@test "a function, span or mark that is not there: the nearest is named" {
	gen_story m.data <"$BATS_TEST_DIRNAME/../../golden/marks/story"
	replies 1 "ebprec: no span 'requst' in 'm.data', did you mean 'request'? (see 'ebprec marks')" report --during requst m.data
	replies 1 "ebprec: no mark 'reqest' in 'm.data', did you mean 'request'? (see 'ebprec marks')" \
		summary --between reqest parse m.data
	replies 1 "ebprec: no span 'slowest:requst' in 'm.data', did you mean 'request'? (see 'ebprec marks')" \
		report --during slowest:requst m.data
	replies 1 "ebprec: no span 'requst#3' in 'm.data', did you mean 'request'? (see 'ebprec marks')" \
		report --during 'requst#3' m.data
	replies 1 "ebprec: no span 'xyzzy' in 'm.data' (see 'ebprec marks')" report --during xyzzy m.data
	gen_story f.data <"$BATS_TEST_DIRNAME/../../golden/report-story/story"
	for option in --callers --callees; do
		run -1 --separate-stderr ebprec report -q $option ksys_raed f.data
		contains "$stderr" "no function 'ksys_raed' in the samples of 'f.data' that were asked for, did you mean 'ksys_read'?"
	done
}

@test "a function or an instrument that is near none: those that are there are listed" {
	gen_story f.data <"$BATS_TEST_DIRNAME/../../golden/report-story/story"
	for option in --callers --callees --annotate; do
		run -1 --separate-stderr ebprec report -q $option nosuch f.data
		contains "$stderr" "no function 'nosuch' in the samples of 'f.data' that were asked for; there are: "
		sed 's/.*there are: //; s/ and [0-9]* more.*//; s/, /\n/g' <<<"$stderr" >names
		[ "$(wc -l <names)" -eq 5 ] || fail "$stderr"
		while read -r name; do
			run -0 ebprec report -q --callers "$name" f.data
		done <names
	done
	gen_tables n.data <"$BATS_TEST_DIRNAME/../../golden/metrics-net/story"
	run -1 --separate-stderr ebprec report --of sycalls n.data
	contains "$stderr" "'n.data' has no stacks of 'sycalls', did you mean 'syscalls'?"
	run -1 --separate-stderr ebprec report --of lcoks n.data
	contains "$stderr" "'n.data' has no stacks of 'lcoks', did you mean 'locks'?"
}

@test "diff --of compares the stacks of an instrument by its unit, and names what there is, as report does" {
	gen_tables n.data <"$BATS_TEST_DIRNAME/../../golden/metrics-net/story"
	for name in locks tcp; do
		cost=$(ebprec report -q --of $name --folded n.data | weight)
		ebprec diff --json --of $name n.data n.data >out
		contains "$(cat out)" '"weight": "ns"'
		contains "$(cat out)" "\"cost\": $cost,"
	done
	replies 1 "ebprec: 'n.data' has no stacks of 'lcoks', did you mean 'locks'?" diff --of lcoks n.data n.data
	run -1 ebprec diff --of block n.data n.data
	contains "$output" "'n.data' has no stacks of 'block', but of: tcp, locks (record some: ebprec record --with block --slower 10ms)"
	run -2 ebprec diff --of locks -e cpu-clock n.data n.data
	run -2 ebprec diff --of locks --html x.html n.data n.data
}

@test "a word that an option does not know: the one that is near, or those that it knows" {
	gen_story m.data <"$BATS_TEST_DIRNAME/../../golden/marks/story"
	gen_tables n.data <"$BATS_TEST_DIRNAME/../../golden/metrics-net/story"
	replies 2 "ebprec: option '--keep' cannot be 'hots', did you mean 'host'? (see 'ebprec scrub --help')" \
		scrub -o x --keep hots good.data
	run -2 ebprec scrub -o x --keep nosuch good.data
	words=$(sed "s/.*'nosuch': //; s/ was expected.*//; s/,//g; s/ or / /" <<<"$output")
	[ "$(wc -w <<<"$words")" -ge 9 ] || fail "$output"
	for word in $words; do
		ebprec scrub -q --without-names -o x --keep "$word" good.data
	done
	replies 1 "ebprec: 'm.data' has no mark 'requst', did you mean 'request'? ('ebprec marks' lists them)" \
		diff --per requst m.data m.data
	replies 2 "ebprec: option '--by': 'futexes' has no 'proces', did you mean 'process'? (see 'ebprec metrics --help')" \
		metrics futexes --by proces n.data
	replies 2 "ebprec: option '--by': 'futexes' has no 'adress', did you mean 'address'? (see 'ebprec metrics --help')" \
		metrics futexes --by adress n.data
	replies 2 "ebprec: option '--call-graph' is auto, cfi, fp, copy[,BYTES] or none, not 'nosuch' (see 'ebprec record --help')" \
		record --call-graph nosuch -- true
}

@test "every command takes -q, and none hides with it that an answer is empty" {
	for command in $(ebprec help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -vxE 'record|help|version'); do
		run ebprec "$command" -q --help
		same 0 "$status"
	done
	same "$(ebprec info good.data)" "$(ebprec info -q good.data)"
	for words in "report" "diff good.data" "export --to folded" "script"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $words -q --comm nosuch good.data
		contains "$stderr" "no thread is called 'nosuch'"
	done
}

@test "-q: losses, a cut and periods that were divided are reported with it, too" {
	printf '0 comm 7 7 worker\n1000 sample 7 7 0 1 u:0x400000\n2000 lost 3\n' | gen_story c.data
	for words in "report" "diff c.data" "export --to folded"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $words -q c.data
		same 0 "$status"
		contains "$stderr" "lost: 3 samples were lost while recording"
	done
	head -c "$(($(stat -c %s good.data) * 6 / 10))" good.data >cut.data
	run --separate-stderr ebprec report -q cut.data
	contains "$stderr" "file: 'cut.data' is cut at byte"
	same "" "$(ebprec report -q good.data 2>&1 >/dev/null)"
}

@test "a folder that an option names to look in has to be there" {
	for words in "report --annotate main --source-dir" "report --symfs" "report --debug-dir" "diff good.data --symfs" \
		"export --to folded --symfs" "script --debug-dir" "summary --symfs" "bundle --list --symfs" "metrics x --symfs" "scrub -o x --symfs"; do
		# shellcheck disable=SC2086 # words
		run -2 --separate-stderr ebprec $words /nosuch good.data
		contains "$stderr" "no folder '/nosuch': No such file or directory"
	done
	replies 2 "ebprec: option '--symfs': no folder 'good.data': Not a directory (see 'ebprec report --help')" \
		report --symfs good.data -i good.data
	ebprec report -q --symfs . --debug-dir . good.data
}

@test "export --to of what another command or form writes names that" {
	replies 2 "ebprec: option '--to' cannot be 'svg': 'ebprec report --svg FILE' draws it (see 'ebprec export --help')" \
		export --to svg good.data
	for form in collapsed perfetto kcachegrind gecko; do
		run -2 --separate-stderr ebprec export --to "$form" good.data
		instead=${stderr##*: --to }
		ebprec export -q --to "${instead%% *}" -o x good.data
	done
	replies 2 "ebprec: option '--to' cannot be 'perf.data': --raw (see 'ebprec export --help')" export --to perf.data good.data
	replies 2 "ebprec: option '--to' cannot be 'pproff', did you mean 'pprof'? (see 'ebprec export --help')" \
		export --to pproff good.data
}

@test "diff -c takes names of threads: of a method of perf's --compute a note has what does it" {
	run --separate-stderr ebprec diff -c ratio good.data good.data
	contains "$stderr" "-c is --comm here, not perf's --compute: rows have the ratio"
	printf '0 comm 7 7 delta\n1000 sample 7 7 0 1 u:0x400000\n' | gen_story c.data
	run --separate-stderr ebprec diff -c delta c.data c.data
	[[ $stderr != *compute* ]] || fail "$stderr"
}

@test "--html-view: what the page does not know is refused, and all that it knows is taken" {
	replies 2 "ebprec: option '--html-view' cannot have 'rows=nonsense': one of program, cpu, container was expected (see 'ebprec report --help')" \
		report --html x.html --html-view '#theme=dark&rows=nonsense' good.data
	for state in nonsense nonsense=1 =cpu 'rows=cpu&&theme=dark'; do
		run -2 ebprec report -q --html x.html --html-view "$state" good.data
		contains "$output" "': KEY=VALUE&..., KEY one of time, comms, "
	done
	web=$BATS_TEST_DIRNAME/../../../analyze/web
	cat "$web/data/link.mjs" "$web"/*/filter.mjs >state.mjs
	{
		sed -n 's/^export const FILTER_\(LISTS\|TEXTS\) = //p' state.mjs | grep -o '[a-z]*' | sed 's/$/=x/'
		printf 'time=1-2\nduring=x\n'
	} >states
	# KEY: [["VALUE", "LABEL"], ...], or KEY: "",
	sed -n '/^export const LINK_VIEW/,/^};/s/^\t\([a-z_]*\): \(\[.*\]\|""\),.*/\1 \2/p' state.mjs | while read -r key values; do
		grep -o '\["[a-z-]*"' <<<"$values" | tr -d '["' | sed "s/^/$key=/"
		[ "$values" != '""' ] || echo "$key=x"
	done >>states
	[ "$(wc -l <states)" -ge 40 ] || fail "$(cat states)"
	while read -r state; do
		ebprec report -q --html x.html --html-view "$state" good.data || fail "$state"
	done <states
}

@test "--time outside of the file: every command prints the file's time, also by the clock" {
	for words in "report" "summary" "script" "slice -o x.data" "export --to folded" "diff good.data" "sched" "marks"; do
		rm -f x.data
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $words --time 13:05:10,13:05:11 good.data
		contains "$stderr" "nothing of 'good.data' is within '--time 13:05:10,13:05:11': it is from "
		clock=$(sed -n "s/.*by the clock, in UTC: --time //p" <<<"$stderr" | head -n 1)
		[ -n "$clock" ] || fail "$words: $stderr"
	done
	run --separate-stderr ebprec report -q --time "$clock" good.data
	same "" "$stderr"
	[ -n "$output" ]
}

@test "a file that cannot be written because its folder is not there: what to do" {
	for words in "slice --last 1s -o" "report --svg" "report --html" "export --to folded -o" "bundle -o" "scrub --without-names -o"; do
		# shellcheck disable=SC2086 # words
		run -1 --separate-stderr ebprec $words /nosuch/x good.data
		contains "$stderr" "No such file or directory (make its folder first, or name another file)"
	done
}

@test "a name of a thread that is not there gets one that is near" {
	cd "$BATS_TEST_TMPDIR" || return
	printf '0 comm 7 7 worker\n1000 sample 7 7 0 1 u:0x400000\n' | gen_story c.data
	run --separate-stderr ebprec report -c wroker c.data
	contains "$stderr" "ebprec:   no thread is called 'wroker', did you mean 'worker'?"
	for words in "diff c.data c.data" "export --to folded -o x c.data" "script c.data"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $words -c wroker
		contains "$stderr" "ebprec:   no thread is called 'wroker', did you mean 'worker'?"
	done
	run --separate-stderr ebprec report -c worker -C 3 c.data
	contains "$stderr" "passes the filters"
	! grep -F "no thread" <<<"$stderr" || fail "$stderr"
	run --separate-stderr ebprec report -c '!worker' c.data
	! grep -F "no thread" <<<"$stderr" || fail "$stderr"
}

@test "functions of an interpreted program: a line of the table names the options that show their time" {
	cd "$BATS_TEST_TMPDIR" || return
	printf '7f2200000000 100 py::slow_sort\n7f2200000100 100 _PyEval_EvalFrameDefault\n' >map
	cat >story <<-'EOS'
		- file perf-7.map map
		0 comm 7 7 python3
		0 map 7 0x7f2200000000 0x10000 0 //anon
		1000 sample 7 7 0 1 u:0x7f2200000110,0x7f2200000010
	EOS
	gen_story c.data <story
	ebprec report -q c.data >out
	contains "$(cat out)" "# --children sorts by total, --hide interpreter leaves these out"
	for shown in --children --no-children --hide=interpreter --tree; do
		ebprec report -q "$shown" c.data >out
		! grep "interpreter's own" out || fail "$(cat out)"
	done
	run --separate-stderr ebprec report --svg x.svg c.data
	contains "$stderr" "(--hide interpreter leaves these out)"
	run --separate-stderr ebprec report --svg x.svg --hide interpreter c.data
	[[ $stderr != *"--hide interpreter"* ]] || fail "$stderr"
	# Where the frames of the program are the innermost ones, their own time shows.
	sed 's/0x7f2200000110,//' story | gen_story c.data
	ebprec report -q c.data >out
	! grep "interpreter's own" out || fail "$(cat out)"
	sed -i s/py::slow_sort/slow_sort/ map
	gen_story c.data <story
	ebprec report -q c.data >out
	! grep "interpreter's own" out || fail "$(cat out)"
	run --separate-stderr ebprec report --svg x.svg c.data
	[[ $stderr != *"--hide interpreter"* ]] || fail "$stderr"
}

@test "summary: -n 0 shows all rows, and fewer rows name how many processes they leave out" {
	gen_story f.data <"$BATS_TEST_DIRNAME/../../golden/report-story/story"
	same "$(ebprec summary --top 100 f.data 2>&1)" "$(ebprec summary -n 0 f.data 2>&1)"
	run --separate-stderr ebprec summary --top 1 f.data
	contains "$output" "4 more"
	contains "$output" "--top 0 shows them"
	for rows in 0 1 2; do
		ebprec summary --top "$rows" f.data 2>/dev/null | sed -n '/^ *\(count\|pid\) /,/^$/p' | grep -oE '[0-9.]+%' |
			sum_field 1
	done | sort -u >sums
	same 100 "$(cat sums)"
	run --separate-stderr ebprec summary --top 0 f.data
	[[ $output != *"--top 0"* ]]
	gen_story s.data <"$BATS_TEST_DIRNAME/../../golden/sched-contradictions/story"
	run -0 ebprec sched -n 0 s.data
	run --separate-stderr ebprec summary s.data
	contains "$stderr" "'missed run time' is how long these threads would have run in the time they waited"
	run --separate-stderr ebprec summary -q s.data
	same "" "$stderr"
}

@test "summary: the process that ran longest comes first, and the program that started many short ones is named" {
	{
		printf '0 fork 1 10 10\n0 comm 10 10 storm\n0 fork 1 20 20\n0 comm 20 20 long\n0 fork 1 30 30\n0 comm 30 30 other\n'
		for i in {1..6}; do
			at=$((i * 1000000)) pid=$((100 + i))
			printf '%d fork %d %d %d\n' $at $((i < 6 ? 10 : 30)) $pid $pid
			printf '%d exec %d %d true\n' $((at + 1000)) $pid $pid
			printf '%d sample 20 20 0 1000000 u:0x400000\n' $((at + 2000))
			printf '%d exit %d %d\n' $((at + 5000)) $pid $pid
			# The program with most samples ran less.
			printf '%d switch 0 0 0 0 swapper/0 20 long\n' $((at + 10000))
			printf '%d switch 0 20 20 1 long 10 storm\n' $((at + 20000))
			printf '%d switch 0 10 10 1 storm %d true\n' $((at + 520000)) $pid
			printf '%d switch 0 %d %d 16 true 0 swapper/0\n' $((at + 521000)) $pid $pid
		done
	} | sort -sn >story
	gen_story f.data <story
	ebprec summary -q --json f.data | jq -r '.processes[] | "\(.comm) \(.count) \(.samples) \(.cpu_time_ns) \(.parent)/\(.parent_pid)/\(.parent_starts)"' >rows
	same $'storm 1 0 3000000 /1/0\nlong 1 6 60000 /1/0\ntrue 6 0 6000 storm/10/5' "$(cat rows)"
	ebprec summary -q --top 1 f.data >page
	same "1 storm" "$(sed -n '/^ *count  *pid/{n;p}' page | awk '{ print $1, $3 }')"
	contains "$(ebprec summary -q f.data)" "  storm(10): 5 of them  "
}

@test "summary: samples under another name than their row's are counted, and report named" {
	cat >story <<-'EOS'
		0 comm 7 7 sh
		1000 sample 7 7 0 1 u:0x400000
		2000 exec 7 7 make
		3000 sample 7 7 0 1 u:0x400000
		4000 sample 7 7 0 1 u:0x400000
	EOS
	gen_story c.data <story
	run --separate-stderr ebprec summary c.data
	contains "$stderr" "samples are by process, under its last name; 1 of them are of threads or times with another name ('ebprec report --sort comm'"
	sed 's/make/sh/' story | gen_story c.data
	run --separate-stderr ebprec summary c.data
	[[ $stderr != *"last name"* ]]
}

@test "a percentage may have its sign" {
	for command in "report --min-percent" "report --tree --percent-limit" "diff good.data --min-percent"; do
		# shellcheck disable=SC2086 # words
		same "$(ebprec $command 5 good.data)" "$(ebprec $command 5% good.data)"
		# shellcheck disable=SC2086 # words
		run -2 ebprec $command 5%x good.data
	done
	run -2 ebprec diff --fail-above 5%x good.data good.data
}

@test "an unknown key, field or form: the nearest is named, or all" {
	for command in "report good.data" "diff good.data good.data"; do
		# shellcheck disable=SC2086 # words
		replies 2 "ebprec: option '--sort' cannot be 'dso,symbl': there is no key 'symbl', did you mean 'symbol'? (see 'ebprec ${command%% *} --help')" \
			$command --sort dso,symbl
	done
	replies 2 "ebprec: option '--fields' cannot be 'ip,perod': there is no field 'perod', did you mean 'period'? (see 'ebprec script --help')" \
		script -F ip,perod good.data
	replies 2 "ebprec: option '--sort' cannot be 'foo': there is no key 'foo': comm, pid, tid, cpu, cgroup, container, service, dso, symbol, category, line, srcfile, build_id or origin was expected (see 'ebprec report --help')" \
		report --sort foo good.data
	contains "$(ebprec script -F foo good.data 2>&1)" "there is no field 'foo': comm, pid, tid, "
	replies 2 "ebprec: option '--to' cannot be 'foo': $(ebprec export --list | awk '{ print $1 }' | paste -sd, | sed 's/,\([^,]*\)$/ or \1/; s/,/, /g') was expected (see 'ebprec export --help')" \
		export --to foo good.data
	replies 2 "ebprec: option '--to' cannot be 'prof', did you mean 'pprof'? (see 'ebprec export --help')" \
		export --to prof good.data
}

@test "words that lack or are too many" {
	# "--" ends the options: it is no value of the last one.
	replies 2 "ebprec: option '--output' needs a value (FILE) (see 'ebprec slice --help')" slice good.data --output -- x
	# A word without an option is a file's name.
	cp good.data ebprec.data
	replies 1 "ebprec: cannot open 'proc3': No such file or directory (this word names the capture; without it 'ebprec.data' is read)" \
		sched proc3
	replies 2 "ebprec: 'b' is one word too many (see 'ebprec info --help')" info a b
	: >b.data
	replies 2 "ebprec: 'b.data' is one word too many: 'ebprec diff' compares two captures, 'ebprec merge' joins them (see 'ebprec report --help')" \
		report a.data b.data
	replies 2 "ebprec: 'ebprec recover' needs FILE, the capture (see 'ebprec recover --help')" \
		recover
	replies 2 "ebprec: 'ebprec diff' needs two captures, BEFORE and AFTER (see 'ebprec diff --help')" diff good.data
	replies 2 "ebprec: 'ebprec merge' needs two captures or more (see 'ebprec merge --help')" merge -o x good.data
	replies 2 "ebprec: option '--sort' cannot be 'weather' without an instrument: comm, pid, tid, symbol, dso or cgroup was expected, or '--by' (see 'ebprec live --help')" \
		top --sort weather
	replies 2 "ebprec: options '--sort' and '--by' exclude each other without an instrument (see 'ebprec live --help')" \
		top --sort pid --by thread
	replies 2 "ebprec: option '--cpu' has CPU time alone, not '--show wall' (see 'ebprec live --help')" \
		top -C 0 --show wall
	replies 2 "ebprec: option '--hide-kernel' has CPU time alone, not '--show off-cpu' (see 'ebprec live --help')" \
		top -K --show off-cpu
	replies 2 "ebprec: option '--dump-symtab' of perf is not known here: 'ebprec report --symbols-report' of the capture that the key s writes (see 'ebprec live --help')" \
		top -D
	replies 2 "ebprec: option '--with' needs an instrument, as in '--with syscalls'; 'ebprec record --list' has their names (see 'ebprec live --help')" \
		live --with ,
	replies 2 "ebprec: 'ebprec slice' needs a time: '--time FROM,TO', '--last SECONDS', '--during' or '--between' (see 'ebprec slice --help')" \
		slice -i good.data -o x
	replies 2 "ebprec: 'ebprec slice' needs '--output FILE' (see 'ebprec slice --help')" \
		slice -i good.data --time 1,2
	replies 2 "ebprec: 'ebprec export' needs a form: '--to' or '--raw' (see 'ebprec export --help')" \
		export -i good.data -o x
	[ ! -e x ] || fail "a wrong command line made a file"
}

@test "every command takes the file with -i or without, not twice" {
	for command in info report script summary "export --to folded" "export --raw -o x" "slice --last 1s -o x" \
		"bundle -o x" "scrub -o x" "recover -o x" marks sched metrics; do
		for file in good.data "-i good.data"; do
			rm -f x
			# shellcheck disable=SC2086 # words
			ebprec $command $file >out 2>err </dev/null || echo "status $?" >>err
			cat out err >"printed-${#file}"
			[[ $command != *"-o x" ]] || [ -s x ] || fail "$command $file: $(cat err)"
		done
		same "$(cat printed-9)" "$(cat printed-12)"
		# shellcheck disable=SC2086 # words
		run -2 ebprec $command -i good.data other.data
		contains "$output" "two captures were named: 'good.data' and 'other.data'"
	done
	# metrics takes a word without a dot or slash for the name of a table.
	replies 1 "$(ebprec metrics -i good.data 2>&1 || :)" metrics good.data
	replies 1 "$(ebprec metrics syscalls -i good.data 2>&1 || :)" metrics syscalls good.data
	# As it is with perf diff, what was recorded last is compared with what it replaced.
	replies 1 "ebprec: cannot open 'ebprec.data.old': No such file or directory (a second 'ebprec record' here leaves it; or name two captures, BEFORE and AFTER)" \
		diff
	cp good.data ebprec.data.old
	cp good.data ebprec.data
	same "$(ebprec diff -q good.data good.data)" "$(ebprec diff -q)"
}

@test "a time span that is none" {
	replies 2 "ebprec: option '--time' cannot be '2,1': it ends before it starts (see 'ebprec slice --help')" \
		slice -i good.data --time 2,1 -o x
	replies 2 "ebprec: option '--time' cannot be 'soon': a number was expected (see 'ebprec slice --help')" \
		slice -i good.data --time soon -o x
	for zero in 0 0s 0ms; do
		replies 2 "ebprec: option '--last' cannot be '$zero': a length of time as 2s or 500ms, above 0, was expected (see 'ebprec report --help')" \
			report -i good.data --last $zero
	done
}

@test "a control character in a name does not reach the terminal" {
	replies 1 "ebprec: cannot open '\\x1b[2Jx': No such file or directory (record one with 'ebprec record', or name another)" \
		info -i $'\e[2Jx'
}

@test "results go to a full disk: an error, status 1" {
	[ -e /dev/full ] || skip "no /dev/full"
	run --separate-stderr bash -c "ebprec info good.data >/dev/full"
	same 1 "$status"
	same "ebprec: cannot write to standard output: No space left on device" "$stderr"
}

@test "record without a recorder: one clear line" {
	cp "$(command -v ebprec)" "$BATS_TEST_TMPDIR/ebprec"
	PATH=/usr/bin:/bin run --separate-stderr "$BATS_TEST_TMPDIR/ebprec" record -a
	same 1 "$status"
	same "ebprec: cannot record: this is the analyzer alone, there is no ebprec-record (install the package ebprec-record, or build it with 'make')" \
		"$stderr"
}

@test "a recorder that only a group may run: record and doctor name the group" {
	[ "$(id -u)" = 0 ] || skip "needs another user"
	mkdir -p group/bin
	cp "$(command -v ebprec)" group/bin/ebprec
	printf '#!/bin/sh\n' >group/bin/ebprec-record
	chown root:daemon group/bin/ebprec-record
	chmod 750 group/bin/ebprec-record
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR/.." "$BATS_TEST_TMPDIR" .
	run --separate-stderr setpriv --reuid=65534 --clear-groups group/bin/ebprec record -a
	same 1 "$status"
	same "ebprec: cannot run '$PWD/group/bin/ebprec-record': Permission denied (sudo ebprec record ..., or join the group: sudo usermod -aG daemon USER, and log in again)" \
		"$stderr"
	setpriv --reuid=65534 --clear-groups group/bin/ebprec doctor >checked || :
	grep -qF "> sudo ebprec record ..., or join the group: sudo usermod -aG daemon USER" checked || fail "$(cat checked)"
}

@test "record -- without a command behind it is refused, and records nothing" {
	[ -x "$BUILD/ebprec-record" ] || skip "no recorder was built"
	for words in "" "-a -F 99" "-p 1"; do
		# shellcheck disable=SC2086 # words
		replies 2 "ebprec: COMMAND is missing after '--': without '--' the entire machine or -p PID is recorded (see 'ebprec record --help')" \
			record -d 0.1 -o x.data $words --
	done
	[ ! -e x.data ] || fail "something was recorded"
}

@test "record starts the recorder beside it, else in ../libexec/ebprec, else in PATH" {
	mkdir -p bin libexec/ebprec path
	cp "$(command -v ebprec)" bin/ebprec
	for dir in path libexec/ebprec bin; do
		printf '#!/bin/sh\necho "%s: $*"; exit 7\n' "$dir" >"$dir/ebprec-record"
		chmod +x "$dir/ebprec-record"
		PATH=$PWD/path:/usr/bin:/bin run "$PWD/bin/ebprec" record -a -- sleep 5
		same 7 "$status"
		same "$dir: -a -- sleep 5" "$output"
	done
}

@test "a new file does not take the place of the capture it is made of" {
	mkdir sub
	ln -s ../good.data sub/link
	cp good.data before
	gen_capture -o other.data --samples 10
	for to in good.data ./good.data sub/link; do
		for command in "slice --last 1s" "export --raw" "export --to folded" bundle recover \
			scrub; do
			# shellcheck disable=SC2086 # its words
			replies 1 "ebprec: cannot write '$to': it is the same file as 'good.data' (name another with -o)" \
				$command -i good.data -o $to
		done
		replies 1 "ebprec: cannot write '$to': it is the same file as 'good.data' (name another with -o)" \
			merge other.data good.data -o $to
	done
	# shellcheck disable=SC2094 # it must not be written
	run --separate-stderr ebprec slice --last 1s -i - -o good.data <good.data
	same "ebprec: cannot write 'good.data': it is the same file as '-' (name another with -o)" "$stderr"
	cmp good.data before
	same "" "$(find . -name '*.??????' -newer before -name '*data.*')"
	cp good.data copy # the same bytes are no same file
	ebprec slice -q --last 1s -i good.data -o copy
}

@test "a picture or an export over a capture: refused, and the capture stays as it was" {
	gen_capture -o other.data --samples 10
	cp other.data before
	for command in "report --svg" "report --html" "export --to chrome -o" "export --to pprof --output"; do
		# shellcheck disable=SC2086 # its words
		replies 1 "ebprec: cannot write 'other.data': a capture is there (remove it first, or write another file)" \
			$command other.data good.data
		cmp other.data before
	done
	# A file that begins as perf's files of other machines do, and a capture that was cut, are captures, too.
	for bytes in PERFFILE 2ELIFREP PERFILE2; do
		printf %s $bytes >other.data
		replies 1 "ebprec: cannot write 'other.data': a capture is there (remove it first, or write another file)" \
			report --svg other.data good.data
		same $bytes "$(<other.data)"
	done
	echo text >picture.svg # anything else is replaced
	ebprec report -q --svg picture.svg good.data
	grep -q '<svg' picture.svg
}

@test "a capture that was taken for the value of an option: the value is missing" {
	cp good.data ebprec.data
	while read -r option value; do
		replies 2 "ebprec: option '$option': $value is missing, 'good.data' is a capture (see 'ebprec report --help')" \
			report "$option" good.data
	done <<-END
		--svg FILE
		--html FILE
		--annotate FUNCTION
		--callers FUNCTION
		--comm NAME,...
	END
	cmp good.data ebprec.data
	rm ebprec.data
	ebprec report -q -i good.data --comm good.data # the capture was named, so this is a value
	ebprec slice -q --last 1s -i good.data -o ebprec.data
	ebprec slice -q --last 1s -o good.data
}

@test "a new capture over another file: the older one is FILE.old, unless the new one is made of that" {
	gen_capture -o other.data --samples 10
	cp other.data before
	for command in "slice --last 1s" "export --raw" bundle recover scrub "merge before"; do
		cp before out.data
		# shellcheck disable=SC2086 # its words
		run --separate-stderr ebprec $command good.data -o out.data
		same 0 "$status"
		contains "$stderr" "ebprec: the file that was 'out.data' is 'out.data.old' now"
		cmp before out.data.old
		ebprec info out.data >/dev/null
		cp before out.data
		cp good.data out.data.old
		# shellcheck disable=SC2086 # its words
		replies 1 "ebprec: cannot write 'out.data': the file that is there would become 'out.data.old', which is the same file as 'out.data.old' (name another with -o)" \
			$command out.data.old -o out.data
		cmp before out.data
		cmp good.data out.data.old
	done
}

@test "a mark without a recording: a note, status 0" {
	# A copy whose probe has another name: some recorder of the machine may listen to ours.
	mkdir deaf
	perl -0777 -pe 's/\0ebprec\0mark\0/\0ebprex\0mark\0/ or die' "$(command -v ebprec)" >deaf/ebprec
	chmod +x deaf/ebprec
	PATH=$PWD/deaf:$PATH
	replies 0 "ebprec: no recording is listening, the mark is not recorded (start 'ebprec record')" mark hello
	replies 0 "" mark -q hello
	replies 2 "ebprec: 'ebprec mark' needs TEXT, '--begin NAME', '--end NAME' or '-- COMMAND' (see 'ebprec mark --help')" \
		mark
}

@test "a command that is marked runs as it would without" {
	replies 3 "" mark -q -- sh -c 'exit 3'
	replies 137 "" mark -q -- sh -c 'kill -9 $$'
	run -127 ebprec mark -q -- /nonexistent/x
	same "ebprec: cannot run '/nonexistent/x': No such file or directory" "$output"
	replies 126 "ebprec: cannot run '/etc/passwd': Permission denied" mark -q -- /etc/passwd
	# A word that looks like an option is the command's.
	run ebprec mark -q -- printf '%s|' --begin -- -x
	same "--begin|--|-x|" "$output"
}

@test "marks that make no sense are refused" {
	replies 2 "ebprec: --begin or --end, not both (see 'ebprec mark --help')" mark --begin a --end a
	replies 2 "ebprec: --begin has the name, --name is too much (see 'ebprec mark --help')" mark --begin a --name b
	replies 2 "ebprec: a command was expected behind '--' (see 'ebprec mark --help')" mark --
	replies 2 "ebprec: a command is a mark of its own (see 'ebprec mark --help')" mark text -- true
	replies 2 "ebprec: a command is a mark of its own (see 'ebprec mark --help')" mark --begin a -- true
}

@test "the mark's probe is in the program, with a semaphore" {
	readelf -n "$(command -v ebprec)" >notes
	grep -A3 'Provider: ebprec' notes >probe
	grep -q 'Name: mark' probe
	grep -q 'Semaphore: 0x0*[1-9a-f]' probe
	same 6 "$(grep -A4 'Provider: ebprec' notes | sed -n 's/.*Arguments: //p' | wc -w)"
}

@test "report --waits: below waits for locks stands the command that has the thread that held them" {
	cd "$BATS_TEST_TMPDIR" || return
	cat >story <<-'EOS'
		0 comm 10 10 late
		1000000000 switch 0 0 0 0 swapper/0 10 late
		1002000000 switch 0 10 10 1 late 0 swapper/0 202 1 k:0xffffffff81001010
		1012000000 wakeup 1 20 20 10 late
		1013000000 switch 0 0 0 0 swapper/0 10 late
	EOS
	gen_story c.data <story
	contains "$(ebprec report -q --waits c.data)" "# futex: the thread that released it last; 'ebprec record --with locks' and 'ebprec metrics locks' have"
	sed 's/ 202 1 / 35 1 /' story | gen_story c.data
	ebprec report -q --waits c.data >out
	run ! grep "# futex" out
	contains "$(cat out)" "nanosleep"
}

@test "summary: processes and their threads are counted" {
	cd "$BATS_TEST_TMPDIR" || return
	cat >story <<-'EOS'
		0 fork 1 10 10
		0 comm 10 10 one
		0 fork 10 10 11
		0 fork 1 20 20
		1000 sample 10 11 0 1 u:0x400000
		2000 fork 20 20 21
		3000 sample 20 21 0 1 u:0x400000
		4000 exit 20 21
		5000 fork 20 20 22
		9000 sample 20 22 0 1 u:0x400000
	EOS
	gen_story c.data <story
	ebprec summary -q c.data >out
	same 2 "$(pick_fields 1 processes 2 <out | head -n 1)"
	same 5 "$(pick_fields 1 threads 2 <out)"
	ebprec summary -q --time +0,+0.000003 c.data >out
	same 4 "$(pick_fields 1 threads 2 <out)"
}

@test "an answer without rows has status 0 and a reason; 1 is for what a word names and the capture has not" {
	local command
	gen_story s.data <"$BATS_TEST_DIRNAME/../../golden/marks/story"
	gen_story w.data <"$BATS_TEST_DIRNAME/../../golden/sched/story"
	gen_tables t.data <"$BATS_TEST_DIRNAME/../../golden/metrics-net/story"
	while IFS='|' read -r want command; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $command
		[ "$status" -eq "$want" ] || fail "$command: $status, not $want: $output $stderr"
		[ -n "$stderr" ] || fail "$command: no reason"
	done <<-'END'
		0|report --comm nosuch good.data
		0|report -S nosuch good.data
		0|report --time 5000,5001 good.data
		0|report --folded --comm nosuch good.data
		0|report --tree --comm nosuch good.data
		0|report --csv --comm nosuch good.data
		0|report --json --comm nosuch good.data
		0|report --svg x.svg --comm nosuch good.data
		0|report --html x.html --comm nosuch good.data
		0|report --waits --comm nosuch w.data
		0|report --off-cpu --comm nosuch w.data
		0|report --wall --comm nosuch w.data
		0|script --comm nosuch good.data
		0|export --to folded --comm nosuch good.data
		0|export --to pprof -o x.pprof --comm nosuch good.data
		0|export --to chrome -o x.chrome --comm nosuch good.data
		0|diff --comm nosuch good.data good.data
		0|summary --time 5000,5001 good.data
		0|sched --comm nosuch w.data
		0|marks good.data
		0|marks --comm nosuch s.data
		0|marks --json --comm nosuch s.data
		0|metrics futexes --comm nosuch t.data
		0|metrics futexes --pid 4000000 t.data
		0|slice --time 5000,5001 -o x.data good.data
		1|report --callers nosuch good.data
		1|report --callees nosuch good.data
		1|report --annotate nosuch good.data
		1|report --event nosuch good.data
		1|report --of nosuch t.data
		1|report --process 4000000 good.data
		1|report --during nosuch s.data
		1|script --event nosuch good.data
		1|export --to folded --event nosuch good.data
		1|export --to pprof --during nosuch s.data
		1|diff --event nosuch good.data good.data
		1|marks --during nosuch s.data
		1|slice --during nosuch -o y.data s.data
		1|metrics nosuch t.data
		1|metrics good.data
		1|sched good.data
		1|info --extract nosuch good.data
	END
}

@test "record --help: --max-overhead 0 is no absence of a limit" {
	contains "$(ebprec record --help | tr -s ' \n' ' ')" "(default: 2; 0: take no such stacks)"
}

@test "info --extract: an embedded file that came in pieces is written completely" {
	printf 'one\ntwo\n' >first
	printf 'three\n' >second
	printf -- '- file perf-7.map first\n- file other other\n- file perf-7.map second\n' >story
	echo x >other
	gen_story x.data <story
	same "$(cat first second)" "$(ebprec info --extract perf-7.map x.data)"
	replies 1 "ebprec: cannot extract 'perf-8.map': 'x.data' has no complete file of that name ('ebprec info --objects' lists them)" \
		info --extract perf-8.map x.data
}
