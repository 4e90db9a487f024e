/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int name_mark(const struct mark_views *v, uint32_t i, struct page_texts *texts,
		     struct page_mark *out)
{
	const struct mark *m = &v->marks.marks[i];
	char unknown[16];
	int err;

	snprintf(unknown, sizeof(unknown), ":%u", m->tid);
	err = page_texts_add(
		texts, v->comm[i] == TASKS_NONE ? unknown : string_table_text(v->names, v->comm[i]),
		&out->comm);
	if (!err)
		err = page_texts_add(texts, string_table_text(v->names, m->group), &out->group);
	if (!err)
		err = page_texts_add(texts, string_table_text(v->names, m->name), &out->name);
	return err ? err : page_texts_add(texts, string_table_text(v->names, m->text), &out->text);
}

int page_marks_make(const struct capture *c, struct string_table *names,
		    const struct filter *filter, struct page_texts *texts, struct page_marks *out)
{
	int err = mark_views_make(c, names, NULL, filter, MARK_VIEWS_BY_TIME, &out->views);
	const struct mark_views *v = &out->views;

	if (err)
		return err;
	out->texts = calloc(v->marks.count + 1, sizeof(*out->texts));
	if (!out->texts)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < v->marks.count; i++) {
		if (!v->wanted[i])
			continue;
		out->any = true;
		err = name_mark(v, i, texts, &out->texts[i]);
	}
	return err;
}

void page_marks_done(struct page_marks *m)
{
	mark_views_done(&m->views);
	free(m->texts);
	*m = (struct page_marks){ 0 };
}

/* ---- writing ---- */

/* Those that are in the page, in their order. */
struct shown {
	uint32_t *
		span; /* by mark of the capture, that of spans which it begins or is, and 1; 0: none */
	uint32_t *marks, *spans;
	uint32_t *number; /* by mark: its row */
	size_t mark_count, span_count;
};

static int list_shown(const struct mark_views *v, struct shown *s)
{
	s->marks = calloc(v->marks.count + 1, sizeof(*s->marks));
	s->number = calloc(v->marks.count + 1, sizeof(*s->number));
	s->spans = calloc(v->marks.span_count + 1, sizeof(*s->spans));
	s->span = calloc(v->marks.count + 1, sizeof(*s->span));
	if (!s->marks || !s->number || !s->spans || !s->span)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->marks.count; i++)
		if (v->wanted[i]) {
			s->number[i] = (uint32_t)s->mark_count;
			s->marks[s->mark_count++] = i;
		}
	for (uint32_t i = 0; i < v->marks.span_count; i++)
		if (v->wanted[v->marks.spans[i].begin]) {
			s->spans[s->span_count++] = i;
			s->span[v->marks.spans[i].begin] = (uint32_t)s->span_count;
		}
	return 0;
}

static int64_t since(uint64_t time_ns, uint64_t base_us)
{
	return (int64_t)(time_ns - base_us * 1000);
}

static void write_marks(const struct page_marks *m, const struct shown *s, uint64_t base_us,
			const struct page_texts *texts, struct page_columns *p)
{
	const struct mark *marks = m->views.marks.marks;

#define COLUMN(name, value)                                                    \
	do {                                                                   \
		page_columns_begin(p, name);                                   \
		for (size_t k = 0; k < s->mark_count; k++) {                   \
			const struct mark *mark = &marks[s->marks[k]];         \
			const struct page_mark *text = &m->texts[s->marks[k]]; \
                                                                               \
			(void)mark, (void)text;                                \
			page_columns_put(p, value);                            \
		}                                                              \
	} while (0)

	page_columns_begin_table(p, "marks", s->mark_count);
	page_columns_begin_differences(p, "time");
	for (size_t k = 0; k < s->mark_count; k++)
		page_columns_put_difference(p, since(marks[s->marks[k]].time_ns, base_us));
	COLUMN("kind", mark->kind);
	COLUMN("span", s->span[s->marks[k]]);
	COLUMN("pid", mark->pid);
	COLUMN("tid", mark->tid);
	COLUMN("cpu", mark->cpu);
	COLUMN("comm", page_texts_number(texts, text->comm));
	COLUMN("group", page_texts_number(texts, text->group));
	COLUMN("name", page_texts_number(texts, text->name));
	COLUMN("text", page_texts_number(texts, text->text));
	page_columns_end_table(p);
#undef COLUMN
}

static void write_spans(const struct page_marks *m, const struct shown *s, uint64_t base_us,
			struct page_columns *p)
{
	const struct markspan *spans = m->views.marks.spans;

	page_columns_begin_table(p, "spans", s->span_count);
	page_columns_begin(p, "mark");
	for (size_t k = 0; k < s->span_count; k++)
		page_columns_put(p, s->number[spans[s->spans[k]].begin]);
	page_columns_begin_differences(p, "start");
	for (size_t k = 0; k < s->span_count; k++)
		page_columns_put_difference(p, since(spans[s->spans[k]].start_ns, base_us));
	page_columns_begin(p, "length");
	for (size_t k = 0; k < s->span_count; k++)
		page_columns_put(p, spans[s->spans[k]].end_ns - spans[s->spans[k]].start_ns);
	page_columns_begin(p, "ended");
	for (size_t k = 0; k < s->span_count; k++)
		page_columns_put(p, spans[s->spans[k]].end != MARKS_NONE);
	page_columns_begin(p, "number");
	for (size_t k = 0; k < s->span_count; k++)
		page_columns_put(p, spans[s->spans[k]].number);
	page_columns_begin(p, "depth");
	for (size_t k = 0; k < s->span_count; k++)
		page_columns_put(p, spans[s->spans[k]].depth);
	page_columns_end_table(p);
}

int page_marks_write(const struct page_marks *m, uint64_t base_us, const struct page_texts *texts,
		     struct page_columns *p)
{
	struct shown s = { 0 };
	int err = m->any ? list_shown(&m->views, &s) : 0;

	if (!err && m->any) {
		write_marks(m, &s, base_us, texts, p);
		write_spans(m, &s, base_us, p);
	}
	free(s.marks);
	free(s.number);
	free(s.span);
	free(s.spans);
	return err;
}
