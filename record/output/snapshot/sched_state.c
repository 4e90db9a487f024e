/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/snapshot/sched_state.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "format/payload/border_head.h"
#include "format/perf/perfrec.h"
#include "format/perf/trace_data.h"
#include "record/base/u64map.h"

#define LATE_NS  2000000000ULL /* a record comes no later than a round or two */
#define TASK_END 0x30          /* prev_state of a thread that ends: dead, zombie */
#define CPUS_MAX 65536
#define MORE     4096 /* threads that may come before those that ended are looked for */

/* A copy of a record. */
struct copy {
	uint8_t *bytes; /* owned */
	size_t size_bytes, room_bytes;
	uint64_t time_ns; /* 0: there is none */
};

struct thread {
	uint32_t tid;
	uint64_t since_ns; /* of its last switch, or fork */
	struct copy left;  /* that, if it is on no CPU since then */
	struct copy woken; /* its last wakeup */
};

struct sched_state {
	uint64_t switch_id, wakeup_id, wakeup_new_id, fork_id; /* UINT64_MAX: not recorded */
	struct perf_event_attr attr;                           /* of all of them */
	struct trace_data_field prev_tid, prev_state, next_comm, next_tid;
	struct trace_data_field woken_tid, woken_new_tid, child_tid;
	struct u64map by_tid; /* -> place in threads */
	struct thread *threads;
	size_t count, room, looked_at;
	struct copy *on_cpu; /* the last switch of each CPU */
	size_t cpu_count, cpu_room;
	uint64_t first_ns, newest_ns; /* of the switches; of all */
	bool has_wakeups;
};

/* ---- the events ---- */

static bool find_fields(const struct event_attrs *attrs, enum event_attrs_event event,
			const char *const *names, struct trace_data_field *const *out)
{
	const struct event_attrs_entry *e = &attrs->entry[event];

	for (size_t i = 0; names[i]; i++)
		if (!e->present || !e->format ||
		    trace_data_format_field(e->format, names[i], out[i]))
			return false;
	return true;
}

static uint64_t id_of(const struct event_attrs *attrs, enum event_attrs_event event,
		      const char *field, struct trace_data_field *out)
{
	const char *const names[] = { field, NULL };

	return find_fields(attrs, event, names, &out) ? event_attrs_id(attrs, event) : UINT64_MAX;
}

int sched_state_new(const struct event_attrs *attrs, struct sched_state **out)
{
	static const char *const names[] = { "prev_pid", "prev_state", "next_comm", "next_pid",
					     NULL };
	struct sched_state *s = calloc(1, sizeof(*s));
	struct trace_data_field *fields[4];

	*out = NULL;
	if (!s)
		return -ENOMEM;
	fields[0] = &s->prev_tid;
	fields[1] = &s->prev_state;
	fields[2] = &s->next_comm;
	fields[3] = &s->next_tid;
	if (!find_fields(attrs, ATTR_SWITCH, names, fields)) {
		free(s);
		return 0;
	}
	s->switch_id = event_attrs_id(attrs, ATTR_SWITCH);
	s->attr = attrs->entry[ATTR_SWITCH].attr;
	s->wakeup_id = id_of(attrs, ATTR_WAKEUP, "pid", &s->woken_tid);
	s->wakeup_new_id = id_of(attrs, ATTR_WAKEUP_NEW, "pid", &s->woken_new_tid);
	s->fork_id = id_of(attrs, ATTR_FORK, "child_pid", &s->child_tid);
	*out = s;
	return 0;
}

static void thread_done(struct thread *t)
{
	free(t->left.bytes);
	free(t->woken.bytes);
}

void sched_state_free(struct sched_state *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		thread_done(&s->threads[i]);
	for (size_t i = 0; i < s->cpu_count; i++)
		free(s->on_cpu[i].bytes);
	free(s->on_cpu);
	free(s->threads);
	u64map_done(&s->by_tid);
	free(s);
}

static bool number_at(const struct perf_sample *s, const struct trace_data_field *f, uint64_t *out)
{
	if (f->off_bytes > s->raw_bytes || s->raw_bytes - f->off_bytes < f->size_bytes ||
	    (f->size_bytes != 4 && f->size_bytes != 8))
		return false;
	*out = f->size_bytes == 4 ? le32_load(s->raw + f->off_bytes)
				  : le64_load(s->raw + f->off_bytes);
	return true;
}

/* ---- threads ---- */

/* On a CPU or ended, for so long that no earlier record of it follows. */
static bool may_go(const struct sched_state *s, const struct thread *t)
{
	return !t->left.time_ns && t->since_ns + LATE_NS < s->newest_ns &&
	       t->woken.time_ns + LATE_NS < s->newest_ns;
}

static int forget_ended(struct sched_state *s)
{
	size_t n = 0;

	u64map_done(&s->by_tid);
	for (size_t i = 0; i < s->count; i++) {
		if (may_go(s, &s->threads[i]))
			thread_done(&s->threads[i]);
		else
			s->threads[n++] = s->threads[i];
	}
	s->count = s->looked_at = n;
	for (size_t i = 0; i < n; i++)
		if (u64map_put(&s->by_tid, s->threads[i].tid, 0, (uint32_t)i))
			return -ENOMEM;
	return 0;
}

static int thread_of(struct sched_state *s, uint32_t tid, struct thread **out)
{
	const uint32_t *at = u64map_get(&s->by_tid, tid, 0);

	if (at) {
		*out = &s->threads[*at];
		return 0;
	}
	if (s->count >= s->looked_at * 2 + MORE && forget_ended(s))
		return -ENOMEM;
	if (vec_reserve(&s->threads, &s->room, s->count + 1) ||
	    u64map_put(&s->by_tid, tid, 0, (uint32_t)s->count))
		return -ENOMEM;
	s->threads[s->count] = (struct thread){ .tid = tid };
	*out = &s->threads[s->count++];
	return 0;
}

static int copy_record(struct copy *to, const uint8_t *record, size_t size_bytes, uint64_t time_ns)
{
	if (to->room_bytes < size_bytes) {
		uint8_t *more = realloc(to->bytes, size_bytes);

		if (!more)
			return -ENOMEM;
		to->bytes = more;
		to->room_bytes = size_bytes;
	}
	memcpy(to->bytes, record, size_bytes);
	to->size_bytes = size_bytes;
	to->time_ns = time_ns;
	return 0;
}

/* ---- records ---- */

struct seen {
	const uint8_t *record;
	size_t size_bytes;
	uint64_t time_ns;
};

/* A thread leaves its CPU, or is made; is_end: for good. */
static int leave(struct sched_state *s, uint32_t tid, const struct seen *e, bool is_end)
{
	struct thread *t;
	int err = thread_of(s, tid, &t);

	if (err || e->time_ns < t->since_ns)
		return err;
	t->since_ns = e->time_ns;
	t->left.time_ns = 0;
	return is_end ? 0 : copy_record(&t->left, e->record, e->size_bytes, e->time_ns);
}

static int come(struct sched_state *s, uint32_t tid, const struct seen *e)
{
	struct thread *t;
	int err = thread_of(s, tid, &t);

	if (err || e->time_ns < t->since_ns)
		return err;
	t->since_ns = e->time_ns;
	t->left.time_ns = 0;
	return 0;
}

static int see_on_cpu(struct sched_state *s, int32_t cpu, const struct seen *e)
{
	if (cpu < 0 || cpu >= CPUS_MAX)
		return 0;
	if (vec_reserve(&s->on_cpu, &s->cpu_room, (size_t)cpu + 1))
		return -ENOMEM;
	while (s->cpu_count <= (size_t)cpu)
		s->on_cpu[s->cpu_count++] = (struct copy){ .bytes = NULL };
	return e->time_ns < s->on_cpu[cpu].time_ns
		       ? 0
		       : copy_record(&s->on_cpu[cpu], e->record, e->size_bytes, e->time_ns);
}

static int see_switch(struct sched_state *s, const struct perf_sample *sample, const struct seen *e)
{
	uint64_t prev_tid, state, next_tid;
	int err;

	if (!number_at(sample, &s->prev_tid, &prev_tid) ||
	    !number_at(sample, &s->prev_state, &state) ||
	    !number_at(sample, &s->next_tid, &next_tid))
		return 0;
	if (!s->first_ns || e->time_ns < s->first_ns)
		s->first_ns = e->time_ns;
	err = see_on_cpu(s, sample->cpu, e);
	if (!err && prev_tid)
		err = leave(s, (uint32_t)prev_tid, e, state & TASK_END);
	return err || !next_tid ? err : come(s, (uint32_t)next_tid, e);
}

/* A thread is woken once while it waits, so the last wakeup is that of the last wait. */
static int see_wakeup(struct sched_state *s, const struct perf_sample *sample,
		      const struct trace_data_field *field, const struct seen *e)
{
	struct thread *t;
	uint64_t tid;
	int err;

	if (!number_at(sample, field, &tid) || !tid)
		return 0;
	s->has_wakeups = true;
	err = thread_of(s, (uint32_t)tid, &t);
	return err || e->time_ns < t->woken.time_ns
		       ? err
		       : copy_record(&t->woken, e->record, e->size_bytes, e->time_ns);
}

int sched_state_record(struct sched_state *s, const uint8_t *record, size_t size_bytes)
{
	uint64_t id = size_bytes < 16 ? UINT64_MAX : le64_load(record + 8), tid;
	struct perf_sample sample;
	struct seen e = { .record = record, .size_bytes = size_bytes };

	if (le32_load(record) != PERF_RECORD_SAMPLE || id == UINT64_MAX ||
	    (id != s->switch_id && id != s->wakeup_id && id != s->wakeup_new_id &&
	     id != s->fork_id))
		return 0;
	if (perfrec_sample(record, size_bytes, &s->attr, &sample, NULL) || !sample.raw)
		return 0;
	e.time_ns = sample.time_ns;
	if (e.time_ns > s->newest_ns)
		s->newest_ns = e.time_ns;
	if (id == s->switch_id)
		return see_switch(s, &sample, &e);
	if (id == s->wakeup_id)
		return see_wakeup(s, &sample, &s->woken_tid, &e);
	if (id == s->wakeup_new_id)
		return see_wakeup(s, &sample, &s->woken_new_tid, &e);
	return number_at(&sample, &s->child_tid, &tid) && tid ? leave(s, (uint32_t)tid, &e, false)
							      : 0;
}

/* ---- the object ---- */

/* Whether it is the last switch of its CPU, which is there already. */
static bool is_on_cpu(const struct sched_state *s, const struct perf_sample *sample)
{
	return sample->cpu >= 0 && (size_t)sample->cpu < s->cpu_count &&
	       s->on_cpu[sample->cpu].time_ns == sample->time_ns;
}

/*
 * The thread that came onto the CPU then is somewhere else by now, or has ended: the switch is made one to the idle
 * thread, so that its state does not follow from this one.
 */
static int add_left(const struct sched_state *s, struct copy *left, struct buf *out)
{
	struct perf_sample sample;
	size_t raw;

	if (le64_load(left->bytes + 8) != s->switch_id)
		return buf_add(out, left->bytes, left->size_bytes);
	/* It could be read when it came. */
	if (perfrec_sample(left->bytes, left->size_bytes, &s->attr, &sample, NULL) ||
	    is_on_cpu(s, &sample))
		return 0;
	raw = (size_t)(sample.raw - left->bytes);
	memset(left->bytes + raw + s->next_tid.off_bytes, 0, s->next_tid.size_bytes);
	if (s->next_comm.off_bytes <= sample.raw_bytes &&
	    sample.raw_bytes - s->next_comm.off_bytes >= s->next_comm.size_bytes)
		memset(left->bytes + raw + s->next_comm.off_bytes, 0, s->next_comm.size_bytes);
	return buf_add(out, left->bytes, left->size_bytes);
}

static int add_head(const struct sched_state *s, uint64_t from_ns, struct buf *out)
{
	const struct border_head head = {
		.from_ns = from_ns,
		.to_ns = UINT64_MAX,
		.start_ns = s->first_ns < from_ns ? s->first_ns : from_ns,
		.end_ns = from_ns,
		.has_wakeups = s->has_wakeups,
		.is_file = true,
	};
	uint8_t bytes[BORDER_HEAD_BYTES];

	border_head_encode(&head, bytes);
	return buf_add(out, bytes, sizeof(bytes));
}

int sched_state_border(struct sched_state *s, uint64_t from_ns, struct buf *out)
{
	int err = s->first_ns ? forget_ended(s) : 0;

	if (err || !s->first_ns)
		return err;
	err = add_head(s, from_ns, out);
	for (size_t i = 0; !err && i < s->cpu_count; i++)
		if (s->on_cpu[i].time_ns)
			err = buf_add(out, s->on_cpu[i].bytes, s->on_cpu[i].size_bytes);
	for (size_t i = 0; !err && i < s->count; i++) {
		struct thread *t = &s->threads[i];

		if (!t->left.time_ns)
			continue;
		err = add_left(s, &t->left, out);
		if (!err && t->woken.time_ns >= t->left.time_ns)
			err = buf_add(out, t->woken.bytes, t->woken.size_bytes);
	}
	return err;
}

size_t sched_state_thread_count(const struct sched_state *s)
{
	return s->count;
}
