/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/interval_collector.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "record/base/thread_start.h"

enum state { IDLE, STARTED, COLLECTED, QUIT };

struct interval_collector {
	struct interval_collector_sources from;
	int fence_outer, fence_inner; /* a map of maps whose update waits for running programs */
	uint32_t interval;
	struct collected out;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t changed;
	enum state state;
	uint64_t since_ns;
};

/* ---- waiting for running programs ---- */

static int fence_open(struct interval_collector *c)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	c->fence_inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ebprec_fence", 4, 4, 1, NULL);
	if (c->fence_inner < 0)
		return -errno;
	opts.inner_map_fd = (uint32_t)c->fence_inner;
	c->fence_outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "ebprec_fence", 4, 4, 1, &opts);
	return c->fence_outer < 0 ? -errno : 0;
}

static int fence(const struct interval_collector *c)
{
	uint32_t zero = 0;

	return bpf_map_update_elem(c->fence_outer, &zero, &c->fence_inner, BPF_ANY) ? -errno : 0;
}

/* ---- an interval ---- */

static void add_error(struct interval_collector *c, int err, const char *what, const char *name)
{
	struct collect_error *e;

	if (!err || c->out.error_count == COLLECT_ERRORS_MAX)
		return;
	e = &c->out.errors[c->out.error_count++];
	e->err = err;
	snprintf(e->what, sizeof(e->what), "%s '%.40s'", what, name);
}

/* err: programs may still write to the entries, so that they are left for later. */
static void drain(struct interval_collector *c, const struct metric_object *o, int err)
{
	struct metric_tables *tabs = c->from.tabs;

	for (uint32_t i = o->first_table; i < o->first_table + o->table_count; i++) {
		if (tabs->tab[i].map_fd < 0)
			continue;
		if (err)
			metric_tables_postpone(tabs, i, c->since_ns, err);
		else
			add_error(c,
				  metric_tables_drain(tabs, i, c->interval, c->since_ns,
						      &c->out.rows),
				  "cannot read the table", tabs->tab[i].fmt.name);
	}
}

/* A failure affects only its table: it is read with the next interval. */
static void collect(struct interval_collector *c)
{
	const struct interval_collector_sources *s = &c->from;
	int err;

	row_queue_clear(&c->out.rows);
	c->out.error_count = 0;
	for (size_t i = 0; i < s->obj_count; i++)
		add_error(c, metric_object_walk(&s->objs[i]), "cannot complete the tables of",
			  bpf_object__name(s->objs[i].obj));
	c->out.end_ns = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < s->obj_count; i++) {
		if (s->objs[i].interval)
			__atomic_store_n(s->objs[i].interval, c->interval + 1, __ATOMIC_SEQ_CST);
	}
	err = s->obj_count ? fence(c) : 0;
	add_error(c, err, "cannot wait for the programs of", "tables");
	for (size_t i = 0; i < s->obj_count; i++)
		drain(c, &s->objs[i], err);
	if (s->counters)
		add_error(c,
			  proc_counters_take(s->counters, c->interval, c->since_ns, &c->out.rows),
			  "cannot read the instrument", "counters");
	c->interval++;
}

static void set_state(struct interval_collector *c, enum state state)
{
	pthread_mutex_lock(&c->lock);
	if (state == COLLECTED)
		c->since_ns = c->out.end_ns;
	c->state = state;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static enum state wait_while(struct interval_collector *c, enum state state)
{
	enum state now;

	pthread_mutex_lock(&c->lock);
	while (c->state == state)
		pthread_cond_wait(&c->changed, &c->lock);
	now = c->state;
	pthread_mutex_unlock(&c->lock);
	return now;
}

static void *run(void *arg)
{
	struct interval_collector *c = arg;
	enum state state = IDLE;

	while (state != QUIT) {
		if (state == STARTED) {
			collect(c);
			set_state(c, COLLECTED);
			state = COLLECTED;
		}
		state = wait_while(c, state);
	}
	return NULL;
}

/* Not before it is needed: by then the recorder has given its rights up. */
static bool start_thread(struct interval_collector *c)
{
	if (!c->has_thread)
		c->has_thread = !thread_start(&c->thread, NULL, run, c);
	return c->has_thread;
}

/* ---- for the recording ---- */

int interval_collector_new(const struct interval_collector_sources *sources, uint64_t since_ns,
			   struct interval_collector **out)
{
	struct interval_collector *c = calloc(1, sizeof(*c));
	int err = 0;

	if (!c)
		return -ENOMEM;
	c->from = *sources;
	c->since_ns = since_ns;
	c->fence_inner = c->fence_outer = -1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	if (sources->obj_count)
		err = fence_open(c);
	if (err) {
		interval_collector_free(c);
		return err;
	}
	*out = c;
	return 0;
}

void interval_collector_free(struct interval_collector *c)
{
	if (!c)
		return;
	if (c->has_thread) {
		wait_while(c, STARTED);
		set_state(c, QUIT);
		pthread_join(c->thread, NULL);
	}
	if (c->fence_outer >= 0)
		close(c->fence_outer);
	if (c->fence_inner >= 0)
		close(c->fence_inner);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	row_queue_done(&c->out.rows);
	free(c);
}

static enum state state_of(struct interval_collector *c)
{
	enum state now;

	pthread_mutex_lock(&c->lock);
	now = c->state;
	pthread_mutex_unlock(&c->lock);
	return now;
}

uint64_t interval_collector_since_ns(struct interval_collector *c)
{
	uint64_t since_ns;

	pthread_mutex_lock(&c->lock);
	since_ns = c->since_ns;
	pthread_mutex_unlock(&c->lock);
	return since_ns;
}

bool interval_collector_start(struct interval_collector *c)
{
	if (state_of(c) != IDLE)
		return false;
	if (!c->from.no_thread && start_thread(c)) {
		set_state(c, STARTED);
		return true;
	}
	collect(c); /* no thread is to be had: here, then */
	set_state(c, COLLECTED);
	return true;
}

struct collected *interval_collector_take(struct interval_collector *c, bool wait)
{
	enum state state = wait ? wait_while(c, STARTED) : state_of(c);

	return state == COLLECTED ? &c->out : NULL;
}

void interval_collector_give_back(struct interval_collector *c)
{
	set_state(c, IDLE);
}
