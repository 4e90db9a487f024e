/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/capture_stats.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/saturate.h"
#include "analyze/input/event/sample_decode.h"
#include "format/perf/perfrec.h"

static const char *const type_names[CAPTURE_STATS_TYPES] = {
	[PERF_RECORD_MMAP] = "MMAP",
	[PERF_RECORD_LOST] = "LOST",
	[PERF_RECORD_COMM] = "COMM",
	[PERF_RECORD_EXIT] = "EXIT",
	[PERF_RECORD_THROTTLE] = "THROTTLE",
	[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[PERF_RECORD_FORK] = "FORK",
	[PERF_RECORD_READ] = "READ",
	[PERF_RECORD_SAMPLE] = "SAMPLE",
	[PERF_RECORD_MMAP2] = "MMAP2",
	[PERF_RECORD_AUX] = "AUX",
	[PERF_RECORD_ITRACE_START] = "ITRACE_START",
	[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[PERF_RECORD_SWITCH] = "SWITCH",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PERF_RECORD_NAMESPACES] = "NAMESPACES",
	[PERF_RECORD_KSYMBOL] = "KSYMBOL",
	[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
	[PERF_RECORD_CGROUP] = "CGROUP",
	[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[22] = "CALLCHAIN_DEFERRED", /* Linux 6.19 */
	[PERFFILE_RECORD_HEADER_ATTR] = "HEADER_ATTR",
	[PERFFILE_RECORD_PRIVATE] = "PRIVATE",
	[PERFFILE_RECORD_TRACING_DATA] = "TRACING_DATA",
	[PERFFILE_RECORD_BUILD_ID] = "BUILD_ID",
	[PERFFILE_RECORD_FINISHED_ROUND] = "FINISHED_ROUND",
	[PERFFILE_RECORD_ID_INDEX] = "ID_INDEX",
	[PERFFILE_RECORD_AUXTRACE_INFO] = "AUXTRACE_INFO",
	[PERFFILE_RECORD_AUXTRACE] = "AUXTRACE",
	[PERFFILE_RECORD_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	[PERFFILE_RECORD_THREAD_MAP] = "THREAD_MAP",
	[PERFFILE_RECORD_CPU_MAP] = "CPU_MAP",
	[PERFFILE_RECORD_STAT_CONFIG] = "STAT_CONFIG",
	[PERFFILE_RECORD_STAT] = "STAT",
	[PERFFILE_RECORD_STAT_ROUND] = "STAT_ROUND",
	[PERFFILE_RECORD_EVENT_UPDATE] = "EVENT_UPDATE",
	[PERFFILE_RECORD_TIME_CONV] = "TIME_CONV",
	[PERFFILE_RECORD_HEADER_FEATURE] = "HEADER_FEATURE",
	[PERFFILE_RECORD_COMPRESSED] = "COMPRESSED",
	[PERFFILE_RECORD_FINISHED_INIT] = "FINISHED_INIT",
	[PERFFILE_RECORD_COMPRESSED2] = "COMPRESSED2",
};

const char *capture_stats_type_name(unsigned type)
{
	return type < CAPTURE_STATS_TYPES ? type_names[type] : NULL;
}

static void add_blocks(const struct capture *c, struct capture_stats *t)
{
	size_t i, count;
	const struct capture_block *f = capture_blocks(c, &count);
	bool raw_unknown[EBX_STREAM_END] = { false };

	for (i = 0; i < count; i++, f++) {
		unsigned stream = f->stream < EBX_STREAM_END ? f->stream : CAPTURE_STREAM_MIXED;
		struct capture_stats_stream *s = &t->streams[stream];

		s->block_count++;
		s->record_count += f->record_count;
		s->sample_count += f->sample_count;
		s->lost_count = saturate_add(s->lost_count, f->lost_count);
		s->file_bytes += f->file_bytes;
		s->raw_bytes += f->raw_bytes;
		raw_unknown[stream] |= !f->raw_bytes;
	}
	for (i = 0; i < EBX_STREAM_END; i++) {
		if (raw_unknown[i])
			t->streams[i].raw_bytes = 0;
	}
}

static void add_objects(const struct capture *c, struct capture_stats *t)
{
	size_t i, count;
	const struct capture_object *o = capture_objects(c, &count);

	for (i = 0; i < count; i++, o++) {
		struct capture_stats_kind *k =
			&t->kinds[o->kind < CAPTURE_STATS_KINDS ? o->kind : 0];

		k->object_count++;
		k->part_count += o->part_count;
		k->cut_count += !o->is_complete;
		k->raw_bytes += o->raw_bytes;
		k->file_bytes += o->file_bytes;
	}
}

struct counting {
	struct sample_decode decode;
	const struct filter *filter; /* NULL: samples of any time */
	struct capture_stats *stats;
};

/* The counts of an event; NULL: of none. */
static struct capture_stats_attr *counts_of(const struct counting *k,
					    const struct capture_attr *attr)
{
	return &k->stats->attrs[attr ? (size_t)(attr - k->decode.events.attrs)
				     : k->stats->attr_count];
}

static int add_event(void *ctx, const struct perf_sample *sample, const struct capture_attr *attr)
{
	(void)sample;
	counts_of(ctx, attr)->sample_count++;
	return 0;
}

/* A sample that does not fit its event counts as one of it, where its time is not asked for. */
static int add_sample(struct counting *k, const struct record *r)
{
	struct perf_sample sample;
	int result;

	if (!k->stats->attr_count)
		return 0;
	if (!k->filter && !k->decode.members) {
		counts_of(k, event_of_find(&k->decode.events, r->header))->sample_count++;
		return 0;
	}
	result = sample_decode(&k->decode, r->header, NULL, &sample);
	if (k->filter && (result != 1 || !filter_has_time(k->filter, sample.time_ns)))
		return 0;
	if (result == 1)
		return sample_decode_each(&k->decode, &sample, add_event, k);
	counts_of(k, k->decode.attr)->sample_count++;
	return 0;
}

static void add_lost(const struct counting *k, const struct record *r)
{
	static const struct perf_event_attr none;
	const struct event_of *events = &k->decode.events;
	const struct perf_event_attr *attr = events->count ? &events->attrs->attr : &none;
	struct capture_stats_attr *of;
	struct perfrec_side side;

	if (perfrec_side(r->header, r->header->size, attr, &side, NULL))
		return;
	if (side.type == PERF_RECORD_LOST_SAMPLES)
		side.lost.id = perfrec_identifier(r->header, r->header->size, attr);
	of = counts_of(k, capture_attr_by_id(events->c, side.lost.id));
	of->lost_count = saturate_add(of->lost_count, side.lost.count);
	if (side.type == PERF_RECORD_LOST)
		of->ring_lost_count = saturate_add(of->ring_lost_count, side.lost.count);
	k->stats->lost_count = saturate_add(k->stats->lost_count, side.lost.count);
}

static int add_record(struct counting *k, const struct record *r)
{
	unsigned type = r->header->type;

	if (type < CAPTURE_STATS_TYPES)
		k->stats->types[type]++;
	else
		k->stats->other_types++;
	if (type == PERF_RECORD_SAMPLE)
		return add_sample(k, r);
	if (type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES)
		add_lost(k, r);
	return 0;
}

bool capture_stats_repeat_losses(const struct capture *c)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	for (size_t i = 0; i < count; i++)
		if (attrs[i].attr.read_format & PERF_FORMAT_LOST)
			return true;
	return false;
}

/* Leaves the events' own counts, or those of their rings where perf record did not get to write the others. */
static void drop_repeated(const struct capture *c, struct capture_stats *t)
{
	uint64_t ring = 0, own;

	if (!capture_stats_repeat_losses(c))
		return;
	for (size_t i = 0; i <= t->attr_count; i++)
		ring = saturate_add(ring, t->attrs[i].ring_lost_count);
	own = t->lost_count - ring;
	for (size_t i = 0; i <= t->attr_count; i++) {
		struct capture_stats_attr *a = &t->attrs[i];

		a->lost_count = own < ring ? a->ring_lost_count
					   : a->lost_count - a->ring_lost_count;
	}
	t->lost_count = own < ring ? ring : own;
}

int capture_stats_capture(const struct capture *c, uint32_t stream_mask, struct capture_stats *out)
{
	return capture_stats_during(c, stream_mask, NULL, out);
}

int capture_stats_during(const struct capture *c, uint32_t stream_mask, const struct filter *filter,
			 struct capture_stats *out)
{
	struct capture_stats t = { 0 };
	struct counting k = { .filter = filter, .stats = &t };
	struct record_iter *it = NULL;
	struct record r;
	int err = sample_decode_init(&k.decode, c, true);

	t.attr_count = k.decode.events.count;
	t.attrs = calloc(t.attr_count + 1, sizeof(*t.attrs));
	if (!err && !t.attrs)
		err = -ENOMEM;
	if (!err)
		err = record_iter_new(c, stream_mask, 0, SIZE_MAX, &it);
	if (err)
		goto out;
	add_blocks(c, &t);
	add_objects(c, &t);
	while (!err && (err = record_iter_next(it, &r)) > 0)
		err = add_record(&k, &r);
	t.bad_blocks = record_iter_damage(it);
	if (err)
		goto out;
	drop_repeated(c, &t);
	*out = t;
	t.attrs = NULL; /* ownership moved */
out:
	sample_decode_done(&k.decode);
	record_iter_free(it);
	capture_stats_done(&t);
	return err;
}

void capture_stats_done(struct capture_stats *t)
{
	free(t->attrs);
	t->attrs = NULL;
}
