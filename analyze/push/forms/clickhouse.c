/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/forms/clickhouse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/push/forms/forms.h"
#include "analyze/push/forms/row_binary.h"

#define SECONDS_A_DAY 86400

/* ---- the tables ---- */

/* Without the last two members of an engine: those of Replicated tables, from the server's macros. */
struct table {
	const char *name, *columns, *merges, *partition, *order, *time;
	const char *version; /* the column of which the largest value stays; NULL: none */
};

/* In columns LOW stands for LowCardinality(String), or String where the server has none. */
static const struct table tables[] = {
	{ "ebprec_samples",
	  "service LOW, event LOW, t DateTime, stack UInt64, weight UInt64, samples UInt64, host LOW, comm LOW, "
	  "container LOW, sender UInt64, seq UInt64, labels Nested(key LOW, value LOW)",
	  "", "toDate(t)", "(service, event, toStartOfHour(t), stack, host, t)", "t", NULL },
	{ "ebprec_stacks", "stack UInt64, day Date, frames Array(UInt64)", "Replacing",
	  "toMonday(day)", "stack", "day", NULL },
	{ "ebprec_frames",
	  "frame UInt64, kind Enum8('native' = 1, 'kernel' = 2, 'other' = 3), build_id String, file LOW, name String, "
	  "is_inlined UInt8, why UInt8, ver UInt32",
	  "Replacing", NULL, "frame", NULL, "ver" },
	{ "ebprec_batches",
	  "host String, sender UInt64, seq UInt64, t0 DateTime, t1 DateTime, rows UInt64, samples UInt64, weight UInt64, "
	  "lost UInt64",
	  "Replacing", NULL, "(host, sender, seq)", NULL, NULL },
	{ "ebprec_hour",
	  "service LOW, event LOW, hour DateTime, stack UInt64, comm LOW, weight UInt64, samples UInt64, ver DateTime",
	  "Replacing", "toDate(hour)", "(service, event, hour, stack, comm)", "hour", "ver" },
};

/*
 * The hours of all hosts.  An hour is added up anew as long as batches of it may come, and the last sum of it counts: a view that adds
 * up what is inserted would have a batch twice, or not at all, whose sender was killed.
 */
static const char hour_view[] =
	"CREATE MATERIALIZED VIEW IF NOT EXISTS %s.ebprec_hour_fill REFRESH EVERY 1 HOUR OFFSET 10 MINUTE APPEND "
	"TO %s.ebprec_hour AS SELECT service, event, toStartOfHour(t) AS hour, stack, comm, sum(weight) AS weight, "
	"sum(samples) AS samples, now() AS ver FROM %s.ebprec_samples WHERE t >= toStartOfHour(now() - INTERVAL 3 HOUR) "
	"AND t < toStartOfHour(now()) GROUP BY service, event, hour, stack, comm";

/* Tables of before had no labels.  Servers that have no ADD COLUMN IF NOT EXISTS get them in new tables alone. */
static const char label_columns[] =
	"ALTER TABLE %s.ebprec_samples ADD COLUMN IF NOT EXISTS labels.key Array(LowCardinality(String)), "
	"ADD COLUMN IF NOT EXISTS labels.value Array(LowCardinality(String))";

#define TABLES (sizeof(tables) / sizeof(tables[0]))

static void put_columns(FILE *to, const char *columns, bool full)
{
	const char *low;

	while ((low = strstr(columns, "LOW"))) {
		fprintf(to, "%.*s%s", (int)(low - columns), columns,
			full ? "LowCardinality(String)" : "String");
		columns = low + 3;
	}
	fputs(columns, to);
}

static void put_engine(FILE *to, const struct table *t, const char *database, bool replicated)
{
	const char *version = t->version ? t->version : "";

	if (replicated)
		fprintf(to,
			" ENGINE = Replicated%sMergeTree('/clickhouse/tables/{shard}/%s/%s', '{replica}'%s%s)",
			t->merges, database, t->name, *version ? ", " : "", version);
	else
		fprintf(to, " ENGINE = %sMergeTree(%s)", t->merges, version);
	if (t->partition)
		fprintf(to, " PARTITION BY %s", t->partition);
	fprintf(to, " ORDER BY %s", t->order);
}

static void put_table(FILE *to, const struct table *t, const struct push_target *target,
		      bool replicated, unsigned days)
{
	bool full = target->version >= PUSH_CLICKHOUSE_FULL;

	fprintf(to, "CREATE TABLE IF NOT EXISTS %s.%s (", target->database, t->name);
	put_columns(to, t->columns, full);
	fputc(')', to);
	put_engine(to, t, target->database, replicated);
	if (full && days && t->time)
		fprintf(to, " TTL %s + INTERVAL %u DAY", t->time,
			strcmp(t->name, "ebprec_samples") ? days + 7 : days);
	if (full && !replicated && !*t->merges)
		fprintf(to, " SETTINGS non_replicated_deduplication_window = 1000");
}

int push_clickhouse_statement(const struct push_target *t, bool replicated, unsigned days, size_t i,
			      char **out)
{
	size_t bytes;
	FILE *to;

	*out = NULL;
	if (i >
	    TABLES + (t->version >= PUSH_CLICKHOUSE_FULL) + (t->version >= PUSH_CLICKHOUSE_REFRESH))
		return 0;
	to = open_memstream(out, &bytes);
	if (!to)
		return -ENOMEM;
	if (!i)
		fprintf(to, "CREATE DATABASE IF NOT EXISTS %s", t->database);
	else if (i == TABLES + 1)
		fprintf(to, label_columns, t->database);
	else if (i > TABLES)
		fprintf(to, hour_view, t->database, t->database, t->database);
	else
		put_table(to, &tables[i - 1], t, replicated, days);
	return fclose(to) ? -ENOMEM : 0;
}

uint64_t push_clickhouse_version(const char *text)
{
	unsigned major, minor;

	return sscanf(text, "%u.%u", &major, &minor) == 2 && major < 10000 && minor < 1000
		       ? major * 1000 + minor
		       : 0;
}

/* ---- rows ---- */

/* A stack once a capture and hour; is_new: by number, frames that are sent first with these. */
static void put_stacks(const struct push_interval *in, struct push_batch *b, uint8_t *is_new)
{
	struct push_part *part = push_batch_add(b, "stacks");
	const struct push_samples *s = &in->counted->samples;

	for (size_t i = 0; part && i < in->row_count && !b->bad; i++) {
		const struct push_stack *stack = &s->stacks[in->rows[i].stack];

		if (in->sent_stacks[in->rows[i].stack])
			continue;
		in->sent_stacks[in->rows[i].stack] = 1;
		outbuf_u64(&part->body, stack->id);
		outbuf_u16(&part->body, (uint16_t)(in->from_s / SECONDS_A_DAY));
		row_binary_count(&part->body, stack->count);
		for (uint32_t f = 0; f < stack->count; f++) {
			uint32_t number = s->frames[stack->first + f];

			is_new[number] |= !in->sent_frames[number];
			in->sent_frames[number] = 1;
			outbuf_u64(&part->body, s->frame_list[number].id);
		}
		push_part_end_row(b, part);
	}
}

static void put_frames(const struct push_interval *in, struct push_batch *b, const uint8_t *is_new)
{
	struct push_part *part = b->bad ? NULL : push_batch_add(b, "frames");

	for (size_t i = 0; part && i < in->counted->samples.frame_list_count && !b->bad; i++) {
		const struct push_frame *f = &in->counted->samples.frame_list[i];

		if (!is_new[i])
			continue;
		outbuf_u64(&part->body, f->id);
		row_binary_u8(&part->body, (uint8_t)f->kind);
		row_binary_text(&part->body, f->build_id);
		row_binary_text(&part->body, f->file);
		row_binary_text(&part->body, f->name);
		row_binary_u8(&part->body, f->is_inlined);
		row_binary_u8(&part->body, f->reason);
		outbuf_u32(&part->body, f->reason ? 0 : 1); /* a name replaces none */
		push_part_end_row(b, part);
	}
}

/* A column of keys, and one of values. */
static void put_labels(const struct push_labels *l, struct outbuf *out)
{
	row_binary_count(out, l ? l->count : 0);
	for (size_t i = 0; l && i < l->count; i++)
		row_binary_text(out, l->list[i].key);
	row_binary_count(out, l ? l->count : 0);
	for (size_t i = 0; l && i < l->count; i++)
		row_binary_text(out, l->list[i].value);
}

static void put_samples(const struct push_interval *in, struct push_batch *b, uint64_t *weight)
{
	struct push_part *part = b->bad ? NULL : push_batch_add(b, "samples");

	for (size_t i = 0; part && i < in->row_count && !b->bad; i++) {
		const struct push_row *r = &in->rows[i];

		row_binary_text(&part->body, r->service);
		row_binary_text(&part->body, in->counted->event);
		outbuf_u32(&part->body, (uint32_t)in->from_s);
		outbuf_u64(&part->body, in->counted->samples.stacks[r->stack].id);
		outbuf_u64(&part->body, r->weight);
		outbuf_u64(&part->body, r->samples);
		row_binary_text(&part->body, in->host);
		row_binary_text(&part->body, r->comm);
		row_binary_text(&part->body, r->container);
		outbuf_u64(&part->body, in->sender);
		outbuf_u64(&part->body, in->seq);
		put_labels(in->labels, &part->body);
		push_part_end_row(b, part);
		b->samples += r->samples;
		*weight += r->weight;
	}
}

static void put_ledger(const struct push_interval *in, struct push_batch *b, uint64_t weight)
{
	struct push_part *part = b->bad ? NULL : push_batch_add(b, "batches");

	if (!part)
		return;
	row_binary_text(&part->body, in->host);
	outbuf_u64(&part->body, in->sender);
	outbuf_u64(&part->body, in->seq);
	outbuf_u32(&part->body, (uint32_t)in->from_s);
	outbuf_u32(&part->body, (uint32_t)in->to_s);
	outbuf_u64(&part->body, in->row_count);
	outbuf_u64(&part->body, b->samples);
	outbuf_u64(&part->body, weight);
	outbuf_u64(&part->body, in->lost);
	push_part_end_row(b, part);
}

/* Stacks and frames first, so that a sample's are there when it is; the ledger's row last, so that it means all. */
static int encode(const struct push_interval *in, struct push_batch *out)
{
	uint8_t *is_new = calloc(in->counted->samples.frame_list_count + 1, 1);
	uint64_t weight = 0;

	if (!is_new)
		return -ENOMEM;
	put_stacks(in, out, is_new);
	put_frames(in, out, is_new);
	put_samples(in, out, &weight);
	put_ledger(in, out, weight);
	free(is_new);
	return out->bad ? -ENOMEM : 0;
}

/* ---- requests ---- */

static const char *columns_of(const char *part)
{
	if (!strcmp(part, "samples"))
		return "service,event,t,stack,weight,samples,host,comm,container,sender,seq,labels.key,"
		       "labels.value";
	if (!strcmp(part, "stacks"))
		return "stack,day,frames";
	if (!strcmp(part, "frames"))
		return "frame,kind,build_id,file,name,is_inlined,why,ver";
	return "host,sender,seq,t0,t1,rows,samples,weight,lost";
}

static char *__attribute__((format(printf, 3, 4)))
query_url(const struct push_target *t, const char *settings, const char *format, ...)
{
	char *sql, *escaped, *url = NULL;
	va_list args;
	int size;

	va_start(args, format);
	size = vasprintf(&sql, format, args);
	va_end(args);
	if (size < 0)
		return NULL;
	escaped = push_target_escape(sql);
	free(sql);
	if (escaped && asprintf(&url, "%s/?%squery=%s", t->url, settings, escaped) < 0)
		url = NULL;
	free(escaped);
	return url;
}

/* Rows of the batch's parts of that name before this one. */
static uint64_t rows_before(const struct push_batch *b, size_t part)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < part; i++)
		if (!strcmp(b->parts[i].name, b->parts[part].name))
			rows += b->parts[i].rows;
	return rows;
}

static char *url(const struct push_target *t, const struct push_batch *b, size_t part)
{
	const struct push_part *p = &b->parts[part];
	char settings[PUSH_TEXT_MAX + 160] = "";

	/* Numbers are of a host: others of this sender have the same. */
	if (t->version >= PUSH_CLICKHOUSE_TOKENS)
		snprintf(settings, sizeof(settings),
			 "async_insert=0&insert_deduplication_token=%016" PRIx64 "-%s-%" PRIu64
			 "-%s-%" PRIu64 "&",
			 b->sender, b->host, b->seq, p->name, rows_before(b, part));
	return query_url(t, settings, "INSERT INTO %s.ebprec_%s (%s) FORMAT RowBinary", t->database,
			 p->name, columns_of(p->name));
}

char *push_clickhouse_quote(const char *text)
{
	char *out = malloc(2 * strlen(text) + 3), *at = out;

	if (!out)
		return NULL;
	*at++ = '\'';
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			*at++ = '\\';
		*at++ = *text;
	}
	*at++ = '\'';
	*at = '\0';
	return out;
}

/* What replaces itself is sent again without asking. */
static int question(const struct push_target *t, const struct push_batch *b, size_t part,
		    char **out)
{
	bool is_samples = !strcmp(b->parts[part].name, "samples");
	char *host;

	if (!is_samples && strcmp(b->parts[part].name, "batches") != 0)
		return -ENOENT;
	host = push_clickhouse_quote(b->host);
	if (!host)
		return -ENOMEM;
	*out = query_url(t, "",
			 "SELECT count() FROM %s.ebprec_%s WHERE %s = toDateTime(%" PRIu64
			 ") AND host = %s AND sender = %" PRIu64 " AND seq = %" PRIu64
			 " FORMAT TSV",
			 t->database, b->parts[part].name, is_samples ? "t" : "t0", b->from_s, host,
			 b->sender, b->seq);
	free(host);
	return *out ? 0 : -ENOMEM;
}

const struct push_form push_clickhouse = {
	.name = "clickhouse",
	.about = "rows of samples, stacks and frames, and a ledger of batches",
	.encode = encode,
	.url = url,
	.headers = { "Content-Type: application/octet-stream" },
	.gzip = true,
	.question = question,
};
