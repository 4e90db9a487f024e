/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/rewrite/scrub/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/capture_stats.h"
#include "analyze/input/event/event_of.h"
#include "format/base/vec.h"
#include "format/perf/perfrec.h"

#define CHUNK_BYTES (1 << 20)
#define OVERLAP_BYTES \
	(4 << 10) /* a text that lies across two chunks is seen completely up to here */
#define AROUND_BYTES 30

struct check {
	const regex_t *patterns;
	size_t count;
	struct scrub_verify_found found;
	const struct capture *c;
	const struct perf_event_header *record; /* that is looked at, where a place is NULL */
	char *run;                              /* the text that is looked at */
	size_t run_capacity;
	int err;
};

static bool is_text(uint8_t byte)
{
	return byte >= ' ' && byte != 0x7f;
}

/* By its name in perf's headers; of a sample its event and time. */
static void describe_record(const struct capture *c, const struct perf_event_header *header,
			    char place[SCRUB_VERIFY_PLACE_BYTES])
{
	struct event_of events = event_of_capture(c);
	const char *name = capture_stats_type_name(header->type);
	const struct capture_attr *attr;
	struct perf_sample sample;

	if (name && (header->type != PERF_RECORD_SAMPLE || !events.count)) {
		snprintf(place, SCRUB_VERIFY_PLACE_BYTES, "a %s record", name);
		return;
	}
	if (!name) {
		snprintf(place, SCRUB_VERIFY_PLACE_BYTES, "a record of type %" PRIu32,
			 header->type);
		return;
	}
	attr = event_of_find(&events, header);
	if (!attr || perfrec_sample(header, header->size, &attr->attr, &sample, NULL))
		snprintf(place, SCRUB_VERIFY_PLACE_BYTES, "a sample");
	else
		snprintf(place, SCRUB_VERIFY_PLACE_BYTES,
			 "the sample of '%.30s' at %" PRIu64 ".%09" PRIu64 " s, thread %" PRIu32,
			 event_name(attr), sample.time_ns / 1000000000, sample.time_ns % 1000000000,
			 sample.tid);
}

static void note(struct check *k, const char *place, size_t pattern, const char *run,
		 size_t run_bytes, const regmatch_t *m)
{
	size_t from = (size_t)m->rm_so, to = (size_t)m->rm_eo;

	if (k->found.text_count++)
		return;
	from = from > AROUND_BYTES ? from - AROUND_BYTES : 0;
	to = run_bytes - to > AROUND_BYTES ? to + AROUND_BYTES : run_bytes;
	if (to - from > sizeof(k->found.text))
		to = from + sizeof(k->found.text);
	k->found.pattern = pattern;
	k->found.text_bytes = to - from;
	memcpy(k->found.text, run + from, to - from);
	if (place)
		snprintf(k->found.place, sizeof(k->found.place), "%s", place);
	else
		describe_record(k->c, k->record, k->found.place);
}

/* In a copy with a NUL behind it, as regexec() wants. */
static void look_at_run(struct check *k, const char *place, const char *run, size_t run_bytes)
{
	regmatch_t m;

	if (vec_reserve(&k->run, &k->run_capacity, run_bytes + 1)) {
		k->err = -ENOMEM;
		return;
	}
	memcpy(k->run, run, run_bytes);
	k->run[run_bytes] = '\0';
	for (size_t i = 0; i < k->count; i++)
		if (!regexec(&k->patterns[i], k->run, 1, &m, 0))
			note(k, place, i, k->run, run_bytes, &m);
}

/* Each run of characters is a text. */
static void look(struct check *k, const char *place, const uint8_t *data, size_t size_bytes)
{
	size_t at = 0, end;

	for (; at < size_bytes; at = end + 1) {
		for (end = at; end < size_bytes && is_text(data[end]); end++)
			;
		if (end > at)
			look_at_run(k, place, (const char *)data + at, end - at);
	}
}

static int look_at_range(struct check *k, const struct source *file, uint64_t from, uint64_t to)
{
	uint8_t *buf = malloc(CHUNK_BYTES);
	size_t want, got;

	if (!buf)
		return -ENOMEM;
	while (from < to) {
		want = to - from < CHUNK_BYTES ? (size_t)(to - from) : CHUNK_BYTES;
		got = source_read(file, from, buf, want);
		look(k, "the file's head or tail", buf, got);
		if (got < want)
			k->found.unread_count++;
		if (got < want || got < CHUNK_BYTES)
			break;
		from += got - OVERLAP_BYTES;
	}
	free(buf);
	return 0;
}

static int look_at_records(struct check *k, const struct capture *c)
{
	struct record_iter *it;
	struct record r;
	int err = record_iter_new(c, UINT32_MAX, 0, SIZE_MAX, &it);

	if (err)
		return err;
	while ((err = record_iter_next(it, &r)) > 0) {
		k->record = r.header;
		look(k, NULL, (const uint8_t *)r.header + sizeof(*r.header),
		     r.header->size - sizeof(*r.header));
	}
	k->found.unread_count += record_iter_damage(it);
	record_iter_free(it);
	return err;
}

static int look_at_objects(struct check *k, const struct capture *c)
{
	size_t count, size_bytes;
	const struct capture_object *o = capture_objects(c, &count);
	uint8_t *data;
	char place[40];
	int err;

	for (size_t i = 0; i < count; i++) {
		err = capture_object_read(c, &o[i], &data, &size_bytes);
		if (err == -ENOMEM)
			return err;
		if (err) {
			k->found.unread_count++;
			continue;
		}
		snprintf(place, sizeof(place), "object %.12s %" PRIu64, ebx_kind_name(o[i].kind),
			 o[i].object);
		look(k, place, data, size_bytes);
		free(data);
	}
	return 0;
}

/* The head, and the tail without the directory, which is compressed numbers. */
static int look_at_file(struct check *k, const struct capture *c, const struct source *file)
{
	const struct capture_damage *damage = capture_damage(c);
	const struct ebx_super *super = capture_super(c);
	uint64_t start, end;
	int err;

	if (!super || !super->dir_off_bytes || damage->cut || damage->bad_blocks)
		return look_at_range(k, file, 0, file->size_bytes);
	capture_data_range(c, &start, &end);
	err = look_at_range(k, file, 0, start);
	if (!err && super->dir_off_bytes > end)
		err = look_at_range(k, file, end, super->dir_off_bytes);
	end = super->dir_off_bytes + super->dir_size_bytes;
	if (!err && end < file->size_bytes)
		err = look_at_range(k, file, end, file->size_bytes);
	return err;
}

int scrubcheck(const struct capture *c, const struct source *file, const regex_t *patterns,
	       size_t pattern_count, struct scrub_verify_found *out)
{
	const struct capture_damage *damage = capture_damage(c);
	struct check k = { .patterns = patterns, .count = pattern_count, .c = c };
	int err;

	k.found.unread_count = (uint64_t)damage->bad_blocks + damage->unknown_blocks;
	err = look_at_records(&k, c);
	if (!err)
		err = look_at_objects(&k, c);
	if (!err)
		err = look_at_file(&k, c, file);
	if (!err)
		err = k.err;
	if (!err)
		*out = k.found;
	free(k.run);
	return err;
}
