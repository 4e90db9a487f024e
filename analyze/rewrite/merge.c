/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/group_read.h"
#include "analyze/rewrite/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/build_ids.h"
#include "analyze/rewrite/merge_head.h"
#include "analyze/rewrite/merge_records.h"
#include "analyze/input/capture_meta.h"
#include "analyze/input/slice_border.h"
#include "analyze/rewrite/rewrite_priv.h"
#include "analyze/base/string_table.h"
#include "format/base/outbuf.h"
#include "format/base/vec.h"
#include "format/perf/build_id_feature.h"
#include "format/base/cursor.h"
#include "format/payload/cmdline_record.h"
#include "format/payload/context_record.h"
#include "format/text/json_writer.h"

#define BOOT_SLACK_NS 120000000000ULL /* clocks are set while a machine runs */

struct part {
	const struct capture *c;
	size_t input;                    /* as given */
	struct time_span span;           /* of everything in it */
	struct time_span switches;       /* from when to when it recorded them; 0, 0: it has none */
	bool is_partial;                 /* some processes alone */
	bool all_processes;              /* recorded */
	struct capture_meta_part *parts; /* that it was merged of itself; owned */
	size_t part_count;
	uint64_t *new_ids;       /* by attr */
	uint64_t object_base;    /* for numbers that only count */
	struct time_span *known; /* see known_before(); owned */
	size_t known_count;
};

struct merge {
	struct part *parts; /* by start */
	size_t count, current;
	const struct capture **list; /* of the parts */
	struct merge_head head;
	struct string_table *files; /* names of those that do not grow, */
	size_t *file_parts;         /* and the part of each that had it first, by number in files */
	size_t file_capacity;
	struct build_id_list *build_ids;
	struct rewrite_opts opts; /* all is written */
	struct rewrite rw;        /* of objects */
	struct merge_error *error;
};

static int __attribute__((format(printf, 3, 4)))
differ(struct merge *m, size_t part, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->error->text, sizeof(m->error->text), fmt, ap);
	va_end(ap);
	m->error->input = m->parts[part].input;
	return -EXDEV;
}

/* ---- do they go together? ---- */

/* From the earliest to the latest time of any record. */
static void find_span(const struct capture *c, struct time_span *out)
{
	size_t count;
	const struct capture_block *f = capture_blocks(c, &count);
	struct time_span span = { UINT64_MAX, 0 };

	for (size_t i = 0; capture_is_divisible(c) && i < count; i++) {
		if (f[i].t_min_ns && f[i].t_min_ns < span.from_ns)
			span.from_ns = f[i].t_min_ns;
		if (f[i].t_max_ns != UINT64_MAX && f[i].t_max_ns > span.to_ns)
			span.to_ns = f[i].t_max_ns;
	}
	if (span.from_ns > span.to_ns && time_span_of_capture(c, &span))
		span = (struct time_span){ 0, 0 };
	*out = span;
}

/*
 * When its switches were recorded.  Side-band records come long before: processes that were started while the
 * recorder read what was there.
 */
static void find_switches(const struct capture *c, struct part *p)
{
	size_t count;
	const struct capture_block *f = capture_blocks(c, &count);
	struct time_span span = { UINT64_MAX, 0 }, file;
	uint64_t began_ns = capture_meta_began_ns(c), end_ns = capture_meta_end_ns(c);

	if (!capture_is_divisible(c)) {
		p->switches = p->span;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (f[i].stream == CAPTURE_STREAM_MIXED)
			span = p->span;
		if (f[i].stream != EBX_STREAM_SCHED || !f[i].t_min_ns)
			continue;
		if (f[i].t_min_ns < span.from_ns)
			span.from_ns = f[i].t_min_ns;
		if (f[i].t_max_ns != UINT64_MAX && f[i].t_max_ns > span.to_ns)
			span.to_ns = f[i].t_max_ns;
	}
	if (span.from_ns > span.to_ns)
		return;
	if (began_ns && began_ns < span.from_ns)
		span.from_ns = began_ns; /* threads slept until its first switch */
	if (end_ns > span.from_ns)
		span.to_ns = end_ns; /* what came behind it is only a part of what there was */
	/* One of several files begins where the one before ends, and has what came late of that. */
	if (capture_meta_segment(c, &file) && file.from_ns < span.to_ns)
		span.from_ns = file.from_ns;
	p->switches = span;
}

/* From when to when it recorded what happens. */
static const struct time_span *recorded(const struct part *p)
{
	return p->switches.to_ns ? &p->switches : &p->span;
}

static int by_start(const void *va, const void *vb)
{
	const struct part *a = va, *b = vb;
	uint64_t a_ns = recorded(a)->from_ns, b_ns = recorded(b)->from_ns;

	if (a_ns != b_ns)
		return a_ns < b_ns ? -1 : 1;
	return a->input < b->input ? -1 : a->input > b->input;
}

/* A merged capture stands for those that it was merged of. */
static int find_parts(struct part *p)
{
	p->parts = calloc(CAPTURE_META_PARTS_MAX, sizeof(*p->parts));
	if (!p->parts)
		return -ENOMEM;
	p->part_count = capture_meta_parts(p->c, p->parts);
	if (p->part_count) {
		p->parts[0].records.from_ns = p->span.from_ns; /* what it found gets that time */
		return 0;
	}
	p->parts[0] = (struct capture_meta_part){ p->span, p->switches, p->all_processes,
						  p->is_partial };
	p->part_count = 1;
	return 0;
}

static int make_parts(struct merge *m, const struct capture *const *inputs)
{
	struct capture_meta_value start;
	size_t total = 0;
	int err = 0;

	m->parts = calloc(m->count, sizeof(*m->parts));
	if (!m->parts)
		return -ENOMEM;
	for (size_t i = 0; !err && i < m->count; i++) {
		m->parts[i].c = inputs[i];
		m->parts[i].input = i;
		find_span(inputs[i], &m->parts[i].span);
		find_switches(inputs[i], &m->parts[i]);
		start = capture_meta_read(inputs[i], EBX_META_START);
		m->parts[i].is_partial = capture_meta_is(start, "system_wide", "false");
		m->parts[i].all_processes = capture_meta_is(start, "system_wide", "true");
		capture_meta_free(start);
		err = find_parts(&m->parts[i]);
		total += m->parts[i].part_count;
		if (!err && total > CAPTURE_META_PARTS_MAX)
			err = differ(m, i, "these are more than %d captures",
				     CAPTURE_META_PARTS_MAX);
	}
	if (!err)
		qsort(m->parts, m->count, sizeof(*m->parts), by_start);
	return err;
}

static int check_host(struct merge *m, size_t i, unsigned bit, const char *what)
{
	const char *first = capture_feature_string(m->parts[0].c, bit),
		   *other = capture_feature_string(m->parts[i].c, bit);

	if (!first || !other || !strcmp(first, other))
		return 0;
	return differ(m, i, "its %s is '%.50s', not '%.50s'", what, other, first);
}

/* Times of CLOCK_MONOTONIC begin with the boot. */
static int check_boot(struct merge *m, size_t i)
{
	struct capture_meta_value first = capture_meta_read(m->parts[0].c, EBX_META_START),
				  other = capture_meta_read(m->parts[i].c, EBX_META_START);
	uint64_t first_ns, other_ns, off_ns;
	int err = 0;

	if (capture_meta_number(first, "boot_wall_ns", &first_ns) &&
	    capture_meta_number(other, "boot_wall_ns", &other_ns)) {
		off_ns = first_ns > other_ns ? first_ns - other_ns : other_ns - first_ns;
		if (off_ns > BOOT_SLACK_NS)
			err = differ(m, i,
				     "the machine was started at another time, so their times "
				     "have nothing in common (--any-boot if its clock was set)");
	}
	capture_meta_free(first);
	capture_meta_free(other);
	return err;
}

static int check(struct merge *m, bool any_boot)
{
	size_t count;
	int err = 0;

	for (size_t i = 0; !err && i < m->count; i++) {
		capture_attrs(m->parts[i].c, &count);
		if (!count)
			return differ(m, i, "there are no events in it");
		/* Joined events have one id each, and counts one for each CPU. */
		if (group_read_any(m->parts[i].c))
			return differ(m, i,
				      "its samples count several events (perf record -e "
				      "'{...}:S'), which cannot be joined");
		err = check_host(m, i, PERFFILE_HOSTNAME, "machine");
		if (!err)
			err = check_host(m, i, PERFFILE_OSRELEASE, "kernel");
		if (!err && !any_boot)
			err = check_boot(m, i);
	}
	return err;
}

/* ---- objects ---- */

static bool is_numbered(enum ebx_kind kind)
{
	return kind == EBX_FILE || kind == EBX_SYMTAB || kind == EBX_NOTE || kind == EBX_FACTS ||
	       kind == EBX_ARGS || kind == EBX_CONTAINERS || kind == EBX_CONTEXTS;
}

/* 1: an earlier part has a file of this name; 0: none has, and it is noted; -ENOMEM, -EOVERFLOW. */
static int note_file(struct merge *m, const uint8_t *name, size_t size_bytes)
{
	uint32_t count = string_table_count(m->files), id;
	int err = string_table_add(m->files, (const char *)name, size_bytes, &id);

	if (!err && id >= count) {
		err = vec_reserve(&m->file_parts, &m->file_capacity, (size_t)id + 1);
		if (!err)
			m->file_parts[id] = m->current;
	}
	return err ? err : m->file_parts[id] < m->current;
}

/* The waits that are under way when the first of these files begins did so in one that is not here. */
static bool begins_as_file(const struct capture *c)
{
	struct slice_border border;
	bool is_file = !slice_border_load(c, &border) && border.head.is_file;

	slice_border_done(&border);
	return is_file;
}

static bool wants_object(void *ctx, const struct capture_object *o)
{
	const struct merge *m = ctx;

	switch (o->kind) {
	case EBX_META: /* the recorder and its options; the other counts only one of them */
		return o->object == EBX_META_START && !m->current;
	case EBX_MOUNTS:
		return true;
	case EBX_BORDER: /* what is merged is no slice, but it may begin as one file of several does */
		return !m->current && begins_as_file(m->parts[0].c);
	default:
		return is_numbered(o->kind) || !m->current;
	}
}

static void date_args(uint8_t *data, size_t size_bytes, uint64_t since_ns)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct cmdline_record p;

	while (cmdline_record_next(&c, &p) > 0)
		if (!p.time_ns)
			le64_store(data + (p.args - (const char *)data) -
					   CMDLINE_RECORD_HEAD_BYTES + CMDLINE_RECORD_TIME_OFF,
				   since_ns);
}

static void date_contexts(uint8_t *data, size_t size_bytes, uint64_t since_ns)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct context_record r;

	while (context_record_next(&c, &r) > 0)
		if (!r.since_ns)
			le64_store(data + (r.message - data) - CONTEXT_RECORD_HEAD_BYTES +
					   CONTEXT_RECORD_TIME_OFF,
				   since_ns);
}

/* The state that a later capture found at its beginning holds since then. */
static int put_state(struct merge *m, enum ebx_kind kind, uint64_t number, const void *data,
		     size_t size_bytes)
{
	const uint64_t since_ns = m->parts[m->current].span.from_ns;
	uint8_t *copy = malloc(size_bytes + 1);
	int err;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, size_bytes);
	if (m->current && kind == EBX_ARGS)
		date_args(copy, size_bytes, since_ns);
	else if (m->current)
		date_contexts(copy, size_bytes, since_ns);
	err = writer_object(m->rw.w, kind, number, copy, size_bytes);
	free(copy);
	return err;
}

static int put_object(void *ctx, const struct capture_object *o, const void *data,
		      size_t size_bytes)
{
	struct merge *m = ctx;
	struct cursor piece = cursor_of(data, size_bytes);
	uint64_t number = o->object;
	const uint8_t *name;
	size_t n;
	int noted = 0;

	/* Files that do not grow: a second one of that name would be put behind the first. */
	if (o->kind == EBX_FILE) {
		n = cursor_u16(&piece);
		name = cursor_bytes(&piece, n);
		noted = name && n && *name == '['
				? note_file(m, name, strnlen((const char *)name, n))
				: 0;
	}
	if (noted)
		return noted < 0 ? noted : 0;
	if (is_numbered(o->kind))
		number += m->parts[m->current].object_base;
	if (o->kind == EBX_ARGS || o->kind == EBX_CONTEXTS)
		return put_state(m, o->kind, number, data, size_bytes);
	return writer_object(m->rw.w, o->kind, number, data, size_bytes);
}

static void number_objects(struct merge *m)
{
	uint64_t base = 0, most;
	size_t count;

	for (size_t i = 0; i < m->count; i++) {
		const struct capture_object *o = capture_objects(m->parts[i].c, &count);

		m->parts[i].object_base = base;
		most = 0;
		for (size_t k = 0; k < count; k++)
			if (is_numbered(o[k].kind) && o[k].object > most)
				most = o[k].object;
		base += most + 1;
	}
}

static int by_switches(const void *va, const void *vb)
{
	const struct capture_meta_part *a = va, *b = vb;
	uint64_t a_ns = a->switches.to_ns ? a->switches.from_ns : a->records.from_ns;
	uint64_t b_ns = b->switches.to_ns ? b->switches.from_ns : b->records.from_ns;

	return a_ns < b_ns ? -1 : a_ns > b_ns;
}

static void put_part_times(struct json_writer *j, const struct capture_meta_part *part)
{
	json_writer_begin(j, NULL);
	json_writer_u64(j, "from_mono_ns", part->records.from_ns);
	json_writer_u64(j, "to_mono_ns", part->records.to_ns);
	json_writer_u64(j, "switches_from_mono_ns", part->switches.from_ns);
	json_writer_u64(j, "switches_to_mono_ns", part->switches.to_ns);
	if (part->system_wide || part->is_partial)
		json_writer_bool(j, "system_wide", part->system_wide);
	json_writer_end(j);
}

static int put_parts(struct merge *m)
{
	struct outbuf text = { 0 };
	struct json_writer j = { .out = &text, .layout = JSON_WRITER_SPACED };
	struct capture_meta_part all[CAPTURE_META_PARTS_MAX];
	size_t count = 0;
	int err;

	json_writer_begin(&j, NULL);
	json_writer_begin_array(&j, "parts");
	for (size_t i = 0; i < m->count; i++)
		for (size_t k = 0; k < m->parts[i].part_count; k++)
			all[count++] = m->parts[i].parts[k];
	qsort(all, count, sizeof(*all), by_switches);
	for (size_t i = 0; i < count; i++)
		put_part_times(&j, &all[i]);
	json_writer_end_array(&j);
	json_writer_end(&j);
	err = outbuf_ok(&text)
		      ? writer_object(m->rw.w, EBX_META, EBX_META_PARTS, text.data, text.size_bytes)
		      : -ENOMEM;
	outbuf_done(&text);
	return err;
}

/* ---- build-ids ---- */

static int add_build_id(void *ctx, const struct buildid *id, const char *path)
{
	struct merge *m = ctx;
	bool kernel = !strncmp(path, "[kernel", 7) || strstr(path, ".ko");
	int err = build_id_list_add(m->build_ids, id, path, kernel);

	return err == -EINVAL ? 0 : err;
}

/* ---- merging ---- */

/*
 * The times that earlier captures of all processes have; how many there are.  One that ended when this one began has none
 * of its events: the next file of a recording has those that came late.
 */
static size_t known_before(const struct merge *m, size_t part, struct time_span *known)
{
	size_t count = 0;

	for (size_t i = 0; i < part; i++) {
		for (size_t k = 0; k < m->parts[i].part_count; k++) {
			const struct capture_meta_part *p = &m->parts[i].parts[k];

			if (p->system_wide &&
			    (!p->switches.to_ns ||
			     p->switches.to_ns > recorded(&m->parts[part])->from_ns))
				known[count++] = p->switches.to_ns ? p->switches : p->records;
		}
	}
	return count;
}

static int find_known(struct merge *m)
{
	for (size_t i = 0; i < m->count; i++) {
		m->parts[i].known = calloc(CAPTURE_META_PARTS_MAX, sizeof(*m->parts[i].known));
		if (!m->parts[i].known)
			return -ENOMEM;
		m->parts[i].known_count = known_before(m, i, m->parts[i].known);
	}
	return 0;
}

static void prepare_records(void *ctx, size_t i, struct rewrite *rw, struct rewrite_join *join)
{
	const struct merge *m = ctx;

	rw->c = m->parts[i].c;
	rw->opts = &m->opts;
	rw->span = TIME_SPAN_ALL;
	join->new_ids = m->head.new_ids[i];
	join->start_ns = i ? m->parts[i].span.from_ns : 0;
	join->known = m->parts[i].known;
	join->known_count = m->parts[i].known_count;
}

static int put_part(struct merge *m, size_t i, struct merge_records *records)
{
	const struct rewrite_join join = {
		.new_ids = m->head.new_ids[i], .ctx = m, .wants = wants_object, .object = put_object
	};
	int err;

	m->current = i;
	m->rw.c = m->parts[i].c;
	m->rw.opts = &m->opts;
	m->rw.join = &join;
	err = rewrite_objects(&m->rw);
	if (!err)
		err = merge_records_put(records, i, m->rw.w, &m->rw.stats);
	if (!err)
		err = build_ids_walk(capture_feature(m->parts[i].c, PERFFILE_BUILD_ID),
				     add_build_id, m);
	return err;
}

static int put_all(struct merge *m, unsigned thread_count)
{
	const struct merge_records_source source = {
		.count = m->count, .like = m->rw.w, .prepare = prepare_records, .ctx = m
	};
	struct merge_records *records;
	int err = find_known(m);

	if (!err)
		err = merge_records_begin(&source, thread_count, &records);
	if (err)
		return err;
	for (size_t i = 0; !err && i < m->count; i++)
		err = put_part(m, i, records);
	merge_records_end(records);
	return err;
}

static int write_all(struct merge *m, int fd, unsigned thread_count)
{
	struct writer_feature build_id = { PERFFILE_BUILD_ID, NULL, 0 };
	struct writer_stats stats;
	int err;

	err = merge_head_open(&m->head, fd, &m->rw.w);
	if (!err)
		err = put_parts(m);
	if (!err)
		err = put_all(m, thread_count);
	if (err)
		return err;
	build_id.data = build_id_list_section(m->build_ids, &build_id.size_bytes);
	err = writer_finish(m->rw.w, &build_id, build_id.size_bytes ? 1 : 0);
	if (!err) {
		writer_get_stats(m->rw.w, &stats);
		m->rw.stats.file_bytes = stats.file_bytes;
	}
	return err;
}

static int make_head(struct merge *m)
{
	size_t wrong = 0;
	int err;

	m->list = calloc(m->count, sizeof(*m->list));
	if (!m->list)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++)
		m->list[i] = m->parts[i].c;
	err = merge_head_make(&m->head, m->list, m->count, &wrong, m->error->text,
			      sizeof(m->error->text));
	m->error->input = m->parts[wrong].input;
	return err;
}

int merge_captures(const struct capture *const *inputs, size_t count, const struct merge_how *how,
		   int fd, struct rewrite_stats *out, struct merge_error *error)
{
	struct merge *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->count = count;
	m->error = error;
	err = make_parts(m, inputs);
	if (!err)
		err = check(m, how->any_boot);
	if (!err)
		err = make_head(m);
	if (!err)
		err = string_table_new(&m->files);
	if (!err)
		err = build_id_list_new(&m->build_ids);
	if (!err) {
		number_objects(m);
		err = write_all(m, fd, how->thread_count);
	}
	if (!err)
		*out = m->rw.stats;
	writer_free(m->rw.w);
	merge_head_done(&m->head);
	build_id_list_free(m->build_ids);
	string_table_free(m->files);
	free(m->file_parts);
	free(m->list);
	for (size_t i = 0; m->parts && i < count; i++) {
		free(m->parts[i].parts);
		free(m->parts[i].known);
	}
	free(m->parts);
	free(m);
	return err;
}
