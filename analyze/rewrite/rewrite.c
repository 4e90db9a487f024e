/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/rewrite/rewrite_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_of.h"
#include "analyze/input/slice_border.h"
#include "format/base/cursor.h"
#include "format/perf/perfrec.h"
#include "format/perf/trace_data.h"

#define LEVEL             3         /* zstd */
#define FLUSH_BYTES       (8 << 20) /* records in memory between two flushes */
#define FALLBACK_ID_FIRST 1         /* ids of events for which the source has none */

/* ---- the head of the new file ---- */

static struct writer_attr *copy_attrs(const struct capture *c, uint64_t **fallback_ids)
{
	size_t i, count;
	const struct capture_attr *from = capture_attrs(c, &count);
	struct writer_attr *to = calloc(count, sizeof(*to));
	uint64_t *ids = calloc(count, sizeof(*ids));

	if (!to || !ids) {
		free(to);
		free(ids);
		return NULL;
	}
	for (i = 0; i < count; i++) {
		ids[i] = FALLBACK_ID_FIRST + i;
		to[i].attr = from[i].attr;
		to[i].ids = from[i].id_count ? from[i].ids : &ids[i];
		to[i].id_count = from[i].id_count ? from[i].id_count : 1;
	}
	*fallback_ids = ids;
	return to;
}

/* All sections but those the writer makes itself, and those that describe what is not copied. */
static size_t copy_features(const struct capture *c,
			    struct writer_feature to[PERFFILE_FEATURE_BITS])
{
	static const uint64_t left_out = 1U << PERFFILE_BUILD_ID | 1U << PERFFILE_SAMPLE_TIME |
					 1U << PERFFILE_COMPRESSED | 1U << 18 /* AUXTRACE */ |
					 1U << PERFFILE_DIR_FORMAT;
	struct capture_bytes b;
	size_t count = 0;
	unsigned bit;

	for (bit = 1; bit < 64; bit++) {
		b = capture_feature(c, bit);
		if (b.data && !(left_out >> bit & 1))
			to[count++] = (struct writer_feature){ bit, b.data, b.size_bytes };
	}
	return count;
}

/*
 * A slice is a capture of its own: half of the id is its source's, the other half depends on the
 * part.
 */
static void make_uuid(const struct rewrite *rw, uint8_t uuid[16])
{
	const struct ebx_super *super = capture_super(rw->c);
	uint64_t part = rw->span.from_ns * 0x9e3779b97f4a7c15U ^ rw->span.to_ns;

	memset(uuid, 0, 16);
	if (super)
		memcpy(uuid, super->uuid, 16);
	part ^= le64_load(uuid + 8);
	le64_store(uuid + 8, part);
	uuid[6] = (uuid[6] & 0x0f) | 0x80; /* RFC 9562: version 8, of our own making */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

/*
 * An edit works on copies, owned: one behind the other.  *count: of those that are not left out.  NULL:
 * no memory.
 */
static uint8_t *edit_features(const struct rewrite_edit *edit, struct writer_feature *list,
			      size_t *count)
{
	size_t bytes = 1, at = 0, used = 0;
	uint8_t *copy;

	for (size_t i = 0; i < *count; i++)
		bytes += list[i].size_bytes;
	copy = malloc(bytes);
	for (size_t i = 0; copy && i < *count; i++) {
		struct writer_feature one = list[i];

		if (one.size_bytes)
			memcpy(copy + at, one.data, one.size_bytes);
		one.data = copy + at;
		at += one.size_bytes;
		if (edit->section(edit->ctx, one.bit, (uint8_t *)one.data, one.size_bytes))
			list[used++] = one;
	}
	*count = used;
	return copy;
}

static int open_writer(struct rewrite *rw, int fd)
{
	struct writer_feature features[PERFFILE_FEATURE_BITS];
	struct writer_opts opts = { .level = LEVEL, .plain = rw->opts->plain };
	uint64_t *fallback_ids = NULL;
	struct writer_attr *attrs;
	uint8_t *copy = NULL;
	int err = 0;

	capture_attrs(rw->c, &opts.attr_count);
	if (!opts.attr_count)
		return -ENOTSUP;
	attrs = copy_attrs(rw->c, &fallback_ids);
	if (!attrs)
		return -ENOMEM;
	opts.attrs = attrs;
	opts.features = features;
	opts.feature_count = copy_features(rw->c, features);
	if (rw->opts->edit) {
		copy = edit_features(rw->opts->edit, features, &opts.feature_count);
		err = copy ? 0 : -ENOMEM;
	}
	if (!rw->opts->edit || !rw->opts->edit->no_wall_clock)
		capture_clock(rw->c, &opts.clock_mono_ns, &opts.clock_wall_ns);
	make_uuid(rw, opts.uuid);
	if (!err)
		err = writer_new(fd, &opts, &rw->w);
	free(copy);
	free(fallback_ids);
	free(attrs);
	return err;
}

/* ---- joined captures ---- */

static void patch_id(struct rewrite *rw, uint8_t *at)
{
	const struct capture_attr *of = capture_attr_by_id(rw->c, le64_load(at));
	size_t count;

	if (of)
		le64_store(at, rw->join->new_ids[of - capture_attrs(rw->c, &count)]);
}

/* A joined capture has its events under other ids, and its state of the start gets a time. */
static void adopt(struct rewrite *rw, struct perf_event_header *copy,
		  const struct capture_attr *attr, uint64_t *time_ns)
{
	uint64_t type = attr->attr.sample_type;
	size_t tail_bytes = perfrec_tail_bytes(&attr->attr), size = copy->size;
	uint8_t *rec = (uint8_t *)copy, *tail = rec + size - tail_bytes;

	if (copy->type == PERF_RECORD_SAMPLE) {
		if (type & PERF_SAMPLE_IDENTIFIER && size >= sizeof(*copy) + 8)
			patch_id(rw, rec + sizeof(*copy));
		return;
	}
	if (copy->type == PERF_RECORD_LOST && size >= sizeof(*copy) + 16 + tail_bytes)
		patch_id(rw, rec + sizeof(*copy));
	if (size < sizeof(*copy) + tail_bytes || tail_bytes < 8)
		return;
	if (type & PERF_SAMPLE_IDENTIFIER)
		patch_id(rw, rec + size - 8);
	if (type & PERF_SAMPLE_TIME && !*time_ns && rw->join->start_ns) {
		*time_ns = rw->join->start_ns;
		le64_store(tail + (type & PERF_SAMPLE_TID ? 8 : 0), *time_ns);
	}
}

/* Those of a border, which stays where the first of several files has it. */
static void adopt_border(struct rewrite *rw, uint8_t *data, size_t size_bytes)
{
	const struct slice_border border = { .data = data, .size_bytes = size_bytes };
	struct event_of events = event_of_capture(rw->c);
	const struct perf_event_header *header;
	const struct capture_attr *attr;
	uint64_t time_ns = 1; /* they have theirs */
	size_t at = 0;

	while ((header = slice_border_next(&border, &at))) {
		attr = event_of_find(&events, header);
		if (attr)
			adopt(rw, (void *)(data + at - header->size), attr, &time_ns);
	}
}

/* ---- private objects ---- */

static bool is_retained(const struct rewrite *rw, const struct capture_object *o)
{
	if (!o->is_complete)
		return false;
	if (rw->join)
		return rw->join->wants(rw->join->ctx, o);
	if (rw->opts->edit)
		return true;
	if (rw->opts->add)
		return o->kind != EBX_SYMTAB || !rw->opts->replaces_symbols;
	if (rw->opts->filter && o->kind == EBX_BORDER)
		return false;
	return o->kind != EBX_META ||
	       o->object != EBX_META_ACCOUNT; /* it counts the entire recording */
}

/* Its records are edited as those of blocks are. */
static void edit_border(const struct rewrite *rw, uint8_t *data, size_t *size_bytes)
{
	const struct rewrite_edit *edit = rw->opts->edit;
	const struct slice_border border = { .data = data, .size_bytes = *size_bytes };
	const struct perf_event_header *header;
	size_t at = 0, bytes, used = BORDER_HEAD_BYTES;
	struct event_of events = event_of_capture(rw->c);
	const struct capture_attr *attr;
	uint8_t *record;

	while ((header = slice_border_next(&border, &at))) {
		bytes = header->size;
		record = data + at - bytes;
		attr = event_of_find(&events, header);
		if (!attr || !edit->record(edit->ctx, attr, (void *)record))
			continue;
		memmove(data + used, record, bytes);
		used += bytes;
	}
	if (*size_bytes > used) /* what is no record may be a name */
		*size_bytes = used;
}

static int put_object(struct rewrite *rw, const struct capture_object *o, uint8_t *data,
		      size_t size_bytes)
{
	const struct rewrite_edit *edit = rw->opts->edit;

	if (rw->join && o->kind == EBX_BORDER)
		adopt_border(rw, data, size_bytes);
	if (rw->join)
		return rw->join->object(rw->join->ctx, o, data, size_bytes);
	if (edit && o->kind == EBX_BORDER)
		edit_border(rw, data, &size_bytes);
	else if (edit && !edit->object(edit->ctx, o, data, &size_bytes))
		return 0;
	return writer_object(rw->w, o->kind, o->object, data, size_bytes);
}

int rewrite_objects(struct rewrite *rw)
{
	size_t i, count, size_bytes;
	const struct capture_object *o = capture_objects(rw->c, &count);
	uint8_t *data;
	int err = 0;

	for (i = 0; !err && i < count; i++) {
		if (!is_retained(rw, &o[i]))
			continue;
		err = capture_object_read(rw->c, &o[i], &data, &size_bytes);
		if (err == -ENOMEM)
			return err;
		if (err) {
			rw->stats.bad_blocks++;
			err = 0;
			continue;
		}
		err = put_object(rw, &o[i], data, size_bytes);
		free(data);
	}
	return err;
}

/* ---- records ---- */

/* Records of perf's own making that mean the same in the new file.  The others describe the old
 * file's layout, or have a blob behind them. */
static bool is_retained_user_record(uint32_t type)
{
	switch (type) {
	case PERFFILE_RECORD_FINISHED_ROUND:
	case PERFFILE_RECORD_ID_INDEX:
	case PERFFILE_RECORD_THREAD_MAP:
	case PERFFILE_RECORD_CPU_MAP:
	case PERFFILE_RECORD_EVENT_UPDATE:
	case PERFFILE_RECORD_TIME_CONV:
	case PERFFILE_RECORD_FINISHED_INIT:
		return true;
	default:
		return false;
	}
}

static bool is_tracepoint(const struct capture_attr *attr, uint32_t id)
{
	return attr->attr.type == PERF_TYPE_TRACEPOINT && attr->attr.config == id;
}

/* The stream of a record when its block does not have it. */
static enum ebx_stream stream_of(const struct record *r, const struct capture_attr *attr)
{
	if (r->header->type != PERF_RECORD_SAMPLE)
		return EBX_STREAM_SIDE;
	if (!strncmp(attr->name, "sched:", 6) || is_tracepoint(attr, TRACE_DATA_WAKER_ID) ||
	    is_tracepoint(attr, TRACE_DATA_EXIT_ID))
		return EBX_STREAM_SCHED;
	if (is_tracepoint(attr, TRACE_DATA_MARK_ID))
		return EBX_STREAM_MARK;
	if (event_is_table(attr))
		return EBX_STREAM_METRIC;
	return EBX_STREAM_CPU;
}

/* Its time (0: none) and CPU (-1: none). */
static uint64_t time_of(const struct record *r, const struct perf_event_attr *attr, int *cpu)
{
	struct perf_sample sample;
	struct perfrec_side side;
	int err;

	*cpu = -1;
	if (r->header->type == PERF_RECORD_SAMPLE) {
		if (perfrec_sample(r->header, r->header->size, attr, &sample, NULL))
			return 0;
		*cpu = sample.cpu;
		return sample.time_ns;
	}
	err = perfrec_side(r->header, r->header->size, attr, &side, NULL);
	return err && err != -ENOTSUP ? 0 : side.id.time_ns;
}

/* Linux 6.18 sets this for all events while one wants build-ids; perf 6.1 aborts on such a record. */
static bool has_flag_without_build_id(const struct record *r, const struct perf_event_attr *attr)
{
	struct perfrec_side side;

	return r->header->type == PERF_RECORD_MMAP2 &&
	       r->header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
	       !perfrec_side(r->header, r->header->size, attr, &side, NULL) &&
	       !side.mmap.id.build_id.size_bytes;
}

static void see_counts(struct rewrite *rw, const struct perf_event_header *header,
		       const struct capture_attr *attr, bool stays)
{
	struct perf_sample sample;

	if (header->type == PERF_RECORD_SAMPLE && rw->members && group_read_are_in(attr) &&
	    !rw->members_err && !perfrec_sample(header, header->size, &attr->attr, &sample, NULL))
		rw->members_err = group_read_rebase(rw->members, &sample, stays);
}

/* The record, or a copy without what the kernel did not mean, and with what a join or an edit
 * changes.  NULL: it is left out. */
static const struct perf_event_header *mended(struct rewrite *rw, const struct record *r,
					      const struct capture_attr *attr, uint64_t *time_ns)
{
	size_t stated = r->header->size;
	size_t size = perfrec_true_size(r->header, stated, perfrec_tail_bytes(&attr->attr));
	bool wrong_id = has_flag_without_build_id(r, &attr->attr);
	bool counts = rw->members && group_read_are_in(attr);
	struct perf_event_header *copy = (void *)rw->copy;

	if (size == stated && !wrong_id && !rw->join && !rw->opts->edit && !counts)
		return r->header;
	memcpy(copy, r->header, size);
	copy->size = (uint16_t)size;
	if (wrong_id)
		copy->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (counts)
		see_counts(rw, copy, attr, true);
	if (rw->join)
		adopt(rw, copy, attr, time_ns);
	if (rw->opts->edit && !rw->opts->edit->record(rw->opts->edit->ctx, attr, copy))
		return NULL;
	return copy;
}

static int put(struct rewrite *rw, enum ebx_stream stream, const struct perf_event_header *header,
	       uint64_t time_ns, int cpu)
{
	int err = writer_record(rw->w, stream, header, header->size, time_ns, cpu);

	if (err)
		return err;
	rw->stats.record_count++;
	rw->stats.sample_count += header->type == PERF_RECORD_SAMPLE;
	if (writer_pending_bytes(rw->w) <= FLUSH_BYTES)
		return 0;
	return rw->join ? rw->join->flush(rw->join->flush_ctx, rw->w)
			: writer_flush(rw->w, /* round= */ false);
}

static bool is_wanted(const struct rewrite *rw, uint64_t time_ns)
{
	return !rw->opts->filter || filter_has_time(rw->opts->filter, time_ns);
}

/* Whether an earlier capture of the join has that time. */
static bool is_twin(const struct rewrite_join *join, uint64_t time_ns)
{
	for (size_t i = 0; i < join->known_count; i++)
		if (time_span_has(&join->known[i], time_ns))
			return true;
	return false;
}

static int copy_record(struct rewrite *rw, const struct record *r)
{
	size_t count;
	const struct capture_attr *attr;
	const struct capture_block *block = capture_blocks(rw->c, &count) + r->block;
	const struct time_span *span = &rw->span;
	enum ebx_stream stream = block->stream;
	const struct perf_event_header *header;
	uint32_t type = r->header->type;
	uint64_t time_ns;
	int cpu;

	if (r->header->size % 8 || r->header->size > PERFFILE_RECORD_MAX ||
	    (type >= PERFFILE_RECORD_HEADER_ATTR && !is_retained_user_record(type))) {
		rw->stats.skipped_count++;
		return 0;
	}
	if (type >= PERFFILE_RECORD_HEADER_ATTR)
		return rw->opts->plain ? put(rw, EBX_STREAM_SIDE, r->header, 0, -1) : 0;
	attr = event_of_find(&rw->events, r->header);
	if (!attr)
		attr = rw->events.attrs;
	time_ns = time_of(r, &attr->attr, &cpu);
	if (type == PERF_RECORD_SAMPLE ? !is_wanted(rw, time_ns) : time_ns > span->to_ns) {
		see_counts(rw, r->header, attr, false);
		return rw->members_err;
	}
	if (stream == CAPTURE_STREAM_MIXED || stream >= EBX_STREAM_END)
		stream = stream_of(r, attr);
	if (rw->join && time_ns && type == PERF_RECORD_SAMPLE && stream != EBX_STREAM_CPU &&
	    is_twin(rw->join, time_ns)) {
		rw->stats.twin_count++;
		return 0;
	}
	header = mended(rw, r, attr, &time_ns);
	if (rw->members_err)
		return rw->members_err;
	return header ? put(rw, stream, header, time_ns, cpu) : 0;
}

/* Records of blocks [first, first + count). */
static int copy_blocks(struct rewrite *rw, size_t first, size_t count)
{
	struct record_iter *it;
	struct record r;
	int err = record_iter_new(rw->c, UINT32_MAX, first, count, &it);

	if (err)
		return err;
	while ((err = record_iter_next(it, &r)) > 0) {
		err = copy_record(rw, &r);
		if (err)
			break;
	}
	rw->stats.bad_blocks += record_iter_damage(it);
	record_iter_free(it);
	return err;
}

/*
 * Records of the state at the start have no time, and their block only that of its other records.
 * They come first: up to the end of the first side block that has a time.
 */
static bool is_needed(const struct capture_block *f, const struct time_span *span, bool *start_seen)
{
	bool side = f->stream == EBX_STREAM_SIDE || f->stream == CAPTURE_STREAM_MIXED;

	if (side && !*start_seen) {
		*start_seen = f->t_min_ns != 0;
		return true;
	}
	return f->t_min_ns <= span->to_ns && (side || f->t_max_ns >= span->from_ns);
}

/* Only the blocks that hold something of the span: a small slice of a large capture is quick. */
int rewrite_records(struct rewrite *rw)
{
	const struct time_span *span = &rw->span;
	size_t i, first, count;
	const struct capture_block *f = capture_blocks(rw->c, &count);
	bool start_seen = false;
	int err;

	rw->events = event_of_capture(rw->c);
	if (!capture_is_divisible(rw->c) || rw->members)
		return copy_blocks(rw, 0, SIZE_MAX);
	for (i = 0; i < count; i++) {
		for (first = i; i < count && is_needed(&f[i], span, &start_seen); i++) {
			if (f[i].stream < EBX_STREAM_END)
				writer_lost(rw->w, f[i].stream, f[i].lost_count);
		}
		err = i > first ? copy_blocks(rw, first, i - first) : 0;
		if (err)
			return err;
	}
	return 0;
}

int rewrite_capture(const struct capture *c, int fd, const struct rewrite_opts *opts,
		    struct rewrite_stats *out)
{
	struct capture_bytes ids = capture_feature(c, PERFFILE_BUILD_ID);
	struct writer_feature build_id = { PERFFILE_BUILD_ID, ids.data, ids.size_bytes };
	struct rewrite rw = { .c = c,
			      .opts = opts,
			      .span = opts->filter ? opts->filter->span : TIME_SPAN_ALL };
	size_t id_count = ids.size_bytes ? 1 : 0;
	struct writer_stats stats;
	uint8_t *copy = NULL;
	int err;

	if (opts->edit) {
		copy = edit_features(opts->edit, &build_id, &id_count);
		if (!copy)
			return -ENOMEM;
	}
	err = open_writer(&rw, fd);
	if (err) {
		free(copy);
		return err;
	}
	err = rewrite_objects(&rw);
	if (!err && opts->border)
		err = writer_object(rw.w, EBX_BORDER, 0, opts->border->data,
				    opts->border->size_bytes);
	if (!err && opts->add)
		err = opts->add(opts->add_arg, rw.w);
	if (!err && opts->filter && group_read_any(c))
		err = group_read_new(c, &rw.members);
	if (!err)
		err = rewrite_records(&rw);
	group_read_free(rw.members);
	if (!err)
		err = writer_finish(rw.w, &build_id, id_count);
	if (!err) {
		writer_get_stats(rw.w, &stats);
		rw.stats.file_bytes = stats.file_bytes;
		*out = rw.stats;
	}
	writer_free(rw.w);
	free(copy);
	return err;
}
