/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/summary.h"

#include <string.h>

#include "analyze/vec.h"

unsigned summary_fields(void)
{
	return GROUP_COMM | GROUP_PID | GROUP_CGROUP | GROUP_TIME;
}

uint64_t summary_quantum_ns(const struct timespan *whole)
{
	uint64_t slice_ns = (whole->to_ns - whole->from_ns) / SUMMARY_SLICES + 1;

	return slice_ns;
}

static int row_of(struct summary *s, struct hashidx *index, const struct group *g, uint32_t *out)
{
	uint64_t hash = hash_pair(g->pid, g->comm);
	uint32_t pos, id;
	int err;

	err = hashidx_reserve(index);
	if (err)
		return err;
	pos = hashidx_start(index, hash);
	while ((id = hashidx_match(index, hash, &pos)) != HASHIDX_NONE) {
		if (s->rows[id].pid == g->pid && s->rows[id].comm == g->comm) {
			*out = id;
			return 0;
		}
	}
	err = vec_reserve(&s->rows, &s->capacity, s->count + 1);
	if (err)
		return err;
	id = (uint32_t)s->count++;
	s->rows[id] = (struct summary_row){
		.pid = g->pid, .comm = g->comm, .first_ns = g->time_ns, .last_ns = g->time_ns
	};
	hashidx_put(index, hash, pos, id);
	*out = id;
	return 0;
}

static void add(struct summary *s, struct summary_row *row, const struct group *g,
		const struct stacks_entry *e)
{
	uint64_t slice = g->time_ns > s->from_ns ? (g->time_ns - s->from_ns) / s->slice_ns : 0;

	if (slice >= SUMMARY_SLICES)
		slice = SUMMARY_SLICES - 1;
	row->samples += e->sample_count;
	row->period += e->period_sum;
	row->slices[slice] += e->sample_count;
	if (row->slices[slice] > s->busiest)
		s->busiest = row->slices[slice];
	if (g->time_ns < row->first_ns)
		row->first_ns = g->time_ns;
	if (g->time_ns >= row->last_ns) {
		row->last_ns = g->time_ns;
		row->cgroup = (uint32_t)g->cgroup;
	}
	s->samples += e->sample_count;
}

static int by_samples(const void *va, const void *vb)
{
	const struct summary_row *a = va, *b = vb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->comm < b->comm ? -1 : a->comm > b->comm;
}

int summary_make(struct report *r, const struct timespan *whole, struct summary *out)
{
	struct summary fresh = { .slice_ns = summary_quantum_ns(whole) };
	struct hashidx index = { 0 };
	const struct group *groups;
	size_t count;
	uint32_t row;
	int err = 0;

	/* Groups have their time rounded down to whole slices since the clock began. */
	fresh.from_ns = whole->from_ns - whole->from_ns % fresh.slice_ns;
	groups = groups_list(r->groups, &count);
	for (size_t i = 0; !err && i < r->stacks.entry_count; i++) {
		const struct stacks_entry *e = &r->stacks.entries[i];

		err = row_of(&fresh, &index, &groups[e->key.group], &row);
		if (!err)
			add(&fresh, &fresh.rows[row], &groups[e->key.group], e);
	}
	hashidx_done(&index);
	if (err) {
		summary_done(&fresh);
		return err;
	}
	if (fresh.count)
		qsort(fresh.rows, fresh.count, sizeof(*fresh.rows), by_samples);
	*out = fresh;
	return 0;
}

void summary_done(struct summary *s)
{
	free(s->rows);
	*s = (struct summary){ 0 };
}

void summary_strip(const struct summary *s, const struct summary_row *row,
		   char out[SUMMARY_SLICES + 1])
{
	static const char marks[] = ".:-=+*#";
	size_t levels = sizeof(marks) - 1;

	for (size_t i = 0; i < SUMMARY_SLICES; i++) {
		uint64_t level = s->busiest ? row->slices[i] * levels / s->busiest : 0;

		if (level >= levels)
			level = levels - 1;
		out[i] = row->slices[i] ? marks[level] : ' ';
	}
	out[SUMMARY_SLICES] = '\0';
}
