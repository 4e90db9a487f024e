/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/process/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "format/base/vec.h"

unsigned summary_fields(void)
{
	return GROUP_COMM | GROUP_PID | GROUP_CGROUP | GROUP_TIME;
}

uint64_t summary_quantum_ns(const struct time_span *recorded)
{
	uint64_t slice_ns = (recorded->to_ns - recorded->from_ns) / SUMMARY_SLICES + 1;

	return slice_ns;
}

static void put(const struct summary *s, struct hash_index *index, uint32_t row)
{
	uint64_t hash = hash_index_pair(index, s->rows[row].pid, s->rows[row].life);
	uint32_t pos = hash_index_start(index, hash);

	while (hash_index_match(index, hash, &pos) != HASH_INDEX_NONE)
		;
	hash_index_put(index, hash, pos, row);
}

static int row_of(struct summary *s, struct hash_index *index, const struct group *g, uint32_t life,
		  uint32_t *out)
{
	uint32_t pos, id;
	uint64_t hash;
	int err;

	err = hash_index_reserve(index);
	if (err)
		return err;
	hash = hash_index_pair(index, g->pid, life);
	pos = hash_index_start(index, hash);
	while ((id = hash_index_match(index, hash, &pos)) != HASH_INDEX_NONE) {
		if (s->rows[id].pid == g->pid && s->rows[id].life == life) {
			*out = id;
			return 0;
		}
	}
	err = vec_reserve(&s->rows, &s->capacity, s->count + 1);
	if (err)
		return err;
	id = (uint32_t)s->count++;
	s->rows[id] = (struct summary_row){
		.pid = g->pid,
		.comm = g->comm,
		.life = life,
		.cgroup = UINT32_MAX,
		.strip = SUMMARY_NO_STRIP,
		.processes = 1,
		.first_ns = g->time_ns,
		.last_ns = g->time_ns,
	};
	hash_index_put(index, hash, pos, id);
	*out = id;
	return 0;
}

static int slices_of(struct summary *s, struct summary_row *row, uint64_t **out)
{
	if (row->strip == SUMMARY_NO_STRIP) {
		if (vec_reserve(&s->strips, &s->strip_capacity, s->strip_count + 1))
			return -ENOMEM;
		memset(s->strips[s->strip_count], 0, sizeof(*s->strips));
		row->strip = (uint32_t)s->strip_count++;
	}
	*out = s->strips[row->strip];
	return 0;
}

static int add(struct summary *s, struct summary_row *row, const struct group *g,
	       uint64_t sample_count, uint64_t period_sum)
{
	uint64_t slice = g->time_ns > s->from_ns ? (g->time_ns - s->from_ns) / s->slice_ns : 0;
	uint64_t *slices;
	int err = slices_of(s, row, &slices);

	if (err)
		return err;
	if (slice >= SUMMARY_SLICES)
		slice = SUMMARY_SLICES - 1;
	row->samples += sample_count;
	row->period += period_sum;
	slices[slice] += sample_count;
	if (slices[slice] > s->busiest)
		s->busiest = slices[slice];
	if (g->time_ns < row->first_ns)
		row->first_ns = g->time_ns;
	if (g->time_ns >= row->last_ns) {
		row->last_ns = g->time_ns;
		row->cgroup = (uint32_t)g->cgroup;
		row->comm = g->comm;
	}
	s->samples += sample_count;
	return 0;
}

/* Samples are an estimate of the time: they decide where it is not known. */
static int by_time(const void *va, const void *vb)
{
	const struct summary_row *a = va, *b = vb;

	if (a->run_ns != b->run_ns)
		return a->run_ns > b->run_ns ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

void summary_sort(struct summary *s)
{
	if (s->count)
		qsort(s->rows, s->count, sizeof(*s->rows), by_time);
}

static int add_group(const struct report *r, const struct tasks *known, struct hash_index *index,
		     uint32_t group, uint64_t sample_count, uint64_t period_sum,
		     struct summary *out)
{
	size_t count;
	const struct group *g = &groups_list(r->groups, &count)[group];
	uint32_t row;
	int err;

	if (!sample_count)
		return 0;
	err = row_of(out, index, g,
		     tasks_process_during(known, g->pid, g->time_ns, g->time_ns + out->slice_ns),
		     &row);
	if (!err)
		err = add(out, &out->rows[row], g, sample_count, period_sum);
	return err;
}

/* The name that the row has: its process's last one.  As struct group's comm. */
static uint32_t summary_comm(const struct summary_row *row, const struct tasks *known)
{
	uint32_t comm = row->life < known->count ? known->lives[row->life].comm : TASKS_NONE;

	return comm == TASKS_NONE ? row->comm : comm;
}

/* When all rows have their last names. */
static int count_renamed(const struct report *r, const struct tasks *known,
			 struct hash_index *index, struct summary *out)
{
	size_t count = r->sums ? r->sum_count : r->stacks.entry_count, group_count;
	const struct group *groups = groups_list(r->groups, &group_count);
	uint32_t row;
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		uint64_t samples = r->sums ? r->sums[i].sample_count
					   : r->stacks.entries[i].sample_count;
		const struct group *g = &groups[r->sums ? i : r->stacks.entries[i].key.group];

		if (!samples)
			continue;
		err = row_of(
			out, index, g,
			tasks_process_during(known, g->pid, g->time_ns, g->time_ns + out->slice_ns),
			&row);
		if (!err && summary_comm(&out->rows[row], known) != g->comm)
			out->renamed += samples;
	}
	return err;
}

int summary_make(struct report *r, const struct time_span *recorded, const struct tasks *known,
		 struct summary *out)
{
	struct summary fresh = { .slice_ns = summary_quantum_ns(recorded) };
	struct hash_index index = { 0 };
	int err = 0;

	/* Groups have their time rounded down to full slices since the clock began. */
	fresh.from_ns = recorded->from_ns - recorded->from_ns % fresh.slice_ns;
	for (size_t i = 0; !err && i < r->sum_count; i++)
		err = add_group(r, known, &index, (uint32_t)i, r->sums[i].sample_count,
				r->sums[i].period_sum, &fresh);
	for (size_t i = 0; !err && !r->sums && i < r->stacks.entry_count; i++)
		err = add_group(r, known, &index, r->stacks.entries[i].key.group,
				r->stacks.entries[i].sample_count, r->stacks.entries[i].period_sum,
				&fresh);
	if (!err)
		err = count_renamed(r, known, &index, &fresh);
	hash_index_done(&index);
	if (err) {
		summary_done(&fresh);
		return err;
	}
	summary_sort(&fresh);
	*out = fresh;
	return 0;
}

int summary_add_runs(struct summary *s, const struct sched_stats *runs, const struct tasks *known)
{
	struct hash_index index = { 0 };
	uint32_t row;
	int err = 0;

	for (size_t i = 0; !err && i < s->count; i++) {
		err = hash_index_reserve(&index);
		if (!err)
			put(s, &index, (uint32_t)i);
	}
	for (size_t i = 0; !err && i < runs->thread_count; i++) {
		const struct sched_stats_thread *th = &runs->threads[i];
		struct group g = { .pid = th->pid,
				   .comm = th->comm,
				   .time_ns = th->start_ns > s->from_ns ? th->start_ns
									: s->from_ns };

		if (th->pid == UINT32_MAX || !th->ns[THREAD_STATES_RUN])
			continue;
		err = row_of(s, &index, &g,
			     tasks_process_during(known, th->pid, th->start_ns, th->end_ns), &row);
		if (!err)
			s->rows[row].run_ns = saturate_add(s->rows[row].run_ns,
							   th->ns[THREAD_STATES_RUN]);
	}
	hash_index_done(&index);
	summary_sort(s);
	return err;
}

/* ---- short programs ---- */

/* The name of a process that is one of many, perhaps; TASKS_NONE: it is not short, or not known. */
static uint32_t short_comm(const struct summary_row *row, const struct tasks *known)
{
	const struct tasks_life *life;

	if (row->life >= known->count)
		return TASKS_NONE;
	life = &known->lives[row->life];
	if (life->was_there || !life->start_ns || life->end_ns < life->start_ns ||
	    life->end_ns - life->start_ns > SUMMARY_SHORT_NS)
		return TASKS_NONE;
	return life->comm;
}

/* A row of a group, by its name. */
struct grouped {
	uint32_t comm, row;
};

/* Equal names stay in the order of the rows: the first ran longest. */
static int by_comm(const void *va, const void *vb)
{
	const struct grouped *a = va, *b = vb;

	if (a->comm != b->comm)
		return a->comm < b->comm ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int join_strips(struct summary *s, struct summary_row *to, const struct summary_row *from)
{
	uint64_t *slices;
	int err;

	if (from->strip == SUMMARY_NO_STRIP)
		return 0;
	err = slices_of(s, to, &slices);
	for (size_t i = 0; !err && i < SUMMARY_SLICES; i++) {
		slices[i] += s->strips[from->strip][i];
		if (slices[i] > s->busiest)
			s->busiest = slices[i];
	}
	return err;
}

/* from becomes a row of no process. */
static int join_rows(struct summary *s, struct summary_row *to, struct summary_row *from,
		     const struct tasks *known)
{
	const struct tasks_life *life = &known->lives[from->life];
	int err = join_strips(s, to, from);

	to->samples += from->samples;
	to->period = saturate_add(to->period, from->period);
	to->run_ns = saturate_add(to->run_ns, from->run_ns);
	to->first_ns = from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
	to->last_ns = from->last_ns > to->last_ns ? from->last_ns : to->last_ns;
	to->started_ns = life->start_ns < to->started_ns ? life->start_ns : to->started_ns;
	to->ended_ns = life->end_ns > to->ended_ns ? life->end_ns : to->ended_ns;
	to->processes += from->processes;
	from->processes = 0;
	return err;
}

/* A process that started one of a group. */
struct starter {
	uint32_t comm, pid;
};

static int by_starter(const void *va, const void *vb)
{
	const struct starter *a = va, *b = vb;

	if (a->comm != b->comm)
		return a->comm < b->comm ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* list: the rows that became one. */
static int find_parent(const struct summary *s, const struct grouped *list, size_t count,
		       const struct tasks *known, struct summary_row *to)
{
	struct starter *starters = calloc(count, sizeof(*starters));
	size_t end;

	if (!starters)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct tasks_life *life = &known->lives[s->rows[list[i].row].life];

		starters[i] = (struct starter){ tasks_parent_comm(known, life), life->ppid };
	}
	qsort(starters, count, sizeof(*starters), by_starter);
	to->parent_comm = to->parent_pid = TASKS_NONE;
	to->parent_starts = 0;
	for (size_t i = 0; i < count; i = end) {
		for (end = i; end < count && starters[end].comm == starters[i].comm; end++)
			;
		if (starters[i].comm == TASKS_NONE || end - i <= to->parent_starts)
			continue;
		to->parent_comm = starters[i].comm;
		to->parent_starts = (uint32_t)(end - i);
		to->parent_pid = starters[i].pid == starters[end - 1].pid ? starters[i].pid
									  : TASKS_NONE;
	}
	free(starters);
	return 0;
}

int summary_rest(struct summary *s, size_t first, struct summary_row *out)
{
	struct summary_row rest = { .life = TASKS_NONE,
				    .comm = UINT32_MAX,
				    .cgroup = UINT32_MAX,
				    .strip = SUMMARY_NO_STRIP };
	uint64_t busiest = s->busiest; /* the scale is that of processes */
	int err = 0;

	for (size_t i = first; !err && i < s->count; i++) {
		rest.samples += s->rows[i].samples;
		rest.period = saturate_add(rest.period, s->rows[i].period);
		rest.run_ns = saturate_add(rest.run_ns, s->rows[i].run_ns);
		rest.processes += s->rows[i].processes;
		err = join_strips(s, &rest, &s->rows[i]);
	}
	s->busiest = busiest;
	*out = rest;
	return err;
}

static void drop_joined(struct summary *s)
{
	size_t used = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->rows[i].processes)
			s->rows[used++] = s->rows[i];
	s->count = used;
}

int summary_group(struct summary *s, const struct tasks *known)
{
	struct grouped *list = calloc(s->count + 1, sizeof(*list));
	size_t count = 0, end;
	int err = list ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < s->count; i++)
		if (short_comm(&s->rows[i], known) != TASKS_NONE)
			list[count++] = (struct grouped){ short_comm(&s->rows[i], known),
							  (uint32_t)i };
	if (count)
		qsort(list, count, sizeof(*list), by_comm);
	for (size_t i = 0; !err && i < count; i = end) {
		struct summary_row *to = &s->rows[list[i].row];

		for (end = i; end < count && list[end].comm == list[i].comm; end++)
			;
		if (end - i < SUMMARY_GROUP_MIN)
			continue;
		to->started_ns = known->lives[to->life].start_ns;
		to->ended_ns = known->lives[to->life].end_ns;
		err = find_parent(s, &list[i], end - i, known, to);
		for (size_t k = i + 1; !err && k < end; k++)
			err = join_rows(s, to, &s->rows[list[k].row], known);
	}
	free(list);
	drop_joined(s);
	summary_sort(s);
	return err;
}

void summary_done(struct summary *s)
{
	free(s->rows);
	free(s->strips);
	*s = (struct summary){ 0 };
}

void summary_strip(const struct summary *s, const struct summary_row *row,
		   char out[SUMMARY_SLICES + 1])
{
	static const char marks[] = ".:-=+*#";
	size_t levels = sizeof(marks) - 1;

	for (size_t i = 0; i < SUMMARY_SLICES; i++) {
		uint64_t samples = row->strip == SUMMARY_NO_STRIP ? 0 : s->strips[row->strip][i];
		uint64_t level = s->busiest ? samples * levels / s->busiest : 0;

		if (level >= levels)
			level = levels - 1;
		out[i] = samples ? marks[level] : ' ';
	}
	out[SUMMARY_SLICES] = '\0';
}
