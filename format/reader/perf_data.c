/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Walks perf's files: a data section, or a pipe's stream.
 *
 * Plain records are cut into runs of about 256 KiB at record boundaries, so that they can be read
 * like blocks; each COMPRESSED record is a block.  In a pipe the attrs and features are records
 * too and are collected on the way.  Two types are followed by bytes outside of their size:
 * TRACING_DATA and AUXTRACE.
 */
#include "format/reader/capture_priv.h"

#include <errno.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "format/perf/perfrec.h"

#define AHEAD_BYTES        (1 << 20)
#define EVENT_UPDATE_NAME  2   /* PERF_EVENT_UPDATE__NAME */
#define PLAUSIBLE_TYPE_MAX 127 /* perf's types end at 83 today */
#define KERNEL_TYPE_MAX    PERFREC_LATER

struct walk {
	struct capture *c;
	struct window window;
	uint64_t off_bytes, end_bytes;
	bool declared;            /* the file's header has the end of the data */
	struct capture_block run; /* file_bytes 0: none is open */
	struct update *updates;   /* owned */
	size_t update_count, update_room;
};

/* A name for the event that has this id; applied when all ids are known. */
struct update {
	uint64_t id, off_bytes;
	uint16_t size_bytes;
};

static int end_run(struct walk *w)
{
	int err = 0;

	if (w->run.file_bytes)
		err = capture_add_block(w->c, &w->run);
	w->run = (struct capture_block){ 0 };
	return err;
}

static int add_to_run(struct walk *w, uint32_t type, uint16_t size)
{
	int err = 0;

	if (w->run.file_bytes + size > EBX_RAW_MAX)
		err = end_run(w);
	if (err)
		return err;
	if (!w->run.file_bytes)
		w->run = (struct capture_block){
			.off_bytes = w->off_bytes,
			.stream = CAPTURE_STREAM_MIXED,
			.t_max_ns = UINT64_MAX,
		};
	w->run.file_bytes += size;
	w->run.raw_bytes += size;
	w->run.record_count++;
	w->run.sample_count += type == PERF_RECORD_SAMPLE;
	return 0;
}

static int add_compressed(struct walk *w, uint16_t size)
{
	const struct capture_block block = {
		.off_bytes = w->off_bytes,
		.file_bytes = size,
		.stream = CAPTURE_STREAM_MIXED,
		.compressed = true,
		.t_max_ns = UINT64_MAX,
	};
	int err = end_run(w);

	w->c->divisible = false;
	return err ? err : capture_add_block(w->c, &block);
}

/* ---- records with the contents of a file's header ---- */

static int take_attr(struct capture *c, const uint8_t *rec, size_t size)
{
	uint32_t attr_bytes;

	if (size < 16)
		return -EBADMSG;
	attr_bytes = le32_load(rec + 12);
	if (!attr_bytes)
		attr_bytes = PERF_ATTR_SIZE_VER0;
	if (attr_bytes < PERF_ATTR_SIZE_VER0 || attr_bytes > size - 8)
		return -EBADMSG;
	return capture_add_attr(c, rec + 8, attr_bytes, rec + 8 + attr_bytes,
				(size - 8 - attr_bytes) / 8);
}

static int take_feature(struct capture *c, const uint8_t *rec, size_t size)
{
	uint64_t bit;

	if (size < 16)
		return -EBADMSG;
	bit = le64_load(rec + 8);
	if (bit >= PERFFILE_FEATURE_BITS)
		return 0;
	return capture_add_feature(c, (unsigned)bit, rec + 16, size - 16);
}

static int take_update(struct walk *w, const uint8_t *rec, size_t size)
{

	if (size < 24)
		return -EBADMSG;
	if (le64_load(rec + 8) != EVENT_UPDATE_NAME)
		return 0;
	if (vec_reserve(&w->updates, &w->update_room, w->update_count + 1))
		return -ENOMEM;
	w->updates[w->update_count++] = (struct update){
		.id = le64_load(rec + 16),
		.off_bytes = w->off_bytes + 24,
		.size_bytes = (uint16_t)(size - 24),
	};
	return 0;
}

static int apply_updates(struct walk *w)
{
	struct capture *c = w->c;
	int err = 0;

	for (size_t i = 0; !err && i < w->update_count; i++) {
		const struct update *u = &w->updates[i];
		const struct capture_attr *a = capture_attr_by_id(c, u->id);
		const uint8_t *name = a ? window_at(&w->window, u->off_bytes, u->size_bytes) : NULL;

		if (name)
			err = capture_name_attr(c, (size_t)(a - c->attrs), name, u->size_bytes);
	}
	return err;
}

/* Collects from the record what describes the file. -ENOMEM. */
static int take_header_record(struct walk *w, uint32_t type, const uint8_t *rec, size_t size)
{
	struct capture *c = w->c;
	int err = 0;

	if (type == PERFFILE_RECORD_EVENT_UPDATE)
		err = take_update(w, rec, size);
	else if (c->kind == CAPTURE_PIPE && type == PERFFILE_RECORD_HEADER_ATTR)
		err = take_attr(c, rec, size);
	else if (c->kind == CAPTURE_PIPE && type == PERFFILE_RECORD_HEADER_FEATURE)
		err = take_feature(c, rec, size);
	if (err != -EBADMSG)
		return err;
	c->damage.bad_sections++;
	damage_note(c, w->off_bytes, "broken header record");
	return 0;
}

/* Copies a blob into a feature section.  -ENOMEM. */
static int take_blob(struct walk *w, unsigned bit, uint64_t off, uint64_t size)
{
	struct capture *c = w->c;
	uint8_t *data;

	if (c->features[bit].data || !size || size > c->source.size_bytes - c->loaded_bytes)
		return 0;
	data = malloc(size);
	if (!data)
		return -ENOMEM;
	if (source_read(&c->source, off, data, size) != size) {
		free(data);
		return 0;
	}
	c->loaded_bytes += size;
	c->features[bit] = (struct capture_bytes){ .data = data, .size_bytes = size };
	return 0;
}

/* ---- the walk ---- */

static bool type_is_known(uint32_t type)
{
	return type <= KERNEL_TYPE_MAX ||
	       (type >= PERFFILE_RECORD_HEADER_ATTR && type <= PERFFILE_RECORD_COMPRESSED2);
}

/* How many bytes follow the record without being part of it; false: the record is broken. */
static bool blob_size(uint32_t type, const uint8_t *rec, size_t size, uint64_t *out)
{
	*out = 0;
	if (type == PERFFILE_RECORD_TRACING_DATA) {
		if (size < 12)
			return false;
		*out = ((uint64_t)le32_load(rec + 8) + 7) & ~7ULL;
	} else if (type == PERFFILE_RECORD_AUXTRACE) {
		if (size < 16)
			return false;
		*out = le64_load(rec + 8);
	}
	return true;
}

/* Handles one complete record at w->off_bytes; *taken_bytes with its blob.  -EBADMSG, -ENOMEM. */
static int walk_record(struct walk *w, uint32_t type, const uint8_t *rec, uint16_t size,
		       uint64_t *taken_bytes)
{
	uint64_t blob;
	int err;

	if (!blob_size(type, rec, size, &blob) || blob > w->end_bytes - w->off_bytes - size)
		return -EBADMSG;
	*taken_bytes = size + blob;
	if (type == PERFFILE_RECORD_COMPRESSED || type == PERFFILE_RECORD_COMPRESSED2)
		return add_compressed(w, size);
	if (type == PERFFILE_RECORD_TRACING_DATA || type == PERFFILE_RECORD_AUXTRACE) {
		err = end_run(w);
		if (!err && type == PERFFILE_RECORD_TRACING_DATA && w->c->kind == CAPTURE_PIPE)
			err = take_blob(w, PERFFILE_TRACING_DATA, w->off_bytes + size, blob);
		return err;
	}
	if (!type_is_known(type) && w->c->damage.unknown_records < UINT32_MAX)
		w->c->damage.unknown_records++;
	err = take_header_record(w, type, rec, size);
	return err ? err : add_to_run(w, type, size);
}

/* The record at the walk's offset, or NULL: it is not complete, or no record. */
static const uint8_t *current(struct walk *w, uint32_t *type, uint16_t *size)
{
	uint64_t left = w->end_bytes - w->off_bytes;
	const uint8_t *p = left >= 8 ? window_at(&w->window, w->off_bytes, 8) : NULL;

	if (!p)
		return NULL;
	*type = le32_load(p);
	*size = le16_load(p + 6);
	if (!*type || *size < 8 || *size > left || (!w->declared && *type > PLAUSIBLE_TYPE_MAX))
		return NULL;
	return window_at(&w->window, w->off_bytes, *size);
}

static int walk_records(struct walk *w)
{
	struct capture *c = w->c;

	while (w->off_bytes < w->end_bytes) {
		uint16_t size = 0;
		uint32_t type = 0;
		const uint8_t *rec = current(w, &type, &size);
		uint64_t taken = 0;
		int err = rec ? walk_record(w, type, rec, size, &taken) : -EBADMSG;

		if (err == -EBADMSG) {
			c->damage.cut = true;
			damage_note(c, w->off_bytes, "the chain of records ends here");
			break;
		}
		if (err)
			return err;
		w->off_bytes += taken;
	}
	return end_run(w);
}

int capture_walk_foreign(struct capture *c)
{
	uint64_t size = c->source.size_bytes;
	struct walk w = { .c = c, .off_bytes = c->data_off_bytes, .end_bytes = size };
	int err;

	c->divisible = true;
	w.declared = c->kind == CAPTURE_PERF && c->data_size_bytes;
	if (c->kind == CAPTURE_PERF && !c->data_size_bytes && c->data_off_bytes < size) {
		c->damage.cut = true;
		damage_note(c, PERFFILE_DATA_SIZE_OFF, "data size is 0: perf did not end well");
	} else if (c->data_off_bytes > size || c->data_size_bytes > size - c->data_off_bytes) {
		c->damage.cut = true;
		damage_note(c, size, "the file ends before its data does");
	} else {
		w.end_bytes = c->data_off_bytes + c->data_size_bytes;
	}
	if (w.off_bytes > w.end_bytes)
		w.off_bytes = w.end_bytes;
	window_init(&w.window, &c->source, AHEAD_BYTES);
	err = walk_records(&w);
	if (!err)
		err = capture_finish_attrs(c);
	if (!err)
		err = apply_updates(&w);
	if (w.window.no_memory)
		err = -ENOMEM;
	free(w.updates);
	window_done(&w.window);
	c->data_end_bytes = w.off_bytes;
	c->damage.cut_off_bytes = c->damage.cut ? w.off_bytes : 0;
	return err;
}
