/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/samples_by_time.h"

#include <stdlib.h>

#include "analyze/input/event/event_stream.h"
#include "analyze/input/event/sample_decode.h"
#include "format/perf/perffile.h"

#define STREAMS (UINT32_MAX & ~(1u << EBX_STREAM_SIDE))

struct sorter {
	const struct capture *c;
	const struct time_span *span;
	samples_by_time_fn fn;
	void *ctx;
	struct samples_by_time_stats stats;
	struct sample_decode decode;
	struct event_stream *stream;
	uint64_t newest_ns, round_ns; /* perf's files: so far; when the last round ended */
};

static int pass_sample(void *ctx, const void *event)
{
	struct sorter *s = ctx;

	s->stats.sample_count++;
	return s->fn(s->ctx, event);
}

static int pass_until(struct sorter *s, uint64_t until_ns)
{
	return event_stream_pass(s->stream, until_ns, pass_sample, s);
}

static int add_sample(struct sorter *s, const struct perf_event_header *header,
		      struct event_batch *to)
{
	struct perf_sample sample;

	if (sample_decode(&s->decode, header, NULL, &sample) != 1) {
		s->stats.broken++;
		return 0;
	}
	if (sample.time_ns > s->newest_ns)
		s->newest_ns = sample.time_ns;
	if (!time_span_has(s->span, sample.time_ns))
		return 0;
	return event_batch_add(to, sample.time_ns, header, header->size);
}

/* A round can still have earlier records than the one before it; the one after cannot. */
static int end_round(struct sorter *s, struct event_batch **batch, uint64_t number)
{
	uint64_t until_ns = s->round_ns;
	int err = event_stream_end(s->stream, *batch);

	*batch = NULL;
	s->round_ns = s->newest_ns;
	if (!err)
		err = pass_until(s, until_ns);
	return err ? err : event_stream_begin(s->stream, number, batch);
}

static int read_blocks(struct sorter *s, size_t first, size_t count)
{
	bool rounds = capture_get_kind(s->c) != CAPTURE_EBX;
	struct event_batch *batch = NULL;
	struct record_iter *it = NULL;
	uint64_t number = first;
	struct record rec;
	int err, end_err;

	err = record_iter_new(s->c, STREAMS, first, count, &it);
	if (err)
		return err;
	err = event_stream_begin(s->stream, number, &batch);
	while (!err && record_iter_next(it, &rec) == 1) {
		if (rec.header->type == PERF_RECORD_SAMPLE)
			err = add_sample(s, rec.header, batch);
		else if (rec.header->type == PERFFILE_RECORD_FINISHED_ROUND && rounds)
			err = end_round(s, &batch, ++number);
	}
	end_err = batch ? event_stream_end(s->stream, batch) : 0;
	s->stats.damaged_blocks += record_iter_damage(it);
	record_iter_free(it);
	return err ? err : end_err;
}

static int read_parts(struct sorter *s)
{
	struct event_part *parts;
	size_t count;
	int err = event_parts_list(s->c, STREAMS, s->span, &parts, &count);

	if (err)
		return err;
	for (size_t i = 0; !err && i < count; i++) {
		err = pass_until(s, parts[i].time_ns ? parts[i].time_ns - 1 : 0);
		if (!err)
			err = read_blocks(s, parts[i].block, 1);
	}
	free(parts);
	return err;
}

int samples_by_time_run(const struct capture *c, const struct time_span *span,
			samples_by_time_fn fn, void *ctx, struct samples_by_time_stats *stats)
{
	struct sorter s = { .c = c, .span = span, .fn = fn, .ctx = ctx };
	int err = sample_decode_init(&s.decode, c, false);

	if (!err)
		err = event_stream_new(&s.stream);
	if (!err && capture_is_divisible(c) && capture_get_kind(c) == CAPTURE_EBX)
		err = read_parts(&s);
	else if (!err)
		err = read_blocks(&s, 0, SIZE_MAX);
	if (!err)
		err = pass_until(&s, UINT64_MAX);
	event_stream_free(s.stream);
	sample_decode_done(&s.decode);
	*stats = s.stats;
	return err;
}
