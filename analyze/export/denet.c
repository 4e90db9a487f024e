/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/export/denet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/base/saturate.h"
#include "analyze/sched/replay.h"
#include "format/base/vec.h"

#define TOP_THREADS 10

struct stat {
	uint64_t total_ns, count, max_ns, min_ns;
	uint64_t off_ns; /* of the event under way */
	bool is_off;     /* its beginning was seen */
	uint32_t thread;
};

struct maker {
	const struct filter *filter;
	struct sched_replay run;
	struct stat *stats; /* by thread */
	size_t count, capacity;
	struct stat all;
};

static void add(struct stat *s, uint64_t ns)
{
	s->total_ns = saturate_add(s->total_ns, ns);
	s->max_ns = ns > s->max_ns ? ns : s->max_ns;
	s->min_ns = !s->count || ns < s->min_ns ? ns : s->min_ns;
	s->count++;
}

static int stat_of(struct maker *m, uint32_t thread, struct stat **out)
{
	if (vec_reserve(&m->stats, &m->capacity, (size_t)thread + 1))
		return -ENOMEM;
	while (m->count <= thread) {
		m->stats[m->count] = (struct stat){ .thread = (uint32_t)m->count };
		m->count++;
	}
	*out = &m->stats[thread];
	return 0;
}

static int begin(void *ctx, const struct sched_replay *run)
{
	struct maker *m = ctx;

	(void)run;
	m->count = 0;
	return 0;
}

/* The intervals of a thread come in order. */
static int on_interval(void *ctx, const struct thread_states_interval *i)
{
	struct maker *m = ctx;
	struct stat *s;
	int err = stat_of(m, i->thread, &s);

	if (err)
		return err;
	if (i->state == THREAD_STATES_RUN) {
		/* NOLINTNEXTLINE: stat_of() has filled all below count */
		if (s->is_off && filter_has_time(m->filter, i->from_ns))
			add(s, s->off_ns);
		s->off_ns = 0;
		s->is_off = true; /* what follows begins with a switch */
	} else if (i->state == THREAD_STATES_UNKNOWN) {
		s->is_off = false;
	} else {
		s->off_ns += /* NOLINT: the same */ i->to_ns - i->from_ns;
	}
	return 0;
}

static int by_total(const void *a, const void *b)
{
	const struct stat *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Keeps the threads that are asked for and were off a CPU; the longest first. */
static void choose(struct maker *m)
{
	const struct thread_states_thread *threads;
	size_t count, n = 0;

	threads = thread_states_threads(m->run.timeline, &count);
	for (size_t i = 0; i < m->count; i++) {
		struct stat *s = &m->stats[i];

		if (!s->count || !sched_replay_wants(&m->run, m->filter, &threads[s->thread]))
			continue;
		m->all.min_ns = !m->all.count || s->min_ns < m->all.min_ns ? s->min_ns
									   : m->all.min_ns;
		m->all.max_ns = s->max_ns > m->all.max_ns ? s->max_ns : m->all.max_ns;
		m->all.total_ns = saturate_add(m->all.total_ns, s->total_ns);
		m->all.count += s->count;
		m->stats[n++] = *s;
	}
	m->count = n;
	if (n)
		qsort(m->stats, n, sizeof(*m->stats), by_total);
}

static void put_stat(struct json_writer *j, const struct stat *s, const char *count_name)
{
	json_writer_u64(j, "total_time_ns", s->total_ns);
	json_writer_u64(j, count_name, s->count);
	json_writer_u64(j, "avg_time_ns", s->count ? s->total_ns / s->count : 0);
	json_writer_u64(j, "max_time_ns", s->max_ns);
	json_writer_u64(j, "min_time_ns", s->min_ns);
}

static void put_threads(struct json_writer *j, const struct maker *m,
			const struct thread_states_thread *threads)
{
	const struct thread_states_thread *th;
	char key[32];

	json_writer_begin(j, "thread_stats");
	for (size_t i = 0; i < m->count; i++) {
		th = &threads[m->stats[i].thread];
		snprintf(key, sizeof(key), "%" PRIu32 ":%" PRIu32, sched_replay_pid(&m->run, th),
			 th->tid);
		json_writer_begin(j, key);
		json_writer_u64(j, "tid", th->tid);
		put_stat(j, &m->stats[i], "count");
		json_writer_end(j);
	}
	json_writer_end(j);
}

static void put_top_threads(struct json_writer *j, const struct maker *m,
			    const struct thread_states_thread *threads)
{
	const struct thread_states_thread *th;
	uint64_t ns;

	json_writer_begin_array(j, "top_blocking_threads");
	for (size_t i = 0; i < m->count && i < TOP_THREADS; i++) {
		th = &threads[m->stats[i].thread];
		ns = m->stats[i].total_ns;
		json_writer_begin(j, NULL);
		json_writer_u64(j, "pid", sched_replay_pid(&m->run, th));
		json_writer_u64(j, "tid", th->tid);
		json_writer_fixed(j, "time_ms", ns, 6);
		json_writer_number(j, "percentage", "%.2f",
				   100.0 * (double)ns / (double)m->all.total_ns);
		json_writer_end(j);
	}
	json_writer_end_array(j);
}

static int make(struct maker *m, const struct capture *c, struct string_table *names)
{
	const struct sched_replay_user user = { begin, on_interval, NULL, m };
	int err = sched_replay_make(c, names, m->filter, &user, 1, &m->run);

	if (!err)
		choose(m);
	return err;
}

static void done(struct maker *m)
{
	sched_replay_done(&m->run);
	free(m->stats);
}

/* Two threads that had the same id one after another are both there. */
static void put_all(struct json_writer *j, const struct maker *m)
{
	const struct thread_states_thread *threads;
	size_t count;

	threads = thread_states_threads(m->run.timeline, &count);
	json_writer_begin(j, "offcpu");
	put_stat(j, &m->all, "total_events");
	put_threads(j, m, threads);
	put_top_threads(j, m, threads);
	json_writer_end(j);
}

int denet_put_offcpu(const struct capture *c, struct string_table *names,
		     const struct filter *filter, struct json_writer *j)
{
	struct maker m = { .filter = filter };
	int err = make(&m, c, names);

	if (!err)
		put_all(j, &m);
	done(&m);
	return err;
}

int denet_write(const struct capture *c, struct string_table *names, const struct filter *filter,
		FILE *to)
{
	struct json_writer j = { .to = to, .layout = JSON_WRITER_LINES };
	struct maker m = { .filter = filter };
	int err = make(&m, c, names);

	if (!err) {
		json_writer_begin(&j, NULL);
		json_writer_begin(&j, "ebpf");
		put_all(&j, &m);
		json_writer_end(&j);
		json_writer_end(&j);
		err = ferror(to) ? -EIO : 0;
	}
	done(&m);
	return err;
}
