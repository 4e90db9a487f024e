/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/dwarf/addr2line.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/lower_bound.h"
#include "analyze/sym/dwarf/addr2line_priv.h"

static void *work(void *arg)
{
	struct addr2line_worker *w = arg;
	size_t i;

	w->unit.steps_left = w->split.steps_left = DW_STEPS_MAX;
	while (!w->err && (i = atomic_fetch_add(&w->tab->next_task, 1)) < w->tab->task_count)
		w->err = addr2line_run_unit(w, &w->tab->tasks[i]);
	addr2line_worker_done(w);
	return NULL;
}

/* The calling thread is one of them; where no more can be started, fewer do the work. */
static int run_all(struct addr2line *t, unsigned wanted)
{
	unsigned started = 1, count = threads_choose(wanted, t->task_count);
	pthread_t threads[THREADS_AT_ONCE];
	int err = 0;

	for (unsigned i = 0; i < THREADS_AT_ONCE; i++)
		t->workers[i].tab = t;
	while (started < count &&
	       !pthread_create(&threads[started], NULL, work, &t->workers[started]))
		started++;
	work(&t->workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < started; i++)
		err = t->workers[i].err ? t->workers[i].err : err;
	return err;
}

static void drop_scaffold(struct addr2line *t)
{
	addr2line_close_packs(t);
	dw_file_close(&t->file);
	free(t->wishes);
	free(t->tasks);
	t->wishes = NULL;
	t->tasks = NULL;
}

/* How a table is made. */
struct making {
	unsigned thread_count;
	const struct addr2line_parts *parts; /* may be NULL */
	bool gaps_only;
};

static int make(int fd, const uint64_t *vaddrs, size_t count, const struct making *how,
		struct addr2line **out)
{
	struct addr2line *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	if (!t)
		return err;
	t->gaps_only = how->gaps_only;
	if (how->parts)
		t->parts = *how->parts;
	t->vaddrs = reallocarray(NULL, count + 1, sizeof(*t->vaddrs));
	t->answers = calloc(count + 1, sizeof(*t->answers));
	if (t->vaddrs && t->answers && count < UINT32_MAX) {
		t->count = count;
		if (count)
			memcpy(t->vaddrs, vaddrs, count * sizeof(*vaddrs));
		err = dw_file_open(fd, &t->file);
	}
	if (!err)
		err = addr2line_share_out(t);
	if (!err)
		err = addr2line_open_packs(t);
	if (!err)
		err = run_all(t, how->thread_count);
	drop_scaffold(t);
	if (err)
		addr2line_free(t);
	else
		*out = t;
	return err;
}

int addr2line_new(int fd, const uint64_t *vaddrs, size_t count, unsigned thread_count,
		  const struct addr2line_parts *parts, struct addr2line **out)
{
	return make(fd, vaddrs, count, &(struct making){ thread_count, parts, false }, out);
}

int addr2line_gaps_new(int fd, const uint64_t *vaddrs, size_t count,
		       const struct addr2line_parts *parts, struct addr2line **out)
{
	return make(fd, vaddrs, count, &(struct making){ 1, parts, true }, out);
}

void addr2line_free(struct addr2line *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < THREADS_AT_ONCE; i++) {
		line_strings_done(&t->workers[i].texts);
		free(t->workers[i].frames);
	}
	free(t->vaddrs);
	free(t->answers);
	free(t);
}

bool addr2line_find(const struct addr2line *t, uint64_t vaddr, struct source_frame *out, size_t max,
		    size_t *n)
{
	size_t low = lower_bound(i, 0, t->count, t->vaddrs[i] < vaddr);
	const struct addr2line_answer *a;

	if (low >= t->count || t->vaddrs[low] != vaddr || !t->answers[low].known)
		return false;
	a = &t->answers[low];
	for (*n = 0; *n < a->count && *n < max; (*n)++)
		out[*n] = t->workers[a->worker].frames[a->first + *n];
	return true;
}

enum addr2line_gap addr2line_gap(const struct addr2line *t, const char **name)
{
	const struct addr2line_worker *first = NULL;

	for (unsigned i = 0; i < THREADS_AT_ONCE; i++)
		if (t->workers[i].gap && (!first || t->workers[i].gap_off < first->gap_off))
			first = &t->workers[i];
	if (!first)
		return ADDR2LINE_COMPLETE;
	*name = first->gap_name;
	return first->gap;
}
