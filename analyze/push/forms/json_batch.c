/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Batches as JSON: {timestamp, source_script, batch_id, sequence, metrics[]}, an interval a batch.  A receiver finds gaps by the
 * sequence of a sender and host, and what it has twice by batch_id.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/push/forms/forms.h"
#include "format/text/json_writer.h"

static void put_metric(struct json_writer *j, const char *host, const struct push_point *p)
{
	json_writer_begin(j, NULL);
	json_writer_string(j, "table", p->table);
	json_writer_string(j, "host", host);
	json_writer_fixed(j, "time", p->time_ns, 9);
	for (size_t i = 0; i < p->tag_count; i++)
		json_writer_string(j, p->tags[i].key, p->tags[i].value);
	for (size_t i = 0; i < p->value_count; i++)
		json_writer_number(j, p->values[i].key, "%s", p->values[i].value);
	json_writer_end(j);
}

static int encode(const struct push_interval *in, struct push_batch *b)
{
	struct push_part *part = push_batch_add(b, "batch");
	struct json_writer j = { .layout = JSON_WRITER_TIGHT };
	char id[64];

	if (!part)
		return -ENOMEM;
	snprintf(id, sizeof(id), "%016" PRIx64 "-%" PRIu64, in->sender, in->seq);
	j.out = &part->body;
	json_writer_begin(&j, NULL);
	json_writer_u64(&j, "timestamp", in->from_s);
	json_writer_string(&j, "source_script", in->host);
	json_writer_string(&j, "batch_id", id);
	json_writer_u64(&j, "sequence", in->seq);
	json_writer_begin_array(&j, "metrics");
	for (size_t i = 0; i < in->point_count; i++)
		put_metric(&j, in->host, &in->points[i]);
	json_writer_end_array(&j);
	json_writer_end(&j);
	part->rows = (uint32_t)in->point_count;
	b->bad |= part->body.bad;
	return b->bad ? -ENOMEM : 0;
}

const struct push_form push_json = {
	.name = "json",
	.about = "tables of instruments as JSON with sequence numbers",
	.takes_metrics = true,
	.headers = { "Content-Type: application/json" },
	.encode = encode,
};
