/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * gen_tables - writes a capture with the tables of instruments that a text (standard input) describes
 *
 *	table NAME FIELD...		FIELD: [key.]NAME:u4|u8|s4|s8|tBYTES[*COUNT][@OFFSET]; all before the first row
 *	again TABLE COUNT		so many events more that claim to be that table's
 *	cgroup ID PATH
 *	container ID NAME
 *	row TIME PID TID CPU TABLE NAME=VALUE...
 *	cut TIME PID TID CPU TABLE		a row that ends before its fields do
 *	lost TIME TABLE COUNT
 *	meta JSON			the recorder's META at the start
 *	flush
 *
 * Times are ns.  Values of numbers are as in C, commas between elements; a field that is not named is 0.
 * Empty lines and lines that start with # are skipped.  With --null lines end with a NUL.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/payload/metric_format.h"
#include "format/perf/trace_data.h"
#include "tests/lib/gen/records.h"
#include "tests/lib/gen/words.h"

#define TABLES_MAX 48
#define EVENTS_MAX 256
#define NAME_BYTES 64

struct story {
	struct metric_format tables[TABLES_MAX];
	size_t table_count;
	size_t event_table[EVENTS_MAX]; /* the first ones are of the table of their number */
	size_t event_count;
	struct writer *w; /* from the first row on */
	const char *host;
	int fd;
	uint64_t ids[EVENTS_MAX];
	uint8_t rec[REC_MAX];
};

/* ---- tables ---- */

static int add_field(struct metric_format *f, char *text)
{
	bool is_key = !strncmp(text, "key.", 4);
	char *name = is_key ? text + 4 : text, *type = strchr(name, ':'), *times, *off;
	enum metric_kind kind = METRIC_UNSIGNED;
	uint32_t size, count = 1, end = f->row_bytes;
	int err;

	if (!type)
		return -EINVAL;
	*type++ = '\0';
	off = strchr(type, '@'); /* over other fields, as a stranger's may lie */
	if (off)
		f->row_bytes = (uint32_t)strtoul(off + 1, NULL, 10);
	times = strchr(type, '*');
	size = (uint32_t)strtoul(type + 1, NULL, 10);
	if (times)
		count = (uint32_t)strtoul(times + 1, NULL, 10);
	if (*type == 's')
		kind = METRIC_SIGNED;
	if (*type == 't') {
		kind = METRIC_TEXT;
		count = size;
		size = 1;
	}
	err = metric_format_add(f, name, kind, size, count, is_key);
	if (end > f->row_bytes)
		f->row_bytes = end;
	return err;
}

static int put_table(struct story *s, char *rest)
{
	struct metric_format *f = &s->tables[s->table_count];
	const char *name = word(&rest);
	char *field;
	int err = 0;

	if (s->w || !name || s->table_count == TABLES_MAX || s->event_count != s->table_count ||
	    strlen(name) >= sizeof(f->name))
		return -EINVAL;
	*f = (struct metric_format){ .id = METRIC_FIRST_ID + (uint32_t)s->table_count };
	memcpy(f->name, name, strlen(name));
	while (!err && (field = word(&rest)))
		err = add_field(f, field);
	if (!err)
		s->event_table[s->event_count++] = s->table_count++;
	return err;
}

static struct metric_format *table_called(struct story *s, const char *name)
{
	for (size_t i = 0; name && i < s->table_count; i++) {
		if (!strcmp(s->tables[i].name, name))
			return &s->tables[i];
	}
	return NULL;
}

static int put_again(struct story *s, char *rest)
{
	const struct metric_format *f = table_called(s, word(&rest));
	uint64_t count = number(&rest);

	if (s->w || !f || count > EVENTS_MAX - s->event_count)
		return -EINVAL;
	for (; count; count--)
		s->event_table[s->event_count++] = (size_t)(f - s->tables);
	return 0;
}

/* EVENT_DESC: what each event is called. */
static void describe(FILE *to, const struct writer_attr *attrs, size_t count, const struct story *s)
{
	char name[NAME_BYTES];
	uint32_t numbers[2] = { (uint32_t)count, sizeof(attrs->attr) };
	uint32_t sizes[2] = { 1, sizeof(name) };

	fwrite(numbers, sizeof(numbers), 1, to);
	for (size_t i = 0; i < count; i++) {
		struct perf_event_attr attr = attrs[i].attr;

		memset(name, 0, sizeof(name));
		if (i < REC_ATTRS)
			snprintf(name, sizeof(name), "event%zu", i);
		else
			snprintf(name, sizeof(name), "ebprec:%s",
				 s->tables[s->event_table[i - REC_ATTRS]].name);
		attr.size = sizeof(attr);
		fwrite(&attr, sizeof(attr), 1, to);
		fwrite(sizes, sizeof(sizes), 1, to);
		fwrite(name, sizeof(name), 1, to);
		fwrite(attrs[i].ids, sizeof(uint64_t), 1, to);
	}
}

static int begin(struct story *s)
{
	uint8_t host[256];
	struct writer_feature features[] = { { PERFFILE_HOSTNAME, host,
					       rec_host(host, sizeof(host), s->host) },
					     { PERFFILE_TRACING_DATA, NULL, 0 },
					     { PERFFILE_EVENT_DESC, NULL, 0 } };
	struct writer_attr attrs[REC_ATTRS + EVENTS_MAX];
	struct trace_data_event events[TABLES_MAX] = { { NULL, NULL } };
	const struct writer_opts opts = {
		.attrs = attrs,
		.attr_count = REC_ATTRS + s->event_count,
		.features = features,
		.feature_count = 3,
		.clock_mono_ns = 1000000000,
		.clock_wall_ns = 1700000000000000000,
		.uuid = "gen_tables",
		.level = 1,
	};
	char *desc = NULL;
	uint8_t *tracing = NULL;
	FILE *to;
	int err;

	rec_attrs(attrs);
	for (size_t i = 0; i < s->event_count; i++) {
		s->ids[i] = 1000 + i;
		attrs[REC_ATTRS + i] = attrs[2];
		attrs[REC_ATTRS + i].attr.type = PERF_TYPE_TRACEPOINT;
		attrs[REC_ATTRS + i].attr.config = s->tables[s->event_table[i]].id;
		attrs[REC_ATTRS + i].ids = &s->ids[i];
	}
	for (size_t i = 0; i < s->table_count; i++)
		events[i] = (struct trace_data_event){ "ebprec",
						       metric_format_text(&s->tables[i]) };
	err = trace_data_build(events, s->table_count, NULL, &tracing, &features[1].size_bytes);
	to = open_memstream(&desc, &features[2].size_bytes);
	if (to) {
		describe(to, attrs, opts.attr_count, s);
		fclose(to);
	}
	features[1].data = tracing;
	features[2].data = desc;
	if (!err)
		err = to ? writer_new(s->fd, &opts, &s->w) : -ENOMEM;
	for (size_t i = 0; i < s->table_count; i++)
		free((void *)events[i].format);
	free(tracing);
	free(desc);
	return err;
}

/* ---- records ---- */

static int set_field(const struct metric_format *f, uint8_t *raw, char *text)
{
	char *value = strchr(text, '='), *one;
	const struct metric_field *field;
	uint64_t v;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	field = metric_format_find(f, text);
	if (!field)
		return -ENOENT;
	if (field->kind == METRIC_TEXT) {
		memcpy(raw + field->off_bytes, value, strnlen(value, field->count));
		return 0;
	}
	for (uint32_t i = 0; i < field->count && (one = strsep(&value, ",")); i++) {
		v = strtoull(one, NULL, 0);
		memcpy(raw + field->off_bytes + i * field->size_bytes, &v, field->size_bytes);
	}
	return value ? -EINVAL : 0;
}

static int put_row(struct story *s, char *rest, bool is_cut)
{
	uint64_t time_ns = number(&rest), pid = number(&rest), tid = number(&rest);
	uint64_t cpu = number(&rest);
	const struct metric_format *f = table_called(s, word(&rest));
	size_t raw_bytes = f ? metric_format_raw_bytes(f) : 0;
	char *field;
	int err = f ? 0 : -ENOENT;

	if (err)
		return err;
	if (is_cut)
		raw_bytes = 4;
	memset(s->rec, 0, 68 + raw_bytes);
	le64_store(s->rec + 8, s->ids[f - s->tables]);
	le32_store(s->rec + 24, (uint32_t)pid);
	le32_store(s->rec + 28, (uint32_t)tid);
	le64_store(s->rec + 32, time_ns);
	le64_store(s->rec + 40, cpu);
	le64_store(s->rec + 48, 1);
	le32_store(s->rec + 64, (uint32_t)raw_bytes);
	le16_store(s->rec + 68, (uint16_t)f->id);
	while (!err && (field = word(&rest)))
		err = set_field(f, s->rec + 68, field);
	return err ? err
		   : writer_record(s->w, EBX_STREAM_METRIC, s->rec,
				   rec_finish(s->rec, 68 + raw_bytes, PERF_RECORD_SAMPLE,
					      PERF_RECORD_MISC_KERNEL),
				   time_ns, (int)cpu);
}

static int put_cgroup(struct story *s, char *rest)
{
	uint64_t id = number(&rest);

	return writer_record(s->w, EBX_STREAM_SIDE, s->rec,
			     rec_cgroup(s->rec, id, rest ? rest : ""), 0, -1);
}

static int put_container(struct story *s, char *rest)
{
	const char *id = word(&rest);

	return id && rest ? rec_container(s->w, id, rest) : -EINVAL;
}

static int put_lost(struct story *s, char *rest)
{
	uint64_t time_ns = number(&rest);
	const struct metric_format *f = table_called(s, word(&rest));

	if (!f)
		return -ENOENT;
	return writer_record(s->w, EBX_STREAM_SIDE, s->rec,
			     rec_lost(s->rec, s->ids[f - s->tables], number(&rest), time_ns),
			     time_ns, -1);
}

static int put(struct story *s, char *line)
{
	const char *verb = word(&line);
	int err = 0;

	if (!verb || *verb == '#')
		return 0;
	if (!strcmp(verb, "table"))
		return put_table(s, line);
	if (!strcmp(verb, "again"))
		return put_again(s, line);
	if (!s->w)
		err = begin(s);
	if (err)
		return err;
	if (!strcmp(verb, "row") || !strcmp(verb, "cut"))
		return put_row(s, line, *verb == 'c');
	if (!strcmp(verb, "cgroup"))
		return put_cgroup(s, line);
	if (!strcmp(verb, "lost"))
		return put_lost(s, line);
	if (!strcmp(verb, "container"))
		return put_container(s, line);
	if (!strcmp(verb, "meta"))
		return writer_object(s->w, EBX_META, EBX_META_START, line, strlen(line));
	return strcmp(verb, "flush") ? -EINVAL : writer_flush(s->w, true);
}

int main(int argc, char **argv)
{
	static struct story s;
	struct words_opts opts;
	unsigned line_number = 0;
	char *line = NULL;
	size_t capacity = 0;
	int err = 0;

	if (!words_parse(argc, argv, &opts) || opts.plain) {
		fprintf(stderr, "usage: gen_tables [--null] [--host NAME] FILE < STORY\n");
		return 2;
	}
	s.host = opts.host;
	s.fd = open(opts.output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (s.fd < 0)
		err = -errno;
	while (!err && getdelim(&line, &capacity, opts.null ? '\0' : '\n', stdin) >= 0) {
		line_number++;
		if (!opts.null)
			line[strcspn(line, "\n")] = '\0';
		err = put(&s, line);
	}
	free(line);
	if (!err && !s.w)
		err = begin(&s);
	if (!err)
		err = writer_finish(s.w, NULL, 0);
	writer_free(s.w);
	if (err)
		fprintf(stderr, "gen_tables: line %u: %s\n", line_number, strerror(-err));
	return err ? 1 : 0;
}
