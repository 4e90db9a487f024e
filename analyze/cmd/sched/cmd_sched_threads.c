/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/sched/cmd_sched_threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/sched/exits.h"
#include "analyze/out/aligned_table.h"
#include "analyze/out/number_text.h"
#include "analyze/out/terminal.h"

const char *cmd_sched_comm_text(const struct string_table *names,
				const struct sched_stats_thread *th, char unknown[16])
{
	if (th->comm != SCHED_EVENT_NONE)
		return string_table_text(names, th->comm);
	snprintf(unknown, 16, ":%u", th->tid);
	return unknown;
}

enum thread_column {
	COLUMN_COMM,
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

static const struct aligned_column thread_columns[COLUMNS] = {
	[COLUMN_COMM] = { "COMM", ALIGNED_TEXT, 15 },
	[COLUMN_PID] = { "PID", ALIGNED_NUMBER, 7 },
	[COLUMN_TID] = { "TID", ALIGNED_NUMBER, 7 },
	[COLUMN_CPU] = { "CPU%", ALIGNED_NUMBER, 5 },
	[COLUMN_RUN] = { "RUN(ms)", ALIGNED_NUMBER, 11 },
	[COLUMN_WAIT] = { "WAIT(ms)", ALIGNED_NUMBER, 11 },
	[COLUMN_SLEEP] = { "SLEEP(ms)", ALIGNED_NUMBER, 11 },
	[COLUMN_BLOCK] = { "BLOCK(ms)", ALIGNED_NUMBER, 11 },
	[COLUMN_STOP] = { "STOP(ms)", ALIGNED_NUMBER, 11 },
	[COLUMN_UNKNOWN] = { "UNKNOWN(ms)", ALIGNED_NUMBER, 11 },
	[COLUMN_VOLUNTARY] = { "VOL", ALIGNED_NUMBER, 8 },
	[COLUMN_INVOLUNTARY] = { "NONVOL", ALIGNED_NUMBER, 8 },
	[COLUMN_PRIO] = { "PRIO", ALIGNED_NUMBER, 5 },
	[COLUMN_NICE] = { "NICE", ALIGNED_NUMBER, 4 },
	[COLUMN_POLICY] = { "POLICY", ALIGNED_COMPLETE, 0 },
};

static bool was_active(const struct sched_stats_thread *th)
{
	return th->runs || th->wakeups || th->voluntary || th->involuntary;
}

bool cmd_sched_has_nice(const struct sched_stats_thread *th)
{
	return th->prio >= 100 && th->prio < 140;
}

static bool is_shown(const struct sched_stats_thread *th, const struct cmd_sched_shown *opts)
{
	return opts->all || was_active(th);
}

static void id_cell(struct aligned_table *t, uint32_t id)
{
	if (id == UINT32_MAX)
		aligned_table_text(t, "?");
	else
		aligned_table_format(t, "%u", id);
}

static void ms_cell(struct aligned_table *t, uint64_t ns)
{
	aligned_table_format(t, "%.3f", number_ms(ns));
}

static void priority_cells(struct aligned_table *t, const struct sched_stats_thread *th)
{
	if (th->prio == INT16_MIN) {
		aligned_table_text(t, "?");
		aligned_table_text(t, "?");
		return;
	}
	aligned_table_format(t, "%d", th->prio);
	if (cmd_sched_has_nice(th))
		aligned_table_format(t, "%d", th->prio - 120);
	else
		aligned_table_text(t, "-");
}

static void add_thread(struct aligned_table *t, const struct string_table *names,
		       const struct sched_stats_thread *th, uint64_t span_ns,
		       const bool has[COLUMNS])
{
	char unknown[16];

	aligned_table_text(t, cmd_sched_comm_text(names, th, unknown));
	id_cell(t, th->pid);
	id_cell(t, th->tid);
	aligned_table_format(t, "%.1f", number_percent(th->ns[THREAD_STATES_RUN], span_ns));
	ms_cell(t, th->ns[THREAD_STATES_RUN]);
	ms_cell(t, th->ns[THREAD_STATES_WAIT]);
	ms_cell(t, th->ns[THREAD_STATES_SLEEP]);
	ms_cell(t, th->ns[THREAD_STATES_BLOCK]);
	if (has[COLUMN_STOP])
		ms_cell(t, th->ns[THREAD_STATES_STOP]);
	if (has[COLUMN_UNKNOWN])
		ms_cell(t, th->ns[THREAD_STATES_UNKNOWN]);
	aligned_table_format(t, "%" PRIu64, th->voluntary);
	aligned_table_format(t, "%" PRIu64, th->involuntary);
	priority_cells(t, th);
	aligned_table_text(t, th->policy ? exits_policy(th->policy - 1u) : "?");
}

/* No columns of zeros. */
static void add_columns(struct aligned_table *t, const struct sched_stats *s,
			const struct cmd_sched_shown *opts, bool has[COLUMNS])
{
	memset(has, true, COLUMNS * sizeof(has[0]));
	has[COLUMN_STOP] = has[COLUMN_UNKNOWN] = false;
	for (size_t i = 0; i < s->thread_count; i++) {
		if (!is_shown(&s->threads[i], opts))
			continue;
		has[COLUMN_STOP] |= s->threads[i].ns[THREAD_STATES_STOP] != 0;
		has[COLUMN_UNKNOWN] |= s->threads[i].ns[THREAD_STATES_UNKNOWN] != 0;
	}
	for (size_t i = 0; i < COLUMNS; i++)
		if (has[i])
			aligned_table_column(t, &thread_columns[i]);
}

int cmd_sched_threads(const struct sched_stats *s, const struct string_table *names,
		      const struct cmd_sched_shown *opts)
{
	struct aligned_table t;
	struct terminal look;
	bool has[COLUMNS];
	size_t shown = 0;
	int err = aligned_table_init(&t, 1);

	if (err)
		return err;
	add_columns(&t, s, opts, has);
	for (size_t i = 0; i < s->thread_count && (!opts->top || shown < opts->top); i++) {
		if (!is_shown(&s->threads[i], opts))
			continue;
		add_thread(&t, names, &s->threads[i], s->elapsed_ns, has);
		shown++;
	}
	terminal_of(stdout, &look);
	err = aligned_table_print(&t, look.columns, stdout);
	if (!err && shown < s->thread_count)
		printf("and %zu more threads%s\n", s->thread_count - shown,
		       opts->all || opts->top ? ""
					      : " that neither ran nor woke up (--all shows them)");
	aligned_table_done(&t);
	return err;
}
