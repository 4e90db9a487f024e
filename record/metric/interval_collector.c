/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/interval_collector.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/base/clock.h"

enum state { IDLE, STARTED, COLLECTED, QUIT };

struct interval_collector {
	struct interval_collector_sources from;
	int fence_outer, fence_inner; /* a map of maps whose update waits for running programs */
	uint32_t interval;
	struct collected out;
	int err;
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

static int drain(struct interval_collector *c, const struct metric_object *o)
{
	int err = 0;

	for (uint32_t i = 0; i < o->table_count && !err; i++) {
		if (c->from.tabs->tab[o->first_table + i].map_fd >= 0)
			err = metric_tables_drain(c->from.tabs, o->first_table + i, c->interval,
						  c->since_ns, &c->out.rows);
	}
	return err;
}

static int collect(struct interval_collector *c)
{
	const struct interval_collector_sources *s = &c->from;
	int err = 0;

	row_queue_clear(&c->out.rows);
	for (size_t i = 0; i < s->obj_count && !err; i++)
		err = metric_object_walk(&s->objs[i]);
	c->out.end_ns = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < s->obj_count; i++) {
		if (s->objs[i].interval)
			__atomic_store_n(s->objs[i].interval, c->interval + 1, __ATOMIC_SEQ_CST);
	}
	if (!err && s->obj_count)
		err = fence(c);
	for (size_t i = 0; i < s->obj_count && !err; i++)
		err = drain(c, &s->objs[i]);
	if (!err && s->counters)
		err = proc_counters_take(s->counters, c->interval, c->since_ns, &c->out.rows);
	if (!err && !outbuf_ok(&c->out.rows.rows))
		err = -ENOMEM;
	c->interval++;
	return err;
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
			c->err = collect(c);
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
	sigset_t all, was;

	if (c->has_thread)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	c->has_thread = !pthread_create(&c->thread, NULL, run, c);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
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
	c->err = collect(c); /* no thread is to be had: here, then */
	set_state(c, COLLECTED);
	return true;
}

struct collected *interval_collector_take(struct interval_collector *c, bool wait, int *err)
{
	enum state state = wait ? wait_while(c, STARTED) : state_of(c);

	*err = 0;
	if (state != COLLECTED)
		return NULL;
	*err = c->err;
	return &c->out;
}

void interval_collector_give_back(struct interval_collector *c)
{
	set_state(c, IDLE);
}
