/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/serve/received.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/capture_meta.h"
#include "analyze/push/forms/prometheus.h"
#include "format/text/escape.h"
#include "format/text/json_reader.h"

static const char no_json[] = "the body is no JSON, or nests too deep";
static const char no_batch[] =
	"the body is no batch: source_script, batch_id, sequence and metrics were expected";
static const char too_long[] =
	"a text is longer than 1024 bytes, or a metric has more than 64 fields";

/* The string that was read last, as it can be printed; owned.  NULL: too long, an escape that is none, no memory. */
static char *text_of(const struct json_reader *j)
{
	struct capture_meta_value v = { j->raw - 1, j->raw_bytes + 2 };
	char *raw = j->raw_bytes < RECEIVED_TEXT_MAX ? capture_meta_string(v) : NULL;
	char *plain = raw ? escape_copy(ESCAPE_TEXT, raw, strlen(raw)) : NULL;

	free(raw);
	return plain;
}

/* A number in decimal, into room; false: it is none. */
static bool is_number(const struct json_reader *j, char room[32])
{
	size_t digits;

	if (!j->raw_bytes || j->raw_bytes >= 32)
		return false;
	memcpy(room, j->raw, j->raw_bytes);
	room[j->raw_bytes] = '\0';
	digits = strspn(room + (*room == '-'), "0123456789");
	return digits && strspn(room, "-+.0123456789eE") == j->raw_bytes;
}

/* ---- the batch ---- */

static void take_text(const struct json_reader *j, char **out)
{
	free(*out);
	*out = text_of(j);
}

/* The value of a member of the batch; *j stands at it. */
static int take_member(struct json_reader *j, const char *key, size_t key_bytes, struct received *r)
{
	const bool is_source = key_bytes == 13 && !memcmp(key, "source_script", 13),
		   is_id = key_bytes == 8 && !memcmp(key, "batch_id", 8),
		   is_sequence = key_bytes == 8 && !memcmp(key, "sequence", 8),
		   is_metrics = key_bytes == 7 && !memcmp(key, "metrics", 7);
	const size_t from = j->at;
	unsigned depth = j->depth;
	char number[32];
	int token = json_reader_next(j);

	if (token == JSON_READER_STRING && (is_source || is_id))
		take_text(j, is_source ? &r->source : &r->sender);
	if (token == JSON_READER_OTHER && is_sequence && is_number(j, number))
		r->sequence = strtoull(number, NULL, 10);
	while (token > 0 && j->depth > depth)
		token = json_reader_next(j);
	if (is_metrics) {
		r->metrics = j->data + from;
		r->metrics_bytes = j->at - from;
	}
	return token < 0 ? token : 0;
}

/* Batches of one sender have one name. */
static void cut_number(struct received *r)
{
	char end[24];
	size_t bytes = (size_t)snprintf(end, sizeof(end), "-%llu", (unsigned long long)r->sequence),
	       all = strlen(r->sender);

	if (all > bytes && !strcmp(r->sender + all - bytes, end))
		r->sender[all - bytes] = '\0';
	else
		*r->sender = '\0'; /* of another form: the source alone tells */
}

int received_read(const char *text, size_t size_bytes, struct received *out, const char **problem)
{
	struct json_reader j = { .data = text, .size_bytes = size_bytes };
	struct received r = { 0 };
	int token = json_reader_next(&j), err = 0;

	*problem = no_json;
	if (token != JSON_READER_OBJECT)
		return -EBADMSG;
	while (!err && (token = json_reader_next(&j)) == JSON_READER_KEY)
		err = take_member(&j, j.raw, j.raw_bytes, &r);
	if (err || token != JSON_READER_CLOSE || json_reader_next(&j) != JSON_READER_END) {
		received_done(&r);
		return -EBADMSG;
	}
	*problem = no_batch;
	if (!r.source || !*r.source || !r.sender || !r.sequence || r.sequence > INT64_MAX ||
	    !r.metrics) {
		received_done(&r);
		return -EBADMSG;
	}
	cut_number(&r);
	*out = r;
	return 0;
}

void received_done(struct received *r)
{
	free(r->source);
	free(r->sender);
	*r = (struct received){ 0 };
}

/* ---- its metrics ---- */

struct field {
	char *name, *value; /* owned */
};

struct metric {
	char *table; /* owned; NULL: none yet */
	struct field labels[RECEIVED_FIELDS_MAX], counts[RECEIVED_FIELDS_MAX];
	size_t label_count, count_count;
};

static void metric_done(struct metric *m)
{
	free(m->table);
	for (size_t i = 0; i < m->label_count; i++) {
		free(m->labels[i].name);
		free(m->labels[i].value);
	}
	for (size_t i = 0; i < m->count_count; i++) {
		free(m->counts[i].name);
		free(m->counts[i].value);
	}
	*m = (struct metric){ 0 };
}

static int add_field(struct field *list, size_t *count, char *name, char *value)
{
	if (!name || !value || *count == RECEIVED_FIELDS_MAX) {
		free(name);
		free(value);
		return -EBADMSG;
	}
	list[(*count)++] = (struct field){ name, value };
	return 0;
}

/* The value behind a key. */
static int take_field(struct json_reader *j, char *key, struct metric *m)
{
	unsigned depth = j->depth;
	char number[32];
	int token = json_reader_next(j);

	if (token == JSON_READER_STRING && !strcmp(key, "table")) {
		take_text(j, &m->table);
		free(key);
		return m->table ? 0 : -EBADMSG;
	}
	if (token == JSON_READER_STRING)
		return add_field(m->labels, &m->label_count, key, text_of(j));
	if (token == JSON_READER_OTHER && strcmp(key, "time") && is_number(j, number))
		return add_field(m->counts, &m->count_count, key, strdup(number));
	free(key);
	while (token > 0 && j->depth > depth)
		token = json_reader_next(j);
	return token < 0 ? -EBADMSG : 0;
}

/* Behind its brace, up to the other one. */
static int read_metric(struct json_reader *j, struct metric *m)
{
	int token, err = 0;

	while (!err && (token = json_reader_next(j)) == JSON_READER_KEY) {
		char *raw = text_of(j), *key = raw ? push_prometheus_name(raw) : NULL;

		free(raw);
		err = key ? take_field(j, key, m) : -EBADMSG;
	}
	return err || token != JSON_READER_CLOSE ? -EBADMSG : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct field *)a)->name, ((const struct field *)b)->name);
}

/* The first of labels of one name stands for them. */
static void put_labels(struct metric *m, struct outbuf *out)
{
	qsort(m->labels, m->label_count, sizeof(*m->labels), by_name);
	for (size_t i = 0; i < m->label_count; i++) {
		if (i && !strcmp(m->labels[i].name, m->labels[i - 1].name))
			continue;
		outbuf_printf(out, "%s%s=\"", i ? "," : "", m->labels[i].name);
		push_prometheus_label(out, m->labels[i].value);
		outbuf_add(out, "\"", 1);
	}
	outbuf_add(out, "", 1);
}

static char *name_of(const char *table, const char *field)
{
	const size_t bytes = strlen(field);
	const bool has_end = bytes >= 5 && !strcmp(field + bytes - 5, "total");
	char *text, *name = NULL;

	if (asprintf(&text, "ebprec_%s_%s%s", table, field, has_end ? "" : "_total") >= 0) {
		name = push_prometheus_name(text);
		free(text);
	}
	return name;
}

static int give_counts(struct metric *m, int (*add)(void *arg, const struct received_count *count),
		       void *arg)
{
	struct outbuf labels = { 0 };
	int err = 0;

	put_labels(m, &labels);
	if (labels.bad)
		err = -ENOMEM;
	for (size_t i = 0; i < m->count_count && !err; i++) {
		char *name = name_of(m->table ? m->table : "metrics", m->counts[i].name);
		const struct received_count count = { name, (const char *)labels.data,
						      m->counts[i].value };

		err = name ? add(arg, &count) : -ENOMEM;
		free(name);
	}
	outbuf_done(&labels);
	return err;
}

int received_each(const struct received *r,
		  int (*add)(void *arg, const struct received_count *count), void *arg,
		  const char **problem)
{
	struct json_reader j = { .data = r->metrics, .size_bytes = r->metrics_bytes };
	struct metric m = { 0 };
	int err = json_reader_next(&j) == JSON_READER_ARRAY ? 0 : -EBADMSG, token;

	*problem = no_batch;
	while (!err && (token = json_reader_next(&j)) != JSON_READER_CLOSE) {
		*problem = token == JSON_READER_OBJECT ? too_long : no_batch;
		err = token == JSON_READER_OBJECT ? read_metric(&j, &m) : -EBADMSG;
		if (!err)
			err = give_counts(&m, add, arg);
		metric_done(&m);
	}
	return err;
}
