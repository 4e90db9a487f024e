/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/cpu_gaps.h"

#include <stdlib.h>
#include <string.h>

struct cpu_gap *cpu_gaps_find(const struct cpu_gaps *g, uint32_t cpu)
{
	for (size_t i = g->count; i-- > 0;) {
		if (g->gap[i].cpu == cpu && !g->gap[i].to_ns)
			return &g->gap[i];
	}
	return NULL;
}

/* Drops the oldest gap that ended; where none has, there are as many as CPUs, and all stay. */
static void forget_one(struct cpu_gaps *g)
{
	size_t at = 0;

	while (at < g->count && !g->gap[at].to_ns)
		at++;
	if (at == g->count)
		return;
	memmove(&g->gap[at], &g->gap[at + 1], (g->count - at - 1) * sizeof(*g->gap));
	g->count--;
	g->forgotten_count++;
}

struct cpu_gap *cpu_gaps_begin(struct cpu_gaps *g, uint32_t cpu, uint64_t from_ns)
{
	struct cpu_gap *gap = cpu_gaps_find(g, cpu);

	if (gap)
		return gap;
	if (g->count >= CPU_GAPS_MAX)
		forget_one(g);
	gap = realloc(g->gap, (g->count + 1) * sizeof(*gap));
	if (!gap)
		return NULL;
	g->gap = gap;
	gap += g->count++;
	*gap = (struct cpu_gap){ .cpu = cpu, .from_ns = from_ns };
	return gap;
}

void cpu_gaps_json(const struct cpu_gaps *g, uint64_t from_ns, struct json_writer *j)
{
	json_writer_begin_array(j, "cpus_not_sampled");
	for (size_t i = 0; i < g->count; i++) {
		const struct cpu_gap *gap = &g->gap[i];

		if (gap->to_ns && gap->to_ns <= from_ns)
			continue;
		json_writer_begin(j, NULL);
		json_writer_u64(j, "cpu", gap->cpu);
		json_writer_u64(j, "from_mono_ns", gap->from_ns);
		if (gap->to_ns)
			json_writer_u64(j, "to_mono_ns", gap->to_ns);
		json_writer_end(j);
	}
	json_writer_end_array(j);
	json_writer_u64(j, "cpus_not_sampled_forgotten", g->forgotten_count);
}

void cpu_gaps_done(struct cpu_gaps *g)
{
	free(g->gap);
	*g = (struct cpu_gaps){ 0 };
}
