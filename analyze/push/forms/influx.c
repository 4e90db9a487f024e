/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * InfluxDB's line protocol: a line a point, which VictoriaMetrics, QuestDB and Telegraf take, too.  A point of the same
 * table, tags and time replaces the one that is there, so that nothing counts twice.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/push/forms/forms.h"

/* With a backslash before what ends a tag; a line end, and a backslash at the end, would end more than it. */
static void put_escaped(struct outbuf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		char c = *text;

		if ((unsigned char)c < ' ' || (c == '\\' && !text[1]))
			c = '_';
		if (strchr(special, c))
			outbuf_add(out, "\\", 1);
		outbuf_add(out, &c, 1);
	}
}

static void put_tag(struct outbuf *out, const char *key, const char *value)
{
	if (!*value) /* which is none */
		return;
	outbuf_add(out, ",", 1);
	put_escaped(out, key, ",= ");
	outbuf_add(out, "=", 1);
	put_escaped(out, value, ",= ");
}

static void put_point(struct outbuf *out, const char *host, const struct push_point *p)
{
	outbuf_printf(out, "ebprec_");
	put_escaped(out, p->table, ", ");
	put_tag(out, "host", host);
	for (size_t i = 0; i < p->tag_count; i++)
		put_tag(out, p->tags[i].key, p->tags[i].value);
	for (size_t i = 0; i < p->value_count; i++) {
		outbuf_add(out, i ? "," : " ", 1);
		put_escaped(out, p->values[i].key, ",= ");
		outbuf_printf(out, "=%si", p->values[i].value);
	}
	outbuf_printf(out, " %" PRIu64 "\n", p->time_ns);
}

static int encode(const struct push_interval *in, struct push_batch *b)
{
	struct push_part *part = push_batch_add(b, "lines");

	for (size_t i = 0; part && i < in->point_count && !b->bad; i++) {
		put_point(&part->body, in->host, &in->points[i]);
		push_part_end_row(b, part);
	}
	return b->bad ? -ENOMEM : 0;
}

const struct push_form push_influx = {
	.name = "influx",
	.about = "tables of instruments as lines: InfluxDB, VictoriaMetrics",
	.takes_metrics = true,
	.headers = { "Content-Type: text/plain; charset=utf-8" },
	.gzip = true,
	.encode = encode,
};
