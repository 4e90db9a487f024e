/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/offcpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/radix_sort.h"
#include "analyze/input/event/event_iter.h"
#include "analyze/input/event/event_of.h"
#include "analyze/input/slice_border.h"
#include "format/base/hash_index.h"
#include "format/base/lower_bound.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"
#include "analyze/sched/pid_cgroups.h"
#include "analyze/sched/wait_reason.h"
#include "analyze/sched/wait_times.h"
#include "format/perf/perfrec.h"
#include "format/perf/trace_data.h"

#define COMMON_FLAGS_OFF       2    /* in the raw data of the kernel's tracepoints: one byte */
#define COMMON_FLAGS_INTERRUPT 0x58 /* TRACE_FLAG_NMI, _SOFTIRQ, _HARDIRQ */

/* The number of an end like this.  -ENOMEM. */
static int end_of(struct offcpu *o, const struct offcpu_end *end, uint32_t *out)
{
	const struct offcpu_end *e;
	uint32_t pos, id;
	uint64_t hash;

	if (hash_index_reserve(&o->index))
		return -ENOMEM;
	hash = hash_index_pair(&o->index, (uint64_t)end->walk_end << 32 | end->waker,
			       (uint64_t)end->comm << 32 | (uint64_t)end->kind << 17 |
				       (uint64_t)end->is_waker << 16 | end->syscall);
	if (end->stack || end->tid)
		hash = hash_index_pair(&o->index, hash ^ end->stack ^ end->stratum,
				       (uint64_t)end->tid << 32 | end->name);
	pos = hash_index_start(&o->index, hash);
	while ((id = hash_index_match(&o->index, hash, &pos)) != HASH_INDEX_NONE) {
		e = &o->ends[id];
		if (e->walk_end == end->walk_end && e->waker == end->waker &&
		    e->comm == end->comm && e->kind == end->kind && e->is_waker == end->is_waker &&
		    e->syscall == end->syscall && e->stack == end->stack && e->tid == end->tid &&
		    e->name == end->name && e->stratum == end->stratum) {
			*out = id;
			return 0;
		}
	}
	if (vec_reserve(&o->ends, &o->end_capacity, o->end_count + 1))
		return -ENOMEM;
	id = (uint32_t)o->end_count++;
	o->ends[id] = *end;
	hash_index_put(&o->index, hash, pos, id);
	*out = id;
	return 0;
}

void offcpu_done(struct offcpu *o)
{
	free(o->ends);
	free(o->unseen_ns);
	hash_index_done(&o->index);
	*o = (struct offcpu){ 0 };
}

/* Threads may have the same id one after another. */
struct thread_life {
	uint32_t tid, thread;
	uint64_t start_ns;
};

/* A stack of a waker. */
struct waker {
	uint64_t time_ns;
	uint32_t tid; /* that it woke */
	uint32_t end;
};

/* A sample of a thread on a CPU, and what it gets of the thread's time.  In the order of the file. */
struct on_cpu {
	struct wait_times_kind *kind;
	uint64_t time_ns, weight, share_ns;
};

struct loader {
	const struct filter *filter;
	struct sample_chains chains;
	struct sample_chain chain; /* has room for one: the sampler keeps none */
	enum result_place cpu_result;
	struct offcpu_times *times;
	struct stack_counter *sampler;
	struct offcpu *out;
	const struct capture_attr *waker_attr; /* NULL: wakers are not asked for, or not there */
	struct pid_cgroups cgroups;            /* empty: not asked for */
	struct sched_event_reader
		*wakeups; /* of perf's files, which have wakers in these; NULL: ours */
	const struct capture_attr *cpu_attr; /* NULL: time on a CPU is not asked for */
	struct thread_life *lives;           /* by id, then start */
	size_t life_count;
	struct waker *wakers; /* by the thread that they woke, then time */
	size_t waker_count, waker_capacity;
	uint64_t *longest_ns; /* with rows: by kind, of those with a stack */
	bool by_period;
	struct on_cpu *on_cpu;
	size_t on_cpu_count, on_cpu_capacity, on_cpu_next;
};

/* ---- rows ---- */

static int count_apart(struct offcpu *o, const struct perf_sample *s,
		       const struct process_model_where *where, uint8_t stratum,
		       struct offcpu_end *end)
{
	if (hash_index_reserve(&o->index))
		return -ENOMEM;
	end->stack = s->chain_count ? hash_index_bytes(&o->index, s->chain,
						       s->chain_count * sizeof(uint64_t))
				    : 0;
	end->tid = s->tid;
	end->name = where->comm;
	end->stratum = stratum;
	return 0;
}

static void add_to_row(struct loader *l, uint32_t number, uint32_t kind, uint64_t ns,
		       uint64_t share_ns, uint64_t count)
{
	struct offcpu_end *end = &l->out->ends[number];

	end->ns += share_ns;
	end->count += count;
	end->longest_ns = ns > end->longest_ns ? ns : end->longest_ns;
	end->source = kind;
	if (ns > l->longest_ns[kind])
		l->longest_ns[kind] = ns;
}

/* -ENOMEM. */
static int keep_unseen(struct loader *l)
{
	struct offcpu *o = l->out;

	o->unseen_count = l->times->waits.kind_count;
	o->unseen_ns = calloc(o->unseen_count + 1, sizeof(*o->unseen_ns));
	if (!o->unseen_ns)
		return -ENOMEM;
	for (size_t i = 0; i < o->unseen_count; i++) {
		uint64_t ns = l->times->waits.kinds[i].longest_ns;

		o->unseen_ns[i] = ns > l->longest_ns[i] ? ns : 0;
	}
	return 0;
}

/* ---- stacks ---- */

/* The waker whose stack was taken while this wait lasted; OFFCPU_NO_WAKER: none. */
static uint32_t waker_of(const struct loader *l, const struct sched_event *e,
			 const struct wait_times_stack *w)
{
	const struct waker *last;
	uint64_t end_ns;
	size_t low;

	if (!l->waker_count || wait_times_was_preempted(e->state) || !w->ns)
		return OFFCPU_NO_WAKER;
	end_ns = l->times->waits.ends[e->stack];
	low = lower_bound(i, 0, l->waker_count,
			  l->wakers[i].tid < e->tid ||
				  (l->wakers[i].tid == e->tid && l->wakers[i].time_ns <= end_ns));
	if (!low)
		return OFFCPU_NO_WAKER;
	/* The last one: sched_waking comes a little before sched_wakeup. */
	last = &l->wakers[low - 1];
	return last->tid == e->tid && last->time_ns >= e->time_ns ? last->end : OFFCPU_NO_WAKER;
}

/* Completes the chain of the sample.  *walk_end: of its user part. */
static int complete_chain(struct loader *l, struct perf_sample *s, const struct capture_attr *attr,
			  const struct process_model_where *where, enum result_place place,
			  uint32_t *walk_end)
{
	struct stack_result info;
	int result = sample_chain_complete(&l->chain, s, attr, where->space, place, &info);

	*walk_end = result == 1 && info.how != STACK_RESULT_NONE ? stack_counter_end(&info)
								 : STACK_COUNTER_END_UNKNOWN;
	return result < 0 ? result : 0;
}

/* ns of the waits of that kind; count: how many. */
static int add_wait(struct loader *l, struct perf_sample *s,
		    const struct process_model_where *where, const struct wait_times_kind *k,
		    uint64_t ns, uint64_t count, uint32_t end)
{
	bool by_busy = l->times->waits.with_busy;

	s->period = by_busy ? saturate_part((double)ns * k->busy, ns) : ns;
	return stack_counter_add_wait(l->sampler, s, where, end,
				      by_busy         ? ns
				      : l->out->exact ? count
						      : 1);
}

static int add_part(struct loader *l, struct perf_sample *s,
		    const struct process_model_where *where, uint32_t kind, uint64_t ns,
		    uint32_t weight, struct offcpu_end *end)
{
	struct wait_times_kind *k = &l->times->waits.kinds[kind];
	uint64_t share_ns, count;
	uint32_t number;
	int err;

	end->kind = k->kind;
	end->syscall = k->syscall;
	err = l->longest_ns ? count_apart(l->out, s, where, k->stratum, end) : 0;
	if (!err)
		err = end_of(l->out, end, &number);
	if (err)
		return err;
	share_ns = wait_times_share(k, ns, weight);
	count = wait_times_share_count(k, weight);
	if (l->longest_ns)
		add_to_row(l, number, kind, ns, share_ns, count);
	return add_wait(l, s, where, k, share_ns, count, number);
}

static bool is_wanted(const struct loader *l, uint32_t kind)
{
	return kind != WAIT_TIMES_NO_KIND && l->times->waits.kinds[kind].wanted;
}

static bool wants_stack(void *ctx, uint32_t first, uint32_t count)
{
	const struct loader *l = ctx;
	const struct wait_times *w = &l->times->waits;

	for (size_t i = first; i < (size_t)first + count && i < w->stack_count; i++)
		if (is_wanted(l, w->stacks[i].kind) || is_wanted(l, w->stacks[i].queue_kind))
			return true;
	return false;
}

static int add_stack(void *ctx, const struct sched_event *e, struct perf_sample *s,
		     const struct capture_attr *attr)
{
	struct loader *l = ctx;
	struct process_model_where where;
	const struct wait_times_stack *w;
	struct offcpu_end end = { .comm = PROCESS_MODEL_NONE };
	int err;

	/* perf reports no tid for an exiting task: it has no id any more. */
	if (e->stack >= l->times->waits.stack_count || e->tid != s->tid)
		return 0;
	w = &l->times->waits.stacks[e->stack];
	if (!is_wanted(l, w->kind) && !is_wanted(l, w->queue_kind))
		return 0;
	end.waker = waker_of(l, e, w);
	s->cgroup = pid_cgroups_of(&l->cgroups, s->pid);
	if (l->out->each)
		end.stack = (uint64_t)e->stack + 1;
	stack_counter_where(l->sampler, s, &where);
	err = complete_chain(l, s, attr, &where, RESULT_SWITCH, &end.walk_end);
	if (!err && w->kind != WAIT_TIMES_NO_KIND)
		err = add_part(l, s, &where, w->kind, w->ns, e->weight, &end);
	if (!err && w->queue_kind != WAIT_TIMES_NO_KIND)
		err = add_part(l, s, &where, w->queue_kind, w->queue_ns, e->weight, &end);
	return err;
}

/* A waker of ours, or of perf's.  0: the sample is none. */
static bool read_waker(const struct loader *l, const struct perf_event_header *header,
		       struct perf_sample *s, struct trace_data_waker *out)
{
	struct sched_event e;

	if (!l->wakeups)
		return !perfrec_sample(header, header->size, &l->waker_attr->attr, s, NULL) &&
		       s->raw && !trace_data_waker_decode(s->raw, s->raw_bytes, out);
	if (sched_event_read(l->wakeups, header, &e, s) != 1)
		return false;
	out->tid = e.tid;
	out->irq = s->raw[COMMON_FLAGS_OFF] & COMMON_FLAGS_INTERRUPT;
	return true;
}

/* Its stack goes among the others, weighing nothing; waits that it ended name it by its end. */
static int add_waker(void *ctx, const struct perf_event_header *header)
{
	struct loader *l = ctx;
	struct offcpu_end end = { .is_waker = true, .waker = (uint32_t)l->waker_count };
	struct trace_data_waker waker;
	struct process_model_where where;
	struct perf_sample s;
	uint32_t walk_end; /* not asked for */
	int err;

	if (!read_waker(l, header, &s, &waker))
		return 0;
	if (vec_reserve(&l->wakers, &l->waker_capacity, l->waker_count + 1))
		return -ENOMEM;
	stack_counter_where(l->sampler, &s, &where);
	err = complete_chain(l, &s, l->waker_attr, &where, RESULT_NOWHERE, &walk_end);
	if (err)
		return err;
	/* The thread that an interrupt met is no waker. */
	end.comm = waker.irq ? PROCESS_MODEL_NONE : where.comm;
	end.kind = waker.irq != 0;
	err = end_of(l->out, &end, &l->wakers[l->waker_count].end);
	if (err)
		return err;
	l->wakers[l->waker_count].time_ns = s.time_ns;
	l->wakers[l->waker_count].tid = waker.tid;
	s.period = 0;
	return stack_counter_add_wait(l->sampler, &s, &where, l->wakers[l->waker_count++].end, 1);
}

static int by_woken(const void *a, const void *b)
{
	const struct waker *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int add_wakers(struct loader *l, const struct capture *c)
{
	struct event_of events = event_of_capture(c);
	const struct perf_event_header *header;
	const struct slice_border *border;
	size_t at = 0;
	int err;

	l->waker_attr = event_iter_find(c, TRACE_DATA_WAKER_ID);
	if (!l->waker_attr && capture_get_kind(c) != CAPTURE_EBX) {
		err = sched_event_new_wakers(c, &l->wakeups, &l->waker_attr);
		if (err)
			return err;
	}
	if (!l->waker_attr)
		return 0;
	err = event_iter_samples(c, 1u << EBX_STREAM_SCHED, l->waker_attr, add_waker, l, NULL);
	border = sched_order_border(l->times->run.flow);
	while (!err && border && (header = slice_border_next(border, &at)))
		if (event_of_find(&events, header) == l->waker_attr)
			err = add_waker(l, header);
	if (l->waker_count)
		qsort(l->wakers, l->waker_count, sizeof(*l->wakers), by_woken);
	return err;
}

/* ---- time on a CPU ---- */

static int by_life(const void *a, const void *b)
{
	const struct thread_life *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static int sort_lives(struct loader *l)
{
	const struct thread_states_thread *threads;
	size_t count;

	threads = thread_states_threads(l->times->run.timeline, &count);
	l->lives = calloc(count + 1, sizeof(*l->lives));
	if (!l->lives)
		return -ENOMEM;
	/* One that lived for no time, as far as switches have it, has none that samples could share. */
	for (size_t i = 0; i < count; i++)
		if (threads[i].start_ns < threads[i].end_ns)
			l->lives[l->life_count++] = (struct thread_life){ threads[i].tid,
									  (uint32_t)i,
									  threads[i].start_ns };
	if (l->life_count)
		qsort(l->lives, l->life_count, sizeof(*l->lives), by_life);
	return 0;
}

/*
 * The kind that the samples of a thread share; NULL: it was not on a CPU, or is not chosen.  A sample in the microsecond in which
 * a thread starts is its own, as in a page, which has microseconds.
 */
static struct wait_times_kind *on_cpu_of(struct loader *l, const struct perf_sample *s)
{
	struct thread_life want = { s->tid, UINT32_MAX,
				    saturate_add(s->time_ns - s->time_ns % 1000, 999) };
	size_t low;

	low = lower_bound(i, 0, l->life_count, by_life(&l->lives[i], &want) <= 0);
	if (!low || l->lives[low - 1].tid != s->tid)
		return NULL;
	return wait_times_on_cpu(&l->times->waits, l->lives[low - 1].thread);
}

static bool read_cpu_sample(const struct loader *l, const struct perf_event_header *header,
			    struct perf_sample *s)
{
	return !perfrec_sample(header, header->size, &l->cpu_attr->attr, s, NULL) && s->tid &&
	       filter_passes(l->filter, s->pid, s->tid, s->cpu, s->time_ns);
}

static int weigh_cpu_sample(void *ctx, const struct perf_event_header *header)
{
	struct loader *l = ctx;
	struct perf_sample s;
	struct wait_times_kind *k;

	if (!read_cpu_sample(l, header, &s))
		return 0;
	k = on_cpu_of(l, &s);
	if (!k)
		return 0;
	if (vec_reserve(&l->on_cpu, &l->on_cpu_capacity, l->on_cpu_count + 1))
		return -ENOMEM;
	if (!l->by_period || !s.period)
		s.period = 1;
	k->sampled += (double)s.period;
	l->on_cpu[l->on_cpu_count++] = (struct on_cpu){ k, s.time_ns, s.period, 0 };
	return 0;
}

/* In the order of time: files have samples by CPU, and shares are rounded so that they add up. */
static int share_on_cpu(struct loader *l)
{
	struct radix_item *order = calloc(l->on_cpu_count + 1, sizeof(*order));
	int err;

	if (l->on_cpu_count > UINT32_MAX || !order) {
		free(order);
		return order ? -EOVERFLOW : -ENOMEM;
	}
	for (size_t i = 0; i < l->on_cpu_count; i++)
		order[i] = (struct radix_item){ l->on_cpu[i].time_ns, (uint32_t)i };
	err = radix_sort(&order, l->on_cpu_count);
	for (size_t i = 0; !err && i < l->on_cpu_count; i++) {
		struct on_cpu *s = &l->on_cpu[order[i].value];

		s->share_ns = wait_times_share(s->kind, s->weight, 1);
	}
	free(order);
	return err;
}

static int add_cpu_sample(void *ctx, const struct perf_event_header *header)
{
	struct loader *l = ctx;
	struct offcpu_end end = { .kind = WAIT_ON_CPU,
				  .waker = OFFCPU_NO_WAKER,
				  .comm = PROCESS_MODEL_NONE };
	struct process_model_where where;
	struct perf_sample s;
	uint32_t number;
	int err;

	if (!read_cpu_sample(l, header, &s) || !on_cpu_of(l, &s))
		return 0;
	l->out->facts.on_samples++;
	stack_counter_where(l->sampler, &s, &where);
	err = complete_chain(l, &s, l->cpu_attr, &where, l->cpu_result, &end.walk_end);
	if (!err)
		err = end_of(l->out, &end, &number);
	if (err)
		return err;
	s.period = l->on_cpu[l->on_cpu_next++].share_ns;
	return stack_counter_add_wait(l->sampler, &s, &where, number, 1);
}

static int add_on_cpu(struct loader *l, const struct capture *c)
{
	int err = sort_lives(l);

	if (!err)
		err = event_iter_samples(c, 1u << EBX_STREAM_CPU, l->cpu_attr, weigh_cpu_sample, l,
					 NULL);
	if (!err)
		err = share_on_cpu(l);
	return err ? err
		   : event_iter_samples(c, 1u << EBX_STREAM_CPU, l->cpu_attr, add_cpu_sample, l,
					NULL);
}

/* Waits without a stack: without frames. */
static int add_bare(struct loader *l)
{
	const struct thread_states_thread *threads;
	struct process_model_where where;
	struct offcpu_end end;
	uint64_t rest_ns;
	uint32_t number;
	size_t count;
	int err = 0;

	threads = thread_states_threads(l->times->run.timeline, &count);
	for (size_t i = 0; !err && i < l->times->waits.kind_count; i++) {
		const struct wait_times_kind *k = &l->times->waits.kinds[i];
		const struct thread_states_thread *th = &threads[k->thread];
		struct perf_sample s = {
			.pid = sched_replay_pid(&l->times->run, th),
			.tid = th->tid,
			.time_ns = k->began ? k->first_ns : th->end_ns,
			.cpu = k->began ? k->cpu : (int32_t)th->cpu,
		};

		s.cgroup = pid_cgroups_of(&l->cgroups, s.pid);

		if (!k->wanted || (!l->out->each && !wait_times_left_ns(k)))
			continue;
		stack_counter_where(l->sampler, &s, &where);
		end = (struct offcpu_end){ .walk_end = STACK_COUNTER_END_UNKNOWN,
					   .kind = k->kind,
					   .syscall = k->syscall,
					   .waker = OFFCPU_NO_WAKER,
					   .comm = PROCESS_MODEL_NONE };
		err = l->longest_ns ? count_apart(l->out, &s, &where, k->stratum, &end) : 0;
		if (!err)
			err = end_of(l->out, &end, &number);
		rest_ns = wait_times_left_ns(k);
		if (!err && l->longest_ns)
			add_to_row(l, number, (uint32_t)i,
				   rest_ns < k->exact_ns ? 0 : k->longest_ns, rest_ns,
				   k->count - k->given_count);
		if (!err)
			err = add_wait(l, &s, &where, k, rest_ns, k->count - k->given_count,
				       number);
	}
	return err;
}

/* Fills in the facts that are known when all has been read. */
static void take_facts(const struct loader *l, struct offcpu_facts *f)
{
	const struct wait_times_sums *sums = &l->times->waits.sums;

	f->total_ns = sums->total_ns;
	f->with_stack_ns = sums->with_stack_ns;
	f->before_ns = sums->before_ns;
	f->unknown_ns = sums->unknown_ns;
	f->on_ns = sums->on_ns;
	f->switches = sums->switches;
	f->stacks = sums->stacks;
	f->error_share = sums->error_share;
	f->is_wall = l->cpu_attr != NULL;
	f->lost = l->times->run.lost;
	f->gaps = thread_states_gaps(l->times->run.timeline);
}

void offcpu_times_done(struct offcpu_times *t)
{
	wait_times_done(&t->waits);
	sched_replay_done(&t->run);
}

static void loader_done(struct loader *l)
{
	free(l->lives);
	sched_event_free(l->wakeups);
	free(l->wakers);
	free(l->on_cpu);
	free(l->longest_ns);
	sample_chain_done(&l->chain);
	sample_chains_done(&l->chains);
	pid_cgroups_done(&l->cgroups);
}

static int read_times(const struct capture *c, struct string_table *names,
		      const struct offcpu_query *query, struct offcpu_times *out)
{
	const struct sched_replay_user user = wait_times_user(&out->waits, query->filter,
							      query->wall != NULL, query->wakers);
	int err;

	out->waits.with_busy = query->by_busy;
	err = sched_replay_make(c, names, query->filter, &user, 1, &out->run);

	return err ? err : wait_times_finish(&out->waits);
}

int offcpu_load(const struct capture *c, const struct process_model *model,
		struct string_table *names, const struct offcpu_query *query,
		struct stack_counter **out, struct offcpu *o)
{
	struct offcpu_times own = { 0 };
	const char *arch = capture_feature_string(c, PERFFILE_ARCH);
	struct offcpu fresh = { .with_rows = query->rows,
				.each = query->each,
				.exact = query->exact,
				.abi = arch && !strcmp(arch, "aarch64") ? CALL_ABI_AARCH64
									: CALL_ABI_X86_64 };
	struct loader l = { .filter = query->filter,
			    .cpu_attr = query->wall,
			    .by_period = query->wall_by_period,
			    .out = &fresh };
	const struct sched_order_taker taker = { wants_stack, add_stack, &l };
	size_t attr_count;
	int err = 0;

	if (query->wall)
		l.cpu_result = result_place_of(
			c, (size_t)(query->wall - capture_attrs(c, &attr_count)));
	l.times = query->times ? query->times : &own;
	if (!query->times)
		err = read_times(c, names, query, &own);
	if (!err)
		err = sample_chains_init(&l.chains, c, model, query->roots, query->later);
	if (!err)
		err = sample_chain_init(&l.chain, &l.chains);
	if (!err)
		err = stack_counter_new(model, query->groups, NULL, false, &l.sampler);
	if (!err && query->cgroups)
		err = pid_cgroups_read(c, &l.cgroups);
	if (!err && query->rows) {
		l.longest_ns = calloc(l.times->waits.kind_count + 1, sizeof(*l.longest_ns));
		err = l.longest_ns ? 0 : -ENOMEM;
	}
	if (!err && query->wakers)
		err = add_wakers(&l, c);
	if (!err)
		err = sched_order_stacks(l.times->run.flow, &taker);
	if (!err && l.cpu_attr)
		err = add_on_cpu(&l, c);
	if (!err)
		err = add_bare(&l);
	if (!err && l.longest_ns)
		err = keep_unseen(&l);
	if (!err)
		take_facts(&l, &fresh.facts);
	loader_done(&l);
	offcpu_times_done(&own);
	if (err) {
		stack_counter_free(l.sampler);
		offcpu_done(&fresh);
		return err;
	}
	*out = l.sampler;
	*o = fresh;
	return 0;
}
