/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "analyze/input/event/event_iter.h"
#include "analyze/input/event/event_of.h"
#include "format/base/hash_index.h"
#include "analyze/input/tracepoint/tracepoint_format.h"
#include "format/perf/perfrec.h"
#include "format/payload/switch_fields.h"
#include "format/perf/trace_data.h"

#define FIELDS_MAX 7

/* The fields of each tracepoint that are read; the first is a comm. */
static const struct {
	const char *name, *fields[FIELDS_MAX];
} tracepoints[SCHED_EVENT_KINDS] = {
	[SCHED_EVENT_SWITCH] = { "sched_switch",
				 { "prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm",
				   "next_pid", "next_prio" } },
	[SCHED_EVENT_WAKEUP] = { "sched_wakeup", { "comm", "pid", "prio" } },
	[SCHED_EVENT_WAKEUP_NEW] = { "sched_wakeup_new", { "comm", "pid", "prio" } },
	[SCHED_EVENT_MIGRATE] = { "sched_migrate_task", { "comm", "pid", "prio" } },
	[SCHED_EVENT_FORK] = { "sched_process_fork", { "child_comm", "child_pid" } },
	[SCHED_EVENT_EXIT] = { "sched_process_exit", { "comm", "pid", "prio" } },
};

/* An event of the capture that is one of the above. */
struct source {
	const struct capture_attr *attr;
	struct trace_data_field field[FIELDS_MAX];
	bool comm_elsewhere; /* __data_loc */
	enum sched_event_kind kind;
};

#define COMM_BYTES  16
#define KNOWN_COMMS 1024

/* A comm, with all that stands behind its end, and its number in the names. */
struct known_comm {
	char bytes[COMM_BYTES];
	uint32_t name;
	bool used;
};

struct sched_event_reader {
	struct event_of events;
	struct string_table *names; /* borrowed; NULL: none are wanted */
	struct source sources[SCHED_EVENT_KINDS];
	size_t source_count;
	bool is_ours;
	const struct capture_attr *last; /* event of the record read last */
	struct known_comm known[KNOWN_COMMS];
};

/* ---- where the fields lie ---- */

static bool is_elsewhere(const char *format, const char *field)
{
	char want[64];

	snprintf(want, sizeof(want), "__data_loc char[] %s;", field);
	return strstr(format, want) != NULL;
}

static int read_format(struct sched_event_reader *l, struct source *s, const char *format)
{
	const char *const *fields = tracepoints[s->kind].fields;

	for (size_t i = 0; i < FIELDS_MAX && fields[i]; i++)
		if (trace_data_format_field(format, fields[i], &s->field[i]))
			return -ENOENT;
	s->comm_elsewhere = is_elsewhere(format, fields[0]);
	return 0;
}

/* Finds the attr of a tracepoint: by the id that its format text has. */
static int find_source(struct sched_event_reader *l, enum sched_event_kind kind, const char *name)
{
	struct capture_bytes section = capture_feature(l->events.c, PERFFILE_TRACING_DATA);
	struct source s = { .kind = kind };
	char *format = NULL;
	uint32_t id;
	int err;

	if (!section.size_bytes)
		return 0;
	err = tracepoint_format_find(section.data, section.size_bytes, "sched", name, &format);
	if (!err)
		err = trace_data_format_id(format, &id);
	if (!err)
		err = read_format(l, &s, format);
	free(format);
	for (size_t i = 0; !err && i < l->events.count && !s.attr; i++) {
		if (l->events.attrs[i].attr.type == PERF_TYPE_TRACEPOINT &&
		    l->events.attrs[i].attr.config == id)
			s.attr = &l->events.attrs[i];
	}
	if (!err && s.attr)
		l->sources[l->source_count++] = s;
	return err == -ENOMEM ? err : 0;
}

/* ---- one record ---- */

static bool number_at(const struct perf_sample *s, const struct trace_data_field *f, uint64_t *out)
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

/* The same few comms come again and again. */
static int number_comm(struct sched_event_reader *s, const char *comm, size_t size_bytes,
		       uint32_t *out)
{
	struct known_comm *k;
	uint64_t words[2];
	int err;

	if (size_bytes != COMM_BYTES)
		return string_table_add(s->names, comm, strnlen(comm, size_bytes), out);
	memcpy(words, comm, COMM_BYTES);
	k = &s->known[hash_fold(words[0], words[1]) % KNOWN_COMMS];
	if (!k->used || memcmp(k->bytes, comm, COMM_BYTES) != 0) {
		k->used = false;
		err = string_table_add(s->names, comm, strnlen(comm, COMM_BYTES), &k->name);
		if (err)
			return err;
		memcpy(k->bytes, comm, COMM_BYTES);
		k->used = true;
	}
	*out = k->name;
	return 0;
}

static int comm_at(struct sched_event_reader *l, const struct perf_sample *s,
		   const struct trace_data_field *f, bool elsewhere, uint32_t *out)
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
	return l->names ? number_comm(l, (const char *)s->raw + off, bytes, out) : 0;
}

static int read_switch(struct sched_event_reader *l, const struct source *src,
		       const struct perf_sample *s, struct sched_event *e)
{
	struct switch_fields info;
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
	if (l->is_ours && s->raw_bytes >= SWITCH_FIELDS_BYTES &&
	    switch_fields_decode(s->raw + s->raw_bytes - SWITCH_FIELDS_BYTES, SWITCH_FIELDS_BYTES,
				 &info)) {
		e->syscall = info.syscall;
		e->weight = info.weight;
		e->policy = info.policy;
	} else {
		e->weight = s->chain_count ? 1 : 0;
	}
	return 0;
}

static int read_record(struct sched_event_reader *l, const struct perf_event_header *header,
		       const struct source *src, struct sched_event *e, struct perf_sample *s)
{
	uint64_t tid, prio = 0;
	int err;

	if (perfrec_sample(header, header->size, &src->attr->attr, s, NULL) || !s->raw)
		return -EBADMSG;
	*e = (struct sched_event){
		.time_ns = s->time_ns,
		.pid = UINT32_MAX,
		.by_pid = s->pid,
		.cpu = (uint16_t)s->cpu,
		.comm = SCHED_EVENT_NONE,
		.next_comm = SCHED_EVENT_NONE,
		.stack = SCHED_EVENT_NONE,
		.kind = (uint8_t)src->kind,
	};
	if (s->cpu < 0 || s->cpu > 0xfffe || s->raw_bytes < 8 ||
	    !number_at(s, &src->field[1], &tid) ||
	    (src->field[2].size_bytes && !number_at(s, &src->field[2], &prio)))
		return -EBADMSG;
	e->tid = (uint32_t)tid;
	e->prio = (int16_t)prio;
	err = comm_at(l, s, &src->field[0], src->comm_elsewhere, &e->comm);
	if (!err && src->kind == SCHED_EVENT_SWITCH)
		err = read_switch(l, src, s, e);
	return err;
}

static const struct source *source_by_attr(const struct sched_event_reader *s,
					   const struct capture_attr *attr)
{
	for (size_t i = 0; attr && i < s->source_count; i++)
		if (s->sources[i].attr == attr)
			return &s->sources[i];
	return NULL;
}

int sched_event_read(struct sched_event_reader *s, const struct perf_event_header *header,
		     struct sched_event *e, struct perf_sample *sample)
{
	const struct source *src;
	struct perf_sample own;
	int err;

	s->last = event_of_find(&s->events, header);
	src = source_by_attr(s, s->last);
	if (!src)
		return 0;
	err = read_record(s, header, src, e, sample ? sample : &own);
	return err ? err : 1;
}

const struct capture_attr *sched_event_last(const struct sched_event_reader *s)
{
	return s->last;
}

/* ---- all ---- */

bool sched_event_has(const struct sched_event_reader *s, enum sched_event_kind kind)
{
	for (size_t i = 0; i < s->source_count; i++)
		if (s->sources[i].kind == kind)
			return true;
	return false;
}

bool sched_event_has_any(const struct sched_event_reader *s)
{
	return s->source_count;
}

uint64_t sched_event_lost_of(const struct sched_event_reader *s, const uint64_t *lost_by_attr)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < s->source_count; i++)
		lost = saturate_add(lost, lost_by_attr[s->sources[i].attr - s->events.attrs]);
	return lost;
}

uint64_t sched_event_lost(const struct sched_event_reader *s,
			  const struct perf_event_header *record)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < s->source_count; i++)
		lost = saturate_add(lost, event_iter_lost(s->events.c, record, s->sources[i].attr));
	return lost;
}

int sched_event_new(const struct capture *c, struct string_table *names,
		    struct sched_event_reader **out)
{
	struct sched_event_reader *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->events = event_of_capture(c);
	s->names = names;
	s->is_ours = capture_get_kind(c) == CAPTURE_EBX;
	for (int kind = 0; !err && kind < SCHED_EVENT_KINDS; kind++)
		err = find_source(s, (enum sched_event_kind)kind, tracepoints[kind].name);
	/* perf sched record has this one in place of sched_wakeup; their fields are alike. */
	if (!err && !sched_event_has(s, SCHED_EVENT_WAKEUP))
		err = find_source(s, SCHED_EVENT_WAKEUP, "sched_waking");
	if (err) {
		sched_event_free(s);
		return err;
	}
	*out = s;
	return 0;
}

int sched_event_new_wakers(const struct capture *c, struct sched_event_reader **out,
			   const struct capture_attr **attr)
{
	struct sched_event_reader *s = calloc(1, sizeof(*s));
	int err;

	*attr = NULL;
	if (!s)
		return -ENOMEM;
	s->events = event_of_capture(c);
	err = find_source(s, SCHED_EVENT_WAKEUP, "sched_waking");
	if (!err && !s->source_count)
		err = find_source(s, SCHED_EVENT_WAKEUP, "sched_wakeup");
	if (err) {
		sched_event_free(s);
		return err;
	}
	if (s->source_count)
		*attr = s->sources[0].attr;
	*out = s;
	return 0;
}

void sched_event_free(struct sched_event_reader *s)
{
	free(s);
}
