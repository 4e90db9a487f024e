#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# musl's libc has no unwind tables and no frame pointers: its rules come from its instructions.

load ../../lib/helper

setup() {
	need_bpf
	command -v musl-gcc >/dev/null || skip "needs musl-gcc"
	cd "$BATS_TEST_TMPDIR" || return
	cat >work.c <<-END
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/time.h>
		#include <time.h>
		static volatile int sink;
		static int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
		__attribute__((noinline)) void sorts(void) {
			static int list[3000];
			for (int i = 0; i < 3000; i++) list[i] = rand();
			qsort(list, 3000, sizeof(int), compare); sink++; }
		__attribute__((noinline)) void prints(void) {
			static char text[100];
			for (int i = 0; i < 500; i++) sink += snprintf(text, sizeof(text), "%d %s %f", i, "words", i * 1.5); }
		__attribute__((noinline)) void copies(void) {
			static char from[1 << 20], to[1 << 20];
			memcpy(to, from, sizeof(to)); sink += to[(unsigned)sink % 100]; }
		static void on_tick(int number) { for (int i = 0; i < 1000000; i++) sink++; }
		static long now_ms(void) {
			struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
			return t.tv_sec * 1000 + t.tv_nsec / 1000000; }
		static void *thread(void *arg) {
			for (long end = now_ms() + 700; now_ms() < end;) { sorts(); prints(); copies(); }
			return NULL; }
		int main(void) {
			struct itimerval every = { { 0, 20000 }, { 0, 20000 } };
			pthread_t t;
			signal(SIGVTALRM, on_tick); setitimer(ITIMER_VIRTUAL, &every, NULL);
			pthread_create(&t, NULL, thread, NULL); thread(NULL);
			return pthread_join(t, NULL); }
	END
}

# complete_stacks OPTIONS... - records what musl-gcc makes with these options; nearly all stacks are complete and right
complete_stacks() {
	local all complete
	musl-gcc -O2 -fomit-frame-pointer "$@" -o work work.c
	ebprec record -q -F 1999 -o first.data -- ./work # builds its table, and keeps it
	ebprec record -q -F 1999 -o x.data -- ./work
	ebprec report --folded -i x.data >folded 2>err
	read -r all complete < <(sed -n 's/^ebprec: stacks: .*, \([0-9]*\) with a user stack; \([0-9]*\) of these complete.*/\1 \2/p' err)
	[ "${all:-0}" -gt 500 ] || fail "$(cat err)"
	[ $((complete * 100)) -ge $((all * 90)) ] || fail "$(cat err)"
	# In the thread and in main, through qsort() and its callback.
	for stack in 'main;thread;sorts;' 'work;.*;thread;sorts;.*compare' 'thread;prints;' 'thread;copies' '[;]on_tick'; do
		grep -q "$stack" folded || fail "no $stack: $(sort -t' ' -k2 -n folded | tail -20)"
	done
	# No function has a caller that does not call it.
	same "" "$(grep -E ';(sorts|prints|copies)[; ]' folded | grep -vE ';thread;(sorts|prints|copies)[; ]' | head -3)"
}

# bats test_tags=long
@test "stacks of a program with musl's shared libc are complete" {
	complete_stacks
}

# bats test_tags=long
@test "stacks of a static program with musl are complete" {
	complete_stacks -static
}
