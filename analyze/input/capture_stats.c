/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/capture_stats.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/saturate.h"
#include "analyze/input/event/group_read.h"
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

/* The counts of the event with this id. */
static struct capture_stats_attr *attr_of(const struct capture *c, uint64_t id,
					  struct capture_stats *t)
{
	const struct capture_attr *attr = capture_attr_by_id(c, id);

	return &t->attrs[attr ? (size_t)(attr - capture_attrs(c, &t->attr_count)) : t->attr_count];
}

struct counting {
	const struct capture_attr *attrs;
	struct capture_stats *stats;
};

static int add_member(void *ctx, const struct perf_sample *sample, const struct capture_attr *attr)
{
	const struct counting *counting = ctx;

	(void)sample;
	counting->stats->attrs[attr - counting->attrs].sample_count++;
	return 0;
}

/* False: the sample is of its own event alone. */
static bool add_members(const struct capture *c, const struct record *r, struct group_read *members,
			struct capture_stats *t)
{
	struct counting counting = { capture_attrs(c, &t->attr_count), t };
	const struct capture_attr *attr;
	struct perf_sample sample;

	if (!members || !t->attr_count)
		return false;
	attr = capture_attr_by_id(
		c, perfrec_identifier(r->header, r->header->size, &counting.attrs->attr));
	if (!attr || !group_read_are_in(attr) ||
	    perfrec_sample(r->header, r->header->size, &attr->attr, &sample, NULL))
		return false;
	return !group_read_each(members, &sample, add_member, &counting);
}

/* Whether the sample's time is asked for; filter NULL: any is. */
static bool is_in_time(const struct capture *c, const struct record *r, const struct filter *filter)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count), *attr;
	struct perf_sample sample;

	if (!filter || !count)
		return true;
	attr = capture_attr_by_id(c, perfrec_identifier(r->header, r->header->size, &attrs->attr));
	return !perfrec_sample(r->header, r->header->size, attr ? &attr->attr : &attrs->attr,
			       &sample, NULL) &&
	       filter_has_time(filter, sample.time_ns);
}

static void add_sample(const struct capture *c, const struct record *r, struct group_read *members,
		       const struct filter *filter, struct capture_stats *t)
{
	const struct capture_attr *attrs = capture_attrs(c, &t->attr_count);

	if (t->attr_count && is_in_time(c, r, filter) && !add_members(c, r, members, t))
		attr_of(c, perfrec_identifier(r->header, r->header->size, &attrs->attr), t)
			->sample_count++;
}

static void add_lost(const struct capture *c, const struct record *r, struct capture_stats *t)
{
	static const struct perf_event_attr none;
	const struct capture_attr *attrs = capture_attrs(c, &t->attr_count);
	const struct perf_event_attr *attr = t->attr_count ? &attrs->attr : &none;
	struct perfrec_side side;
	struct capture_stats_attr *of;

	if (perfrec_side(r->header, r->header->size, attr, &side, NULL))
		return;
	if (side.type == PERF_RECORD_LOST_SAMPLES)
		side.lost.id = perfrec_identifier(r->header, r->header->size, attr);
	of = attr_of(c, side.lost.id, t);
	of->lost_count = saturate_add(of->lost_count, side.lost.count);
	t->lost_count = saturate_add(t->lost_count, side.lost.count);
}

static void add_record(const struct capture *c, const struct record *r, struct group_read *members,
		       const struct filter *filter, struct capture_stats *t)
{
	unsigned type = r->header->type;

	if (type < CAPTURE_STATS_TYPES)
		t->types[type]++;
	else
		t->other_types++;
	if (type == PERF_RECORD_SAMPLE)
		add_sample(c, r, members, filter, t);
	else if (type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES)
		add_lost(c, r, t);
}

int capture_stats_capture(const struct capture *c, uint32_t stream_mask, struct capture_stats *out)
{
	return capture_stats_during(c, stream_mask, NULL, out);
}

int capture_stats_during(const struct capture *c, uint32_t stream_mask, const struct filter *filter,
			 struct capture_stats *out)
{
	struct record_iter *it = NULL;
	struct group_read *members = NULL;
	struct capture_stats t = { 0 };
	struct record r;
	int err;

	capture_attrs(c, &t.attr_count);
	t.attrs = calloc(t.attr_count + 1, sizeof(*t.attrs));
	if (!t.attrs)
		return -ENOMEM;
	add_blocks(c, &t);
	add_objects(c, &t);
	if (group_read_any(c))
		err = group_read_new(c, &members);
	else
		err = 0;
	if (!err)
		err = record_iter_new(c, stream_mask, 0, SIZE_MAX, &it);
	if (err)
		goto out;
	while ((err = record_iter_next(it, &r)) > 0)
		add_record(c, &r, members, filter, &t);
	t.bad_blocks = record_iter_damage(it);
	if (err)
		goto out;
	*out = t;
	t.attrs = NULL; /* ownership moved */
out:
	group_read_free(members);
	record_iter_free(it);
	capture_stats_done(&t);
	return err;
}

void capture_stats_done(struct capture_stats *t)
{
	free(t->attrs);
	t->attrs = NULL;
}
