#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The first hour: what a new user types, on captures that are made for it.  On recordings: tests/live/report/first_hour.bats.

# shellcheck source=tests/lib/helper.bash
. "$BATS_TEST_DIRNAME/../../lib/helper.bash"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# story FILE PRICE_SAMPLES - 20 requests by FILE at 99 Hz: of its functions parse() has 3000 samples, price() so many
story() {
	local parse price
	parse=$(nm "$1" | symbol_address parse)
	price=$(nm "$1" | symbol_address price)
	awk -f "$BATS_TEST_DIRNAME/parse_and_price.awk" -v file="$PWD/$1" -v name="$1" -v parse="0x$parse" -v price="0x$price" \
		-v prices="$2"
}

# Two builds of one program under two names: in the second price() took 20 % longer, and stands elsewhere.
two_builds() {
	cat >app.c <<-'END'
		#ifdef SECOND
		__attribute__((noinline)) int added(int n) { return n * 3 + 1; }
		#else
		#define added(n) (n)
		#endif
		__attribute__((noinline)) int parse(int n) { return n * 31 + added(n); }
		__attribute__((noinline)) int price(int n) { return n / 7 + parse(n); }
		int main(int argc, char **argv) { return price(argc); }
	END
	cc -O1 -no-pie -o app-1 app.c
	cc -O1 -no-pie -DSECOND -o app-2 app.c
	run ! cmp -s app-1 app-2
	story app-1 1000 | gen_story app-1.data
	story app-2 1200 | gen_story app-2.data
}

@test "diff of two builds under two names: each function is one row, with its ratio and both run times" {
	two_builds
	ebprec diff app-1.data app-2.data >out 2>err
	same "" "$(cat err)"
	contains "$(cat out)" "# matched 'app-1' with 'app-2': 100 % of their samples are in functions of the same names (--rename none: not)"
	run ! grep -E ' (new|gone) ' out
	grep -qE '^ *25\.00% +10\.1 s +28\.57% +12\.1 s +x1\.14 .* app-2  price$' out || fail "$(cat out)"
	# By the recording and by the request it is the 20 % that it took longer.
	ebprec diff --normalize run app-1.data app-2.data >out
	grep -qE '^ *25\.00% +10\.1 s +28\.57% +12\.1 s +x1\.20 .* app-2  price$' out || fail "$(cat out)"
	ebprec diff --per request app-1.data app-2.data >out
	grep -qE '^ *25\.00% +505 ms +28\.57% +606 ms +x1\.20 .* app-2  price$' out || fail "$(cat out)"
	run ! grep -E '[+-][0-9.]+%' out
	ebprec diff --rename app-1=app-2 app-1.data app-2.data >out
	same 2 "$(grep -c ' app-2  p' out)"
}

@test "diff without a change: how small a change could have been seen, and what would show a smaller one" {
	two_builds
	ebprec diff app-1.data app-1.data >out
	grep -qE '^# nothing is real; a change that could have been seen: x1\.[0-9]+' out || fail "$(cat out)"
	grep -qE "^# recordings 10 times as long, or by 'ebprec record -F 997 \.\.\.', would show: x1\.[0-9]+" out || fail "$(cat out)"
}

@test "report -S 'py::' that matches callers alone: --parent is named, and shows them" {
	printf '7f2200000000 100 py::main:/srv/app.py\n' >map
	{
		printf -- '- file perf-7.map map\n0 comm 7 7 python3\n0 map 7 0x7f2200000000 0x1000 0 //anon\n0 map 7 0x400000 0x1000 0 /no/such/libm.so\n'
		printf '1000 sample 7 7 0 1 u:0x400100,0x7f2200000010\n'
	} | gen_story x.data
	run --separate-stderr ebprec report -S 'py::' x.data
	# shellcheck disable=SC2154 # run sets stderr
	contains "$stderr" "--symbol looks at the innermost function, not at its callers: --parent 'py::'"
	for command in "report -q" "export --to folded" "diff x.data"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $command --symbol 'py::' x.data
		contains "$stderr" ": --parent 'py::'"
	done
	contains "$(ebprec report -q --folded --parent 'py::' x.data)" 'python3;py::main:/srv/app.py;[libm.so] 1'
	# Not where it would show nothing either.
	run --separate-stderr ebprec report -S 'rb::' x.data
	[[ $stderr != *"--parent"* ]] || fail "$stderr"
}

@test "--time +2s,+3s is a second, --time 2,3 names the times of the file and what was probably meant" {
	seq -f '%.0f sample 7 7 0 10000000 u:0x400100' 1000000000000 10000000 1004990000000 | gen_story x.data
	# shellcheck disable=SC2119 # of all lines
	for span in +2s,+3s +2,+3 +2000ms,+3s 1002s,1003s 1002,1003; do
		same 101 "$(ebprec report -q --folded --time $span x.data | weight)"
	done
	for command in report summary script "slice -o y.data" "export --to folded" "diff x.data"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr ebprec $command --time 2,3 x.data
		contains "$stderr" "nothing of 'x.data' is within '--time 2,3': it is from 1000.000000"
		contains "$stderr" "times since the first sample begin with '+': --time +2,+3"
	done
	run --separate-stderr ebprec report --time 2,3 x.data
	contains "$stderr" "none of the 500 samples in 'x.data' passes the filters"
	# Not where it would be nothing either.
	run --separate-stderr ebprec report --time 200,300 x.data
	[[ $stderr != *"begin with"* ]] || fail "$stderr"
	run --separate-stderr ebprec report --time +0s,+1ms x.data
	[[ $stderr != *"begin with"* ]] || fail "$stderr"
}

@test "a file that is text, a picture, a program, compressed, empty or a folder is called that" {
	echo "all: build" >Makefile
	printf '\x89PNG\r\n\x1a\n%0100d' 0 >shot.png
	cp /bin/sh program
	gzip -c /bin/sh >program.gz
	: >empty
	mkdir folder
	while IFS='|' read -r file words; do
		refuses ebprec report "$file"
		same "ebprec: cannot open '$file': $words" "$stderr"
	done <<-'END'
	Makefile|not a capture, nor perf.data: text (record one with 'ebprec record', or name another)
	shot.png|not a capture, nor perf.data: a PNG image (record one with 'ebprec record', or name another)
	program|not a capture, nor perf.data: a program or library, in ELF (record one with 'ebprec record', or name another)
	program.gz|not a capture, nor perf.data: compressed by gzip (gunzip it first)
	empty|cut short: the file is empty (record again)
	folder|Is a directory (name the file in it)
	END
}

@test "a capture whose event has no samples: the message has an advice" {
	gen_capture -o x.data --samples 0
	run --separate-stderr ebprec report x.data
	contains "$stderr" "has no samples of 'cpu-clock': nothing ran for an entire period while it was recorded (record longer, or with a higher -F)"
	# A tracepoint has no period.
	printf '0 comm 7 7 w\n1000 sample 7 7 0 1 u:0x400000\n' | gen_story y.data
	run --separate-stderr ebprec report -e tracepoint y.data
	contains "$stderr" "has no samples of 'tracepoint': it did not happen while it was recorded"
}
