/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/schedev.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tpformat.h"
#include "analyze/eventwalk.h"
#include "analyze/vec.h"
#include "format/perfrec.h"
#include "format/switchinfo.h"
#include "format/tracing.h"

#define FIELDS_MAX 7

/* The fields of each tracepoint that are read; the first is a comm. */
static const struct {
	const char *name, *fields[FIELDS_MAX];
} tracepoints[SCHEDEV_KINDS] = {
	[SCHEDEV_SWITCH] = { "sched_switch",
			     { "prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm",
			       "next_pid", "next_prio" } },
	[SCHEDEV_WAKEUP] = { "sched_wakeup", { "comm", "pid", "prio" } },
	[SCHEDEV_WAKEUP_NEW] = { "sched_wakeup_new", { "comm", "pid", "prio" } },
	[SCHEDEV_MIGRATE] = { "sched_migrate_task", { "comm", "pid", "prio" } },
	[SCHEDEV_FORK] = { "sched_process_fork", { "child_comm", "child_pid" } },
	[SCHEDEV_EXIT] = { "sched_process_exit", { "comm", "pid", "prio" } },
};

/* An event of the capture that is one of the above. */
struct source {
	const struct capture_attr *attr;
	struct tracing_field field[FIELDS_MAX];
	bool comm_elsewhere; /* __data_loc */
	enum schedev_kind kind;
};

struct loader {
	const struct capture *c;
	const struct capture_attr *attrs; /* of the whole capture */
	size_t attr_count;
	struct source sources[SCHEDEV_KINDS];
	size_t source_count;
	bool is_ours;
	struct strings *names;
	struct schedev *out;
};

/* ---- where the fields lie ---- */

static bool is_elsewhere(const char *format, const char *field)
{
	char want[64];

	snprintf(want, sizeof(want), "__data_loc char[] %s;", field);
	return strstr(format, want) != NULL;
}

static int read_format(struct loader *l, struct source *s, const char *format)
{
	const char *const *fields = tracepoints[s->kind].fields;

	for (size_t i = 0; i < FIELDS_MAX && fields[i]; i++)
		if (tracing_format_field(format, fields[i], &s->field[i]))
			return -ENOENT;
	s->comm_elsewhere = is_elsewhere(format, fields[0]);
	return 0;
}

/* Finds the attr of a tracepoint: by the id that its format text has. */
static int find_source(struct loader *l, enum schedev_kind kind)
{
	struct capture_bytes section = capture_feature(l->c, PERFFILE_TRACING_DATA);
	struct source s = { .kind = kind };
	char *format = NULL;
	uint32_t id;
	int err;

	if (!section.size_bytes)
		return 0;
	err = tpformat_find(section.data, section.size_bytes, "sched", tracepoints[kind].name,
			    &format);
	if (!err)
		err = tracing_format_id(format, &id);
	if (!err)
		err = read_format(l, &s, format);
	free(format);
	for (size_t i = 0; !err && i < l->attr_count && !s.attr; i++) {
		if (l->attrs[i].attr.type == PERF_TYPE_TRACEPOINT && l->attrs[i].attr.config == id)
			s.attr = &l->attrs[i];
	}
	if (!err && s.attr)
		l->sources[l->source_count++] = s;
	if (!err && kind == SCHEDEV_SWITCH)
		l->out->switch_attr = s.attr;
	return err == -ENOMEM ? err : 0;
}

/* ---- one record ---- */

static bool number_at(const struct perf_sample *s, const struct tracing_field *f, uint64_t *out)
{
	if (f->off_bytes > s->raw_bytes || s->raw_bytes - f->off_bytes < f->size_bytes)
		return false;
	if (f->size_bytes == 4)
		*out = le32_load(s->raw + f->off_bytes);
	else if (f->size_bytes == 8)
		*out = le64_load(s->raw + f->off_bytes);
	else
		return false;
	return true;
}

static int comm_at(struct loader *l, const struct perf_sample *s, const struct tracing_field *f,
		   bool elsewhere, uint32_t *out)
{
	size_t off = f->off_bytes, bytes = f->size_bytes;
	uint64_t place;

	if (elsewhere) {
		if (!number_at(s, f, &place))
			return -EBADMSG;
		off = place & 0xffff;
		bytes = place >> 16 & 0xffff;
	}
	if (off > s->raw_bytes || s->raw_bytes - off < bytes)
		return -EBADMSG;
	bytes = strnlen((const char *)s->raw + off, bytes);
	return strings_add(l->names, (const char *)s->raw + off, bytes, out);
}

static int read_switch(struct loader *l, const struct source *src, const struct perf_sample *s,
		       struct sched_event *e)
{
	struct switchinfo info;
	uint64_t state, next_tid, next_prio;
	int err;

	if (!number_at(s, &src->field[3], &state) || !number_at(s, &src->field[5], &next_tid) ||
	    !number_at(s, &src->field[6], &next_prio))
		return -EBADMSG;
	err = comm_at(l, s, &src->field[4], false, &e->next_comm);
	if (err)
		return err;
	e->pid = s->pid;
	e->state = (uint16_t)(state & 0x1ff);
	e->next_tid = (uint32_t)next_tid;
	e->next_prio = (int16_t)next_prio;
	if (l->is_ours && s->raw_bytes >= SWITCHINFO_BYTES &&
	    switchinfo_decode(s->raw + s->raw_bytes - SWITCHINFO_BYTES, SWITCHINFO_BYTES, &info)) {
		e->syscall = info.syscall;
		e->weight = info.weight;
		e->policy = info.policy;
		l->out->has_syscalls = true;
	} else {
		e->weight = s->chain_count ? 1 : 0;
	}
	return 0;
}

/* 1: *e is filled; 0: the record is of another event. */
static int read_record(struct loader *l, const struct perf_event_header *header,
		       const struct source *src, struct sched_event *e)
{
	struct perf_sample s;
	uint64_t tid, prio = 0;
	int err;

	if (perfrec_sample(header, header->size, &src->attr->attr, &s, NULL) || !s.raw)
		return -EBADMSG;
	*e = (struct sched_event){
		.time_ns = s.time_ns,
		.pid = UINT32_MAX,
		.by_pid = s.pid,
		.by_tid = s.tid,
		.cpu = (uint16_t)s.cpu,
		.next_comm = SCHEDEV_NONE,
		.kind = (uint8_t)src->kind,
	};
	if (s.cpu < 0 || s.cpu > 0xfffe || s.raw_bytes < 8 ||
	    !number_at(&s, &src->field[1], &tid) ||
	    (src->field[2].size_bytes && !number_at(&s, &src->field[2], &prio)))
		return -EBADMSG;
	e->tid = (uint32_t)tid;
	e->prio = (int16_t)prio;
	e->by_irq = s.raw[2] & 0x18; /* TRACE_FLAG_HARDIRQ, TRACE_FLAG_SOFTIRQ */
	err = comm_at(l, &s, &src->field[0], src->comm_elsewhere, &e->comm);
	if (!err && src->kind == SCHEDEV_SWITCH)
		err = read_switch(l, src, &s, e);
	return err ? err : 1;
}

static const struct source *source_of(const struct loader *l,
				      const struct perf_event_header *header)
{
	const struct capture_attr *attr = NULL;
	uint64_t id;

	if (l->attr_count == 1) {
		attr = l->attrs;
	} else {
		id = perfrec_identifier(header, header->size, &l->attrs[0].attr);
		attr = id ? capture_attr_by_id(l->c, id) : NULL;
	}
	for (size_t i = 0; attr && i < l->source_count; i++)
		if (l->sources[i].attr == attr)
			return &l->sources[i];
	return NULL;
}

static int take(struct loader *l, const struct perf_event_header *header)
{
	const struct source *src = source_of(l, header);
	struct schedev *out = l->out;
	struct sched_event e;
	int err;

	if (!src)
		return 0;
	err = read_record(l, header, src, &e);
	if (err == -EBADMSG) {
		out->broken++;
		return 0;
	}
	if (err < 0)
		return err;
	if (out->count >= SCHEDEV_NONE)
		return -EOVERFLOW;
	if (vec_reserve(&out->events, &out->capacity, out->count + 1))
		return -ENOMEM;
	out->events[out->count++] = e;
	out->has_switches |= e.kind == SCHEDEV_SWITCH;
	out->has_wakeups |= e.kind == SCHEDEV_WAKEUP;
	return 0;
}

/* ---- all ---- */

static void see_lost(struct loader *l, const struct perf_event_header *header)
{
	for (size_t i = 0; i < l->source_count; i++)
		l->out->lost += eventwalk_lost(l->c, header, l->sources[i].attr);
}

static int walk(struct loader *l, uint32_t stream_mask)
{
	struct record_iter *it = NULL;
	struct record rec;
	int err;

	err = record_iter_new(l->c, stream_mask, 0, SIZE_MAX, &it);
	if (err)
		return err;
	while (!err && record_iter_next(it, &rec) == 1) {
		if (rec.header->type == PERF_RECORD_SAMPLE)
			err = take(l, rec.header);
		else
			see_lost(l, rec.header);
	}
	record_iter_free(it);
	return err;
}

/* By time, then as they came: the merge sort keeps the order of equals. */
static int by_time(const void *a, const void *b)
{
	const struct sched_event *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int sort(struct schedev *s)
{
	struct sched_event *from = s->events, *to, *spare, *swap;
	size_t width, i, a, b, a_end, b_end, n = s->count;

	spare = malloc((n + 1) * sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	to = spare;
	for (width = 1; width < n; width *= 2) {
		for (i = 0, a = 0; a < n; a = b_end) {
			a_end = b = a + width < n ? a + width : n;
			b_end = b + width < n ? b + width : n;
			while (a < a_end || b < b_end)
				to[i++] = b >= b_end || (a < a_end &&
							 by_time(&from[a], &from[b]) <= 0)
						  ? from[a++]
						  : from[b++];
		}
		swap = from, from = to, to = swap;
	}
	if (from != s->events) {
		free(s->events);
		s->capacity = n + 1;
		s->events = from;
	} else {
		free(to);
	}
	return 0;
}

int schedev_load(const struct capture *c, struct strings *names, struct schedev *out)
{
	struct schedev fresh = { 0 };
	struct loader l = {
		.c = c,
		.is_ours = capture_get_kind(c) == CAPTURE_EBX,
		.names = names,
		.out = &fresh,
	};
	int err = 0;

	l.attrs = capture_attrs(c, &l.attr_count);
	for (int kind = 0; !err && kind < SCHEDEV_KINDS; kind++)
		err = find_source(&l, (enum schedev_kind)kind);
	if (!err && l.source_count)
		err = walk(&l, 1u << EBX_STREAM_SCHED | 1u << EBX_STREAM_SIDE);
	if (!err && fresh.count)
		err = sort(&fresh);
	if (err) {
		schedev_done(&fresh);
		return err;
	}
	*out = fresh;
	return 0;
}

void schedev_done(struct schedev *s)
{
	free(s->events);
	*s = (struct schedev){ 0 };
}
