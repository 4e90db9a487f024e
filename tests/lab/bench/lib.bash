# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# lib.bash - loads, stop watches and table rows for tests/lab/bench/run, which has set $build
# shellcheck shell=bash

ebprec=${build:?}/ebprec
work=$build/bench
log=$work/log
load_pids=()
# shellcheck disable=SC2034 # 1 once a row missed its target; read by run
missed=0

mkdir -p "$work"
: >"$log"

die() {
	echo "bench: $*" >&2
	exit 1
}

stop_load() {
	if [ ${#load_pids[@]} -gt 0 ]; then
		kill -- "${load_pids[@]/#/-}" 2>/dev/null || true
		wait "${load_pids[@]}" 2>/dev/null || true
		load_pids=()
	fi
}

# Some of everything: compiling, compressing, sorting, walking folders, short processes.
load_mixed() {
	while :; do
		cc -std=gnu11 -D_GNU_SOURCE -I. -O2 -c -o /dev/null format/text/options.c
		xz -1 -c "$ebprec" | xz -d | cksum >/dev/null
		find /usr/include -name '*.h' | sort -r | tail -n 1 >/dev/null
		perl -e 'my %h; $h{$_ * 7919 % 10007} .= "x" for 1 .. 200000'
	done
} 2>/dev/null

# Deep stacks of large programs: a C++ compiler, an interpreter, a linker's worth of libraries.
load_deep() {
	local source
	while :; do
		for source in text tables numbers; do
			clang++ -std=c++17 -O2 -DENTRY=entry -c -o /dev/null tests/lab/bigdwarf/$source.cpp
		done
		xz -1 -c "$ebprec" | xz -d | openssl dgst -sha256 >/dev/null
		git diff --no-index --stat /usr/include/linux /usr/include/asm-generic >/dev/null
		python3 -c 'import ast, json, re
src = open(ast.__file__).read() + open(re.__file__).read()
for i in range(6):
    t = ast.parse(src)
    json.loads(json.dumps(ast.dump(t)))
    compile(ast.unparse(t), "x", "exec")'
	done
} 2>/dev/null

# Two processes that wake each other and do nothing else.
load_pipe() {
	while :; do
		perf bench sched pipe -l 100000
	done
} >/dev/null 2>&1

# start_load NAME - twice, each in a process group of its own, so that it ends with its children.
start_load() {
	set -m
	"load_$1" &
	load_pids+=($!)
	"load_$1" &
	load_pids+=($!)
	set +m
	sleep 0.5
}

# build_ladder NAME FLAGS... - tests/lib/fixtures/ladder.c and its libraries, in $work/ladder-NAME
build_ladder() {
	local dir=$work/ladder-$1 i
	shift
	mkdir -p "$dir"
	for i in 0 1 2 3; do
		cc -O2 "$@" -shared -fPIC -DRUNG=rung$i -o "$dir/librung$i.so" tests/lib/fixtures/rung.c
	done
	# shellcheck disable=SC2016 # for the dynamic linker
	cc -O2 "$@" -o "$dir/ladder" tests/lib/fixtures/ladder.c -L"$dir" -lrung0 -lrung1 -lrung2 -lrung3 \
		-Wl,-rpath,'$ORIGIN'
}

# timed NAME CMD... - runs CMD; its time goes to $work/NAME.time: wall, user, system s, peak KiB.
timed() {
	local name=$1 status=0
	shift
	/usr/bin/time -o "$work/$name.time" -f '%e %U %S %M' "$@" || status=$?
	echo "$name: $(tail -n 1 "$work/$name.time") status $status: $*" >>"$log"
	return $status
}

# field NAME N - the Nth number of what timed() noted.
field() {
	tail -n 1 "$work/$1.time" | cut -d' ' -f"$2"
}

wall_s() { field "$1" 1; }
cpu_s() { echo "$(field "$1" 2) $(field "$1" 3)" | awk '{ print $1 + $2 }'; }
peak_mib() { field "$1" 4 | awk '{ print $1 / 1024 }'; }
calc() { awk "BEGIN { printf(\"%.6g\", ($*)) }"; }

median() {
	tr ' ' '\n' <<<"$*" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# row WHAT OURS PERF UNIT TARGET - prints a line; TARGET bounds ours/perf: "<= 0.25", or "" for none.
row() {
	local ratio ok=''
	ratio=$(calc "$3 ? $2 / $3 : 0")
	if [ -n "$5" ]; then
		ok=yes
		if [ "$(calc "$ratio $5")" != 1 ]; then
			ok=NO
			# shellcheck disable=SC2034
		missed=1
		fi
	fi
	print_row "$1" "$(pretty "$2" "$4")" "$(pretty "$3" "$4")" "$(calc_short "$ratio")" "$5" "$ok"
}

# limit WHAT OURS PERF UNIT MOST - like row(), with a bound on ours alone.
limit() {
	local ok=yes
	if [ "$(calc "$2 <= $5")" != 1 ]; then
		ok=NO
		# shellcheck disable=SC2034
		missed=1
	fi
	print_row "$1" "$(pretty "$2" "$4")" "$(pretty "$3" "$4")" "$(calc_short "$2 / $3")" "<= $5 $4" $ok
}

pretty() { printf '%s %s' "$(calc_short "$1")" "$2"; }
calc_short() { awk "BEGIN { x = $1; printf((x >= 100) ? \"%.0f\" : (x >= 10) ? \"%.1f\" : (x >= 1) ? \"%.2f\" : \"%.3f\", x) }"; }
print_row() { printf '%-44s | %12s | %12s | %7s | %-12s | %s\n' "$@"; }
