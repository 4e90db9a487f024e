/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/event_of.h"
#include "analyze/rewrite/merge_head.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"

#define LEVEL        3 /* zstd */
#define STRING_ALIGN 64
#define TAIL_BITS                                                                      \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* ---- events ---- */

static bool is_one_clock(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->use_clockid == b->use_clockid && (!a->use_clockid || a->clockid == b->clockid);
}

/* Whether samples of both count the same thing in the same way. */
static bool counts_alike(const struct capture_attr *a, const struct capture_attr *b)
{
	const struct perf_event_attr *x = &a->attr, *y = &b->attr;

	/* NOLINTNEXTLINE: both are attrs of captures */
	return x->type == y->type && x->config == y->config && x->config1 == y->config1 &&
	       x->config2 == y->config2 && x->freq == y->freq && x->sample_freq == y->sample_freq &&
	       !strcmp(event_name(a), event_name(b));
}

static bool is_laid_out_alike(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->sample_type == b->sample_type && a->sample_id_all == b->sample_id_all &&
	       a->read_format == b->read_format && a->sample_regs_user == b->sample_regs_user &&
	       a->sample_regs_intr == b->sample_regs_intr &&
	       a->branch_sample_type == b->branch_sample_type;
}

static int check_attrs(const struct capture *first, const struct capture *other, char *text,
		       size_t text_bytes)
{
	size_t n, m;
	const struct capture_attr *a = capture_attrs(first, &n), *b = capture_attrs(other, &m);

	for (size_t i = 0; i < m; i++) {
		if (!is_one_clock(&a->attr, &b[i].attr)) {
			snprintf(text, text_bytes, "its times are of another clock");
			return -EXDEV;
		}
		if ((b[i].attr.sample_type & TAIL_BITS) != (a->attr.sample_type & TAIL_BITS) ||
		    b[i].attr.sample_id_all != a->attr.sample_id_all ||
		    (m + n > 2 && !(b[i].attr.sample_type & PERF_SAMPLE_IDENTIFIER))) {
			snprintf(text, text_bytes,
				 "its records do not have their event in the same form");
			return -EXDEV;
		}
	}
	if (!counts_alike(a, b)) {
		snprintf(text, text_bytes,
			 "it sampled '%.30s' at %" PRIu64 ", not '%.30s' at %" PRIu64
			 ": these do not add up",
			 event_name(b), (uint64_t)b->attr.sample_freq, event_name(a),
			 (uint64_t)a->attr.sample_freq);
		return -EXDEV;
	}
	if (!is_laid_out_alike(&a->attr, &b->attr)) {
		snprintf(text, text_bytes, "its samples hold other things");
		return -EXDEV;
	}
	return 0;
}

/* The number of the event in the new file. */
static size_t find_or_add(struct merge_head *h, const struct capture_attr *attr)
{
	for (size_t i = 0; i < h->attr_count; i++)
		if (counts_alike(h->attrs[i], attr) &&
		    is_laid_out_alike(&h->attrs[i]->attr, &attr->attr))
			return i;
	h->attrs[h->attr_count] = attr;
	return h->attr_count++;
}

static int add_events(struct merge_head *h)
{
	size_t sum = 0, count;

	for (size_t i = 0; i < h->count; i++) {
		capture_attrs(h->captures[i], &count);
		sum += count;
	}
	h->attrs = calloc(sum + 1, sizeof(*h->attrs));
	h->new_ids = calloc(h->count + 1, sizeof(*h->new_ids));
	if (!h->attrs || !h->new_ids)
		return -ENOMEM;
	for (size_t i = 0; i < h->count; i++) {
		const struct capture_attr *attrs = capture_attrs(h->captures[i], &count);

		h->new_ids[i] = calloc(count + 1, sizeof(**h->new_ids));
		if (!h->new_ids[i])
			return -ENOMEM;
		for (size_t k = 0; k < count; k++)
			h->new_ids[i][k] = find_or_add(h, &attrs[k]) + 1;
	}
	return 0;
}

/* ---- what tracepoints mean ---- */

static bool describes(struct capture_bytes tracing, uint64_t id)
{
	char text[40];
	int size = snprintf(text, sizeof(text), "\nID: %" PRIu64 "\n", id);

	return tracing.data && memmem(tracing.data, tracing.size_bytes, text, (size_t)size);
}

/* A section that has all tracepoints of all captures: those of one machine differ in number only. */
static int choose_tracing(struct merge_head *h, size_t *wrong, char *text, size_t text_bytes)
{
	uint64_t missing = 0;

	for (size_t i = 0; i < h->count; i++) {
		bool all = true;

		h->tracing = capture_feature(h->captures[i], PERFFILE_TRACING_DATA);
		for (size_t k = 0; all && k < h->attr_count; k++) {
			/* NOLINTNEXTLINE: add_events() filled them */
			if (h->attrs[k]->attr.type != PERF_TYPE_TRACEPOINT)
				continue;
			missing = h->attrs[k]->attr.config;
			all = describes(h->tracing, missing);
		}
		if (all)
			return 0;
		*wrong = i;
	}
	snprintf(text, text_bytes,
		 "each has tracepoints that the others do not describe (number %" PRIu64 ")",
		 missing);
	return -EXDEV;
}

int merge_head_make(struct merge_head *h, const struct capture *const *captures, size_t count,
		    size_t *wrong, char *text, size_t text_bytes)
{
	int err = 0;

	h->captures = captures;
	h->count = count;
	for (*wrong = 1; *wrong < count; ++*wrong) {
		err = check_attrs(captures[0], captures[*wrong], text, text_bytes);
		if (err)
			return err;
	}
	*wrong = 0;
	err = add_events(h);
	return err ? err : choose_tracing(h, wrong, text, text_bytes);
}

void merge_head_done(struct merge_head *h)
{
	for (size_t i = 0; h->new_ids && i < h->count; i++)
		free(h->new_ids[i]);
	free(h->new_ids);
	free(h->attrs);
	*h = (struct merge_head){ 0 };
}

/* ---- the sections ---- */

static void put_u32(FILE *to, uint32_t value)
{
	uint8_t bytes[4];

	le32_store(bytes, value);
	fwrite(bytes, 1, sizeof(bytes), to);
}

static void put_u64(FILE *to, uint64_t value)
{
	uint8_t bytes[8];

	le64_store(bytes, value);
	fwrite(bytes, 1, sizeof(bytes), to);
}

static void put_string(FILE *to, const char *text)
{
	size_t size = strlen(text), padded = (size + STRING_ALIGN) & ~(size_t)(STRING_ALIGN - 1);

	put_u32(to, (uint32_t)padded);
	fwrite(text, 1, size, to);
	for (; size < padded; size++)
		putc(0, to);
}

/* EVENT_DESC: the name of each event.  Owned. */
static int describe_events(const struct merge_head *h, char **out, size_t *size_bytes)
{
	char *data = NULL;
	FILE *to = open_memstream(&data, size_bytes);

	if (!to)
		return -ENOMEM;
	put_u32(to, (uint32_t)h->attr_count);
	put_u32(to, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < h->attr_count; i++) {
		struct perf_event_attr attr = h->attrs[i]->attr;

		attr.size = sizeof(attr);
		fwrite(&attr, 1, sizeof(attr), to);
		put_u32(to, 1);
		put_string(to, event_name(h->attrs[i]));
		put_u64(to, i + 1);
	}
	if (fclose(to) || !data) {
		free(data);
		return -ENOMEM;
	}
	*out = data;
	return 0;
}

/* The sections of the first capture, but for those that are made anew. */
static size_t choose_features(const struct merge_head *h, struct writer_feature *to)
{
	static const uint64_t left_out = 1U << PERFFILE_BUILD_ID | 1U << PERFFILE_SAMPLE_TIME |
					 1U << PERFFILE_COMPRESSED | 1U << PERFFILE_EVENT_DESC |
					 1U << PERFFILE_TRACING_DATA | 1U << 18 /* AUXTRACE */ |
					 1U << PERFFILE_DIR_FORMAT;
	struct capture_bytes b;
	size_t count = 0;

	for (unsigned bit = 1; bit < 64; bit++) {
		b = capture_feature(h->captures[0], bit);
		if (b.data && !(left_out >> bit & 1))
			to[count++] = (struct writer_feature){ bit, b.data, b.size_bytes };
	}
	if (h->tracing.data)
		to[count++] = (struct writer_feature){ PERFFILE_TRACING_DATA, h->tracing.data,
						       h->tracing.size_bytes };
	return count;
}

static void make_uuid(const struct merge_head *h, uint8_t uuid[16])
{
	const struct ebx_super *super;

	memset(uuid, 0, 16);
	for (size_t i = 0; i < h->count; i++) {
		super = capture_super(h->captures[i]);
		for (size_t k = 0; super && k < 16; k++)
			uuid[k] = (uint8_t)(uuid[k] * 31 + super->uuid[k]);
	}
	uuid[6] = (uuid[6] & 0x0f) | 0x80; /* RFC 9562: version 8, of our own making */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

int merge_head_open(const struct merge_head *h, int fd, struct writer **out)
{
	struct writer_feature features[PERFFILE_FEATURE_BITS];
	struct writer_opts opts = { .level = LEVEL, .attr_count = h->attr_count };
	struct writer_attr *attrs = calloc(h->attr_count, sizeof(*attrs));
	uint64_t *ids = calloc(h->attr_count, sizeof(*ids));
	size_t size_bytes;
	char *names = NULL;
	int err = attrs && ids ? describe_events(h, &names, &size_bytes) : -ENOMEM;

	for (size_t i = 0; !err && i < h->attr_count; i++) {
		ids[i] = i + 1;
		attrs[i].attr = h->attrs[i]->attr;
		attrs[i].ids = &ids[i];
		attrs[i].id_count = 1;
	}
	if (!err) {
		opts.attrs = attrs;
		opts.features = features;
		opts.feature_count = choose_features(h, features);
		features[opts.feature_count++] = (struct writer_feature){ PERFFILE_EVENT_DESC,
									  names, size_bytes };
		capture_clock(h->captures[0], &opts.clock_mono_ns, &opts.clock_wall_ns);
		make_uuid(h, opts.uuid);
		err = writer_new(fd, &opts, out);
	}
	free(names);
	free(ids);
	free(attrs);
	return err;
}
