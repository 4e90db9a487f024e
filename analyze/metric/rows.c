/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "analyze/metric/syscall/names.h"
#include "analyze/metric/syscall/category.h"
#include "analyze/input/event/event_of.h"
#include "analyze/input/tracepoint/tracepoint_format.h"
#include "analyze/input/event/event_iter.h"
#include "format/base/vec.h"
#include "format/reader/ebx_records.h"
#include "format/perf/perfrec.h"

#define MEMORY_RATIO \
	256 /* of a row in memory to its bytes in the file, at most; rows of histograms have 80 */

_Static_assert(METRIC_TABLES_MAX <= 64, "a bit for each");

/* ---- which tables there are ---- */

uint32_t metric_rows_slot(const struct metric_table *t, const char *field)
{
	const struct metric_field *f = metric_format_find(&t->fmt, field);

	return f ? t->slots[f - t->fmt.fields] : METRIC_ROWS_NONE;
}

static uint32_t slot_of_kind(const struct metric_table *t, const char *field, bool is_text)
{
	const struct metric_field *f = metric_format_find(&t->fmt, field);

	return f && (f->kind == METRIC_TEXT) == is_text ? t->slots[f - t->fmt.fields]
							: METRIC_ROWS_NONE;
}

uint32_t metric_rows_number_slot(const struct metric_table *t, const char *field)
{
	return slot_of_kind(t, field, false);
}

uint32_t metric_rows_text_slot(const struct metric_table *t, const char *field)
{
	return slot_of_kind(t, field, true);
}

/* The category of a system call, as a key: rows can be grouped by fields, not by texts. */
static void add_category(struct metric_format *f)
{
	struct metric_field *last = &f->fields[f->field_count++];

	*last = (struct metric_field){ .name = "category", .kind = METRIC_TEXT, .is_key = true };
}

static void lay_out(struct metric_table *t)
{
	const struct metric_field *f;

	t->has_category = metric_rows_number_slot(t, "nr") != METRIC_ROWS_NONE &&
			  metric_rows_number_slot(t, "abi") != METRIC_ROWS_NONE &&
			  !metric_format_find(&t->fmt, "category") &&
			  t->fmt.field_count < METRIC_FIELDS_MAX;
	if (t->has_category)
		add_category(&t->fmt);
	for (size_t i = 0; i < t->fmt.field_count; i++) {
		f = &t->fmt.fields[i];
		t->slots[i] = t->slot_count;
		t->slot_count += f->kind == METRIC_TEXT ? 1 : f->count;
	}
	t->since = metric_rows_number_slot(t, "since_ns");
	t->interval = metric_rows_number_slot(t, "interval");
	t->pid = metric_rows_number_slot(t, "pid");
	t->tid = metric_rows_number_slot(t, "tid");
	t->comm = metric_rows_text_slot(t, "comm");
	t->is_interval = t->since != METRIC_ROWS_NONE && t->interval != METRIC_ROWS_NONE;
}

/* Adds a text that is made here of a field, unless the table has one of that name. */
static bool add_text(struct metric_table *t, const char *name, const char *of)
{
	struct metric_field *f = &t->fmt.fields[t->fmt.field_count];

	if (metric_rows_number_slot(t, of) == METRIC_ROWS_NONE ||
	    metric_format_find(&t->fmt, name) || t->fmt.field_count == METRIC_FIELDS_MAX)
		return false;
	*f = (struct metric_field){ .kind = METRIC_TEXT };
	snprintf(f->name, sizeof(f->name), "%s", name);
	t->slots[t->fmt.field_count++] = t->slot_count++;
	return true;
}

bool metric_rows_add_symbols(struct metric_rows *m)
{
	bool has = false;

	for (size_t i = 0; i < m->count; i++) {
		m->tables[i].has_symbol = add_text(&m->tables[i], "symbol", "address");
		m->tables[i].has_function = add_text(&m->tables[i], "function", "is_code");
		has |= m->tables[i].has_symbol || m->tables[i].has_function;
	}
	return has;
}

/* A capture may have any number of events of one id: its format is looked for once. */
static bool is_asked(struct metric_rows *m, uint64_t id)
{
	uint64_t bit = 1ULL << (id - METRIC_FIRST_ID);
	bool was_asked = m->asked_ids & bit;

	m->asked_ids |= bit;
	return was_asked;
}

static int add_table(struct metric_rows *m, const struct capture_attr *attr)
{
	struct capture_bytes section = capture_feature(m->c, PERFFILE_TRACING_DATA);
	const char *colon = strchr(attr->name, ':');
	struct metric_table t = { .attr = attr };
	char *format;
	int err;

	if (!colon || !section.size_bytes || is_asked(m, attr->attr.config))
		return 0;
	err = tracepoint_format_find(section.data, section.size_bytes, "ebprec", colon + 1,
				     &format);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = metric_format_parse(format, &t.fmt);
	free(format);
	if (err || t.fmt.id != attr->attr.config)
		return 0; /* not one of ours */
	lay_out(&t);
	if (vec_reserve(&m->tables, &m->capacity, m->count + 1))
		return -ENOMEM;
	m->tables[m->count++] = t;
	return 0;
}

int metric_rows_open(const struct capture *c, struct metric_rows *out)
{
	struct metric_rows m = { .c = c, .events = event_of_capture(c) };
	int err = 0;

	for (size_t i = 0; i < m.events.count && !err; i++) {
		if (event_is_table(&m.events.attrs[i]))
			err = add_table(&m, &m.events.attrs[i]);
	}
	if (err) {
		metric_rows_done(&m);
		return err;
	}
	*out = m;
	return 0;
}

void metric_rows_done(struct metric_rows *m)
{
	free(m->tables);
	*m = (struct metric_rows){ 0 };
}

const struct metric_table *metric_rows_find(const struct metric_rows *m, const char *name)
{
	for (size_t i = 0; i < m->count; i++) {
		if (!strcmp(m->tables[i].fmt.name, name))
			return &m->tables[i];
	}
	return NULL;
}

/* ---- rows ---- */

struct walk {
	struct metric_rows *m;
	struct string_table *names;
	const struct filter *filter;
	int (*row)(void *ctx, const struct metric_row *r);
	void *ctx;
};

static int set_category(struct walk *w, const struct metric_table *t, uint64_t *slots)
{
	const char *name = metric_names_call((uint32_t)slots[metric_rows_number_slot(t, "nr")],
					     slots[metric_rows_number_slot(t, "abi")]);
	const char *category = syscall_category_of(name ? name : "");
	uint32_t text;
	int err = string_table_add(w->names, category, strlen(category), &text);

	if (!err)
		slots[metric_rows_text_slot(t, "category")] = text;
	return err;
}

static int set_text(struct walk *w, const struct metric_table *t, const char *field,
		    const char *name, uint64_t *slots)
{
	uint32_t text;
	int err = name ? string_table_add(w->names, name, strlen(name), &text) : -ENOMEM;

	if (!err)
		slots[metric_rows_text_slot(t, field)] = text;
	return err;
}

/* A row of an interval has a pid; that of an event is the sample's. */
static uint32_t pid_of(const struct metric_table *t, const struct perf_sample *s,
		       const uint64_t *slots)
{
	return t->pid != METRIC_ROWS_NONE ? (uint32_t)slots[t->pid] : s->pid;
}

static int set_symbol(struct walk *w, const struct metric_table *t, const struct perf_sample *s,
		      uint64_t *slots)
{
	uint64_t address = slots[metric_rows_number_slot(t, "address")];
	const char *name = "";

	if (w->m->name_address)
		name = w->m->name_address(w->m->name_arg, pid_of(t, s, slots), s->time_ns, address);
	return set_text(w, t, "symbol", name, slots);
}

static int set_function(struct walk *w, const struct metric_table *t, const struct perf_sample *s,
			uint64_t *slots)
{
	const struct metric_field *f = metric_format_find(&t->fmt, "is_code");
	const uint64_t *code = slots + t->slots[f - t->fmt.fields];
	const char *name = "";

	if (w->m->name_stack && *code)
		name = w->m->name_stack(w->m->name_arg, pid_of(t, s, slots), s->time_ns, code,
					f->count);
	return set_text(w, t, "function", name, slots);
}

static int decode(struct walk *w, const struct metric_table *t, const struct perf_sample *s,
		  uint64_t *slots)
{
	size_t recorded = t->fmt.field_count - t->has_category - t->has_symbol - t->has_function;
	const struct metric_field *f;
	uint32_t text;
	int err = 0;

	for (size_t i = 0; i < recorded; i++) {
		f = &t->fmt.fields[i];
		if (f->off_bytes + f->size_bytes * f->count > s->raw_bytes)
			return -EBADMSG;
		if (f->kind == METRIC_TEXT) {
			err = string_table_add(
				w->names, (const char *)s->raw + f->off_bytes,
				strnlen((const char *)s->raw + f->off_bytes, f->count), &text);
			if (err)
				return err;
			slots[t->slots[i]] = text;
			continue;
		}
		for (uint32_t k = 0; k < f->count; k++)
			slots[t->slots[i] + k] = metric_format_number(f, s->raw, s->raw_bytes, k);
	}
	if (t->has_category)
		err = set_category(w, t, slots);
	if (!err && t->has_symbol)
		err = set_symbol(w, t, s, slots);
	return err || !t->has_function ? err : set_function(w, t, s, slots);
}

static const struct metric_table *table_of(struct walk *w, const struct perf_event_header *h)
{
	const struct capture_attr *attr = event_of_find(&w->m->events, h);

	for (size_t i = 0; attr && i < w->m->count; i++) {
		if (w->m->tables[i].attr == attr)
			return &w->m->tables[i];
	}
	return NULL;
}

/* An interval goes on where a table has no row of it, or none of the chosen processes. */
static void see_interval(struct walk *w, const struct metric_table *t, const struct perf_sample *s)
{
	const struct metric_field *since = metric_format_find(&t->fmt, "since_ns");
	uint64_t since_ns;

	if (!since || since->off_bytes + since->size_bytes > s->raw_bytes)
		return;
	since_ns = metric_format_number(since, s->raw, s->raw_bytes, 0);
	if (since_ns > s->time_ns)
		return;
	if (s->time_ns - since_ns > w->m->longest_ns)
		w->m->longest_ns = s->time_ns - since_ns;
	if (!filter_has_time(w->filter, s->time_ns))
		return;
	if (!w->m->to_ns || since_ns < w->m->from_ns)
		w->m->from_ns = since_ns;
	if (s->time_ns > w->m->to_ns)
		w->m->to_ns = s->time_ns;
}

static int take(struct walk *w, const struct perf_event_header *h)
{
	const struct metric_table *t = table_of(w, h);
	uint64_t slots[METRIC_ROWS_SLOTS_MAX];
	struct metric_row r = { .table = t, .slots = slots };
	struct perf_sample s;
	int err;

	if (!t)
		return 0;
	if (perfrec_sample(h, h->size, &t->attr->attr, &s, NULL) || !s.raw) {
		w->m->broken++;
		return 0;
	}
	if (t->is_interval)
		see_interval(w, t, &s);
	if (!filter_passes(w->filter, s.pid, s.tid, s.cpu, s.time_ns))
		return 0;
	err = decode(w, t, &s, slots);
	if (err == -EBADMSG)
		w->m->broken++;
	if (err)
		return err == -EBADMSG ? 0 : err;
	if (t->comm != METRIC_ROWS_NONE &&
	    !filter_passes_comm(w->filter, string_table_text(w->names, (uint32_t)slots[t->comm])))
		return 0;
	r.time_ns = r.since_ns = s.time_ns;
	if (t->is_interval && slots[t->since] <= s.time_ns)
		r.since_ns = slots[t->since];
	r.pid = s.pid;
	r.tid = s.tid;
	r.cpu = s.cpu;
	return w->row(w->ctx, &r);
}

/* The losses of all tables together: the recorder does not know which had no space. */
static void see_lost(struct walk *w, const struct perf_event_header *h)
{
	for (size_t i = 0; i < w->m->count; i++)
		w->m->lost = saturate_add(w->m->lost,
					  event_iter_lost(w->m->c, h, w->m->tables[i].attr));
}

static int see(struct walk *w, const struct perf_event_header *h)
{
	if (h->type == PERF_RECORD_SAMPLE)
		return take(w, h);
	see_lost(w, h);
	return 0;
}

int metric_rows_record(struct metric_rows *m, struct string_table *names,
		       const struct filter *filter, const struct perf_event_header *record,
		       int (*row)(void *ctx, const struct metric_row *r), void *ctx)
{
	struct walk w = { m, names, filter, row, ctx };

	return see(&w, record);
}

uint64_t metric_rows_limit_bytes(const struct capture *c)
{
	uint64_t most = CAPTURE_UNPACK_FREE_BYTES + MEMORY_RATIO * capture_file_bytes(c);

	return capture_unpack_limit(c) > most ? capture_unpack_limit(c) : most;
}

int metric_rows_walk(struct metric_rows *m, struct string_table *names, const struct filter *filter,
		     int (*row)(void *ctx, const struct metric_row *r), void *ctx)
{
	struct walk w = { m, names, filter, row, ctx };
	uint32_t streams = 1u << EBX_STREAM_METRIC | 1u << EBX_STREAM_SIDE;
	struct record_iter *it = NULL;
	struct record rec;
	int err;

	m->lost = m->broken = 0;
	m->left_bytes = metric_rows_limit_bytes(m->c);
	for (size_t i = 0; i < m->count; i++)
		m->tables[i].left_bytes = &m->left_bytes;
	if (m->skips_lost)
		streams = event_iter_streams(m->c, streams);
	err = record_iter_new(m->c, streams, 0, SIZE_MAX, &it);
	if (err)
		return err;
	while (!err && record_iter_next(it, &rec) == 1)
		err = see(&w, rec.header);
	record_iter_free(it);
	return err;
}
