/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/cmdlines.h"
#include "analyze/sched/exits.h"
#include "format/base/lower_bound.h"

/* Flags of a process, as docs/PAGE.md has them. */
enum {
	PROCESS_WAS_THERE = 1, /* before the recording */
	PROCESS_ENDED = 2,
	PROCESS_KERNEL = 4,
};

/* ---- which ones ---- */

static int by_number(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	return (a > b) - (a < b);
}

static bool is_wanted(const uint32_t *pids, size_t count, uint32_t pid)
{
	return bsearch(&pid, pids, count, sizeof(*pids), by_number) != NULL;
}

static int by_pid(const void *va, const void *vb)
{
	const struct tasks_life *a = ((const struct page_process *)va)->life,
				*b = ((const struct page_process *)vb)->life;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	/* Lives are by time. */
	return (a > b) - (a < b);
}

/* The process of a thread that began then: the last one of that pid by then, else the first; NULL: none. */
static struct page_process *process_at(struct page_processes *p, uint32_t pid,
				       const struct tasks_life *life)
{
	size_t low = lower_bound(i, 0, p->count,
				 p->list[i].life->pid < pid ||
					 (p->list[i].life->pid == pid && p->list[i].life <= life));

	if (low && p->list[low - 1].life->pid == pid)
		return &p->list[low - 1];
	return low < p->count && p->list[low].life->pid == pid ? &p->list[low] : NULL;
}

static int choose_lives(struct page_processes *p, const struct page_samples *samples)
{
	uint32_t *pids = calloc(samples->task_count + 1, sizeof(*pids));
	struct page_process *process;

	p->list = calloc(p->tasks.count + 1, sizeof(*p->list));
	if (!pids || !p->list) {
		free(pids);
		return -ENOMEM;
	}
	for (size_t i = 0; i < samples->task_count; i++)
		pids[i] = samples->tasks[i].pid;
	qsort(pids, samples->task_count, sizeof(*pids), by_number);
	for (size_t i = 0; i < p->tasks.count; i++)
		if (tasks_is_process(&p->tasks.lives[i]) &&
		    is_wanted(pids, samples->task_count, p->tasks.lives[i].pid))
			p->list[p->count++].life = &p->tasks.lives[i];
	free(pids);
	qsort(p->list, p->count, sizeof(*p->list), by_pid);
	for (size_t i = 0; i < p->tasks.count; i++) {
		process = process_at(p, p->tasks.lives[i].pid, &p->tasks.lives[i]);
		if (process)
			process->threads++;
	}
	return 0;
}

/* ---- what is known of them ---- */

static int add_command(const struct page_processes *p, const struct cmdlines *cmdlines,
		       struct page_process *process, struct page_texts *texts)
{
	const struct tasks_life *life = process->life;
	const struct cmdline_record *args = tasks_cmdline(
		&p->tasks, cmdlines, life->pid, life->end_ns ? life->end_ns - 1 : UINT64_MAX);
	char *line = args ? cmdlines_line(args) : strdup("");
	int err = line ? page_texts_add(texts, line, &process->command) : -ENOMEM;

	free(line);
	return err;
}

static int name_processes(const struct report *r, struct page_processes *p,
			  struct page_texts *texts)
{
	struct cmdlines cmdlines = { 0 };
	int err = cmdlines_load(r->capture, &cmdlines);

	for (size_t i = 0; !err && i < p->count; i++) {
		uint32_t comm = p->list[i].life->comm;

		err = page_texts_add(texts,
				     comm == TASKS_NONE ? "" : string_table_text(r->names, comm),
				     &p->list[i].comm);
		if (!err)
			err = add_command(p, &cmdlines, &p->list[i], texts);
	}
	cmdlines_done(&cmdlines);
	return err;
}

static int add_exits(const struct report *r, struct page_processes *p)
{
	const struct filter all = { .span = { 0, UINT64_MAX } };
	struct exits exits = { 0 };
	int err = exits_load(r->capture, r->names, &all, &exits);

	for (size_t i = 0; !err && i < exits.count; i++) {
		const struct exited *e = &exits.list[i];
		const struct tasks_life *life = tasks_at(&p->tasks, e->pid, e->time_ns);
		struct page_process *process = life ? process_at(p, e->pid, life) : NULL;

		if (process && process->life == life)
			process->exit = (uint32_t)e->code + 1;
	}
	exits_done(&exits);
	return err;
}

int page_processes_make(const struct report *r, const struct page_samples *samples,
			struct page_texts *texts, struct page_processes *out)
{
	int err = tasks_load(r->capture, r->names, &out->tasks);

	if (!err)
		err = choose_lives(out, samples);
	if (!err)
		err = name_processes(r, out, texts);
	return err ? err : add_exits(r, out);
}

void page_processes_done(struct page_processes *p)
{
	tasks_done(&p->tasks);
	free(p->list);
	*p = (struct page_processes){ 0 };
}

/* ---- writing ---- */

static uint64_t begin_us(const struct tasks_life *life)
{
	return (life->start_ns ? life->start_ns : life->first_ns) / 1000;
}

static uint32_t flags_of(const struct tasks_life *life)
{
	return (life->was_there || !life->start_ns ? PROCESS_WAS_THERE : 0) |
	       (life->end_ns ? PROCESS_ENDED : 0) | (life->is_kernel ? PROCESS_KERNEL : 0);
}

#define COLUMN(kind, name, put, value)                                    \
	do {                                                              \
		page_columns_begin##kind(columns, name);                  \
		for (size_t i = 0; i < p->count; i++) {                   \
			const struct page_process *process = &p->list[i]; \
			const struct tasks_life *life = process->life;    \
                                                                          \
			(void)life;                                       \
			page_columns_##put(columns, value);               \
		}                                                         \
	} while (0)

void page_processes_write(const struct page_processes *p, uint64_t base_us,
			  const struct page_texts *texts, struct page_columns *columns)
{
	if (!p->count)
		return;
	page_columns_begin_table(columns, "processes", p->count);
	COLUMN(_differences, "pid", put_difference, life->pid);
	COLUMN(, "parent", put, life->ppid == TASKS_NONE ? 0 : life->ppid);
	COLUMN(, "comm", put, page_texts_number(texts, process->comm));
	COLUMN(, "command", put, page_texts_number(texts, process->command));
	COLUMN(_signed, "start", put_signed, (int64_t)(begin_us(life) - base_us));
	COLUMN(_signed, "end", put_signed,
	       life->end_ns ? (int64_t)(life->end_ns / 1000 - base_us) : 0);
	COLUMN(, "flags", put, flags_of(life));
	COLUMN(, "threads", put, process->threads);
	COLUMN(_signed, "exit", put_signed, (int64_t)process->exit - 1);
	page_columns_end_table(columns);
}
