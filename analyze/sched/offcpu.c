/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/offcpu.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/hashidx.h"
#include "analyze/sched/schedrun.h"
#include "analyze/vec.h"
#include "analyze/sched/waitreason.h"
#include "format/perfrec.h"
#include "format/switchinfo.h"
#include "format/tracing.h"

/* The number of an end like this.  -ENOMEM. */
static int end_of(struct offcpu *o, const struct offcpu_end *end, uint32_t *out)
{
	uint64_t hash = hash_pair((uint64_t)end->walk_end << 32 | end->waker,
				  (uint64_t)end->comm << 32 | (uint64_t)end->kind << 17 |
					  (uint64_t)end->is_waker << 16 | end->syscall);
	const struct offcpu_end *e;
	uint32_t pos, id;

	if (hashidx_reserve(&o->index))
		return -ENOMEM;
	pos = hashidx_start(&o->index, hash);
	while ((id = hashidx_match(&o->index, hash, &pos)) != HASHIDX_NONE) {
		e = &o->ends[id];
		if (e->walk_end == end->walk_end && e->waker == end->waker &&
		    e->comm == end->comm && e->kind == end->kind && e->is_waker == end->is_waker &&
		    e->syscall == end->syscall) {
			*out = id;
			return 0;
		}
	}
	if (vec_reserve(&o->ends, &o->end_capacity, o->end_count + 1))
		return -ENOMEM;
	id = (uint32_t)o->end_count++;
	o->ends[id] = *end;
	hashidx_put(&o->index, hash, pos, id);
	*out = id;
	return 0;
}

void offcpu_done(struct offcpu *o)
{
	free(o->ends);
	hashidx_done(&o->index);
	*o = (struct offcpu){ 0 };
}

/* What followed a switch: up to two waits, one behind the other. */
struct wait {
	uint64_t ns, queue_ns; /* in the state it left in; then runnable */
	uint64_t end_ns;       /* when the first of them ended */
	uint32_t thread;
	uint32_t kind_of, queue_of; /* their kinds; NO_KIND: it is not asked for */
};

#define NO_KIND UINT32_MAX

/* Waits of a thread in the same state and system call. */
struct kind {
	uint32_t thread;
	uint16_t syscall;
	uint8_t kind;   /* enum wait_kind */
	uint32_t first; /* event that began one of them; SCHEDEV_NONE: none */
	uint64_t exact_ns;
	double sampled;    /* sum of weight times ns, of those with a stack */
	double variance;   /* of that sum */
	double seen;       /* of it, given out so far, */
	uint64_t given_ns; /* which made so much of exact_ns */
};

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

struct loader {
	const struct filter *filter;
	const struct model *model;
	struct schedrun run;
	struct wait *waits; /* of each event */
	struct kind *kinds;
	size_t kind_count, kind_capacity;
	struct hashidx index;
	uint64_t *before_ns, *unknown_ns; /* by thread */
	size_t before_capacity, unknown_capacity, thread_count;
	struct sampler *sampler;
	struct offcpu *out;
	const struct capture_attr *waker_attr; /* NULL: wakers are not asked for, or not there */
	const struct capture_attr *cpu_attr;   /* NULL: time on a CPU is not asked for */
	uint64_t *on_ns;                       /* by thread */
	size_t on_capacity;
	struct thread_life *lives; /* by id, then start */
	struct waker *wakers;      /* by time */
	size_t waker_count, waker_capacity;
};

/* ---- times ---- */

static int thread_at(struct loader *l, uint32_t thread)
{
	size_t old = l->thread_count;

	if (thread < old)
		return 0;
	if (vec_reserve(&l->before_ns, &l->before_capacity, (size_t)thread + 1) ||
	    vec_reserve(&l->unknown_ns, &l->unknown_capacity, (size_t)thread + 1) ||
	    vec_reserve(&l->on_ns, &l->on_capacity, (size_t)thread + 1))
		return -ENOMEM;
	for (; old <= thread; old++)
		l->before_ns[old] = l->unknown_ns[old] = l->on_ns[old] = 0;
	l->thread_count = (size_t)thread + 1;
	return 0;
}

static bool was_preempted(const struct sched_event *e)
{
	return !e->state || e->state & SCHEDEV_PREEMPTED;
}

static int on_interval(void *ctx, const struct timeline_interval *i)
{
	struct loader *l = ctx;
	const struct schedrun *run = &l->run;
	uint64_t from_ns = i->from_ns < run->start_ns ? run->start_ns : i->from_ns;
	uint64_t to_ns = i->to_ns > run->end_ns ? run->end_ns : i->to_ns, ns;
	struct wait *w;
	int err;

	if ((i->state == TIMELINE_RUN && !l->cpu_attr) || to_ns <= from_ns)
		return 0;
	ns = filter_overlap_ns(l->filter, from_ns, to_ns);
	if (!ns)
		return 0;
	err = thread_at(l, i->thread);
	if (err)
		return err;
	if (i->state == TIMELINE_RUN) {
		l->on_ns[i->thread] += ns;
		return 0;
	}
	if (i->state == TIMELINE_UNKNOWN) {
		l->unknown_ns[i->thread] += ns;
		return 0;
	}
	if (i->out == SCHEDEV_NONE) {
		l->before_ns[i->thread] += ns;
		return 0;
	}
	w = &l->waits[i->out];
	w->thread = i->thread;
	if (i->state == TIMELINE_WAIT && !was_preempted(&run->events.events[i->out]))
		w->queue_ns += ns;
	else
		w->ns += ns, w->end_ns = i->to_ns;
	return 0;
}

static enum wait_kind kind_of_state(const struct sched_event *e)
{
	if (e->kind != SCHEDEV_SWITCH)
		return WAIT_RUN_QUEUE; /* a new thread */
	if (was_preempted(e))
		return WAIT_PREEMPTED;
	if (e->state & SCHEDEV_DISK)
		return WAIT_BLOCK;
	return e->state & (SCHEDEV_STOPPED | SCHEDEV_TRACED) ? WAIT_STOP : WAIT_SLEEP;
}

/* ---- kinds of waits ---- */

/* event: with which one of them began; SCHEDEV_NONE: none did. */
static int kind_at(struct loader *l, uint32_t thread, enum wait_kind kind, uint32_t event,
		   uint32_t *out)
{
	uint16_t syscall = event == SCHEDEV_NONE ? 0 : l->run.events.events[event].syscall;
	uint64_t hash = hash_pair(thread, (uint64_t)kind << 16 | syscall);
	uint32_t pos, id;

	if (hashidx_reserve(&l->index))
		return -ENOMEM;
	pos = hashidx_start(&l->index, hash);
	while ((id = hashidx_match(&l->index, hash, &pos)) != HASHIDX_NONE) {
		if (l->kinds[id].thread == thread && l->kinds[id].kind == kind &&
		    l->kinds[id].syscall == syscall) {
			*out = id;
			return 0;
		}
	}
	if (vec_reserve(&l->kinds, &l->kind_capacity, l->kind_count + 1))
		return -ENOMEM;
	id = (uint32_t)l->kind_count++;
	l->kinds[id] = (struct kind){
		.thread = thread,
		.syscall = syscall,
		.kind = (uint8_t)kind,
		.first = event,
	};
	hashidx_put(&l->index, hash, pos, id);
	*out = id;
	return 0;
}

static void add_to_kind(struct loader *l, uint32_t kind, uint64_t ns, uint32_t weight)
{
	struct kind *k = &l->kinds[kind];
	double d = (double)ns;

	k->exact_ns += ns;
	k->sampled += weight * d;
	if (weight > 1)
		k->variance += (double)weight * (weight - 1) * d * d;
	l->out->facts.total_ns += ns;
}

static int sort_wait(struct loader *l, uint32_t event)
{
	const struct sched_event *e = &l->run.events.events[event];
	struct wait *w = &l->waits[event];
	const struct timeline_thread *threads;
	size_t count;
	int err = 0;

	w->kind_of = w->queue_of = NO_KIND;
	if (!w->ns && !w->queue_ns)
		return 0;
	threads = timeline_threads(l->run.timeline, &count);
	if (!schedrun_wants(&l->run, l->filter, &threads[w->thread]))
		return 0;
	l->out->facts.switches++;
	l->out->facts.stacks += e->weight != 0;
	if (w->ns)
		err = kind_at(l, w->thread, kind_of_state(e), event, &w->kind_of);
	if (!err && w->ns)
		add_to_kind(l, w->kind_of, w->ns, e->weight);
	if (!err && w->queue_ns)
		err = kind_at(l, w->thread, WAIT_RUN_QUEUE, event, &w->queue_of);
	if (!err && w->queue_ns)
		add_to_kind(l, w->queue_of, w->queue_ns, e->weight);
	return err;
}

/* What is no wait that somebody saw begin: a thread's time on a CPU, before, and in the dark. */
static int add_rest(struct loader *l, uint32_t thread)
{
	const struct {
		enum wait_kind kind;
		uint64_t ns;
	} rest[] = {
		{ WAIT_ON_CPU, l->on_ns[thread] },
		{ WAIT_BEFORE, l->before_ns[thread] },
		{ WAIT_UNKNOWN, l->unknown_ns[thread] },
	};
	uint32_t kind;
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(rest) / sizeof(rest[0]); i++) {
		if (!rest[i].ns)
			continue;
		err = kind_at(l, thread, rest[i].kind, SCHEDEV_NONE, &kind);
		if (!err)
			l->kinds[kind].exact_ns += rest[i].ns;
	}
	return err;
}

static int sort_waits(struct loader *l)
{
	const struct timeline_thread *threads;
	double variance = 0, scale;
	size_t count;
	int err = 0;

	for (size_t i = 0; !err && i < l->run.events.count; i++)
		err = sort_wait(l, (uint32_t)i);
	if (err)
		return err;
	for (size_t i = 0; i < l->kind_count; i++) {
		if (!(l->kinds[i].sampled > 0))
			continue;
		l->out->facts.with_stack_ns += l->kinds[i].exact_ns;
		scale = (double)l->kinds[i].exact_ns / l->kinds[i].sampled;
		variance += scale * scale * l->kinds[i].variance;
	}
	if (l->out->facts.with_stack_ns)
		l->out->facts.error_share = sqrt(variance) / (double)l->out->facts.with_stack_ns;
	threads = timeline_threads(l->run.timeline, &count);
	for (size_t i = 0; i < l->thread_count && !err; i++) {
		if (!schedrun_wants(&l->run, l->filter, &threads[i]))
			continue;
		l->out->facts.before_ns += l->before_ns[i];
		l->out->facts.unknown_ns += l->unknown_ns[i];
		l->out->facts.on_ns += l->on_ns[i];
		if (l->cpu_attr)
			err = add_rest(l, (uint32_t)i);
	}
	return err;
}

/* ---- stacks ---- */

/* The share of a wait in the exact time of its kind; all shares add up to it, whatever is rounded. */
static uint64_t share_of(struct kind *k, uint64_t ns, uint32_t weight)
{
	uint64_t upto_ns, share_ns;

	k->seen += (double)weight * (double)ns;
	upto_ns = (uint64_t)((double)k->exact_ns * (k->seen / k->sampled) + 0.5);
	if (upto_ns > k->exact_ns || k->seen >= k->sampled)
		upto_ns = k->exact_ns;
	share_ns = upto_ns > k->given_ns ? upto_ns - k->given_ns : 0;
	k->given_ns += share_ns;
	return share_ns;
}

/* The event that this sample became; SCHEDEV_NONE: none. */
static uint32_t event_of(const struct schedev *events, const struct perf_sample *s)
{
	size_t low = 0, high = events->count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (events->events[mid].time_ns < s->time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < events->count && events->events[low].time_ns == s->time_ns; low++) {
		const struct sched_event *e = &events->events[low];

		if (e->kind == SCHEDEV_SWITCH && e->tid == s->tid && e->cpu == (uint16_t)s->cpu)
			return (uint32_t)low;
	}
	return SCHEDEV_NONE;
}

/* The waker whose stack was taken while this wait lasted; OFFCPU_NO_WAKER: none. */
static uint32_t waker_of(const struct loader *l, const struct sched_event *e, const struct wait *w)
{
	size_t low = 0, high = l->waker_count, mid;

	if (was_preempted(e) || !w->ns)
		return OFFCPU_NO_WAKER;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (l->wakers[mid].time_ns <= w->end_ns)
			low = mid + 1;
		else
			high = mid;
	}
	/* sched_waking comes a little before sched_wakeup. */
	for (; low > 0 && l->wakers[low - 1].time_ns >= e->time_ns; low--)
		if (l->wakers[low - 1].tid == e->tid)
			return l->wakers[low - 1].end;
	return OFFCPU_NO_WAKER;
}

static int add_part(struct loader *l, struct perf_sample *s, const struct model_where *where,
		    uint32_t kind, uint64_t ns, uint32_t weight, struct offcpu_end *end)
{
	struct kind *k = &l->kinds[kind];
	uint32_t number;
	int err;

	end->kind = k->kind;
	end->syscall = k->syscall;
	err = end_of(l->out, end, &number);
	if (err)
		return err;
	s->period = share_of(k, ns, weight);
	return sampler_add_wait(l->sampler, s, where, number);
}

static int add_stack(struct loader *l, const struct perf_event_header *header)
{
	struct switchinfo info;
	struct model_where where;
	struct perf_sample s;
	const struct wait *w;
	struct offcpu_end end = { .walk_end = SAMPLER_END_UNKNOWN, .comm = MODEL_NONE };
	uint32_t event, weight;
	int err = 0;

	if (perfrec_sample(header, header->size, &l->run.events.switch_attr->attr, &s, NULL) ||
	    !s.raw)
		return 0;
	event = event_of(&l->run.events, &s);
	if (event == SCHEDEV_NONE)
		return 0;
	weight = l->run.events.events[event].weight;
	w = &l->waits[event];
	if (!weight || (w->kind_of == NO_KIND && w->queue_of == NO_KIND))
		return 0;
	if (s.raw_bytes >= SWITCHINFO_BYTES &&
	    switchinfo_decode(s.raw + s.raw_bytes - SWITCHINFO_BYTES, SWITCHINFO_BYTES, &info) &&
	    info.stack.how != STACKINFO_NONE)
		end.walk_end = 1u + info.stack.why;
	end.waker = waker_of(l, &l->run.events.events[event], w);
	sampler_where(l->sampler, &s, &where);
	if (w->kind_of != NO_KIND)
		err = add_part(l, &s, &where, w->kind_of, w->ns, weight, &end);
	if (!err && w->queue_of != NO_KIND)
		err = add_part(l, &s, &where, w->queue_of, w->queue_ns, weight, &end);
	return err;
}

/* Calls take() for each sample of that event, in a capture of ours in that stream. */
static int each_sample(struct loader *l, const struct capture *c, enum ebx_stream stream,
		       const struct capture_attr *of,
		       int (*take)(struct loader *l, const struct perf_event_header *header))
{
	struct record_iter *it = NULL;
	struct record rec;
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);
	uint64_t id;
	int err;

	err = record_iter_new(c, 1u << stream, 0, SIZE_MAX, &it);
	if (err)
		return err;
	while (!err && record_iter_next(it, &rec) == 1) {
		if (rec.header->type != PERF_RECORD_SAMPLE)
			continue;
		id = count > 1 ? perfrec_identifier(rec.header, rec.header->size, &attrs[0].attr)
			       : 0;
		if (count == 1 || capture_attr_by_id(c, id) == of)
			err = take(l, rec.header);
	}
	record_iter_free(it);
	return err;
}

/* Its stack goes among the others, weighing nothing; those who wait for it name it by its end. */
static int add_waker(struct loader *l, const struct perf_event_header *header)
{
	struct offcpu_end end = { .is_waker = true, .waker = (uint32_t)l->waker_count };
	struct tracing_waker waker;
	struct model_where where;
	struct perf_sample s;
	int err;

	if (perfrec_sample(header, header->size, &l->waker_attr->attr, &s, NULL) || !s.raw ||
	    tracing_waker_decode(s.raw, s.raw_bytes, &waker))
		return 0;
	if (vec_reserve(&l->wakers, &l->waker_capacity, l->waker_count + 1))
		return -ENOMEM;
	sampler_where(l->sampler, &s, &where);
	/* Under an interrupt the thread it met is nobody. */
	end.comm = waker.irq ? MODEL_NONE : where.comm;
	end.kind = waker.irq != 0;
	err = end_of(l->out, &end, &l->wakers[l->waker_count].end);
	if (err)
		return err;
	l->wakers[l->waker_count].time_ns = s.time_ns;
	l->wakers[l->waker_count].tid = waker.tid;
	s.period = 0;
	return sampler_add_wait(l->sampler, &s, &where, l->wakers[l->waker_count++].end);
}

static int by_time(const void *a, const void *b)
{
	const struct waker *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int add_wakers(struct loader *l, const struct capture *c)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);
	int err;

	for (size_t i = 0; i < count; i++)
		if (attrs[i].attr.type == PERF_TYPE_TRACEPOINT &&
		    attrs[i].attr.config == TRACING_WAKER_ID)
			l->waker_attr = &attrs[i];
	if (!l->waker_attr)
		return 0;
	err = each_sample(l, c, EBX_STREAM_SCHED, l->waker_attr, add_waker);
	if (l->waker_count)
		qsort(l->wakers, l->waker_count, sizeof(*l->wakers), by_time);
	return err;
}

/* ---- time on a CPU ---- */

static int by_life(const void *a, const void *b)
{
	const struct thread_life *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int sort_lives(struct loader *l)
{
	const struct timeline_thread *threads;
	size_t count;

	threads = timeline_threads(l->run.timeline, &count);
	l->lives = calloc(count + 1, sizeof(*l->lives));
	if (!l->lives)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		l->lives[i] = (struct thread_life){ threads[i].tid, (uint32_t)i,
						    threads[i].start_ns };
	qsort(l->lives, count, sizeof(*l->lives), by_life);
	return 0;
}

/* What the samples of a thread share; NULL: it was not on a CPU, or is not asked for. */
static struct kind *on_cpu_of(struct loader *l, const struct perf_sample *s)
{
	struct thread_life want = { .tid = s->tid, .start_ns = s->time_ns };
	size_t count, low = 0, high, mid;
	uint32_t kind, thread;

	(void)timeline_threads(l->run.timeline, &count);
	for (high = count; low < high;) {
		mid = low + (high - low) / 2;
		if (by_life(&l->lives[mid], &want) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || l->lives[low - 1].tid != s->tid)
		return NULL;
	thread = l->lives[low - 1].thread;
	if (thread >= l->thread_count || !l->on_ns[thread] ||
	    kind_at(l, thread, WAIT_ON_CPU, SCHEDEV_NONE, &kind) || !l->kinds[kind].exact_ns)
		return NULL;
	return &l->kinds[kind];
}

static bool read_cpu_sample(const struct loader *l, const struct perf_event_header *header,
			    struct perf_sample *s)
{
	if (perfrec_sample(header, header->size, &l->cpu_attr->attr, s, NULL) || !s->tid ||
	    !filter_passes(l->filter, s->pid, s->tid, s->cpu, s->time_ns))
		return false;
	if (!s->period)
		s->period = 1;
	return true;
}

static int weigh_cpu_sample(struct loader *l, const struct perf_event_header *header)
{
	struct perf_sample s;
	struct kind *k;

	if (!read_cpu_sample(l, header, &s))
		return 0;
	k = on_cpu_of(l, &s);
	if (k)
		k->sampled += (double)s.period;
	return 0;
}

static int add_cpu_sample(struct loader *l, const struct perf_event_header *header)
{
	struct offcpu_end end = { .walk_end = SAMPLER_END_UNKNOWN,
				  .kind = WAIT_ON_CPU,
				  .waker = OFFCPU_NO_WAKER,
				  .comm = MODEL_NONE };
	struct model_where where;
	struct stackinfo info;
	struct perf_sample s;
	struct kind *k;
	uint32_t number;
	int err;

	if (!read_cpu_sample(l, header, &s))
		return 0;
	k = on_cpu_of(l, &s);
	if (!k)
		return 0;
	if (s.raw && s.raw_bytes >= STACKINFO_BYTES &&
	    stackinfo_decode(s.raw, s.raw_bytes, &info) && info.how != STACKINFO_NONE)
		end.walk_end = 1u + info.why;
	l->out->facts.on_samples++;
	err = end_of(l->out, &end, &number);
	if (err)
		return err;
	sampler_where(l->sampler, &s, &where);
	s.period = share_of(k, s.period, 1);
	return sampler_add_wait(l->sampler, &s, &where, number);
}

static int add_on_cpu(struct loader *l, const struct capture *c)
{
	int err = sort_lives(l);

	if (!err)
		err = each_sample(l, c, EBX_STREAM_CPU, l->cpu_attr, weigh_cpu_sample);
	return err ? err : each_sample(l, c, EBX_STREAM_CPU, l->cpu_attr, add_cpu_sample);
}

/* Waits of which nobody took a stack: without frames. */
static int add_bare(struct loader *l)
{
	const struct timeline_thread *threads;
	struct model_where where;
	const struct kind *k;
	uint32_t end;
	size_t count;
	int err = 0;

	threads = timeline_threads(l->run.timeline, &count);
	for (size_t i = 0; !err && i < l->kind_count; i++) {
		const struct timeline_thread *th = &threads[l->kinds[i].thread];
		const struct sched_event *e = l->kinds[i].first == SCHEDEV_NONE
						      ? NULL
						      : &l->run.events.events[l->kinds[i].first];
		struct perf_sample s = {
			.pid = schedrun_pid(&l->run, th),
			.tid = th->tid,
			.time_ns = e ? e->time_ns : th->end_ns,
			.cpu = e ? e->cpu : (int32_t)th->cpu,
		};

		k = &l->kinds[i];
		if (k->given_ns >= k->exact_ns)
			continue;
		s.period = k->exact_ns - k->given_ns;
		sampler_where(l->sampler, &s, &where);
		err = end_of(l->out,
			     &(struct offcpu_end){ .walk_end = SAMPLER_END_UNKNOWN,
						   .kind = k->kind,
						   .syscall = k->syscall,
						   .waker = OFFCPU_NO_WAKER,
						   .comm = MODEL_NONE },
			     &end);
		if (!err)
			err = sampler_add_wait(l->sampler, &s, &where, end);
	}
	return err;
}

static void loader_done(struct loader *l)
{
	schedrun_done(&l->run);
	hashidx_done(&l->index);
	free(l->waits);
	free(l->kinds);
	free(l->before_ns);
	free(l->unknown_ns);
	free(l->on_ns);
	free(l->lives);
	free(l->wakers);
}

int offcpu_load(const struct capture *c, const struct model *model, struct strings *names,
		const struct offcpu_query *query, struct sampler **out, struct offcpu *o)
{
	struct offcpu fresh = { 0 };
	struct loader l = {
		.filter = query->filter,
		.model = model,
		.cpu_attr = query->wall,
		.out = &fresh,
	};
	int err;

	err = schedrun_open(c, names, query->filter, on_interval, &l, &l.run);
	if (err)
		return err;
	l.waits = calloc(l.run.events.count + 1, sizeof(*l.waits));
	err = l.waits ? schedrun_play(&l.run, NULL, NULL) : -ENOMEM;
	if (!err)
		err = sort_waits(&l);
	if (!err)
		err = sampler_new(model, query->groups, &l.sampler);
	if (!err && query->wakers)
		err = add_wakers(&l, c);
	if (!err && l.run.events.switch_attr)
		err = each_sample(&l, c, EBX_STREAM_SCHED, l.run.events.switch_attr, add_stack);
	if (!err && l.cpu_attr)
		err = add_on_cpu(&l, c);
	if (!err)
		err = add_bare(&l);
	fresh.facts.is_wall = l.cpu_attr != NULL;
	fresh.facts.lost = l.run.events.lost;
	fresh.facts.gaps = timeline_gaps(l.run.timeline);
	loader_done(&l);
	if (err) {
		sampler_free(l.sampler);
		offcpu_done(&fresh);
		return err;
	}
	*out = l.sampler;
	*o = fresh;
	return 0;
}

/* ---- reasons ---- */

static enum wait_reason reason_of(const struct offcpu *o, const struct stacks *s,
				  const struct stacks_key *key, const struct naming *n,
				  const struct strings *names)
{
	const struct offcpu_end *end = &o->ends[key->end];
	struct waitreason w;

	waitreason_begin(&w, (enum wait_kind)end->kind);
	for (uint32_t node = key->kernel; node >= STACKS_FIRST_NODE; node = s->nodes[node].parent)
		waitreason_function(&w,
				    strings_text(names, n->functions[s->nodes[node].frame].name));
	return waitreason_end(&w, end->syscall);
}

/* The frame "[futex]", once for each reason. */
static int reason_frames(struct naming *n, struct strings *names, uint32_t out[WAITREASON_COUNT])
{
	char text[32];
	int err = 0;

	for (int r = 0; !err && r < WAITREASON_COUNT; r++) {
		snprintf(text, sizeof(text), "[%s]", waitreason_text((enum wait_reason)r));
		err = naming_add_label(n, names, text, "[off-cpu]", &out[r]);
	}
	return err;
}

/* The nodes of from in to; *map: the number of each. */
static int copy_nodes(const struct stacks *from, struct stacks *to, uint32_t **map)
{
	uint32_t *m = calloc(from->node_count + 1, sizeof(*m));
	int err = m ? 0 : -ENOMEM;

	if (m)
		m[STACKS_KERNEL_ROOT] = STACKS_KERNEL_ROOT;
	for (size_t i = STACKS_FIRST_NODE; !err && i < from->node_count; i++)
		err = stacks_child(to, m[from->nodes[i].parent], from->nodes[i].frame, &m[i]);
	if (err) {
		free(m);
		return err;
	}
	*map = m;
	return 0;
}

/*
 * Frames of one context of a waker, innermost first, below *node.  Of an interrupt: up to its entry,
 * for what it interrupted has nothing to do with it.
 */
static int put_waker_frames(const struct stacks *from, uint32_t at, struct stacks *to,
			    const struct naming *n, const struct strings *names, uint32_t *node)
{
	const char *name;
	int err = 0;

	for (; !err && at >= STACKS_FIRST_NODE; at = from->nodes[at].parent) {
		err = stacks_child(to, *node, from->nodes[at].frame, node);
		name = strings_text(names, n->functions[from->nodes[at].frame].name);
		if (!strncmp(name, "asm_", 4))
			break;
	}
	return err;
}

/* "[woken by]", the waker's stack upside down, and its name. */
static int put_waker(const struct offcpu_end *waker, const struct stacks *from, struct stacks *to,
		     struct naming *n, struct strings *names, uint32_t *node)
{
	char name[80];
	uint32_t frame;
	int err;

	err = naming_add_label(n, names, "[woken by]", "[off-cpu]", &frame);
	if (!err)
		err = stacks_child(to, *node, frame, node);
	if (!err)
		err = put_waker_frames(from, waker->kernel, to, n, names, node);
	if (!err && !waker->kind)
		err = put_waker_frames(from, waker->user, to, n, names, node);
	if (err)
		return err;
	snprintf(name, sizeof(name), "[%s]",
		 waker->kind                 ? "interrupt"
		 : waker->comm == MODEL_NONE ? "unknown thread"
					     : strings_text(names, waker->comm));
	err = naming_add_label(n, names, name, "[off-cpu]", &frame);
	return err ? err : stacks_child(to, *node, frame, node);
}

/* One stack, with its reason and waker, into to. */
static int put_wait(const struct offcpu *o, const struct stacks *from, const struct stacks_entry *e,
		    const uint32_t *map, const uint32_t *reasons, struct stacks *to,
		    struct naming *n, struct strings *names)
{
	const struct offcpu_end *end = &o->ends[e->key.end];
	struct stacks_key key = e->key;
	int err = 0;

	key.end = end->walk_end;
	key.user = map[e->key.user];
	key.kernel = map[e->key.kernel];
	/* What runs says by its frames what it does. */
	if (end->kind != WAIT_ON_CPU ||
	    (e->key.user < STACKS_FIRST_NODE && e->key.kernel < STACKS_FIRST_NODE))
		err = stacks_child(to, key.kernel, reasons[reason_of(o, from, &e->key, n, names)],
				   &key.kernel);
	if (!err && end->waker != OFFCPU_NO_WAKER)
		err = put_waker(&o->ends[end->waker], from, to, n, names, &key.kernel);
	return err ? err : stacks_count(to, &key, e->sample_count, e->period_sum);
}

int offcpu_add_reasons(struct offcpu *o, struct stacks *s, struct naming *n, struct strings *names)
{
	uint32_t reasons[WAITREASON_COUNT], *map = NULL;
	struct stacks fresh;
	int err;

	for (size_t i = 0; i < s->entry_count; i++) {
		o->ends[s->entries[i].key.end].user = s->entries[i].key.user;
		o->ends[s->entries[i].key.end].kernel = s->entries[i].key.kernel;
	}
	err = stacks_init(&fresh);
	if (err)
		return err;
	err = reason_frames(n, names, reasons);
	if (!err)
		err = copy_nodes(s, &fresh, &map);
	for (size_t i = 0; !err && i < s->entry_count; i++)
		if (!o->ends[s->entries[i].key.end].is_waker)
			err = put_wait(o, s, &s->entries[i], map, reasons, &fresh, n, names);
	free(map);
	if (err) {
		stacks_done(&fresh);
		return err;
	}
	for (size_t i = 0; i < fresh.entry_count; i++)
		fresh.entries[i].period_sum = (fresh.entries[i].period_sum + 500) / 1000;
	stacks_done(s);
	*s = fresh;
	return 0;
}
