/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/pmu_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/events/perf_event.h"

enum { EVENTS_MAX = 5 };

/*
 * As perf names them; the column is the name with _ for -.  A stack is taken of every period_count-th:
 * some tens to hundreds of times a second.  A frequency instead would make weights wrong where events
 * come in bursts.
 */
static const struct pmu_event {
	const char *name, *column;
	uint32_t type;
	uint64_t config, period_count;
} known[] = {
	{ "cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 29999999 },
	{ "instructions", "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS,
	  29999999 },
	{ "cache-references", "cache_references", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_REFERENCES, 999983 },
	{ "cache-misses", "cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 99991 },
	{ "branches", "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 4999999 },
	{ "branch-misses", "branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
	  99991 },
	{ "stalled-cycles-frontend", "stalled_cycles_frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 9999991 },
	{ "stalled-cycles-backend", "stalled_cycles_backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 9999991 },
	{ "cpu-clock", "cpu_clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 10000000 },
	{ "page-faults", "page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 97 },
	{ "migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1 },
};

#define DEFAULT_EVENTS "cycles,instructions,cache-references,cache-misses"

static const struct pmu_event *find(const char *name, size_t bytes)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].name) == bytes && !strncmp(known[i].name, name, bytes))
			return &known[i];
	}
	return NULL;
}

/* Those of the option, or of none; returns how many, 0: *unknown is not one of ours, there twice, or too many. */
static size_t events_of(const struct record_opts *opts, const struct pmu_event *out[EVENTS_MAX],
			const char **unknown)
{
	const char *list = opts->pmu ? opts->pmu : DEFAULT_EVENTS;
	size_t count = 0, bytes;

	for (;; list += bytes + 1) {
		bytes = strcspn(list, ",");
		*unknown = list;
		if (count == EVENTS_MAX || !(out[count] = find(list, bytes)))
			return 0;
		for (size_t i = 0; i < count; i++) {
			if (out[i] == out[count])
				return 0;
		}
		count++;
		if (!list[bytes])
			return count;
	}
}

/* period_count 0: it only counts. */
static struct perf_event_attr attr_of(const struct pmu_event *e, uint64_t period_count)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = e->type,
		.config = e->config,
		.sample_period = period_count,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
}

const char *pmu_events_lacks(void)
{
	const struct perf_event_attr attr = attr_of(&known[0], 0);
	int fd = perf_event_set_open_one(&attr, 0, 0);

	if (fd >= 0)
		close(fd);
	return fd == -ENOENT || fd == -EOPNOTSUPP || fd == -ENODEV ? "no hardware counters here"
								   : NULL;
}

static bool is_pmu(const struct metric_object *o)
{
	return bpf_object__find_map_by_name(o->obj, "pmu_counters0") != NULL;
}

/* Columns event0.. get the names of the events, or go. */
static void name_columns(struct metric_format *f, const struct pmu_event *const *events,
			 size_t count)
{
	size_t used = 0, number;

	for (size_t i = 0; i < f->field_count; i++) {
		struct metric_field *to = &f->fields[used];

		*to = f->fields[i];
		if (sscanf(to->name, "event%zu", &number) == 1) {
			if (number >= count)
				continue;
			snprintf(to->name, sizeof(to->name), "%s", events[number]->column);
		}
		used++;
	}
	f->field_count = used;
}

int pmu_events_name(struct metric_object *o, const struct instrument_ctx *c,
		    struct metric_tables *tabs)
{
	const struct pmu_event *events[EVENTS_MAX];
	uint32_t first = tabs->count - EVENTS_MAX;
	char name[METRIC_NAME_BYTES];
	struct bpf_map *map;
	const char *unknown;
	size_t count;

	if (!is_pmu(o))
		return 0;
	count = events_of(c->opts, events, &unknown);
	if (!count)
		return note_fail(c->notes, -EINVAL,
				 "up to five of those that the manual page names, each once",
				 "cannot count '%.60s'", unknown);
	for (unsigned i = 0; i < EVENTS_MAX; i++) {
		snprintf(name, sizeof(name), "pmu_counters%u", i);
		map = bpf_object__find_map_by_name(o->obj, name);
		if (map)
			bpf_map__set_max_entries(map, (uint32_t)o->possible_cpus);
		if (i < count)
			snprintf(tabs->tab[first + i].fmt.name, METRIC_NAME_BYTES, "pmu_%s",
				 events[i]->column);
	}
	name_columns(&tabs->tab[o->first_table].fmt, events, count);
	tabs->count = first + (uint32_t)count;
	metric_object_set(o, "pmu_count", &(uint32_t){ (uint32_t)count }, sizeof(uint32_t));
	return 0;
}

static int note_unsupported(const struct instrument_ctx *c, const struct pmu_event *e, int err)
{
	if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV)
		return note_fail(c->notes, -ENODEV, NULL,
				 "cannot record 'pmu', no hardware counters here for '%s'",
				 e->name);
	return note_fail(c->notes, err, NULL, "cannot count '%s'", e->name);
}

int pmu_events_count(struct metric_object *o, const struct instrument_ctx *c)
{
	const struct pmu_event *events[EVENTS_MAX];
	const char *unknown;
	char name[METRIC_NAME_BYTES];
	size_t count = is_pmu(o) ? events_of(c->opts, events, &unknown) : 0;

	for (unsigned i = 0; i < count; i++) {
		const struct perf_event_attr attr = attr_of(events[i], 0);
		int map_fd, err;

		snprintf(name, sizeof(name), "pmu_counters%u", i);
		map_fd = bpf_object__find_map_fd_by_name(o->obj, name);
		err = object_perf_events_hold(&o->perf, map_fd, &attr, &o->where);
		if (err)
			return note_unsupported(c, events[i], err);
	}
	return 0;
}

int pmu_events_attach(struct metric_object *o, const struct instrument_ctx *c)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(o->obj, "pmu_stack");
	const struct pmu_event *events[EVENTS_MAX];
	const char *unknown;
	size_t count = is_pmu(o) && prog ? events_of(c->opts, events, &unknown) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct perf_event_attr attr = attr_of(events[i], events[i]->period_count);
		int err = object_perf_events_run(&o->perf, prog, i, &attr, &o->where);

		if (err)
			return note_unsupported(c, events[i], err);
	}
	return 0;
}
