/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lib/handle.h"
#include "analyze/lib/sized.h"
#include "format/perf/trace_data.h"

/* The size of the first release. */
#define MARK_BYTES sizeof(struct ebprec_mark)

/* The end of a span is a part of that, unless the span began before the recording. */
static bool is_listed(const struct mark *m)
{
	return m->kind != TRACE_DATA_MARK_END || m->span == MARKS_NONE;
}

static uint64_t start_of(const struct marks *m, uint32_t i)
{
	uint32_t span = m->marks[i].span;

	return span == MARKS_NONE ? m->marks[i].time_ns : m->spans[span].start_ns;
}

static int by_start(const void *a, const void *b, void *marks)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t x = start_of(marks, i), y = start_of(marks, k);

	if (x != y)
		return x < y ? -1 : 1;
	return i < k ? -1 : i > k;
}

static int load_marks(struct ebprec *e)
{
	struct marks loaded;
	uint32_t *order;
	int err = marks_load(e->capture, e->facts.names, &loaded);

	if (err)
		return err;
	order = calloc(loaded.count + 1, sizeof(*order));
	if (!order) {
		marks_done(&loaded);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < loaded.count; i++)
		if (is_listed(&loaded.marks[i]))
			order[e->mark_count++] = i;
	qsort_r(order, e->mark_count, sizeof(*order), by_start, &loaded);
	e->marks = loaded;
	e->mark_order = order;
	return 0;
}

/* NULL for "". */
static const char *text_of(const struct ebprec *e, uint32_t text)
{
	const char *found = string_table_text(e->facts.names, text);

	return *found ? found : NULL;
}

static void add_span(const struct ebprec *e, const struct markspan *span, struct ebprec_mark *to)
{
	const struct mark *end = span->end == MARKS_NONE ? NULL : &e->marks.marks[span->end];

	to->kind = end ? EBPREC_MARK_SPAN : EBPREC_MARK_OPEN_SPAN;
	to->start_ns = span->start_ns;
	to->end_ns = span->end_ns;
	to->depth = span->depth;
	to->number = span->number;
	if (end && span->end != span->begin)
		to->end_text = text_of(e, end->text);
}

static void make_mark(const struct ebprec *e, const struct mark *from, struct ebprec_mark *to)
{
	uint32_t comm = tasks_thread_comm(&e->facts.tasks, from->pid, from->tid, from->time_ns);

	*to = (struct ebprec_mark){
		.size = sizeof(*to),
		.group = string_table_text(e->facts.names, from->group),
		.name = string_table_text(e->facts.names, from->name),
		.text = text_of(e, from->text),
		.comm = comm == TASKS_NONE ? NULL : string_table_text(e->facts.names, comm),
		.start_ns = from->time_ns,
		.end_ns = from->time_ns,
		.id = from->id,
		.kind = from->kind == TRACE_DATA_MARK_END ? EBPREC_MARK_END : EBPREC_MARK_POINT,
		.pid = from->pid,
		.tid = from->tid,
		.cpu = from->cpu,
	};
	if (from->span != MARKS_NONE)
		add_span(e, &e->marks.spans[from->span], to);
}

int ebprec_get_mark(struct ebprec *e, size_t index, struct ebprec_mark *out)
{
	struct ebprec_mark v;
	int err = handle_begin_with_facts(e);

	if (!err && !e->mark_order) {
		err = load_marks(e);
		if (err)
			handle_fail(e, err, "cannot read the marks: %s", strerror(-err));
	}
	if (err)
		return err;
	if (index >= e->mark_count)
		return handle_fail(e, -ENOENT, "there are %zu marks", e->mark_count);
	make_mark(e, &e->marks.marks[e->mark_order[index]], &v);
	err = sized_give(out, &v, sizeof(v), MARK_BYTES);
	return err ? handle_fail_structure(e, err, "ebprec_mark") : 0;
}
