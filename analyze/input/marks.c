/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_iter.h"
#include "analyze/input/event/event_of.h"
#include "analyze/input/slice_border.h"
#include "format/base/hash_index.h"
#include "format/base/vec.h"
#include "format/perf/perfrec.h"
#include "format/perf/trace_data.h"

struct loader {
	const struct capture_attr *attr; /* of ebprec:mark */
	struct string_table *names;
	struct marks *out;
	uint64_t end_ns;     /* of the capture */
	uint32_t read_count; /* marks, also broken ones */
};

/* ---- reading ---- */

static int text_of(struct loader *l, const char *text, uint32_t *out)
{
	return string_table_add(l->names, text, strlen(text), out);
}

static int take(void *ctx, const struct perf_event_header *header)
{
	struct loader *l = ctx;
	struct marks *list = l->out;
	struct trace_data_mark m;
	struct perf_sample s;
	struct mark *to;
	int err;

	if (perfrec_sample(header, header->size, &l->attr->attr, &s, NULL) || !s.raw ||
	    trace_data_mark_decode(s.raw, s.raw_bytes, &m)) {
		list->broken++;
		l->read_count++;
		return 0;
	}
	if (list->count >= MARKS_NONE - 1 ||
	    vec_reserve(&list->marks, &list->capacity, list->count + 1))
		return -ENOMEM;
	to = &list->marks[list->count];
	*to = (struct mark){
		.time_ns = s.time_ns,
		.duration_ns = m.duration_ns,
		.id = m.id,
		.pid = s.pid,
		.tid = s.tid,
		.cpu = (uint32_t)s.cpu,
		.kind = m.kind,
		.span = MARKS_NONE,
		.place = l->read_count++,
	};
	err = text_of(l, m.group, &to->group);
	if (!err)
		err = text_of(l, m.name, &to->name);
	if (!err)
		err = text_of(l, m.message, &to->text);
	if (!err)
		list->count++;
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* ---- spans ---- */

/* The open spans of each id, or group and name; the last one is found first. */
struct open_span {
	uint32_t span, below; /* opened before with the same key, still open */
};

struct pairs {
	struct marks *m;
	struct hash_index index;
	uint32_t *heads; /* by key: the innermost open span, in open[]; MARKS_NONE */
	uint32_t *marks; /* by key: a mark that has it */
	size_t key_count, head_capacity, mark_capacity;
	struct open_span *open;
	size_t open_count, open_capacity;
};

static bool same_key(const struct mark *a, const struct mark *b)
{
	if (a->id || b->id)
		return a->id == b->id && a->pid == b->pid;
	return a->group == b->group && a->name == b->name;
}

static int key_of(struct pairs *p, uint32_t mark, uint32_t *out)
{
	const struct mark *m = &p->m->marks[mark];
	uint32_t pos, id;
	uint64_t hash;

	if (hash_index_reserve(&p->index))
		return -ENOMEM;
	hash = m->id ? hash_index_pair(&p->index, m->id, m->pid)
		     : hash_index_pair(&p->index, (uint64_t)m->group << 32 | m->name, 1ULL << 40);
	pos = hash_index_start(&p->index, hash);
	while ((id = hash_index_match(&p->index, hash, &pos)) != HASH_INDEX_NONE) {
		if (same_key(&p->m->marks[p->marks[id]], m)) {
			*out = id;
			return 0;
		}
	}
	if (vec_reserve(&p->heads, &p->head_capacity, p->key_count + 1) ||
	    vec_reserve(&p->marks, &p->mark_capacity, p->key_count + 1))
		return -ENOMEM;
	id = (uint32_t)p->key_count++;
	p->heads[id] = MARKS_NONE;
	p->marks[id] = mark;
	hash_index_put(&p->index, hash, pos, id);
	*out = id;
	return 0;
}

static int new_span(struct marks *m, uint32_t mark, uint64_t start_ns, uint64_t end_ns)
{
	if (vec_reserve(&m->spans, &m->span_capacity, m->span_count + 1))
		return -ENOMEM;
	m->spans[m->span_count] = (struct markspan){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.begin = mark,
		.end = MARKS_NONE,
		.group = m->marks[mark].group,
		.name = m->marks[mark].name,
	};
	m->marks[mark].span = (uint32_t)m->span_count++;
	return 0;
}

static int open_span(struct pairs *p, uint32_t mark, uint64_t end_ns)
{
	struct marks *m = p->m;
	uint32_t key;
	int err = key_of(p, mark, &key);

	if (!err)
		err = new_span(m, mark, m->marks[mark].time_ns, end_ns);
	if (!err)
		err = vec_reserve(&p->open, &p->open_capacity, p->open_count + 1);
	if (err)
		return err;
	p->open[p->open_count] = (struct open_span){ m->marks[mark].span, p->heads[key] };
	p->heads[key] = (uint32_t)p->open_count++;
	return 0;
}

static int close_span(struct pairs *p, uint32_t mark)
{
	struct marks *m = p->m;
	const struct open_span *open;
	uint32_t key;
	int err = key_of(p, mark, &key);

	if (err)
		return err;
	if (p->heads[key] == MARKS_NONE) {
		m->ends_without_begin++;
		return 0;
	}
	open = &p->open[p->heads[key]];
	m->spans[open->span].end = mark;
	m->spans[open->span].end_ns = m->marks[mark].time_ns;
	m->marks[mark].span = open->span;
	p->heads[key] = open->below;
	return 0;
}

static int pair(struct pairs *p, uint64_t end_ns)
{
	struct marks *m = p->m;
	const struct mark *mark;
	int err = 0;

	for (uint32_t i = 0; !err && i < m->count; i++) {
		mark = &m->marks[i];
		if (mark->kind == TRACE_DATA_MARK_BEGIN) {
			err = open_span(p, i, end_ns > mark->time_ns ? end_ns : mark->time_ns);
		} else if (mark->kind == TRACE_DATA_MARK_END) {
			err = close_span(p, i);
		} else if (mark->kind == TRACE_DATA_MARK_SPAN) {
			err = new_span(m, i,
				       mark->time_ns > mark->duration_ns
					       ? mark->time_ns - mark->duration_ns
					       : 0,
				       mark->time_ns);
			if (!err)
				m->spans[mark->span].end = i;
		}
	}
	return err;
}

static int by_start(const void *a, const void *b)
{
	const struct markspan *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Orders spans, and updates their numbers in the marks. */
static void order(struct marks *m)
{
	if (m->span_count)
		qsort(m->spans, m->span_count, sizeof(*m->spans), by_start);
	for (uint32_t i = 0; i < m->span_count; i++) {
		m->marks[m->spans[i].begin].span = i;
		if (m->spans[i].end != MARKS_NONE)
			m->marks[m->spans[i].end].span = i;
	}
}

#define DEPTH_MOST 64 /* deeper ones are shown as this deep */

/* The open spans of a process, outermost first. */
struct nest {
	uint64_t end_ns[DEPTH_MOST];
	uint32_t pid, depth;
};

struct nests {
	struct nest *list;
	size_t count, capacity;
	struct hash_index index; /* by pid */
};

/* That of the process; NULL: no memory. */
static struct nest *nest_of(struct nests *nests, uint32_t pid)
{
	uint32_t pos, id;
	uint64_t hash;

	if (hash_index_reserve(&nests->index) || nests->count >= HASH_INDEX_NONE - 1 ||
	    vec_reserve(&nests->list, &nests->capacity, nests->count + 1))
		return NULL;
	hash = hash_index_pair(&nests->index, pid, 0);
	pos = hash_index_start(&nests->index, hash);
	while ((id = hash_index_match(&nests->index, hash, &pos)) != HASH_INDEX_NONE)
		if (nests->list[id].pid == pid)
			return &nests->list[id];
	hash_index_put(&nests->index, hash, pos, (uint32_t)nests->count);
	nests->list[nests->count].pid = pid;
	nests->list[nests->count].depth = 0;
	return &nests->list[nests->count++];
}

static void put_in_nest(struct nest *n, struct markspan *span)
{
	uint32_t open = 0;

	for (uint32_t k = 0; k < n->depth; k++) {
		if (n->end_ns[k] <= span->start_ns)
			continue; /* is over */
		span->depth += n->end_ns[k] >= span->end_ns;
		n->end_ns[open++] = n->end_ns[k];
	}
	n->depth = open;
	if (n->depth < DEPTH_MOST)
		n->end_ns[n->depth++] = span->end_ns;
}

static int find_depths(struct marks *m)
{
	struct nests nests = { 0 };
	int err = 0;

	for (size_t i = 0; !err && i < m->span_count; i++) {
		struct nest *n = nest_of(&nests, m->marks[m->spans[i].begin].pid);

		if (n)
			put_in_nest(n, &m->spans[i]);
		else
			err = -ENOMEM;
	}
	hash_index_done(&nests.index);
	free(nests.list);
	return err;
}

/* Numbers the spans, which are ordered by now. */
static int number_spans(struct marks *m)
{
	struct hash_index index = { 0 };
	struct markspan **last = calloc(m->span_count + 1, sizeof(struct markspan *));
	uint32_t count = 0, pos, id;
	int err = last ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < m->span_count; i++) {
		struct markspan *s = &m->spans[i];
		uint64_t hash;

		err = hash_index_reserve(&index);
		if (err)
			break;
		hash = hash_index_pair(&index, s->group, s->name);
		pos = hash_index_start(&index, hash);
		while ((id = hash_index_match(&index, hash, &pos)) != HASH_INDEX_NONE)
			if (last[id]->group == s->group && last[id]->name == s->name)
				break;
		if (id == HASH_INDEX_NONE) {
			id = count++;
			hash_index_put(&index, hash, pos, id);
			s->number = 1;
		} else {
			s->number = last[id]->number + 1;
		}
		last[id] = s;
	}
	hash_index_done(&index);
	free(last);
	return err;
}

static int make_spans(struct loader *l)
{
	struct pairs p = { .m = l->out };
	int err = pair(&p, l->end_ns);

	hash_index_done(&p.index);
	free(p.heads);
	free(p.marks);
	free(p.open);
	if (err)
		return err;
	order(l->out);
	err = number_spans(l->out);
	return err ? err : find_depths(l->out);
}

/* Passes the records of marks on, in the file's order, and those of a slice's border. */
static int each_record(const struct capture *c, const struct capture_attr *attr,
		       int (*fn)(void *ctx, const struct perf_event_header *header), void *ctx)
{
	struct event_of events = event_of_capture(c);
	const struct perf_event_header *header;
	struct slice_border border;
	size_t at = 0;
	int err = event_iter_samples(c, 1u << EBX_STREAM_MARK | 1u << EBX_STREAM_SIDE, attr, fn,
				     ctx, NULL);

	if (!err)
		err = slice_border_load(c, &border);
	if (err)
		return err == -ENOENT ? 0 : err;
	while (!err && (header = slice_border_next(&border, &at)))
		if (header->type == PERF_RECORD_SAMPLE && event_of_find(&events, header) == attr)
			err = fn(ctx, header);
	slice_border_done(&border);
	return err;
}

int marks_load(const struct capture *c, struct string_table *names, struct marks *out)
{
	struct marks fresh = { 0 };
	struct loader l = { .names = names, .out = &fresh };
	struct time_span recorded;
	int err = 0;

	l.attr = event_iter_find(c, TRACE_DATA_MARK_ID);
	if (!time_span_of_capture(c, &recorded))
		l.end_ns = recorded.to_ns;
	if (l.attr)
		err = each_record(c, l.attr, take, &l);
	if (!err) {
		if (fresh.count)
			qsort(fresh.marks, fresh.count, sizeof(*fresh.marks), by_time);
		err = make_spans(&l);
	}
	if (err) {
		marks_done(&fresh);
		return err;
	}
	*out = fresh;
	return 0;
}

void marks_done(struct marks *m)
{
	free(m->marks);
	free(m->spans);
	*m = (struct marks){ 0 };
}

/* ---- the border of a slice ---- */

struct border_copy {
	bool *is_wanted; /* by place */
	uint32_t place, count;
	struct buf *to;
};

static int copy_wanted(void *ctx, const struct perf_event_header *header)
{
	struct border_copy *copy = ctx;
	uint32_t place = copy->place++;

	if (place >= copy->count || !copy->is_wanted[place])
		return 0;
	return buf_add(copy->to, header, header->size);
}

/* The marks outside of the part that begin and end the spans which reach into it. */
static void want_marks(const struct marks *m, const struct time_span *part, bool *is_wanted)
{
	for (size_t i = 0; i < m->span_count; i++) {
		const struct markspan *s = &m->spans[i];
		const struct mark *begin = &m->marks[s->begin];
		const struct mark *end = s->end != MARKS_NONE ? &m->marks[s->end] : begin;

		if (s->start_ns > part->to_ns || s->end_ns < part->from_ns)
			continue;
		is_wanted[begin->place] = !time_span_has(part, begin->time_ns);
		is_wanted[end->place] = !time_span_has(part, end->time_ns);
	}
}

int marks_add_border(const struct capture *c, const struct time_span *part, struct buf *to)
{
	const struct capture_attr *attr = event_iter_find(c, TRACE_DATA_MARK_ID);
	struct border_copy copy = { .to = to };
	struct string_table *names;
	struct marks m;
	int err;

	if (!attr)
		return 0;
	err = string_table_new(&names);
	if (err)
		return err;
	err = marks_load(c, names, &m);
	string_table_free(names);
	if (err)
		return err;
	copy.count = (uint32_t)(m.count + m.broken);
	copy.is_wanted = calloc((size_t)copy.count + 1, sizeof(*copy.is_wanted));
	if (copy.is_wanted) {
		want_marks(&m, part, copy.is_wanted);
		err = each_record(c, attr, copy_wanted, &copy);
	} else {
		err = -ENOMEM;
	}
	free(copy.is_wanted);
	marks_done(&m);
	return err;
}
