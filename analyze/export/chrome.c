/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Trace events of Chrome, which Perfetto reads: for each thread its frames as slices in time.  A
 * frame is open from the first sample that has it to the first that has it not; where no sample
 * comes for more than two intervals, the thread was not running, and all are closed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/export/exporter.h"
#include "format/base/vec.h"

#define GAP_NS_DEFAULT 100000000u /* where the interval is not known */

struct open_frame {
	uint32_t function;
	uint64_t since_ns;
};

struct tracks {
	struct report *r;
	const struct export_ask *ask;
	struct open_frame *open; /* outermost first */
	size_t depth, capacity;
	uint64_t base_ns, last_ns, interval_ns;
	bool has_thread;
	uint32_t pid, tid;  /* whose frames these are */
	uint32_t container; /* of the last sample, in the names; 0: none */
	FILE *to;
};

static void write_us(FILE *to, uint64_t ns)
{
	fprintf(to, "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

static void write_source(const struct tracks *t, struct name_source source)
{
	if (source.build_id) {
		fputs(", \"build_id\": ", t->to);
		export_json(t->to, string_table_text(t->r->names, source.build_id));
	}
	fputs(", \"origin\": ", t->to);
	export_json(t->to, string_table_text(t->r->names, source.origin));
	if (t->container) {
		fputs(", \"container\": ", t->to);
		export_json(t->to, string_table_text(t->r->names, t->container));
	}
}

static void close_frames(struct tracks *t, size_t depth, uint64_t at_ns)
{
	while (t->depth > depth) {
		const struct open_frame *o = &t->open[--t->depth];
		const struct function *f = &t->r->naming.functions[o->function];

		fputs(",\n  {\"ph\": \"X\", \"name\": ", t->to);
		export_json(t->to, string_table_text(t->r->names, f->name));
		fprintf(t->to,
			", \"cat\": \"%s\", \"pid\": %" PRIu32 ", \"tid\": %" PRIu32 ", \"ts\": ",
			f->is_kernel ? "kernel" : "user", t->pid, t->tid);
		write_us(t->to, o->since_ns - t->base_ns);
		fputs(", \"dur\": ", t->to);
		write_us(t->to, at_ns - o->since_ns);
		fputs(", \"args\": {\"file\": ", t->to);
		export_json(t->to, string_table_text(t->r->names, f->dso));
		write_source(t, name_sources_of(&t->r->sources, o->function));
		fputs("}}", t->to);
	}
}

static void start_thread(struct tracks *t, const struct group *g, bool first)
{
	char unknown[16];

	fprintf(t->to,
		"%s\n  {\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %" PRIu32
		", \"tid\": %" PRIu32 ", \"args\": {\"name\": ",
		first ? "" : ",", g->pid, g->tid);
	export_json(t->to, export_comm(t->r, g, unknown));
	fputs("}}", t->to);
	t->has_thread = true;
	t->pid = g->pid;
	t->tid = g->tid;
}

/* Where what was seen last ended, when something else is seen at time_ns. */
static uint64_t end_of_last(const struct tracks *t, uint64_t time_ns)
{
	return time_ns - t->last_ns > 2 * t->interval_ns ? t->last_ns + t->interval_ns : time_ns;
}

/* Slices end where the container changes. */
static int move_to(struct tracks *t, const struct group *g)
{
	uint32_t container;
	int err = export_container(t->r, g, &container);

	if (err)
		return err;
	if (container != t->container)
		close_frames(t, 0, end_of_last(t, g->time_ns));
	t->container = container;
	return 0;
}

static int add_sample(struct tracks *t, const struct stack_path *path, uint64_t time_ns)
{
	size_t same = 0;
	int err;

	if (t->depth && time_ns - t->last_ns > 2 * t->interval_ns)
		close_frames(t, 0, t->last_ns + t->interval_ns);
	while (same < t->depth && same < path->count &&
	       t->open[same].function == path->labels[path->count - 1 - same])
		same++;
	close_frames(t, same, time_ns);
	err = vec_reserve(&t->open, &t->capacity, path->count);
	if (err)
		return err;
	for (; t->depth < path->count; t->depth++)
		t->open[t->depth] = (struct open_frame){ path->labels[path->count - 1 - t->depth],
							 time_ns };
	t->last_ns = time_ns;
	return 0;
}

int export_chrome(struct report *r, const struct export_ask *ask, FILE *to)
{
	struct tracks t = { .r = r, .ask = ask, .to = to, .base_ns = ask->span.from_ns };
	struct export_stacks s;
	const struct group *g;
	int err = export_stacks_init(&s, r);

	t.interval_ns = ask->interval_ns ? ask->interval_ns : GAP_NS_DEFAULT;
	for (size_t i = 0; !err && i < s.count; i++) /* the base is before all */
		if (export_stacks_group(&s, i)->time_ns < t.base_ns)
			t.base_ns = export_stacks_group(&s, i)->time_ns;
	fputs("{\"displayTimeUnit\": \"ms\", \"otherData\": {\"creator\": \"ebprec " EBPREC_VERSION
	      "\"},\n \"traceEvents\": [",
	      to);
	for (size_t i = 0; !err && i < s.count; i++) {
		g = export_stacks_group(&s, i);
		if (!t.has_thread || t.pid != g->pid || t.tid != g->tid) {
			close_frames(&t, 0, t.last_ns + t.interval_ns);
			start_thread(&t, g, !i);
		}
		err = export_stacks_read(&s, i);
		if (!err)
			err = move_to(&t, g);
		if (!err)
			err = add_sample(&t, &s.path, g->time_ns);
	}
	close_frames(&t, 0, t.last_ns + t.interval_ns);
	fputs("\n ]\n}\n", to);
	free(t.open);
	export_stacks_done(&s);
	return err;
}
