#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The first hour: what a new user types, on recordings of this machine and of a program.  On captures that are made for it:
# tests/e2e/report/first_hour.bats.
load ../../lib/helper

setup_file() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
	# The files of a user, which scrub hides, recorded without any name of a file.
	mkdir -p home/annabel
	cc -g -O1 -pthread -I "$BATS_TEST_DIRNAME/../../.." -o home/annabel/shop "$BATS_TEST_DIRNAME/../../lib/fixtures/shop.c"
	(cd home/annabel && exec ebprec record -q -F 997 --max-overhead 100 --with locks --slower 10ms -- ./shop) 3>&- &
	local shop=$!
	# Eight threads of a pool that have no work, and one that works half of its time.
	cat >pool.c <<-'END'
		#include <pthread.h>
		#include <time.h>
		#include <unistd.h>
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
		static void *wait_for_work(void *arg)
		{
			pthread_mutex_lock(&lock);
			for (;;)
				pthread_cond_wait(&work, &lock);
			return arg;
		}
		static double now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec + t.tv_nsec / 1e9;
		}
		int main(void)
		{
			const struct timespec pause = { .tv_nsec = 20000000 };
			double end = now() + 3;
			pthread_t thread;
			for (int i = 0; i < 8; i++)
				pthread_create(&thread, NULL, wait_for_work, NULL);
			while (now() < end) {
				for (double until = now() + 0.02; now() < until;)
					;
				nanosleep(&pause, NULL);
			}
			return 0;
		}
	END
	cc -O2 -pthread -o pool pool.c
	cp /bin/true brief # no other program on the machine has that name
	# shellcheck disable=SC2016 # for the inner shell
	ebprec record -q -a -o x.data -- sh -c '
		echo $PPID >recorder
		./pool &
		for i in $(seq 200); do ./brief; done
		sleep 2
		sleep 0.1 # starts and ends in the second half
		wait'
	wait $shop
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

teardown() {
	# A test that needs the program away moves it.
	[ ! -e "$BATS_FILE_TMPDIR/home/annabel/gone" ] || mv "$BATS_FILE_TMPDIR"/home/annabel/{gone,shop}
	end_background
}

# summary FILTER OPTIONS... - what jq prints of the summary, all rows.
summary() {
	local filter=$1
	shift
	ebprec summary -q --json --top 100000 "$@" x.data | jq -r "$filter"
}

# The recording of one program, in the folder where it was made.
in_shop() {
	cd home/annabel || return
}

@test "record -d 0 is refused" {
	for zero in 0 0s 0.0 0ms; do
		run -2 timeout 10 ebprec record -d $zero -o none.data
		contains "$output" "option '--duration' needs a time such as 2.5, 300ms or 10m, not '$zero'"
		[ ! -e none.data ]
	done
}

# bats test_tags=long
@test "record prints when it ends, and how to end it" {
	ends_by() {
		local want=$1
		shift
		ebprec record "$@" -o ended.data 2>err </dev/null || true
		same "ebprec: recording $want SIGINT (kill -INT PID)" "$(sed -n 's/INT [0-9]*)$/INT PID)/; /: recording [uf]/p' err)"
		same 0 "$(ebprec info ended.data | grep -c 'recording [uf]' || true)"
	}
	ends_by "for 0.25 s, or until" -a -d 0.25
	sleep 0.5 3>&- &
	ends_by "until process $! ends, or until" -p $!
	sleep 600 3>&- &
	ends_by "until process $! ends, for 0.3 s at most, or until" -p $! -d 300ms
	kill $!
	# The command comes last.
	ebprec record -o ended.data -- sleep 0.1 2>err </dev/null
	grep -q "^ebprec: recording until 'sleep' ends, or until SIGINT (kill -INT " err || fail "$(cat err)"
	ebprec record -q -o ended.data -- sleep 0.1 2>err </dev/null
	same 0 "$(grep -c 'recording until' err || true)"
}

@test "scrub of a capture without names bundles them first, hides a program below /home and the machine, and lists what is left" {
	in_shop
	cp ebprec.data before
	ebprec scrub --list -o report.data 2>err >left || fail "$(cat err)"
	contains "$(cat left)" keeper
	cmp ebprec.data before
	grep -qE "bundled first: names of functions in [0-9]+ files" err || fail "$(cat err)"
	grep -qE "still in it: names of programs and threads \([0-9]+\): .* \(--comm hides some\)" err || fail "$(cat err)"
	ebprec scrub -q -o checked.data --check annabel --check '\bshop\b'
	# Without its program, the new capture has the names of its functions.
	mv shop gone
	ebprec report -q report.data >with
	ebprec report -q ebprec.data >without
	contains "$(cat with)" " add_prices"
	run ! grep -w add_prices without
	ebprec info ebprec.data >was
	ebprec info report.data >is
	for word in "$(uname -r)" "$(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo)" "$(date -u +%Y-)" "$(sed -n 's/.*"boot_wall_ns": //p' was)"; do
		contains "$(cat was)" "$word"
		run ! grep -F -- "$word" is
	done
}

kernel_threads='ksoftirqd|kworker|migration|rcu_|kthreadd|kcompactd|kswapd|khungtaskd'

@test "--no-kernel-threads: none is among processes and waits, nor counted" {
	all=$(summary '.processes[].comm, .waits[].comm' | grep -cE "^($kernel_threads)")
	[ "$all" -gt 0 ] || fail "no kernel thread was recorded"
	same "" "$(summary '.processes[].comm, .waits[].comm' --no-kernel-threads | grep -E "^($kernel_threads)")"
	[ "$(summary .capture.processes --no-kernel-threads)" -lt "$(summary .capture.processes)" ]
	same "" "$(ebprec report -q --off-cpu --no-kernel-threads --folded x.data 2>/dev/null | grep -E "^($kernel_threads)")"
}

@test "a pool that waits for work does not hide what its one thread waits for" {
	order=$(summary '.waits[] | select(.comm == "pool") | .wait' | grep -xF -e '[nanosleep]' -e '[futex]')
	same $'[nanosleep]\n[futex]' "$order"
	# The pool waited far longer: eight threads, all the time; had they not waited, nothing would have run.
	summary '.waits[] | select(.comm == "pool" and .wait == "[futex]") |
		if .time_ns > 8000000000 and .would_run_ns < 100000000 then "idle" else . end' >idle
	same idle "$(cat idle)"
	summary 'def part: .would_run_ns / .time_ns;
		[.waits[] | select(.comm == "pool")] | INDEX(.wait) |
		(.["[nanosleep]"] | part) > 4 * (.["[futex]"] | part)' >parts
	same true "$(cat parts)"
	# The recorder's own come behind all others.
	# shellcheck disable=SC2016 # for jq
	summary '[.waits[] | .comm == "ebprec-record"] | index(true) as $first | .[$first:] | all' >last
	same true "$(cat last)"
}

@test "a summary of one second prints its window, and no wait of two seconds" {
	ebprec summary -q --top 1000 --time +1s,+2s x.data >page
	grep -qE '^ +window start +1\.000000000 s$' page || fail "$(cat page)"
	grep -qE '^ +window duration +1\.000000000 s$' page
	grep -qE '^missed run time +total wait +threads +comm +wait$' page
	# No thread waits for more than the second: a longer total is of so many threads at least.
	sed -n '/missed run time/,/^$/p' page | sed 1d | awk -f "$BATS_TEST_DIRNAME/waits_of_several.awk" || fail "$(cat page)"
}

@test "each table of a summary covers its window alone: two halves add up to the capture" {
	for of in '.capture.samples' '.capture.started' '.capture.ended' \
		'[.processes[].samples] | add' '[.events[] | select(.event == "sched:sched_switch").samples] | add'; do
		all=$(summary "$of")
		before=$(summary "$of" --time ,+1.5s)
		after=$(summary "$of" --time +1.500000001s,)
		same "$of: $all" "$of: $((before + after))"
		[ "$before" -lt "$all" ] || fail "$of: nothing is in the second half"
	done
}

@test "two hundred short programs are one row, with their number and total" {
	# The events of two may be hidden by the machine (docs/TESTING.md); then they are in no row.
	all=$(summary '[.processes[] | select(.comm == "brief").count] | add')
	[ "$all" -ge 198 ] && [ "$all" -le 200 ] || fail "$all of 200"
	# On a busy machine some may last longer than a second.
	many=$(summary '.processes[] | select(.comm == "brief" and .pid == null).count')
	[ "$many" -ge 150 ] || fail "$many of 200 are in one row"
	[ "$(summary '.processes[] | select(.comm == "brief" and .count > 1).cpu_time_ns')" -gt 0 ]
	# A process that lasts longer keeps its own row.
	same 1 "$(summary '.processes[] | select(.comm == "pool").count')"
	ebprec summary -q --top 1000 x.data | grep -qE "^ +$many +-  brief "
}

@test "sched: time of which nothing is known is in one sentence with its threads, and missing events are counted as lost" {
	for capture in x.data home/annabel/ebprec.data; do
		ebprec sched "$capture" >table 2>err
		[ "$(account "$capture" lost switches)" != 0 ] || run ! grep -E "some times are unknown|events are missing" err
		unknown=$(ebprec sched -q --json -n 0 "$capture" | jq '[.threads[].unknown_ns] | add')
		printed=$(sed -n 's/.*contradict each other.*: of \([0-9]*\)\.\([0-9]*\) s of the threads.*/\1\2/p' err)
		[ -z "$printed" ] || {
			# In microseconds.
			same "$(((unknown + 500) / 1000))" "$((10#$printed))"
			grep -qE '^ebprec:   [0-9.]+ % of it is of .*(thread|threads of process) [0-9]+' err || fail "$(cat err)"
		}
		same "$(account "$capture" lost switches)" "$(sed -n 's/^ebprec: .*lost: \([0-9]*\) switches.*/\1/p' err | grep . || echo 0)"
	done
}

@test "report --svg draws the recording by itself" {
	in_shop
	ebprec report --svg shop.svg 2>err
	ebprec report -q --folded >shop.folded
	python3 "$BATS_TEST_DIRNAME/../../e2e/report/svg_frames.py" shop.svg shop.folded
	grep -qF '<title>add_prices (user, ' shop.svg || fail "$(head -c 2000 shop.svg)"
}

@test "report --waits: a row has waiter, reason, waker, count, total, longest, and where; none is of the scheduler" {
	in_shop
	ebprec report --waits >waits 2>err
	grep -qE '^waiter +reason +woken by +count +total +longest +where$' waits || fail "$(cat waits)"
	grep -qE '^shop +futex +keeper +1 +0\.[2-9][0-9]* s +0\.[2-9][0-9]* s +wait_for_stock$' waits || fail "$(cat waits)"
	run ! grep -w __schedule waits
	# A note counts the rows that are left out, and names the option that shows them.
	rows=$(ebprec report -q --waits --min-percent 0 | grep -c '^[^#].* s  ')
	shown=$(grep -c '^[^#].* s  ' waits)
	[ "$rows" = "$shown" ] || grep -qE "^# $((rows - shown)) of $rows are not shown, .*\(--min-percent 0 shows all\)$" waits || fail "$(cat waits)"
}

@test "metrics locks: a lock by its variable, its holder and for how long that held it, beside the time that others waited" {
	in_shop
	ebprec metrics locks >table 2>err
	grep -qE '^ *0x[0-9a-f]+ shop: stock_mutex\+0x0 +1 +[0-9]+\.' table || fail "$(cat table)"
	# HELD>= beside TIME.
	held=$(sed -n 's/^ *[0-9]* keeper  *1  *[0-9]*\.[0-9]*  *[0-9.]*  *[0-9.]*  *1  *\([0-9]*\)\.[0-9]* .*/\1/p' table)
	[ "${held:-0}" -ge 200 ] || fail "$(cat table)"
	# Rows that are not shown are counted, with the option that shows them.
	ebprec metrics futex_holders -n 1 >one
	contains "$(cat one)" ", below them 1 of 2 (-n 0 shows all)"
	run ! grep -q wait_for_stock one
	contains "$(ebprec metrics futex_holders -n 0)" wait_for_stock
}

@test "report --annotate: the lines of a function with their text, its instructions, and the lines again from a bundle" {
	in_shop
	ebprec report --annotate add_prices >lines 2>err || fail "$(cat err)"
	share=$(sed -n 's/^ *\([0-9]*\)\.[0-9]*% .* sum += price .*/\1/p' lines)
	[ "${share:-0}" -ge 30 ] || fail "$(cat lines err)"
	# A sample may be at the instruction after the one that the CPU waits for.
	ebprec report --annotate add_prices --asm 2>err | grep -A 1 -E ' divq? +%' | grep -qE '^ +[0-9.]+% ' ||
		fail "$(ebprec report --annotate add_prices --asm)"
	ebprec bundle --lines -o bundled.data 2>err
	mv shop gone
	same "$(grep -c sum lines) $(grep '^ *[0-9.]*%' lines)" "1 $(ebprec report --annotate add_prices bundled.data 2>err | grep '^ *[0-9.]*%')"
}

@test "marks: sorted by duration, and the slowest span by its name or number is the time of every report" {
	in_shop
	ebprec marks --sort duration >sorted 2>err
	[[ $(sed -n 2p sorted) =~ ^\ *\+[0-9.]+s\ shop\ .*\ begin\ .*\ shop/request#17$ ]] || fail "$(head -n 3 sorted)"
	same 17 "$(grep -c ' begin .* shop/request#' sorted)"
	for view in "report --waits" "report --wall --folded" "summary" "script" "sched"; do
		# shellcheck disable=SC2086 # words
		ebprec $view -q --during slowest:request >by_name
		# shellcheck disable=SC2086 # words
		ebprec $view -q --during 'request#17' >by_number
		sed -i '/slowest:request\|request#17/d' by_name by_number
		cmp by_name by_number
	done
	ebprec report -q --waits --csv --during request#17 | grep -qE '^shop,nanosleep,.*,1,[0-9]+,[0-9]+,' || fail "$(ebprec report --waits --during request#17)"
}

@test "what a message names in the place of a word of perf is there, and shows it" {
	in_shop
	run -2 ebprec stat
	contains "$output" "'ebprec record' and 'ebprec summary'"
	# No counters of a CPU are offered where there are none.
	contains "$output" "where 'ebprec doctor' finds some, 'ebprec record --with pmu'"
	run -2 ebprec sched latency
	contains "$output" ": --threads, or --latency (see 'ebprec sched --help')"
	ebprec sched --threads 2>err | grep -q '^keeper ' || fail "$(cat err)"
	ebprec sched --latency 2>err | grep -q . || fail "$(cat err)"
	refuses ebprec report --of locks ../../x.data
	# shellcheck disable=SC2154 # of refuses
	contains "$stderr" "(record some: ebprec record --with locks --slower 10ms)" # as this one was
	ebprec report -q --of locks --folded | grep -q ';wait_for_stock;' || fail "$(ebprec report --of locks)"
	run -2 ebprec locks
	contains "$output" "'ebprec record --with locks' and 'ebprec metrics locks', or 'ebprec report --waits'"
}

@test "record --off-cpu records what it asks for, as every recording" {
	ebprec record -q --off-cpu -o off.data -- sleep 0.2
	ebprec report --waits --csv --min-percent 0 off.data >waits 2>err
	grep -qE '^sleep,nanosleep,.*,1,2[0-9]{8},' waits ||
		# a kernel that missed the switch: this sleep is left out, and the report has its time
		grep -qE 'left out: 0\.2[0-9]+ s in which the kernel did not report every switch' err ||
		fail "$(cat waits err)"
}

@test "a recording of all processes has no file of its own recorder" {
	ebprec report --process "$(cat recorder)" x.data >process
	contains "$(cat process)" ebprec-record
	run ! grep -E "\.new-|/tmp/[^ ]*ebprec[^ ]*\.data|memfd:|\(deleted\)" process
}

# bats test_tags=long
@test "scripts/try leaves a flame graph and a page with the functions that ran" {
	tree=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
	O=$BUILD "$tree/scripts/try" 2 >printed 2>&1 || fail "$(cat printed)"
	try=$BUILD/try
	ebprec report -q --folded "$try/try.data" >try.folded
	python3 "$BATS_TEST_DIRNAME/../../e2e/report/svg_frames.py" "$try/try.svg" try.folded
	# The two programs that it runs meanwhile, and a function of each.
	for frame in "cc1 (process, " "toplev::main (user, " "xz (process, " "lzma_code (user, "; do
		grep -qF "<title>$frame" "$try/try.svg" || fail "no $frame: $(cat printed)"
	done
	node "$TEST_LIB/web/oracle.mjs" "$try/try.data" "$try/try.html" 1 1
	contains "$(cat printed)" "in $try: try.data "
}
