/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * marker WHAT... - marks by ebprec-mark.h, in known numbers
 *
 *	points N	N marks "point I" of this thread, in order
 *	nest		a span "outer" of 40 ms, in it "inner" of 20 ms
 *	cross		a span that begins here and ends in another thread, 20 ms later
 *	overlap		spans a and b: a begins, b begins, a ends, b ends, 10 ms apart
 *	complete MS	a span that is recorded at its end, of MS milliseconds
 *	many T N RATE	N marks from each of T threads, RATE a second all together
 *	wait FILE	waits until FILE is there
 *	in GROUP TEXT	a mark of another group
 *	cost		prints how many ns a mark takes, and a span
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/include/ebprec-mark.h"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void points(long count)
{
	char text[32];

	for (long i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "point %ld", i);
		ebprec_mark("marker", "points", text);
	}
}

static void nest(void)
{
	uint64_t outer = ebprec_span_begin("marker", "outer", "around"), inner;

	sleep_ms(10);
	inner = ebprec_span_begin("marker", "inner", "within");
	sleep_ms(20);
	ebprec_span_end(inner);
	sleep_ms(10);
	ebprec_span_end(outer);
}

static void *end_it(void *arg)
{
	sleep_ms(20);
	ebprec_span_end(*(uint64_t *)arg);
	return NULL;
}

static void cross(void)
{
	uint64_t id = ebprec_span_begin("marker", "cross", "");
	pthread_t thread;

	pthread_create(&thread, NULL, end_it, &id);
	pthread_join(thread, NULL);
}

static void overlap(void)
{
	uint64_t a, b;

	a = ebprec_span_begin("marker", "a", "");
	sleep_ms(10);
	b = ebprec_span_begin("marker", "b", "");
	sleep_ms(10);
	ebprec_span_end(a);
	sleep_ms(10);
	ebprec_span_end(b);
}

struct many {
	long number, count;
	uint64_t every_ns; /* 0: as fast as can be */
};

static void *mark_many(void *arg)
{
	const struct many *m = arg;
	uint64_t start = now_ns();
	char text[32];

	for (long i = 0; i < m->count; i++) {
		snprintf(text, sizeof(text), "%ld %ld", m->number, i);
		/* In bursts of 100: a sleep is never as short as one. */
		if (i % 100 == 0 && m->every_ns)
			while (now_ns() < start + (uint64_t)i * m->every_ns)
				sleep_ms(1);
		ebprec_mark("marker", "many", text);
	}
	return NULL;
}

static void many(long threads, long count, long rate)
{
	struct many m[64];
	pthread_t thread[64];

	for (long i = 0; i < threads && i < 64; i++) {
		m[i] = (struct many){ i, count,
				      rate ? (uint64_t)(1000000000L * threads / rate) : 0 };
		pthread_create(&thread[i], NULL, mark_many, &m[i]);
	}
	for (long i = 0; i < threads && i < 64; i++)
		pthread_join(thread[i], NULL);
}

static void cost(void)
{
	enum { ROUNDS = 20000000 };
	uint64_t start = now_ns(), middle;

	for (long i = 0; i < ROUNDS; i++)
		ebprec_mark("marker", "cost", "");
	middle = now_ns();
	for (long i = 0; i < ROUNDS; i++)
		ebprec_span_end(ebprec_span_begin("marker", "cost", ""));
	printf("%.2f %.2f\n", (double)(middle - start) / ROUNDS,
	       (double)(now_ns() - middle) / ROUNDS);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *what = argv[i];

		if (!strcmp(what, "points") && i + 1 < argc)
			points(strtol(argv[++i], NULL, 10));
		else if (!strcmp(what, "nest"))
			nest();
		else if (!strcmp(what, "cross"))
			cross();
		else if (!strcmp(what, "overlap"))
			overlap();
		else if (!strcmp(what, "complete") && i + 1 < argc)
			ebprec_span("marker", "complete", "",
				    (uint64_t)strtol(argv[++i], NULL, 10) * 1000000);
		else if (!strcmp(what, "many") && i + 3 < argc) {
			many(strtol(argv[i + 1], NULL, 10), strtol(argv[i + 2], NULL, 10),
			     strtol(argv[i + 3], NULL, 10));
			i += 3;
		} else if (!strcmp(what, "wait") && i + 1 < argc)
			for (i++; access(argv[i], F_OK);)
				sleep_ms(5);
		else if (!strcmp(what, "in") && i + 2 < argc) {
			ebprec_mark(argv[i + 1], "points", argv[i + 2]);
			i += 2;
		} else if (!strcmp(what, "cost"))
			cost();
		else
			return 2;
	}
	return 0;
}
