/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/tracepoint/tracepoint_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "analyze/out/message.h"
#include "analyze/input/tracepoint/tracepoint_check.h"
#include "format/base/vec.h"
#include "format/base/cursor.h"

struct tracepoint_text {
	struct tep_handle *tep;
	struct trace_seq seq;
	struct tracepoint_check **checks; /* by id */
	size_t count, capacity;
	uint64_t known[(TRACEPOINT_CHECK_ID_MAX + 1) /
		       64]; /* of two events with one id the first is taken */
};

/* A size and so many bytes. */
static const uint8_t *sized(struct cursor *in, size_t *size_bytes)
{
	uint64_t size = cursor_u64(in);

	*size_bytes = size < SIZE_MAX ? (size_t)size : SIZE_MAX;
	return cursor_bytes(in, *size_bytes);
}

/* An event that libtraceevent must not or cannot read is one that is not there. */
static int add_event(struct tracepoint_text *t, const char *text, size_t size_bytes,
		     const char *system)
{
	struct tracepoint_check *check = malloc(sizeof(*check));
	int err = check ? vec_reserve(&t->checks, &t->capacity, t->count + 1) : -ENOMEM;

	if (err || tracepoint_check_format(text, size_bytes, check) ||
	    t->known[check->id / 64] >> check->id % 64 & 1) {
		free(check);
		return err;
	}
	t->known[check->id / 64] |= 1ULL << check->id % 64;
	t->checks[t->count++] = check;
	/* Without what it would print, its fields are shown. */
	(void)tep_parse_event(t->tep, text, check->print_fmt ? size_bytes : check->fields_bytes,
			      system);
	return 0;
}

static int parse_events(struct tracepoint_text *t, struct cursor *in, const char *system)
{
	uint32_t count = cursor_u32(in);
	const uint8_t *text;
	size_t size;
	int err = 0;

	for (uint32_t i = 0; !err && cursor_ok(in) && i < count; i++) {
		text = sized(in, &size);
		if (text && system)
			err = add_event(t, (const char *)text, size, system);
	}
	return err;
}

/* The section as trace-cmd 0.6 laid it out; FORMAT.md 7. */
static int parse(struct tracepoint_text *t, struct cursor *in)
{
	static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const uint8_t *bytes = cursor_bytes(in, sizeof(magic));
	const char *name;
	uint8_t long_bytes;
	uint32_t systems;
	size_t size;
	int err;

	if (!bytes || memcmp(bytes, magic, sizeof(magic)) != 0)
		return -EBADMSG;
	(void)cursor_str(in); /* version */
	if (cursor_u8(in))    /* big-endian */
		return -EBADMSG;
	long_bytes = cursor_u8(in);
	if (long_bytes != 4 && long_bytes != 8)
		return -EBADMSG;
	tep_set_long_size(t->tep, long_bytes);
	(void)cursor_u32(in); /* page size */
	tep_set_file_bigendian(t->tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(t->tep, TEP_LITTLE_ENDIAN);
	for (int i = 0; i < 2;
	     i++) { /* header_page, header_event: of rings that are not read here */
		(void)cursor_str(in);
		(void)sized(in, &size);
	}
	err = parse_events(t, in, NULL); /* of ftrace itself, which no sample is of */
	systems = cursor_u32(in);
	for (uint32_t i = 0; !err && cursor_ok(in) && i < systems; i++) {
		name = cursor_str(in);
		if (name)
			err = parse_events(t, in, name);
	}
	return err ? err : cursor_ok(in) ? 0 : -EBADMSG;
}

static int by_id(const void *va, const void *vb)
{
	const struct tracepoint_check *const *a = va, *const *b = vb;

	return (*a)->id < (*b)->id ? -1 : (*a)->id > (*b)->id;
}

int tracepoint_text_new(const struct capture *c, struct tracepoint_text **out)
{
	struct capture_bytes section = capture_feature(c, PERFFILE_TRACING_DATA);
	struct cursor in = cursor_of(section.data, section.size_bytes);
	struct tracepoint_text *t;
	int err;

	if (!section.data)
		return -ENOENT;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->tep = tep_alloc();
	trace_seq_init(&t->seq);
	if (!t->tep) {
		tracepoint_text_free(t);
		return -ENOMEM;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	err = parse(t, &in);
	if (err) {
		tracepoint_text_free(t);
		return err;
	}
	if (t->count)
		qsort(t->checks, t->count, sizeof(*t->checks), by_id);
	*out = t;
	return 0;
}

void tracepoint_text_free(struct tracepoint_text *t)
{
	if (!t)
		return;
	trace_seq_destroy(&t->seq);
	tep_free(t->tep);
	for (size_t i = 0; i < t->count; i++)
		free(t->checks[i]);
	free(t->checks);
	free(t);
}

int tracepoint_text_write(struct tracepoint_text *t, uint64_t id, const void *raw, size_t raw_bytes,
			  int cpu, FILE *to)
{
	const struct tracepoint_check wanted = { .id = (uint32_t)id },
				      *key = &wanted, *const * check;
	struct tep_record record = {
		.cpu = cpu,
		.size = (int)raw_bytes,
		.data = (void *)(uintptr_t)raw,
	};

	if (id > TRACEPOINT_CHECK_ID_MAX || raw_bytes > INT32_MAX || !t->count)
		return -ENOENT;
	check = bsearch(&key, t->checks, t->count, sizeof(*t->checks), by_id);
	if (!check || !tracepoint_check_event(*check, raw, raw_bytes))
		return -ENOENT;
	trace_seq_reset(&t->seq);
	tep_print_event(t->tep, &t->seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&t->seq);
	if (t->seq.state != TRACE_SEQ__GOOD)
		return -ENOENT;
	message_escaped(to, t->seq.buffer, t->seq.len); /* names of threads are in it */
	return 0;
}
