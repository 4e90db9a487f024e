/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_metricrows - any format of a table, and any bytes as its rows, added up and shown
 *
 * JSON of it has to be JSON.  The format comes inside a capture, as a stranger would send it.  The input: u16 the size of the
 * format, the format, and rows: each u16 its size, and its bytes.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/metric/out.h"
#include "format/base/cursor.h"
#include "format/perf/trace_data.h"
#include "format/text/json_reader.h"
#include "format/writer/writer.h"

#define ROW_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* EVENT_DESC: the event with its name. */
static size_t describe(uint8_t out[512], const struct perf_event_attr *attr, const char *name)
{
	size_t at = 8;

	memset(out, 0, 512);
	le32_store(out, 1);
	le32_store(out + 4, sizeof(*attr));
	memcpy(out + at, attr, sizeof(*attr));
	at += sizeof(*attr);
	le32_store(out + at, 1);
	le32_store(out + at + 4, 64);
	snprintf((char *)out + at + 8, 64, "%s", name);
	le64_store(out + at + 72, 1);
	return at + 80;
}

static struct capture *with_format(int fd, const char *text, uint64_t config, const char *name)
{
	const struct trace_data_event event = { "ebprec", text };
	static const uint64_t id = 1;
	const struct writer_attr attr = { .attr = { .type = PERF_TYPE_TRACEPOINT,
						    .size = sizeof(attr.attr),
						    .config = config,
						    .sample_type = PERF_SAMPLE_IDENTIFIER |
								   PERF_SAMPLE_RAW },
					  .ids = &id,
					  .id_count = 1 };
	struct writer_feature features[2] = { { .bit = PERFFILE_TRACING_DATA },
					      { .bit = PERFFILE_EVENT_DESC } };
	struct writer_opts opts = { .attrs = &attr,
				    .attr_count = 1,
				    .features = features,
				    .feature_count = 2,
				    .level = 1 };
	struct capture *c = NULL;
	struct writer *w = NULL;
	uint8_t *section = NULL, desc[512];
	char path[48];

	if (trace_data_build(&event, 1, "", &section, &features[0].size_bytes))
		return NULL;
	features[0].data = section;
	features[1].size_bytes = describe(desc, &attr.attr, name);
	features[1].data = desc;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!writer_new(fd, &opts, &w))
		(void)capture_open(path, &c, NULL);
	writer_free(w);
	free(section);
	return c;
}

static int on_row(void *ctx, const struct metric_row *r)
{
	return metric_aggregate_add(ctx, r);
}

/* IDENTIFIER, then RAW. */
static void add_row(struct metric_rows *m, struct string_table *names, const struct filter *all,
		    struct metric_aggregate *sum, const uint8_t *raw, size_t raw_bytes)
{
	uint64_t record[(ROW_MAX + 32) / 8] = { 0 };
	uint8_t *p = (uint8_t *)record;
	size_t size = (8 + 8 + 4 + raw_bytes + 7) & ~(size_t)7;

	le32_store(p, PERF_RECORD_SAMPLE);
	le16_store(p + 6, (uint16_t)size);
	le64_store(p + 8, 1);
	le32_store(p + 16, (uint32_t)raw_bytes);
	memcpy(p + 20, raw, raw_bytes);
	(void)metric_rows_record(m, names, all, (const struct perf_event_header *)record, on_row,
				 sum);
}

/* JSON is well-formed with any names and values of the table: a string in the place of a number is not. */
static void check_json(const struct metric_shown *s)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	struct json_writer j = { .to = to };
	struct json_reader in;
	int token = 1;

	if (!to)
		return;
	json_writer_begin_array(&j, NULL);
	(void)metric_out_put(s, METRIC_JSON_FORM, true, &j);
	json_writer_end_array(&j);
	if (!fclose(to)) {
		in = (struct json_reader){ .data = text, .size_bytes = bytes };
		while (token > 0)
			token = json_reader_next(&in);
		if (token)
			abort();
	}
	free(text);
}

static void show(const struct metric_table *t, struct metric_aggregate *sum,
		 struct string_table *names, FILE *to)
{
	struct metric_view own;
	struct json_writer j = { .to = to };
	struct metric_shown s = { .view = metric_view_of(t, &own),
				  .texts = { .names = names },
				  .histogram = true };

	s.sort = s.view->sort;
	metric_aggregate_finish(sum);
	s.inner = *sum;
	json_writer_begin_array(&j, NULL);
	for (int form = METRIC_TEXT_FORM; form <= METRIC_CSV_FORM; form++)
		(void)metric_out_put(&s, (enum metric_form)form, true, &j);
	json_writer_end_array(&j);
	check_json(&s);
}

static void try_rows(const struct capture *c, struct cursor *in, FILE *to)
{
	struct string_table *names = NULL;
	struct metric_rows m;
	struct metric_aggregate sum;
	struct filter all;
	const uint8_t *raw;
	size_t bytes;

	if (string_table_new(&names))
		return;
	filter_init(&all);
	if (!metric_rows_open(c, &m)) {
		if (m.count) {
			(void)metric_rows_add_symbols(&m);
			metric_aggregate_init(&sum, &m.tables[0], NULL, 0, true);
			while (cursor_left(in) > 2) {
				bytes = cursor_u16(in) % ROW_MAX;
				if (bytes > cursor_left(in))
					bytes = cursor_left(in);
				raw = cursor_bytes(in, bytes);
				add_row(&m, names, &all, &sum, raw, bytes);
			}
			show(&m.tables[0], &sum, names, to);
			metric_aggregate_done(&sum);
		}
		metric_rows_done(&m);
	}
	filter_done(&all);
	string_table_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct cursor in = cursor_of(data, size_bytes);
	size_t text_bytes = cursor_u16(&in);
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	FILE *nowhere = fopen("/dev/null", "we");
	struct metric_format fmt = { 0 };
	struct capture *c = NULL;
	char *text = NULL, name[METRIC_NAME_BYTES + 8];
	const uint8_t *raw;

	if (text_bytes > cursor_left(&in))
		text_bytes = cursor_left(&in);
	raw = cursor_bytes(&in, text_bytes);
	text = raw ? strndup((const char *)raw, text_bytes) : NULL;
	if (fd >= 0 && nowhere && text && !metric_format_parse(text, &fmt)) {
		snprintf(name, sizeof(name), "ebprec:%s", fmt.name);
		c = with_format(fd, text, fmt.id, name);
	}
	if (c)
		try_rows(c, &in, nowhere);
	capture_close(c);
	free(text);
	if (nowhere)
		fclose(nowhere);
	if (fd >= 0)
		close(fd);
	return 0;
}
