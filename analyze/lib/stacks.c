/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lib/handle.h"
#include "analyze/lib/query.h"
#include "analyze/lib/sized.h"
#include "analyze/report/quality_text.h"
#include "format/base/vec.h"

/* The sizes of the first release. */
#define STACK_BYTES   sizeof(struct ebprec_stack)
#define FRAME_BYTES   sizeof(struct ebprec_frame)
#define GROUP_BYTES   sizeof(struct ebprec_group)
#define QUALITY_BYTES sizeof(struct ebprec_quality)

_Static_assert((int)EBPREC_BY_COMM == GROUP_COMM && (int)EBPREC_BY_PID == GROUP_PID &&
		       (int)EBPREC_BY_TID == GROUP_TID && (int)EBPREC_BY_CPU == GROUP_CPU &&
		       (int)EBPREC_BY_CGROUP == GROUP_CGROUP,
	       "the numbers of enum ebprec_by are those of enum group_fields");

struct ebprec_stacks {
	struct report report;
	uint32_t by;
	const struct group *groups; /* of the report */
	size_t group_count;
	char **comms; /* ":12" by group, of those without a name; else NULL */
	uint32_t *frames;
	size_t frame_capacity;
	char *quality_text; /* NULL: not asked for */
};

/* ---- counting ---- */

static int write_quality(struct ebprec_stacks *s, const char *path)
{
	size_t bytes;
	char *text = NULL;
	FILE *to = open_memstream(&text, &bytes);
	bool failed;

	if (!to)
		return -ENOMEM;
	quality_text_write(&s->report, path, to);
	failed = ferror(to);
	if (fclose(to) || failed) {
		free(text);
		return -ENOMEM;
	}
	s->quality_text = text;
	return 0;
}

static int make_report(struct ebprec *e, const struct ebprec_query *q, const struct filter *filter,
		       struct report *r)
{
	struct report_query query = {
		.filter = filter,
		.off_cpu = q->flags & EBPREC_OFF_CPU,
		.fields = q->by ? q->by : EBPREC_BY_COMM,
		.thread_count = q->thread_count,
		.roots = lib_query_roots(q),
		.with_lines = q->flags & EBPREC_LINES,
		.with_inlined = q->flags & EBPREC_INLINED,
		.demangle = !(q->flags & EBPREC_MANGLED),
	};
	int err = lib_query_event(e, &r->scan, q->event, &query.attr);

	if (err)
		return err;
	err = report_make(r, &query);
	if (err == -ENODATA)
		return handle_fail(e, err, "there are no context switches");
	return err ? handle_fail(e, err, "cannot count: %s", strerror(-err)) : 0;
}

/* Threads without a name are called by their number. */
static int name_threads(struct ebprec_stacks *s)
{
	s->groups = groups_list(s->report.groups, &s->group_count);
	s->comms = calloc(s->group_count + 1, sizeof(*s->comms));
	if (!s->comms)
		return -ENOMEM;
	for (size_t i = 0; s->by & EBPREC_BY_COMM && i < s->group_count; i++) {
		uint32_t comm = s->groups[i].comm;

		if (comm & STACK_COUNTER_TID_GROUP &&
		    asprintf(&s->comms[i], ":%d", (int)(comm << 1) >> 1) < 0) {
			s->comms[i] = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

/* The report is open. */
static int count(struct ebprec *e, const struct ebprec_query *q, struct ebprec_stacks *s)
{
	struct filter filter;
	int err = lib_query_filter(e, q, &filter);

	s->by = q->by ? q->by : EBPREC_BY_COMM;
	if (!err)
		err = make_report(e, q, &filter, &s->report);
	filter_done(&filter);
	if (!err &&
	    (name_threads(s) || (q->flags & EBPREC_QUALITY_TEXT && write_quality(s, e->path))))
		err = handle_fail(e, -ENOMEM, "%s", strerror(ENOMEM));
	return err;
}

int ebprec_count(struct ebprec *e, const struct ebprec_query *query, struct ebprec_stacks **out)
{
	struct ebprec_stacks *s;
	struct ebprec_query q;
	int err = handle_begin(e);

	*out = NULL;
	if (err)
		return err;
	err = lib_query_take(e, query, &q);
	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return handle_fail(e, -ENOMEM, "%s", strerror(ENOMEM));
	err = report_open(e->capture, &s->report);
	if (err) {
		free(s);
		return handle_fail(e, err, "cannot read the side-band records: %s", strerror(-err));
	}
	err = count(e, &q, s);
	if (err) {
		ebprec_stacks_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void ebprec_stacks_free(struct ebprec_stacks *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->comms && i < s->group_count; i++)
		free(s->comms[i]);
	free(s->comms);
	free(s->frames);
	free(s->quality_text);
	report_done(&s->report);
	free(s);
}

/* ---- answers ---- */

static int add_frames(struct ebprec_stacks *s, uint32_t node, size_t *count)
{
	const struct stack_table_node *nodes = s->report.stacks.nodes;

	for (; node >= STACK_TABLE_FIRST_NODE; node = nodes[node].parent) {
		if (vec_reserve(&s->frames, &s->frame_capacity, *count + 1))
			return -ENOMEM;
		s->frames[(*count)++] = nodes[node].frame;
	}
	return 0;
}

int ebprec_get_stack(struct ebprec_stacks *s, size_t index, struct ebprec_stack *out)
{
	struct ebprec_stack v = { .size = sizeof(v) };
	const struct stack_table_entry *entry;
	int err;

	if (index >= s->report.stacks.entry_count)
		return -ENOENT;
	entry = &s->report.stacks.entries[index];
	err = add_frames(s, entry->key.kernel, &v.frame_count);
	if (!err)
		err = add_frames(s, entry->key.user, &v.frame_count);
	if (err)
		return err;
	v.frames = s->frames;
	v.samples = entry->sample_count;
	v.weight = entry->period_sum;
	v.group = entry->key.group;
	return sized_give(out, &v, sizeof(v), STACK_BYTES);
}

int ebprec_get_frame(const struct ebprec_stacks *s, uint32_t frame, struct ebprec_frame *out)
{
	const struct function *f;
	struct ebprec_frame v;

	if (frame >= s->report.naming.function_count)
		return -ENOENT;
	f = &s->report.naming.functions[frame];
	v = (struct ebprec_frame){
		.size = sizeof(v),
		.name = string_table_text(s->report.names, f->name),
		.file = string_table_text(s->report.names, f->dso),
		.source = f->line ? string_table_text(s->report.names, f->line) : NULL,
		.reason_text = f->reason ? name_reason_text((enum name_reason)f->reason) : NULL,
		.reason = f->reason,
		.is_kernel = f->is_kernel,
		.is_inlined = f->is_inlined,
	};
	return sized_give(out, &v, sizeof(v), FRAME_BYTES);
}

int ebprec_get_group(const struct ebprec_stacks *s, uint32_t group, struct ebprec_group *out)
{
	struct ebprec_group v = { .size = sizeof(v), .cpu = -1 };
	const struct group *g;

	if (group >= s->group_count)
		return -ENOENT;
	g = &s->groups[group];
	if (s->by & EBPREC_BY_COMM)
		v.comm = s->comms[group] ? s->comms[group]
					 : string_table_text(s->report.names, g->comm);
	if (s->by & EBPREC_BY_CGROUP)
		v.cgroup = string_table_text(s->report.names, (uint32_t)g->cgroup);
	if (s->by & EBPREC_BY_PID)
		v.pid = g->pid;
	if (s->by & EBPREC_BY_TID)
		v.tid = g->tid;
	if (s->by & EBPREC_BY_CPU)
		v.cpu = g->cpu;
	return sized_give(out, &v, sizeof(v), GROUP_BYTES);
}

int ebprec_get_quality(const struct ebprec_stacks *s, struct ebprec_quality *out)
{
	const struct stack_quality *q = &s->report.quality;
	const struct ebprec_quality v = {
		.size = sizeof(v),
		.samples = q->samples,
		.user_stacks = q->user_stacks,
		.complete_stacks = q->complete_stacks,
		.unnamed_samples = q->unnamed_samples,
		.lost_samples = s->report.counts.lost_samples,
		.broken_samples = s->report.stats.broken_samples,
		.weight_shift = s->report.period_shift,
		.text = s->quality_text,
	};

	return sized_give(out, &v, sizeof(v), QUALITY_BYTES);
}
