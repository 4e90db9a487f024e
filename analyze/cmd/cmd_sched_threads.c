/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/cmd_sched_threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/sched/exits.h"
#include "analyze/out/message.h"
#include "analyze/out/terminal.h"

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

const char *cmd_sched_comm_text(const struct string_table *names,
				const struct sched_stats_thread *th, char unknown[16])
{
	if (th->comm != SCHED_EVENT_NONE)
		return string_table_text(names, th->comm);
	snprintf(unknown, 16, ":%u", th->tid);
	return unknown;
}

void cmd_sched_comm(const char *comm, size_t width, size_t most)
{
	size_t bytes = strlen(comm), used = message_columns(comm, bytes);

	message_escaped_within(stdout, comm, bytes, (unsigned)most);
	for (; used < width; used++)
		putchar(' ');
}

/* The table of threads behind their comms. */
enum thread_column {
	COLUMN_PID,
	COLUMN_TID,
	COLUMN_CPU,
	COLUMN_RUN,
	COLUMN_WAIT,
	COLUMN_SLEEP,
	COLUMN_BLOCK,
	COLUMN_STOP,
	COLUMN_UNKNOWN,
	COLUMN_VOLUNTARY,
	COLUMN_INVOLUNTARY,
	COLUMN_PRIO,
	COLUMN_NICE,
	COLUMN_POLICY,
	COLUMNS,
};

enum { CELL_BYTES = 32, COMM_WIDTH = 15, COMM_LEAST = 8 };

static const struct {
	const char *title;
	int width; /* less than 0: to the left */
} thread_columns[COLUMNS] = {
	[COLUMN_PID] = { "PID", 7 },
	[COLUMN_TID] = { "TID", 7 },
	[COLUMN_CPU] = { "CPU%", 5 },
	[COLUMN_RUN] = { "RUN(ms)", 11 },
	[COLUMN_WAIT] = { "WAIT(ms)", 11 },
	[COLUMN_SLEEP] = { "SLEEP(ms)", 11 },
	[COLUMN_BLOCK] = { "BLOCK(ms)", 11 },
	[COLUMN_STOP] = { "STOP(ms)", 11 },
	[COLUMN_UNKNOWN] = { "UNKNOWN(ms)", 11 },
	[COLUMN_VOLUNTARY] = { "VOL", 8 },
	[COLUMN_INVOLUNTARY] = { "NONVOL", 8 },
	[COLUMN_PRIO] = { "PRIO", 5 },
	[COLUMN_NICE] = { "NICE", 4 },
	[COLUMN_POLICY] = { "POLICY", -1 },
};

/* The columns of the table: as wide as its comms, and no columns of zeros. */
struct columns {
	size_t comm_width, shown;
	size_t comm_most; /* of a comm that is cut; 0: it is not */
	bool has[COLUMNS];
	size_t count; /* those from here on have no room on this terminal */
};

static bool was_active(const struct sched_stats_thread *th)
{
	return th->runs || th->wakeups || th->voluntary || th->involuntary;
}

bool cmd_sched_has_nice(const struct sched_stats_thread *th)
{
	return th->prio >= 100 && th->prio < 140;
}

static void id_cell(char cell[CELL_BYTES], uint32_t id)
{
	if (id == UINT32_MAX)
		strcpy(cell, "?");
	else
		snprintf(cell, CELL_BYTES, "%u", id);
}

static void ms_cell(char cell[CELL_BYTES], uint64_t ns)
{
	snprintf(cell, CELL_BYTES, "%.3f", ms(ns));
}

static void fill_cells(const struct sched_stats_thread *th, uint64_t span_ns,
		       char cells[COLUMNS][CELL_BYTES])
{
	id_cell(cells[COLUMN_PID], th->pid);
	id_cell(cells[COLUMN_TID], th->tid);
	snprintf(cells[COLUMN_CPU], CELL_BYTES, "%.1f",
		 span_ns ? 100.0 * (double)th->ns[THREAD_STATES_RUN] / (double)span_ns : 0);
	ms_cell(cells[COLUMN_RUN], th->ns[THREAD_STATES_RUN]);
	ms_cell(cells[COLUMN_WAIT], th->ns[THREAD_STATES_WAIT]);
	ms_cell(cells[COLUMN_SLEEP], th->ns[THREAD_STATES_SLEEP]);
	ms_cell(cells[COLUMN_BLOCK], th->ns[THREAD_STATES_BLOCK]);
	ms_cell(cells[COLUMN_STOP], th->ns[THREAD_STATES_STOP]);
	ms_cell(cells[COLUMN_UNKNOWN], th->ns[THREAD_STATES_UNKNOWN]);
	snprintf(cells[COLUMN_VOLUNTARY], CELL_BYTES, "%" PRIu64, th->voluntary);
	snprintf(cells[COLUMN_INVOLUNTARY], CELL_BYTES, "%" PRIu64, th->involuntary);
	strcpy(cells[COLUMN_PRIO], "?");
	strcpy(cells[COLUMN_NICE], "?");
	if (th->prio != INT16_MIN) {
		snprintf(cells[COLUMN_PRIO], CELL_BYTES, "%d", th->prio);
		strcpy(cells[COLUMN_NICE], "-");
	}
	if (th->prio != INT16_MIN && cmd_sched_has_nice(th))
		snprintf(cells[COLUMN_NICE], CELL_BYTES, "%d", th->prio - 120);
	snprintf(cells[COLUMN_POLICY], CELL_BYTES, "%s",
		 th->policy ? exits_policy(th->policy - 1u) : "?");
}

static void put_thread(const struct string_table *names, const struct sched_stats_thread *th,
		       uint64_t span_ns, const struct columns *with)
{
	char text[16], cells[COLUMNS][CELL_BYTES];

	fill_cells(th, span_ns, cells);
	cmd_sched_comm(cmd_sched_comm_text(names, th, text), with->comm_width, with->comm_most);
	for (size_t i = 0; i < with->count; i++)
		if (with->has[i])
			printf(" %*s", thread_columns[i].width, cells[i]);
	putchar('\n');
}

/* On a terminal comms are cut, and then columns are left out, from the last one on. */
static void fit(struct columns *with)
{
	size_t used = 0, width;
	struct terminal look;

	with->count = COLUMNS;
	terminal_of(stdout, &look);
	if (!look.columns)
		return;
	for (size_t i = 0; i < COLUMNS; i++) {
		width = i == COLUMN_POLICY ? strlen("deadline") : (size_t)thread_columns[i].width;
		if (!with->has[i])
			continue;
		if (COMM_LEAST + used + 1 + width > look.columns) {
			with->count = i;
			break;
		}
		used += 1 + width;
	}
	if (with->comm_width + used > look.columns)
		with->comm_width = look.columns - used;
	with->comm_most = with->comm_width;
}

static struct columns columns_of(const struct sched_stats *s, const struct string_table *names,
				 const struct cmd_sched_shown *opts)
{
	struct columns with = { .comm_width = COMM_WIDTH };
	const struct sched_stats_thread *th;
	const char *comm;
	char text[16];
	size_t columns;

	memset(with.has, true, sizeof(with.has));
	with.has[COLUMN_STOP] = with.has[COLUMN_UNKNOWN] = false;
	for (size_t i = 0; i < s->thread_count; i++) {
		th = &s->threads[i];
		if (!opts->all && !was_active(th))
			continue;
		comm = cmd_sched_comm_text(names, th, text);
		columns = message_columns(comm, strlen(comm));
		if (columns > with.comm_width)
			with.comm_width = columns;
		with.has[COLUMN_STOP] |= th->ns[THREAD_STATES_STOP] != 0;
		with.has[COLUMN_UNKNOWN] |= th->ns[THREAD_STATES_UNKNOWN] != 0;
		with.shown++;
	}
	if (opts->top && opts->top < with.shown)
		with.shown = opts->top;
	fit(&with);
	return with;
}

static void put_left_out(const struct columns *with)
{
	const char *before = "without room: ";

	for (size_t i = with->count; i < COLUMNS; i++) {
		if (!with->has[i])
			continue;
		printf("%s%s", before, thread_columns[i].title);
		before = ", ";
	}
	if (with->count < COLUMNS)
		putchar('\n');
}

void cmd_sched_threads(const struct sched_stats *s, const struct string_table *names,
		       const struct cmd_sched_shown *opts)
{
	struct columns with = columns_of(s, names, opts);
	size_t left = with.shown;

	cmd_sched_comm("COMM", with.comm_width, 0);
	for (size_t i = 0; i < with.count; i++)
		if (with.has[i])
			printf(" %*s", thread_columns[i].width, thread_columns[i].title);
	putchar('\n');
	for (size_t i = 0; i < s->thread_count && left; i++) {
		if (!opts->all && !was_active(&s->threads[i]))
			continue;
		put_thread(names, &s->threads[i], s->elapsed_ns, &with);
		left--;
	}
	put_left_out(&with);
	if (with.shown < s->thread_count)
		printf("and %zu more threads%s\n", s->thread_count - with.shown,
		       opts->all || opts->top ? ""
					      : " that neither ran nor woke up (--all shows them)");
}
