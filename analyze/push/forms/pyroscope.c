/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Pyroscope: POST /ingest, a pprof a service and interval.  The address has the service and its labels, and the body is
 * the profile, gzipped as a file is; the server distinguishes samples by their labels.  There is nothing to ask by whether it has one; of
 * those of one series and time it keeps one when it compacts its blocks.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/string_table.h"
#include "analyze/export/pprof_message.h"
#include "analyze/push/forms/forms.h"
#include "analyze/push/forms/prometheus.h"
#include "analyze/push/forms/services.h"

#define NS_PER_SECOND  1000000000u
#define OTHER_SERVICES "other-services" /* beyond the parts that a batch has */

/* Of one service. */
struct profile {
	const struct push_interval *in;
	struct string_table *strings, *mappings; /* mappings: files and their builds */
	uint32_t *locations; /* by frame of the interval: number in the profile; 0: not in it */
	uint32_t location_count;
	struct pprof_message m;
	bool bad;
};

static uint32_t number_in(struct profile *p, struct string_table *table, const char *text)
{
	uint32_t number = 0;

	p->bad |= string_table_add(table, text, strlen(text), &number) != 0;
	return number;
}

static uint32_t text_of(struct profile *p, const char *text)
{
	return number_in(p, p->strings, text);
}

/* 0: the frame is of no file. */
static uint32_t mapping_of(struct profile *p, const struct push_frame *f)
{
	uint32_t before = string_table_count(p->mappings), number;
	char *key;

	if (!*f->file)
		return 0;
	if (asprintf(&key, "%s\n%s", f->file, f->build_id) < 0) {
		p->bad = true;
		return 0;
	}
	number = number_in(p, p->mappings, key);
	free(key);
	if (string_table_count(p->mappings) > before)
		pprof_message_mapping(&p->m, number, text_of(p, f->file), text_of(p, f->build_id));
	return number;
}

static void add_frame(struct profile *p, uint32_t frame)
{
	const struct push_frame *f = &p->in->counted->samples.frame_list[frame];

	if (p->locations[frame])
		return;
	p->locations[frame] = ++p->location_count;
	pprof_message_function(&p->m, p->locations[frame], text_of(p, f->name), text_of(p, f->file),
			       mapping_of(p, f));
}

/* What the rows need: all but the samples. */
static void put_head(struct profile *p, const struct push_row *const *rows, size_t count)
{
	const struct push_interval *in = p->in;
	const struct push_samples *s = &in->counted->samples;

	pprof_message_type(&p->m, PPROF_SAMPLE_TYPE, text_of(p, in->counted->count_type),
			   text_of(p, "count"));
	pprof_message_type(&p->m, PPROF_SAMPLE_TYPE, text_of(p, in->counted->weight_type),
			   text_of(p, in->counted->weight_unit));
	(void)text_of(p, "comm");
	(void)text_of(p, "container");
	for (size_t i = 0; i < count && !p->bad; i++) {
		const struct push_stack *stack = &s->stacks[rows[i]->stack];

		for (uint32_t f = 0; f < stack->count; f++)
			add_frame(p, s->frames[stack->first + f]);
		(void)text_of(p, rows[i]->comm);
		(void)text_of(p, rows[i]->container);
	}
	if (in->counted->period_ns) {
		pprof_message_type(&p->m, PPROF_PERIOD_TYPE, text_of(p, "cpu"),
				   text_of(p, "nanoseconds"));
		protobuf_number(&p->m.out, PPROF_PERIOD, in->counted->period_ns);
	}
	for (uint32_t i = 0; i < string_table_count(p->strings); i++)
		protobuf_text(&p->m.out, PPROF_STRING, string_table_text(p->strings, i),
			      string_table_bytes(p->strings, i));
	protobuf_number(&p->m.out, PPROF_TIME,
			in->from_s * NS_PER_SECOND + in->seq % PUSH_TIME_STEPS);
	protobuf_number(&p->m.out, PPROF_DURATION, (in->to_s - in->from_s) * NS_PER_SECOND);
}

static void put_row(struct profile *p, const struct push_row *row)
{
	const struct push_samples *s = &p->in->counted->samples;
	const struct push_stack *stack = &s->stacks[row->stack];

	pprof_message_begin_sample(&p->m);
	for (uint32_t f = 0; f < stack->count; f++)
		pprof_message_frame(&p->m, p->locations[s->frames[stack->first + f]]);
	pprof_message_value(&p->m, row->samples);
	pprof_message_value(&p->m, row->weight);
	if (*row->comm)
		pprof_message_label(&p->m, text_of(p, "comm"), text_of(p, row->comm), 0);
	if (*row->container)
		pprof_message_label(&p->m, text_of(p, "container"), text_of(p, row->container), 0);
	pprof_message_end_sample(&p->m, &p->m.out);
}

static void move_bytes(struct profile *p, struct push_part *part)
{
	p->bad |= p->m.out.failed;
	if (!p->bad)
		outbuf_add(&part->body, p->m.out.data, p->m.out.size_bytes);
	protobuf_clear(&p->m.out);
}

/* A text as its language of labels takes it: SERVICE{KEY=VALUE}. */
static char *plain_name(const char *text)
{
	char *name = strdup(text);

	for (char *at = name; at && *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./",
			    *at))
			*at = '_';
	return name;
}

/* SERVICE and the labels of the host, ",KEY=VALUE" each: no part of them has a comma.  Owned; NULL: no memory. */
static char *part_name(const char *service, const struct push_labels *labels)
{
	char *plain = plain_name(service), *name = NULL;
	size_t bytes;
	FILE *to = open_memstream(&name, &bytes);

	if (to && plain)
		fputs(plain, to);
	for (size_t i = 0; to && labels && i < labels->count; i++) {
		char *key = push_prometheus_name(labels->list[i].key),
		     *value = plain_name(labels->list[i].value);

		if (key && value)
			fprintf(to, ",%s=%s", key, value);
		free(key);
		free(value);
	}
	if (to && fclose(to)) {
		free(name);
		name = NULL;
	}
	free(plain);
	return name;
}

static void put_service(const struct push_interval *in, const struct push_row *const *rows,
			size_t count, const char *name, uint32_t *locations, struct push_batch *b)
{
	char *labelled = part_name(name, in->labels);
	struct push_part *part = labelled ? push_batch_add(b, labelled) : NULL;
	struct profile p = { .in = in, .locations = locations };

	free(labelled);
	memset(locations, 0, in->counted->samples.frame_list_count * sizeof(*locations));
	if (!part || string_table_new(&p.strings) || string_table_new(&p.mappings)) {
		p.bad = true;
	} else {
		put_head(&p, rows, count);
		move_bytes(&p, part);
		push_part_end_head(b, part);
	}
	for (size_t i = 0; i < count && !p.bad && !b->bad; i++) {
		put_row(&p, rows[i]);
		move_bytes(&p, part);
		push_part_end_row(b, part);
		b->samples += rows[i]->samples;
	}
	b->bad |= p.bad;
	string_table_free(p.strings);
	string_table_free(p.mappings);
	pprof_message_done(&p.m);
}

static int encode(const struct push_interval *in, struct push_batch *b)
{
	const struct push_row **rows = services_sort(in);
	uint32_t *locations = calloc(in->counted->samples.frame_list_count + 1, sizeof(*locations));
	size_t count;

	b->bad |= !rows || !locations;
	for (size_t i = 0; i < in->row_count && !b->bad; i += count) {
		const char *name = rows[i]->service;

		count = services_count(rows, in->row_count, i, false);
		if (b->part_count == PUSH_PARTS_MAX / 2) {
			count = in->row_count - i;
			name = OTHER_SERVICES;
		}
		put_service(in, rows + i, count, name, locations, b);
	}
	free(rows);
	free(locations);
	return b->bad ? -ENOMEM : 0;
}

/* Parts of that service before this one, of which the server had one that was too large for it. */
static size_t halves_before(const struct push_batch *b, size_t part)
{
	size_t count = 0;

	for (size_t i = 0; i < part; i++)
		count += !strcmp(b->parts[i].name, b->parts[part].name);
	return count;
}

static char *url(const struct push_target *t, const struct push_batch *b, size_t part)
{
	const char *name = b->parts[part].name;
	const size_t service_bytes = strcspn(name, ","), before = halves_before(b, part);
	char *base = push_target_url(t, "/ingest"),
	     *labels = push_target_escape(name + service_bytes), *host = plain_name(b->host),
	     *to = NULL, half[40] = "";

	/* Both have the time of the batch. */
	if (before)
		snprintf(half, sizeof(half), "%%2Cpart%%3D%zu", before);
	if (base && labels && host &&
	    asprintf(&to,
		     "%s%cname=%.*s%%7Bhost%%3D%s%s%s%%7D&from=%" PRIu64 "&until=%" PRIu64
		     "&format=pprof&spyName=ebprec",
		     base, strchr(base, '?') ? '&' : '?', (int)service_bytes, name, host, labels,
		     half, b->from_s, b->to_s > b->from_s ? b->to_s : b->from_s + 1) < 0)
		to = NULL;
	free(base);
	free(labels);
	free(host);
	return to;
}

const struct push_form push_pyroscope = {
	.name = "pyroscope",
	.about = "a pprof of each service: Pyroscope",
	.encode = encode,
	.url = url,
	.headers = { "Content-Type: application/octet-stream" },
	.gzip = true,
	.is_gzip_file = true,
	.counts_twice = true,
};
