/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/summary/cmd_summary_processes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/export/exporter.h"
#include "analyze/report/key/row_keys.h"

#define COMMAND_SHOWN 60 /* bytes of a command line that a page has room for */

void summary_processes_show_counts(struct text_table *v, const struct summary_processes *w)
{
	static const char *const by[] = { "context switches", "samples", "unknown" };

	text_table_number(v, "processes", w->process_count);
	text_table_number(v, "threads", w->thread_count);
	text_table_number(v, "started", w->started_count);
	text_table_number(v, "ended", w->ended_count);
	text_table_text(v, "cpu_time_by", by[w->by]);
	text_table_bool(v, "command_lines", w->cmdlines.count != 0);
}

void summary_processes_show_cpu_time(struct text_table *v, const struct summary_processes *w,
				     uint64_t run_ns)
{
	if (w->by == SUMMARY_TIME_UNKNOWN)
		text_table_unknown(v, "cpu_time", "_ns");
	else
		text_table_ns(v, "cpu_time", run_ns);
}

/* For people, where it was in the recording; for programs, a number also before that. */
static void show_moment(struct text_table *v, const char *key, bool known, bool before,
			uint64_t time_ns, const struct summary_processes *w, bool json)
{
	char text[32], in_ns[32];
	int64_t since_ns = (int64_t)(time_ns - w->origin_ns);

	snprintf(in_ns, sizeof(in_ns), "%s_ns", key);
	if (!known || (json && !time_ns))
		text_table_unknown(v, key, "_ns");
	else if (json)
		text_table_signed(v, in_ns, since_ns);
	else if (before)
		text_table_measure(v, key, "before");
	else {
		if (since_ns < 0 && since_ns > -500000) /* -0.000 would look wrong */
			since_ns = 0;
		snprintf(text, sizeof(text), "%.3f s", (double)since_ns / 1e9);
		text_table_measure(v, key, text);
	}
}

static void show_life(struct text_table *v, const struct summary_processes *w,
		      const struct tasks_life *e, bool json)
{
	static const struct tasks_life none;

	if (!e)
		e = &none;
	show_moment(v, "started", e->start_ns || e->was_there, e->was_there, e->start_ns, w, json);
	show_moment(v, "ended", e->end_ns, false, e->end_ns, w, json);
}

void summary_processes_show_life(struct text_table *v, const struct summary_processes *w,
				 uint32_t pid, bool json)
{
	uint32_t life = tasks_process(w->known, pid);

	show_life(v, w, life == TASKS_NONE ? NULL : &w->known->lives[life], json);
}

const char *summary_processes_comm(const struct report *r, const struct summary_processes *w,
				   const struct summary_row *row, char unknown[16])
{
	const struct tasks_life *e = row->life == TASKS_NONE ? NULL : &w->known->lives[row->life];
	struct group g = { .comm = row->comm };

	if (e && e->comm != TASKS_NONE)
		return string_table_text(r->names, e->comm);
	if (row->comm != SCHED_EVENT_NONE)
		return export_comm(r, &g, unknown);
	snprintf(unknown, 16, ":%" PRIu32, row->pid);
	return unknown;
}

/* The parent; in a group, that of most of them. */
static void show_parent(struct text_table *v, const struct report *r, const struct summary_row *row,
			const struct summary_processes *w, bool json)
{
	const struct tasks_life *e = row->life == TASKS_NONE ? NULL : &w->known->lives[row->life];
	uint32_t comm = row->parent_comm, pid = row->parent_pid, starts = row->parent_starts;
	char number[16] = "", of[48] = "", *text = NULL;
	const char *name;

	if (row->processes <= 1) {
		comm = e ? tasks_parent_comm(w->known, e) : TASKS_NONE;
		pid = e ? e->ppid : TASKS_NONE;
		starts = comm != TASKS_NONE;
	}
	name = comm == TASKS_NONE ? "" : string_table_text(r->names, comm);
	if (json) {
		text_table_text(v, "parent", name);
		if (pid == TASKS_NONE)
			text_table_unknown(v, "parent_pid", "");
		else
			text_table_number(v, "parent_pid", pid);
		text_table_number(v, "parent_starts", starts);
		return;
	}
	if (pid != TASKS_NONE)
		snprintf(number, sizeof(number), "(%" PRIu32 ")", pid);
	if (row->processes > 1 && starts < row->processes)
		snprintf(of, sizeof(of), ": %" PRIu32 " of them", starts);
	if (comm != TASKS_NONE && asprintf(&text, "%s%s%s", name, number, of) < 0)
		text = NULL;
	text_table_text(v, "parent", text ? text : "");
	free(text);
}

static int show_command(struct text_table *v, const struct summary_processes *w, uint32_t pid,
			const struct tasks_life *e, bool json)
{
	const struct cmdline_record *args = tasks_cmdline(
		w->known, &w->cmdlines, pid, e && e->end_ns ? e->end_ns - 1 : UINT64_MAX);
	char *line = args ? cmdlines_line(args) : strdup("");

	if (!line)
		return -ENOMEM;
	if (!json && strlen(line) > COMMAND_SHOWN)
		strcpy(line + COMMAND_SHOWN - 3, "...");
	text_table_text(v, "command_line", line);
	free(line);
	return 0;
}

static int show_row(struct text_table *v, const struct report *r, const struct summary *s,
		    const struct summary_row *row, const struct summary_processes *w, bool json,
		    bool counts)
{
	const struct tasks_life *e = row->life == TASKS_NONE ? NULL : &w->known->lives[row->life];
	struct tasks_life several;
	uint64_t base_ns;
	char unknown[16], container[CONTAINER_NAMES_TEXT_MAX] = "", strip[SUMMARY_SLICES + 1];

	summary_strip(s, row, strip);
	if (row->cgroup != UINT32_MAX)
		container_names_text(r->containers, string_table_text(r->names, row->cgroup),
				     container);
	text_table_row(v);
	if (counts)
		text_table_number(v, "count", row->processes);
	if (row->processes > 1)
		text_table_unknown(v, "pid", "");
	else
		text_table_number(v, "pid", row->pid);
	text_table_text(v, "comm", summary_processes_comm(r, w, row, unknown));
	text_table_number(v, "samples", row->samples);
	text_table_percent(v, "share", row->samples, s->samples);
	summary_processes_show_cpu_time(v, w, row->run_ns);
	if (row->processes > 1) {
		several = (struct tasks_life){ .start_ns = row->started_ns,
					       .end_ns = row->ended_ns };
		show_life(v, w, &several, json);
	} else {
		show_life(v, w, e, json);
	}
	if (json) {
		/* The slice in which the recording began is 0. */
		base_ns = w->origin_ns - w->origin_ns % s->slice_ns;
		text_table_ns(v, "first", row->first_ns - base_ns);
		text_table_ns(v, "last", row->last_ns - base_ns);
	}
	if (counts)
		show_parent(v, r, row, w, json);
	text_table_text(v, "container", container);
	text_table_complete_text(v, "over_time", strip);
	return show_command(v, w, row->pid, e, json);
}

/* "N more processes (--top 0)", so that the columns add up. */
static int show_rest(struct text_table *v, struct summary *s, const struct summary_processes *w,
		     size_t rows, bool counts)
{
	char name[64], strip[SUMMARY_SLICES + 1];
	struct summary_row rest;
	int err = summary_rest(s, rows, &rest);

	if (err)
		return err;
	summary_strip(s, &rest, strip);
	snprintf(name, sizeof(name), "%" PRIu32 " more", rest.processes);
	text_table_row(v);
	if (counts)
		text_table_number(v, "count", rest.processes);
	text_table_unknown(v, "pid", "");
	text_table_text(v, "comm", name);
	text_table_number(v, "samples", rest.samples);
	text_table_percent(v, "share", rest.samples, s->samples);
	summary_processes_show_cpu_time(v, w, rest.run_ns);
	text_table_unknown(v, "started", "_ns");
	text_table_unknown(v, "ended", "_ns");
	if (counts)
		text_table_text(v, "parent", "");
	text_table_text(v, "container", "");
	text_table_complete_text(v, "over_time", strip);
	text_table_text(v, "command_line", "--top 0 shows them");
	return 0;
}

static bool has_groups(const struct summary *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->rows[i].processes > 1)
			return true;
	return false;
}

int summary_processes_show(struct text_table *v, const struct report *r, struct summary *s,
			   const struct summary_processes *w, size_t rows, bool json)
{
	static const char *const all[] = { "count",  "pid",       "comm",      "samples",
					   "share",  "cpu_time",  "started",   "ended",
					   "parent", "container", "over_time", "command_line" };
	static const char *const each[] = { "pid",       "comm",        "samples", "share",
					    "cpu_time",  "started",     "ended",   "container",
					    "over_time", "command_line" };
	/*
	 * The number of processes, and their parent, are shown where there are several in a row; programs always
	 * get both.
	 */
	const bool counts = json || has_groups(s);
	int err = 0;

	if (counts)
		text_table_begin(v, "processes", all, sizeof(all) / sizeof(all[0]));
	else
		text_table_begin(v, "processes", each, sizeof(each) / sizeof(each[0]));
	for (size_t i = 0; !err && i < s->count && i < rows; i++)
		err = show_row(v, r, s, &s->rows[i], w, json, counts);
	/* Programs get rows of processes alone. */
	if (!err && !json && s->count > rows)
		err = show_rest(v, s, w, rows, counts);
	text_table_end(v);
	return err;
}
