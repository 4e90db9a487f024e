/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_of.h"
#include "analyze/lib/handle.h"
#include "analyze/lib/query.h"
#include "analyze/lib/sized.h"
#include "analyze/names/interrupted.h"
#include "analyze/report/script/frame_line.h"
#include "analyze/report/script/sample_walk.h"
#include "format/base/vec.h"

/* The sizes of the first release. */
#define SAMPLE_BYTES   sizeof(struct ebprec_sample)
#define LOCATION_BYTES sizeof(struct ebprec_location)

struct named_location {
	struct frame_line line;
	bool is_kernel;
};

struct ebprec_cursor {
	struct ebprec *e;
	int (*on_sample)(void *arg, struct ebprec_cursor *at);
	void *arg;
	bool was_ended; /* by on_sample */
	const struct capture_attr *attrs;
	struct sample_walk walk;
	struct frame_lines lines;
	/* Of this sample. */
	const struct perf_sample *sample;
	const struct capture_attr *attr;
	struct process_model_where where;
	char unknown[16];          /* the comm of a thread without one */
	bool has_text, has_frames; /* they were asked for, and made */
	FILE *writer;              /* of text */
	char *text;
	size_t text_bytes;
	struct frame_space space;
	struct named_location *locations;
	size_t location_count, location_capacity;
};

/* ---- frames ---- */

static int add_location(struct ebprec_cursor *at, unsigned mode, uint64_t addr, bool is_return)
{
	struct frame_location found = frame_location_find(&at->lines, &at->space, mode, addr,
							  is_return);
	struct named_location *l;

	if (vec_reserve(&at->locations, &at->location_capacity, at->location_count + 1))
		return -ENOMEM;
	l = &at->locations[at->location_count++];
	frame_line_make(&at->lines, &at->space, &found, &l->line);
	l->is_kernel = mode == PERF_RECORD_MISC_KERNEL;
	return l->line.name && interrupted_is_trampoline(l->line.name);
}

static int add_frame(void *ctx, unsigned mode, uint64_t addr, bool is_return)
{
	return add_location(ctx, mode, addr, is_return);
}

static int make_locations(struct ebprec_cursor *at)
{
	struct perf_sample walked = *at->sample;
	struct stack_result info;
	int result;

	at->location_count = 0;
	at->space = (struct frame_space){
		.user = at->where.space,
		.kernel = process_model_kernel(at->walk.model, walked.time_ns),
		.pid = walked.pid,
	};
	if (!(at->attr->attr.sample_type & PERF_SAMPLE_CALLCHAIN)) {
		if (!(at->attr->attr.sample_type & PERF_SAMPLE_IP))
			return 0;
		result = add_location(at, walked.cpumode, walked.ip, false);
		if (result >= 0)
			at->locations[0].line.addr = walked.ip;
		return result < 0 ? result : 0;
	}
	result = sample_chain_complete(&at->walk.chain, &walked, at->attr, at->where.space,
				       RESULT_NOWHERE, &info);
	return result < 0 ? result : frame_chain_each(&walked, result == 1, add_frame, at);
}

int ebprec_get_location(struct ebprec_cursor *at, size_t index, struct ebprec_location *out)
{
	struct ebprec_location v = { .size = sizeof(v) };
	const struct named_location *l;
	int err;

	if (!at->has_frames) {
		err = make_locations(at);
		if (err)
			return handle_fail(at->e, err, "cannot read a stack: %s", strerror(-err));
		at->has_frames = true;
	}
	if (index >= at->location_count)
		return -ENOENT;
	l = &at->locations[index];
	v.name = l->line.name;
	/* A path that was made is in the line, which moves as the array grows. */
	v.file = *l->line.made_dso ? l->line.made_dso : l->line.dso;
	v.reason_text = l->line.name ? NULL : name_reason_text(l->line.reason);
	v.reason = l->line.name ? 0 : l->line.reason;
	v.address = l->line.addr;
	v.into_bytes = l->line.name ? l->line.into_bytes : UINT64_MAX;
	v.is_kernel = l->is_kernel;
	return sized_give(out, &v, sizeof(v), LOCATION_BYTES);
}

/* ---- samples ---- */

/* NULL: the event is no tracepoint, or its format is not known. */
static int find_text(struct ebprec_cursor *at, const char **out)
{
	const struct perf_sample *s = at->sample;

	*out = NULL;
	if (at->attr->attr.type != PERF_TYPE_TRACEPOINT || !at->walk.trace || !s->raw_bytes)
		return 0;
	if (!at->has_text) {
		rewind(at->writer);
		if (tracepoint_text_write(at->walk.trace, at->attr->attr.config, s->raw,
					  s->raw_bytes, s->cpu, at->writer))
			return 0;
		putc('\0', at->writer);
		if (fflush(at->writer) || ferror(at->writer))
			return -ENOMEM;
		at->has_text = true;
	}
	*out = at->text;
	return 0;
}

static uint64_t period_of(const struct perf_sample *s, const struct perf_event_attr *attr)
{
	if (attr->sample_type & PERF_SAMPLE_PERIOD)
		return s->period;
	return attr->freq ? 1 : attr->sample_period;
}

static const char *text_of(const struct ebprec_cursor *at, uint32_t name)
{
	return name == PROCESS_MODEL_NONE ? NULL : string_table_text(at->walk.names, name);
}

int ebprec_get_sample(struct ebprec_cursor *at, struct ebprec_sample *out)
{
	const struct perf_event_attr *attr = &at->attr->attr;
	const struct perf_sample *s = at->sample;
	struct ebprec_sample v = {
		.size = sizeof(v),
		.comm = text_of(at, at->where.comm),
		.cgroup = attr->sample_type & PERF_SAMPLE_CGROUP
				  ? text_of(at, process_model_cgroup(at->walk.model, s->cgroup))
				  : NULL,
		.time_ns = attr->sample_type & PERF_SAMPLE_TIME ? s->time_ns : UINT64_MAX,
		.period = period_of(s, attr),
		.event = (uint32_t)(at->attr - at->attrs),
		.pid = s->pid,
		.tid = s->tid,
		.cpu = attr->sample_type & PERF_SAMPLE_CPU ? s->cpu : -1,
	};
	int err = find_text(at, &v.text);

	if (err)
		return handle_fail(at->e, err, "cannot read a sample: %s", strerror(-err));
	if (!v.comm) {
		snprintf(at->unknown, sizeof(at->unknown), ":%" PRId32, (int32_t)s->tid);
		v.comm = at->unknown;
	}
	return sized_give(out, &v, sizeof(v), SAMPLE_BYTES);
}

static int pass_sample(void *ctx, const struct perf_sample *sample, const struct capture_attr *attr)
{
	struct ebprec_cursor *at = ctx;
	int result;

	at->sample = sample;
	at->attr = attr;
	at->has_text = at->has_frames = false;
	process_model_thread(at->walk.model, sample->pid, sample->tid, sample->time_ns, &at->where);
	result = at->on_sample(at->arg, at);
	at->was_ended = result != 0;
	return result;
}

/* ---- all of them ---- */

static int choose_only(struct ebprec *e, const char *event, const struct capture_attr **out)
{
	size_t number, count;
	const struct capture_attr *attrs = capture_attrs(e->capture, &count);
	int err = event ? lib_query_event(e, &e->facts.scan, event, &number) : 0;

	*out = event && !err ? &attrs[number] : NULL;
	return err;
}

static int open_cursor(struct ebprec *e, const struct ebprec_query *q,
		       const struct name_roots *roots, struct ebprec_cursor *at)
{
	size_t count;
	int err;

	at->e = e;
	at->attrs = capture_attrs(e->capture, &count);
	at->writer = open_memstream(&at->text, &at->text_bytes);
	if (!at->writer)
		return -ENOMEM;
	err = sample_walk_open(&at->walk, e->capture, &e->facts.scan, e->facts.model,
			       e->facts.names, roots, !(q->flags & EBPREC_MANGLED));
	return err ? err : frame_lines_init(&at->lines, at->walk.model, at->walk.namer.resolver);
}

static void close_cursor(struct ebprec_cursor *at)
{
	frame_lines_done(&at->lines);
	sample_walk_close(&at->walk);
	if (at->writer)
		fclose(at->writer);
	free(at->text);
	free(at->locations);
}

static int check_flags(struct ebprec *e, const struct ebprec_query *q)
{
	const uint32_t unfit = EBPREC_INLINED | EBPREC_LINES | EBPREC_OFF_CPU | EBPREC_QUALITY_TEXT;

	if (q->flags & unfit)
		return handle_fail(e, -EINVAL, "flags: 0x%" PRIx32 " is for ebprec_count()",
				   q->flags & unfit);
	return q->by ? handle_fail(e, -EINVAL, "by: it is for ebprec_count()") : 0;
}

int ebprec_each_sample(struct ebprec *e, const struct ebprec_query *query,
		       int (*on_sample)(void *arg, struct ebprec_cursor *at), void *arg)
{
	struct ebprec_cursor at = { .on_sample = on_sample, .arg = arg };
	const struct capture_attr *only;
	struct name_roots roots;
	struct ebprec_query q;
	struct filter filter;
	int err = handle_begin_with_facts(e);

	if (!err)
		err = lib_query_take(e, query, &q);
	if (!err)
		err = check_flags(e, &q);
	if (!err)
		err = choose_only(e, q.event, &only);
	if (err)
		return err;
	err = lib_query_filter(e, &q, &filter);
	if (!err) {
		roots = lib_query_roots(&q);
		roots.function_addresses = false; /* each location has its own */
		err = open_cursor(e, &q, &roots, &at);
		if (!err)
			err = sample_walk_run(&at.walk, &filter, only, pass_sample, &at);
		if (err && !at.was_ended)
			handle_fail(e, err, "cannot read the samples: %s", strerror(-err));
	}
	close_cursor(&at);
	filter_done(&filter);
	return err;
}
