/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Prometheus: remote write (WriteRequest of prompb/remote.proto, in Snappy's block format), and the text format for a
 * Pushgateway.  A series is a column of a table, ebprec_TABLE_COLUMN, with the tags as labels; its values are those of single
 * intervals.  A Pushgateway has no time: it keeps the last interval.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/export/protobuf.h"
#include "analyze/push/forms/forms.h"
#include "analyze/push/forms/prometheus.h"
#include "analyze/push/forms/snappy.h"

#define SERIES_A_PART 5000
#define LABELS_MAX    32

struct label {
	char *name; /* owned */
	const char *value;
};

struct series {
	struct label labels[LABELS_MAX];
	size_t count;
	bool bad;
};

char *push_prometheus_name(const char *text)
{
	char *name = strdup(text);

	for (char *at = name; at && *at; at++)
		if (!isascii(*at) || (!isalnum((unsigned char)*at) && *at != '_') ||
		    (at == name && isdigit((unsigned char)*at)))
			*at = '_';
	return name;
}

static void add_label(struct series *s, char *name, const char *value)
{
	if (!name || s->count == LABELS_MAX) {
		s->bad |= !name;
		free(name);
		return;
	}
	if (!*value) { /* which is none */
		free(name);
		return;
	}
	s->labels[s->count++] = (struct label){ name, value };
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->name, ((const struct label *)b)->name);
}

/* The name is owned by the caller. */
static struct series series_of(const char *host, const struct push_point *p, const char *name,
			       bool with_host)
{
	struct series s = { 0 };

	if (name)
		add_label(&s, strdup("__name__"), name);
	if (with_host)
		add_label(&s, strdup("host"), host);
	for (size_t i = 0; i < p->tag_count; i++)
		add_label(&s, push_prometheus_name(p->tags[i].key), p->tags[i].value);
	qsort(s.labels, s.count, sizeof(*s.labels), by_name);
	return s;
}

static void series_done(struct series *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->labels[i].name);
}

static char *metric_name(const struct push_point *p, size_t value)
{
	char *text, *name;

	if (asprintf(&text, "ebprec_%s_%s", p->table, p->values[value].key) < 0)
		return NULL;
	name = push_prometheus_name(text);
	free(text);
	return name;
}

/* ---- remote write ---- */

struct messages {
	struct protobuf request, series, inner;
	size_t count;
};

static void put_series(struct messages *m, const struct series *s, double value, uint64_t time_ms)
{
	protobuf_clear(&m->series);
	for (size_t i = 0; i < s->count; i++) {
		protobuf_clear(&m->inner);
		protobuf_bytes(&m->inner, 1, s->labels[i].name, strlen(s->labels[i].name));
		protobuf_bytes(&m->inner, 2, s->labels[i].value, strlen(s->labels[i].value));
		protobuf_message(&m->series, 1, &m->inner);
	}
	protobuf_clear(&m->inner);
	protobuf_double(&m->inner, 1, value);
	protobuf_number(&m->inner, 2, time_ms);
	protobuf_message(&m->series, 2, &m->inner);
	protobuf_message(&m->request, 1, &m->series);
	m->count++;
}

static void end_request(struct messages *m, struct push_batch *b)
{
	struct push_part *part = m->count ? push_batch_add(b, "write") : NULL;

	b->bad |= m->request.failed;
	if (part && !b->bad) {
		snappy_block(&part->body, m->request.data, m->request.size_bytes);
		part->rows = (uint32_t)m->count;
		b->bad |= part->body.bad;
	}
	protobuf_clear(&m->request);
	m->count = 0;
}

static void put_point(struct messages *m, struct push_batch *b, const char *host,
		      const struct push_point *p)
{
	for (size_t v = 0; v < p->value_count && !b->bad; v++) {
		char *name = metric_name(p, v);
		struct series s = series_of(host, p, name ? name : "", true);

		b->bad |= !name || s.bad;
		put_series(m, &s, strtod(p->values[v].value, NULL), p->time_ns / 1000000);
		series_done(&s);
		free(name);
	}
}

static int encode_write(const struct push_interval *in, struct push_batch *b)
{
	struct messages m = { 0 };

	for (size_t i = 0; i < in->point_count && !b->bad; i++) {
		put_point(&m, b, in->host, &in->points[i]);
		if (m.count >= SERIES_A_PART)
			end_request(&m, b);
	}
	end_request(&m, b);
	protobuf_done(&m.request);
	protobuf_done(&m.series);
	protobuf_done(&m.inner);
	return b->bad ? -ENOMEM : 0;
}

const struct push_form push_prometheus = {
	.name = "prometheus",
	.about = "tables of instruments by remote write: Prometheus, VictoriaMetrics",
	.takes_metrics = true,
	.headers = { "Content-Type: application/x-protobuf", "Content-Encoding: snappy",
		     "X-Prometheus-Remote-Write-Version: 0.1.0" },
	.encode = encode_write,
};

/* ---- text ---- */

struct line {
	char *name; /* owned */
	const struct push_point *point;
	size_t value;
};

void push_prometheus_label(struct outbuf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			outbuf_add(out, "\\n", 2);
		else if (*text == '"' || *text == '\\')
			outbuf_printf(out, "\\%c", *text);
		else
			outbuf_add(out, text, 1);
	}
}

static void put_line(struct outbuf *out, const char *name, const struct push_point *p, size_t value)
{
	struct series s = series_of(NULL, p, NULL, false);

	outbuf_printf(out, "%s", name);
	for (size_t i = 0; i < s.count; i++) {
		outbuf_printf(out, "%c%s=\"", i ? ',' : '{', s.labels[i].name);
		push_prometheus_label(out, s.labels[i].value);
		outbuf_add(out, "\"", 1);
	}
	outbuf_printf(out, "%s %s\n", s.count ? "}" : "", p->values[value].value);
	out->bad |= s.bad;
	series_done(&s);
}

static int compare_series(const struct line *a, const struct line *b)
{
	int cmp = strcmp(a->name, b->name);

	for (size_t i = 0; i < a->point->tag_count && i < b->point->tag_count && !cmp; i++)
		cmp = strcmp(a->point->tags[i].value, b->point->tags[i].value);
	return cmp;
}

static int by_metric(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;
	int cmp = compare_series(a, b);

	return cmp ? cmp : a->point < b->point ? -1 : a->point > b->point;
}

static size_t count_values(const struct push_interval *in)
{
	size_t count = 0;

	for (size_t i = 0; i < in->point_count; i++)
		count += in->points[i].value_count;
	return count;
}

/* The format has all lines of a metric behind each other. */
static int encode_text(const struct push_interval *in, struct push_batch *b)
{
	struct line *lines = calloc(count_values(in) + 1, sizeof(*lines));
	struct push_part *part = push_batch_add(b, "text");
	const char *named = NULL; /* the metric that has its TYPE */
	size_t count = 0;

	b->bad |= !lines;
	for (size_t i = 0; i < in->point_count && !b->bad; i++)
		for (size_t v = 0; v < in->points[i].value_count; v++) {
			lines[count] = (struct line){ metric_name(&in->points[i], v),
						      &in->points[i], v };
			b->bad |= !lines[count++].name;
		}
	if (!b->bad)
		qsort(lines, count, sizeof(*lines), by_metric);
	for (size_t i = 0; i < count && !b->bad; i++) {
		if (i + 1 < count && !compare_series(&lines[i], &lines[i + 1]))
			continue; /* a later interval has it, too */
		if (!named || strcmp(named, lines[i].name) != 0)
			outbuf_printf(&part->body, "# TYPE %s gauge\n", lines[i].name);
		named = lines[i].name;
		put_line(&part->body, lines[i].name, lines[i].point, lines[i].value);
		part->rows++;
		b->bad |= part->body.bad;
	}
	for (size_t i = 0; i < count; i++)
		free(lines[i].name);
	free(lines);
	return b->bad ? -ENOMEM : 0;
}

/* A group of its own for each host, which each interval replaces. */
static char *url_text(const struct push_target *t, const struct push_batch *b, size_t part)
{
	size_t bytes = strlen(t->url);
	char *url;

	while (bytes && t->url[bytes - 1] == '/')
		bytes--;
	return asprintf(&url, "%.*s/metrics/job/ebprec/instance/%s", (int)bytes, t->url, b->host) <
			       0
		       ? NULL
		       : url;
}

const struct push_form push_pushgateway = {
	.name = "pushgateway",
	.about = "tables of instruments of the last interval: Prometheus' Pushgateway",
	.takes_metrics = true,
	.encode = encode_text,
	.url = url_text,
	.headers = { "Content-Type: text/plain; version=0.0.4" },
	.replaces = true,
};
