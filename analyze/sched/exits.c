/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/exits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_iter.h"
#include "format/base/vec.h"
#include "format/perf/perfrec.h"
#include "format/perf/trace_data.h"

/* The end of one thread. */
struct ended {
	struct exited as;
	uint32_t tid;
};

struct loader {
	const struct capture_attr *attr;
	struct string_table *names;
	struct ended *threads;
	size_t count, capacity;
	uint64_t broken;
};

const char *exits_policy(uint32_t policy)
{
	/* include/uapi/linux/sched.h */
	static const char *const names[] = { "other", "fifo", "rr",       "batch",
					     NULL,    "idle", "deadline", "ext" };

	return policy < sizeof(names) / sizeof(names[0]) && names[policy] ? names[policy] : "?";
}

static int take(void *ctx, const struct perf_event_header *header)
{
	struct loader *l = ctx;
	struct trace_data_exit e;
	struct perf_sample s;
	struct ended *to;

	if (perfrec_sample(header, header->size, &l->attr->attr, &s, NULL) || !s.raw ||
	    trace_data_exit_decode(s.raw, s.raw_bytes, &e)) {
		l->broken++;
		return 0;
	}
	if (vec_reserve(&l->threads, &l->capacity, l->count + 1))
		return -ENOMEM;
	to = &l->threads[l->count];
	*to = (struct ended){
		.as = {
			.time_ns = s.time_ns,
			.pid = e.pid,
			.ppid = e.ppid,
			.cpu = (uint32_t)s.cpu,
			.prio = e.prio,
			.nice = e.nice,
			.policy = e.policy,
			.code = e.code,
			.threads = 1,
			.runtime_ns = e.runtime_ns,
			.voluntary = e.voluntary,
			.involuntary = e.involuntary,
		},
		.tid = e.tid,
	};
	l->count++;
	return string_table_add(l->names, e.comm, strnlen(e.comm, sizeof(e.comm)), &to->as.comm);
}

/* Threads of a process behind each other. */
static int by_process(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->as.pid != y->as.pid)
		return x->as.pid < y->as.pid ? -1 : 1;
	return x->as.time_ns < y->as.time_ns ? -1 : x->as.time_ns > y->as.time_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct exited *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static bool is_wanted(const struct loader *l, const struct filter *f, const struct exited *e)
{
	return filter_passes(f, e->pid, e->pid, -1, e->time_ns) &&
	       filter_passes_comm(f, string_table_text(l->names, e->comm));
}

/* [from, to) are threads of one id; the first thread has the name of the process. */
static int add_process(struct loader *l, const struct filter *f, size_t from, size_t to,
		       struct exits *out)
{
	struct exited sum = { 0 };
	bool ended = false;

	for (size_t i = from; i < to; i++) {
		const struct ended *t = &l->threads[i];
		struct exited part = ended ? sum : t->as;

		if (t->tid == t->as.pid)
			part = t->as, ended = true;
		part.threads = sum.threads + 1;
		part.runtime_ns = sum.runtime_ns + t->as.runtime_ns;
		/*
		 * As wait4() has it: the last switch of other threads but the first is not counted.
		 */
		part.voluntary = sum.voluntary + t->as.voluntary -
				 (t->tid != t->as.pid && t->as.voluntary);
		part.involuntary = sum.involuntary + t->as.involuntary;
		sum = part;
	}
	if (!ended || !is_wanted(l, f, &sum))
		return 0;
	if (vec_reserve(&out->list, &out->capacity, out->count + 1))
		return -ENOMEM;
	out->list[out->count++] = sum;
	return 0;
}

/* An id that was given twice begins anew behind its first thread, and what still ended then. */
static size_t process_end(const struct loader *l, size_t from)
{
	size_t to = from;
	bool ended = false;

	for (; to < l->count && l->threads[to].as.pid == l->threads[from].as.pid; to++) {
		if (l->threads[to].tid == l->threads[to].as.pid) {
			if (ended)
				break;
			ended = true;
		}
	}
	return to;
}

int exits_load(const struct capture *c, struct string_table *names, const struct filter *filter,
	       struct exits *out)
{
	struct loader l = { .names = names };
	struct exits fresh = { 0 };
	size_t from, to;
	int err = 0;

	l.attr = event_iter_find(c, TRACE_DATA_EXIT_ID);
	if (l.attr)
		err = event_iter_samples(c, 1u << EBX_STREAM_SCHED, l.attr, take, &l, NULL);
	if (!err && l.count)
		qsort(l.threads, l.count, sizeof(*l.threads), by_process);
	for (from = 0; !err && from < l.count; from = to) {
		to = process_end(&l, from);
		err = add_process(&l, filter, from, to, &fresh);
	}
	free(l.threads);
	if (err) {
		exits_done(&fresh);
		return err;
	}
	if (fresh.count)
		qsort(fresh.list, fresh.count, sizeof(*fresh.list), by_time);
	fresh.broken = l.broken;
	*out = fresh;
	return 0;
}

void exits_done(struct exits *e)
{
	free(e->list);
	*e = (struct exits){ 0 };
}
