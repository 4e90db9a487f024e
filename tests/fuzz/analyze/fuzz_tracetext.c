/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_tracetext - any format of a tracepoint, and any bytes as its event, in words
 *
 * The format goes to libtraceevent, inside a capture as a stranger would send it.  The input: u16 the
 * size of the format, the format, the event.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/input/tracepoint/tracepoint_text.h"
#include "format/base/cursor.h"
#include "format/perf/trace_data.h"
#include "format/writer/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);
const char *__lsan_default_suppressions(void);

/* libtraceevent forgets pieces of a format that it cannot read. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent\n";
}

static struct capture *with_format(int fd, const char *text)
{
	const struct trace_data_event event = { "fuzz", text };
	static const uint64_t id = 1;
	const struct writer_attr attr = { .ids = &id, .id_count = 1 };
	struct writer_feature feature = { .bit = PERFFILE_TRACING_DATA };
	struct writer_opts opts = { .attrs = &attr,
				    .attr_count = 1,
				    .features = &feature,
				    .feature_count = 1,
				    .level = 1 };
	struct capture *c = NULL;
	struct writer *w = NULL;
	struct parse_err err;
	uint8_t *section = NULL;
	char path[48];

	if (trace_data_build(&event, 1, "", &section, &feature.size_bytes))
		return NULL;
	feature.data = section;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!writer_new(fd, &opts, &w))
		(void)capture_open(path, &c, &err);
	writer_free(w);
	free(section);
	return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct cursor in = cursor_of(data, size_bytes);
	size_t text_bytes = cursor_u16(&in);
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	FILE *nowhere = fopen("/dev/null", "we");
	struct tracepoint_text *t = NULL;
	struct capture *c = NULL;
	const uint8_t *raw;
	char *text = NULL;
	uint32_t id;

	if (text_bytes > cursor_left(&in))
		text_bytes = cursor_left(&in);
	raw = cursor_bytes(&in, text_bytes);
	text = raw ? strndup((const char *)raw, text_bytes) : NULL;
	if (fd >= 0 && nowhere && text)
		c = with_format(fd, text);
	if (c && !tracepoint_text_new(c, &t)) {
		text_bytes = cursor_left(&in);
		raw = cursor_bytes(&in, text_bytes);
		if (trace_data_format_id(text, &id))
			id = 1;
		(void)tracepoint_text_write(t, id, raw, text_bytes, 0, nowhere);
	}
	tracepoint_text_free(t);
	capture_close(c);
	free(text);
	if (nowhere)
		fclose(nowhere);
	if (fd >= 0)
		close(fd);
	return 0;
}
