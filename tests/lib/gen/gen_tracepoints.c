/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * gen_tracepoints FILE COUNT - writes a capture with so many tracepoints, the format and one sample of each
 *
 * The sample of number N has `comm` "secret-N" and `value` N in its raw data, and a byte behind them that no field has.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/perf/trace_data.h"
#include "tests/lib/gen/records.h"

#define FIRST_ID  1000
#define COUNT_MAX 100000
#define RAW_BYTES 36

/* IDENTIFIER, TID, TIME, RAW. */
static int put_sample(struct writer *w, uint32_t number)
{
	uint64_t record[16] = { 0 };
	uint8_t *p = (uint8_t *)record, *raw = p + 8 + 24 + 4;

	le64_store(p + 8, FIRST_ID + number);
	le32_store(p + 16, 7);
	le32_store(p + 20, 7);
	le64_store(p + 24, number + 1);
	le32_store(p + 32, RAW_BYTES);
	snprintf((char *)raw + 8, 16, "secret-%u", number);
	le64_store(raw + 24, number);
	raw[32] = 1;
	return writer_record(w, EBX_STREAM_CPU, p,
			     rec_finish(p, 8 + 24 + 4 + RAW_BYTES, PERF_RECORD_SAMPLE, 0),
			     number + 1, 0);
}

static char *make_format(uint32_t number)
{
	char *text;

	if (asprintf(&text,
		     "name: event_%u\nID: %u\n%s"
		     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		     "\tfield:u64 value;\toffset:24;\tsize:8;\tsigned:0;\n"
		     "\nprint fmt: \"%%s %%llu\", REC->comm, REC->value\n",
		     number, FIRST_ID + number, trace_data_common_fields()) < 0)
		abort();
	return text;
}

static int write_capture(int fd, uint32_t count)
{
	struct trace_data_event *events = calloc(count, sizeof(*events));
	struct writer_attr *attrs = calloc(count, sizeof(*attrs));
	uint64_t *ids = calloc(count, sizeof(*ids));
	struct writer_feature feature = { .bit = PERFFILE_TRACING_DATA };
	struct writer_opts opts = { .attrs = attrs,
				    .attr_count = count,
				    .features = &feature,
				    .feature_count = 1,
				    .clock_mono_ns = 1,
				    .level = 1 };
	struct writer *w = NULL;
	uint8_t *section = NULL;
	int err;

	if (!events || !attrs || !ids)
		abort();
	for (uint32_t i = 0; i < count; i++) {
		events[i] = (struct trace_data_event){ "many", make_format(i) };
		ids[i] = FIRST_ID + i;
		attrs[i].ids = &ids[i];
		attrs[i].id_count = 1;
		attrs[i].attr.type = PERF_TYPE_TRACEPOINT;
		attrs[i].attr.size = sizeof(attrs[i].attr);
		attrs[i].attr.config = FIRST_ID + i;
		attrs[i].attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
					    PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
		attrs[i].attr.sample_id_all = 1;
	}
	err = trace_data_build(events, count, "", &section, &feature.size_bytes);
	feature.data = section;
	if (!err)
		err = writer_new(fd, &opts, &w);
	for (uint32_t i = 0; !err && i < count; i++)
		err = put_sample(w, i);
	if (w && !err)
		err = writer_finish(w, NULL, 0);
	writer_free(w);
	free(section);
	for (uint32_t i = 0; i < count; i++)
		free((char *)(uintptr_t)events[i].format);
	free(events);
	free(attrs);
	free(ids);
	return err;
}

int main(int argc, char **argv)
{
	unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	int fd, err;

	if (!count || count > COUNT_MAX) {
		fprintf(stderr, "usage: gen_tracepoints FILE COUNT\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : write_capture(fd, (uint32_t)count);
	if (err)
		fprintf(stderr, "gen_tracepoints: %s: %s\n", argv[1], strerror(-err));
	if (fd >= 0)
		close(fd);
	return err ? 1 : 0;
}
