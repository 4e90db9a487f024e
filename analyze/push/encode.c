/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/encode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/capture_meta.h"
#include "analyze/push/points.h"
#include "analyze/push/samples.h"
#include "format/base/crc32c.h"

#define NS_PER_SECOND    1000000000u
#define SECONDS_PER_HOUR 3600
#define HOST_BYTES       200
/* ClickHouse stores a part as one block, all or nothing, up to a million rows or 256 MB. */
#define BATCH_ROWS_MAX 100000

char *push_identity(const struct capture *c, const char *host, const struct time_span *span,
		    uint64_t to_wall_ns)
{
	struct capture_meta_value meta = capture_meta_read(c, EBX_META_START);
	uint32_t sum = meta.text ? crc32c(0, meta.text, meta.size_bytes) : 0;
	char *text;
	int size = asprintf(&text, "%s %" PRIu64 " %" PRIu64 " %08x", host,
			    span->from_ns + to_wall_ns, span->to_ns + to_wall_ns, sum);

	capture_meta_free(meta);
	return size < 0 ? NULL : text;
}

char *push_host_name(const char *host)
{
	char *name = strndup(host && *host ? host : "unknown", HOST_BYTES);

	for (char *at = name; at && *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.",
			    *at) ||
		    (*at == '.' && at == name))
			*at = '_';
	return name;
}

/* Where the batches of one capture for one server go. */
struct sink {
	const struct push_target *target;
	uint64_t seq; /* of the next one */
	int (*give)(void *arg, const struct push_batch *b);
	void *arg;
	uint64_t count;
};

static int encode_one(struct sink *to, struct push_interval *in)
{
	struct push_batch b = { .host = strdup(in->host),
				.sender = in->sender,
				.seq = to->seq,
				.from_s = in->from_s,
				.to_s = in->to_s };
	int err = b.host ? 0 : -ENOMEM;

	in->seq = to->seq;
	if (!err)
		err = to->target->form->encode(in, &b);
	if (!b.samples)
		b.samples = in->point_count;
	if (!err)
		err = to->give(to->arg, &b);
	to->seq++;
	to->count++;
	push_batch_done(&b);
	return err;
}

static uint64_t seconds_of(const struct push_source *s, uint64_t time_ns)
{
	return (time_ns + s->to_wall_ns) / NS_PER_SECOND;
}

/* The intervals of one list; in: with room for what was sent. */
static int encode_intervals(struct sink *to, const struct push_source *s,
			    const struct push_counted *counted, struct push_interval *in)
{
	const struct push_samples *samples = &counted->samples;
	uint64_t hour = 0;
	int err = 0;

	for (size_t i = 0; i < samples->row_count && !err; i += in->row_count) {
		uint64_t from_ns = samples->rows[i].time_ns, to_ns = from_ns + s->interval_ns;

		if (to_ns > s->end_ns && from_ns <= s->end_ns)
			to_ns = s->end_ns;
		in->rows = samples->rows + i;
		in->row_count = push_samples_interval(samples, i);
		if (in->row_count > BATCH_ROWS_MAX)
			in->row_count = BATCH_ROWS_MAX;
		in->from_s = seconds_of(s, from_ns);
		in->to_s = seconds_of(s, to_ns);
		in->lost = i + in->row_count == samples->row_count ? counted->lost : 0;
		if (in->from_s / SECONDS_PER_HOUR != hour) {
			memset(in->sent_stacks, 0, samples->stack_count);
			memset(in->sent_frames, 0, samples->frame_list_count);
		}
		hour = in->from_s / SECONDS_PER_HOUR;
		err = encode_one(to, in);
	}
	return err;
}

static int encode_counted(struct sink *to, uint64_t sender, const struct push_source *s,
			  const struct push_counted *counted)
{
	struct push_interval in = {
		.host = s->host,
		.labels = s->labels,
		.sender = sender,
		.counted = counted,
		.sent_stacks = calloc(counted->samples.stack_count + 1, 1),
		.sent_frames = calloc(counted->samples.frame_list_count + 1, 1),
	};
	int err = in.sent_stacks && in.sent_frames ? encode_intervals(to, s, counted, &in)
						   : -ENOMEM;

	free(in.sent_stacks);
	free(in.sent_frames);
	return err;
}

static int encode_samples(struct sink *to, uint64_t sender, const struct push_source *s)
{
	int err = 0;

	for (size_t i = 0; i < s->counted_count && !err; i++)
		err = encode_counted(to, sender, s, &s->counted[i]);
	return err;
}

/* Points from the i-th on that are of the same interval; how many. */
static size_t count_points(const struct push_source *s, size_t i)
{
	const struct push_points *p = s->points;
	size_t end = i;

	while (end < p->count &&
	       p->list[end].time_ns / s->interval_ns == p->list[i].time_ns / s->interval_ns)
		end++;
	return end - i;
}

static int encode_points(struct sink *to, uint64_t sender, const struct push_source *s)
{
	struct push_interval in = { .host = s->host, .sender = sender };
	int err = 0;

	for (size_t i = 0; i < s->points->count && !err; i += in.point_count) {
		in.points = s->points->list + i;
		in.point_count = count_points(s, i);
		in.from_s = in.points[0].time_ns / NS_PER_SECOND;
		in.to_s = in.points[in.point_count - 1].time_ns / NS_PER_SECOND;
		err = encode_one(to, &in);
	}
	return err;
}

int push_encode(const struct push_target *t, const struct push_source *source, uint64_t sender,
		uint64_t first_seq, int (*give)(void *arg, const struct push_batch *b), void *arg,
		uint64_t *count)
{
	struct sink to = { .target = t, .seq = first_seq, .give = give, .arg = arg };
	int err = t->form->takes_metrics ? encode_points(&to, sender, source)
					 : encode_samples(&to, sender, source);

	*count = to.count;
	return err;
}
