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
#include "format/text/json_writer.h"

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
	struct json_writer j;
};

static void write_name(struct tracks *t, const char *key, uint32_t name)
{
	json_writer_string(&t->j, key, string_table_text(t->r->names, name));
}

static void write_args(struct tracks *t, const struct function *f, struct name_source source)
{
	json_writer_begin(&t->j, "args");
	write_name(t, "file", f->dso);
	if (source.build_id)
		write_name(t, "build_id", source.build_id);
	write_name(t, "origin", source.origin);
	if (t->container)
		write_name(t, "container", t->container);
	json_writer_end(&t->j);
}

static void close_frames(struct tracks *t, size_t depth, uint64_t at_ns)
{
	while (t->depth > depth) {
		const struct open_frame *o = &t->open[--t->depth];
		const struct function *f = &t->r->naming.functions[o->function];

		json_writer_begin(&t->j, NULL);
		json_writer_string(&t->j, "ph", "X");
		write_name(t, "name", f->name);
		json_writer_string(&t->j, "cat", f->is_kernel ? "kernel" : "user");
		json_writer_u64(&t->j, "pid", t->pid);
		json_writer_u64(&t->j, "tid", t->tid);
		json_writer_fixed(&t->j, "ts", o->since_ns - t->base_ns, 3); /* in us */
		json_writer_fixed(&t->j, "dur", at_ns - o->since_ns, 3);
		write_args(t, f, name_sources_of(&t->r->sources, o->function));
		json_writer_end(&t->j);
	}
}

static void start_thread(struct tracks *t, const struct group *g)
{
	char unknown[16];

	json_writer_begin(&t->j, NULL);
	json_writer_string(&t->j, "ph", "M");
	json_writer_string(&t->j, "name", "thread_name");
	json_writer_u64(&t->j, "pid", g->pid);
	json_writer_u64(&t->j, "tid", g->tid);
	json_writer_begin(&t->j, "args");
	json_writer_string(&t->j, "name", export_comm(t->r, g, unknown));
	json_writer_end(&t->j);
	json_writer_end(&t->j);
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
	struct tracks t = { .r = r, .ask = ask, .base_ns = ask->span.from_ns };
	struct export_stacks s;
	const struct group *g;
	int err = export_stacks_init(&s, r);

	t.j = (struct json_writer){ .to = to, .layout = JSON_WRITER_SPACED };
	t.interval_ns = ask->interval_ns ? ask->interval_ns : GAP_NS_DEFAULT;
	for (size_t i = 0; !err && i < s.count; i++) /* the base is before all */
		if (export_stacks_group(&s, i)->time_ns < t.base_ns)
			t.base_ns = export_stacks_group(&s, i)->time_ns;
	json_writer_begin(&t.j, NULL);
	json_writer_string(&t.j, "displayTimeUnit", "ms");
	json_writer_begin(&t.j, "otherData");
	json_writer_string(&t.j, "creator", "ebprec " EBPREC_VERSION);
	json_writer_end(&t.j);
	t.j.line_depth = 2;
	json_writer_begin_array(&t.j, "traceEvents");
	for (size_t i = 0; !err && i < s.count; i++) {
		g = export_stacks_group(&s, i);
		if (!t.has_thread || t.pid != g->pid || t.tid != g->tid) {
			close_frames(&t, 0, t.last_ns + t.interval_ns);
			start_thread(&t, g);
		}
		err = export_stacks_read(&s, i);
		if (!err)
			err = move_to(&t, g);
		if (!err)
			err = add_sample(&t, &s.path, g->time_ns);
	}
	close_frames(&t, 0, t.last_ns + t.interval_ns);
	json_writer_end_array(&t.j);
	json_writer_end(&t.j);
	free(t.open);
	export_stacks_done(&s);
	return err;
}
