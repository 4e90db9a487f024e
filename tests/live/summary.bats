#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# The page that is read first: kernel threads, windows, waits that matter, storms of short programs.
load ../lib/helper

setup_file() {
	need_bpf
	cd "$BATS_FILE_TMPDIR" || return
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
		./pool &
		for i in $(seq 200); do ./brief; done
		sleep 2
		sleep 0.1 # starts and ends in the second half
		wait'
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# summary FILTER OPTIONS... - what jq prints of the summary, all rows.
summary() {
	local filter=$1
	shift
	ebprec summary -q --json --top 100000 "$@" x.data | jq -r "$filter"
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
	sed -n '/missed run time/,/^$/p' page | sed 1d | awk 'NF && $3 > 1.0005 {
		many++
		if ($6 != "or" || $5 < $3 - 0.0005 || $5 > $3 + 1) { print; bad++ } }
		END { exit bad || !many }' || fail "$(cat page)"
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
