/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/tracetext.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "format/cursor.h"

struct tracetext {
	struct tep_handle *tep;
	struct trace_seq seq;
};

/* A size and so many bytes. */
static const uint8_t *sized(struct cursor *in, size_t *size_bytes)
{
	uint64_t size = cursor_u64(in);

	*size_bytes = size < SIZE_MAX ? (size_t)size : SIZE_MAX;
	return cursor_bytes(in, *size_bytes);
}

static void parse_events(struct tep_handle *tep, struct cursor *in, const char *system)
{
	uint32_t count = cursor_u32(in);
	const uint8_t *text;
	size_t size;

	for (uint32_t i = 0; cursor_ok(in) && i < count; i++) {
		text = sized(in, &size);
		/* An event that libtraceevent cannot read is one that is not there. */
		if (text)
			(void)tep_parse_event(tep, (const char *)text, size, system);
	}
}

/* The section as trace-cmd 0.6 laid it out; FORMAT.md 7. */
static int parse(struct tep_handle *tep, struct cursor *in)
{
	static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const uint8_t *bytes = cursor_bytes(in, sizeof(magic));
	const char *name;
	uint8_t long_bytes;
	uint32_t systems;
	size_t size;

	if (!bytes || memcmp(bytes, magic, sizeof(magic)) != 0)
		return -EBADMSG;
	(void)cursor_str(in); /* version */
	if (cursor_u8(in))    /* big-endian */
		return -EBADMSG;
	long_bytes = cursor_u8(in);
	tep_set_long_size(tep, long_bytes);
	tep_set_page_size(tep, (int)cursor_u32(in));
	tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, TEP_LITTLE_ENDIAN);
	for (int i = 0; i < 2; i++) { /* header_page, header_event */
		(void)cursor_str(in);
		bytes = sized(in, &size);
		if (!i && bytes)
			(void)tep_parse_header_page(tep, (char *)(uintptr_t)bytes, size,
						    long_bytes);
	}
	parse_events(tep, in, "ftrace");
	systems = cursor_u32(in);
	for (uint32_t i = 0; cursor_ok(in) && i < systems; i++) {
		name = cursor_str(in);
		if (name)
			parse_events(tep, in, name);
	}
	return cursor_ok(in) ? 0 : -EBADMSG;
}

int tracetext_new(const struct capture *c, struct tracetext **out)
{
	struct capture_bytes section = capture_feature(c, PERFFILE_TRACING_DATA);
	struct cursor in = cursor_of(section.data, section.size_bytes);
	struct tracetext *t;
	int err;

	if (!section.data)
		return -ENOENT;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->tep = tep_alloc();
	trace_seq_init(&t->seq);
	if (!t->tep) {
		tracetext_free(t);
		return -ENOMEM;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	err = parse(t->tep, &in);
	if (err) {
		tracetext_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void tracetext_free(struct tracetext *t)
{
	if (!t)
		return;
	trace_seq_destroy(&t->seq);
	tep_free(t->tep);
	free(t);
}

int tracetext_write(struct tracetext *t, uint64_t id, const void *raw, size_t raw_bytes, int cpu,
		    FILE *to)
{
	struct tep_event *event = id <= INT32_MAX ? tep_find_event(t->tep, (int)id) : NULL;
	struct tep_record record = {
		.cpu = cpu,
		.size = (int)raw_bytes,
		.data = (void *)(uintptr_t)raw,
	};

	if (!event || raw_bytes > INT32_MAX)
		return -ENOENT;
	trace_seq_reset(&t->seq);
	tep_print_event(t->tep, &t->seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&t->seq);
	trace_seq_do_fprintf(&t->seq, to);
	return 0;
}
