/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/capture_meta.h"
#include "analyze/input/capture_stats.h"
#include "analyze/input/event/event_of.h"
#include "analyze/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "analyze/names/name_context.h"
#include "analyze/names/interrupted.h"
#include "analyze/report/interpreter_frames.h"

/*
 * For most loads counting parts takes less time from 50 000 to 110 000 samples on
 * (docs/design/counting.md).
 */
#define FOLD_SAMPLES_MIN 120000u

/* Losses that two kinds of records have are among samples alone. */
static void take_counts(struct report *r)
{
	uint64_t *events = &r->counts.lost_events;

	r->counts = *process_model_counts(r->model);
	if (capture_stats_repeat_losses(r->capture))
		*events -= *events < r->counts.lost_samples ? *events : r->counts.lost_samples;
}

static int open_report(const struct capture *capture, struct report *r, bool with_tasks)
{
	struct report fresh = { .capture = capture };
	int err;

	err = string_table_new(&fresh.names);
	if (err)
		return err;
	err = container_names_read(capture, &fresh.containers);
	if (!err)
		err = with_tasks
			      ? load_model_and_tasks(capture, fresh.names, &fresh.model,
						     &fresh.scan, &fresh.tasks)
			      : load_model(capture, fresh.names, NULL, &fresh.model, &fresh.scan);
	if (err) {
		container_names_free(fresh.containers);
		string_table_free(fresh.names);
		return err;
	}
	take_counts(&fresh);
	*r = fresh;
	return 0;
}

int report_open(const struct capture *capture, struct report *r)
{
	return open_report(capture, r, false);
}

int report_open_with_tasks(const struct capture *capture, struct report *r)
{
	return open_report(capture, r, true);
}

int report_open_beside(const struct report *first, struct report *r)
{
	struct report fresh = { .capture = first->capture,
				.names = first->names,
				.containers = first->containers,
				.is_beside = true,
				.has_its_model = first->model };
	int err = 0;

	if (first->model) {
		fresh.model = first->model;
		fresh.scan = first->scan;
	} else {
		err = load_model(first->capture, fresh.names, NULL, &fresh.model, &fresh.scan);
	}
	if (err)
		return err;
	take_counts(&fresh);
	*r = fresh;
	return 0;
}

int report_open_later(const struct capture *capture, struct report *r)
{
	struct report fresh = { .capture = capture };
	int err;

	/* Only reading perf's files shows which events there are, and when. */
	if (capture_get_kind(capture) != CAPTURE_EBX ||
	    time_span_of_capture(capture, &fresh.scan.span))
		return report_open(capture, r);
	fresh.scan.span_known = true;
	capture_meta_extend(capture, &fresh.scan.span);
	err = string_table_new(&fresh.names);
	if (err)
		return err;
	err = container_names_read(capture, &fresh.containers);
	if (err) {
		string_table_free(fresh.names);
		return err;
	}
	*r = fresh;
	return 0;
}

/* Reads the side-band, if that was left for later. */
static int load_later(struct report *r, const struct report_query *query)
{
	const struct time_span all = TIME_SPAN_ALL,
			       *slice = query->filter ? &query->filter->span : &all;
	bool sliced = !query->off_cpu && load_has_stream(r->capture, query->attr);
	struct load_scan scan;
	int err;

	if (r->model)
		return 0;
	err = load_model(r->capture, r->names, sliced ? slice : NULL, &r->model, &scan);
	if (err)
		return err;
	load_scan_done(&r->scan);
	r->scan = scan;
	take_counts(r);
	return 0;
}

const struct time_span *report_span(const struct report *r)
{
	return r->scan.span_known ? &r->scan.span : NULL;
}

static void drop_model(struct report *r)
{
	if (!r->has_its_model)
		process_model_free(r->model);
	r->model = NULL;
}

void report_done(struct report *r)
{
	if (r->stack_quality_work)
		stack_quality_end(r->stack_quality_work, r->names, NULL);
	stack_quality_done(&r->quality);
	offcpu_done(&r->waits);
	free(r->wait_table.rows);
	symbol_coverage_done(&r->symbols);
	name_sources_done(&r->sources);
	stack_table_done(&r->stacks);
	function_table_done(&r->naming);
	groups_free(r->groups);
	free(r->sums);
	if (!r->has_its_model)
		load_scan_done(&r->scan);
	drop_model(r);
	tasks_done(&r->tasks);
	if (!r->is_beside) {
		container_names_free(r->containers);
		string_table_free(r->names);
	}
	*r = (struct report){ 0 };
}

static bool has_kernel_places(const struct locations *places)
{
	for (size_t i = 0; i < places->count; i++)
		if (places->list[i].kind == LOCATION_KERNEL)
			return true;
	return false;
}

/* ---- names ---- */

/*
 * Whether places of one name may be counted as one, and there are so many samples that reading the bounds of
 * symbols mostly takes less time than it saves.
 */
static bool worth_folding(const struct report *r, const struct report_query *query)
{
	const bool in_stream = load_has_stream(r->capture, query->attr);
	const struct filter *filter = query->filter;
	uint64_t samples = 0;
	size_t count;
	const struct capture_block *blocks = capture_blocks(r->capture, &count);

	if (query->with_lines || query->with_inlined || query->with_gaps || query->on_named ||
	    query->off_cpu || query->roots.fetcher)
		return false;
	if (r->scan.attr_samples)
		return r->scan.attr_samples[query->attr] >= FOLD_SAMPLES_MIN;
	for (size_t i = 0; i < count; i++)
		if ((!in_stream || blocks[i].stream == EBX_STREAM_CPU) &&
		    (!filter || time_span_meets(&filter->span, &blocks[i])))
			samples += blocks[i].sample_count;
	return samples >= FOLD_SAMPLES_MIN;
}

static int open_namer(struct report *r, const struct report_query *query, struct name_context *n)
{
	int err;

	if (n->resolver)
		return name_context_renew(n, r->capture, &r->scan, r->model);
	err = name_context_open(n, r->capture, &r->scan, r->model, &query->roots, query->demangle,
				query->thread_count);
	return !err && !query->namer && worth_folding(r, query) ? name_context_fold(n) : err;
}

/* Names the places; those below a signal are known only then, and then all are named anew. */
static int run_naming(struct report *r, const struct report_query *query,
		      struct stack_counter *sampler, struct resolver *resolver)
{
	const struct function_table_query how = { .with_inlined = query->with_inlined,
						  .with_lines = query->with_lines,
						  .with_sources = query->with_sources,
						  .with_locations = query->with_locations,
						  .keep_resolved = query->on_named };
	bool changed = false;
	int err = function_table_run(&r->naming, r->model, stack_counter_places(sampler), resolver,
				     r->names, &how);

	if (!err)
		err = symbol_coverage_wait(&r->symbols);
	if (!err)
		err = interrupted_find(sampler, &r->naming, r->names, &changed);
	if (err || !changed)
		return err;
	function_table_done(&r->naming);
	return function_table_run(&r->naming, r->model, stack_counter_places(sampler), resolver,
				  r->names, &how);
}

static int name_places(struct report *r, const struct report_query *query,
		       struct stack_counter *sampler, struct name_context *namer)
{
	struct resolver *resolver = namer->resolver;
	int err = has_kernel_places(stack_counter_places(sampler)) ? name_context_ask_kernel(namer)
								   : 0;

	r->kallsyms_err = namer->kernel_err;
	if (!err)
		err = symbol_coverage_load(&r->symbols, sampler, r->model, resolver,
					   query->roots.fetcher);
	if (!err)
		err = run_naming(r, query, sampler, resolver);
	if (!err && query->with_gaps)
		resolver_find_gaps(resolver);
	if (!err)
		err = symbol_coverage_sum(&r->symbols, &r->naming, resolver, r->names);
	if (!err && query->with_sources)
		err = name_sources_make(&r->naming, resolver, r->names, &r->sources);
	if (!err && query->on_named)
		err = query->on_named(query->on_named_arg, resolver);
	symbol_coverage_wait(&r->symbols); /* after a failure: the sampler goes */
	return err;
}

/* ---- stacks of functions ---- */

/* Places become functions; stacks that are equal by then become one, unless they may stay apart. */
static int name_stacks(struct report *r, const struct report_query *query,
		       struct stack_counter *sampler)
{
	const struct function_table *n = &r->naming;
	struct stack_table from;
	int err;

	stack_counter_take_stacks(sampler, &from);
	if (query->apart && !query->off_cpu && !n->inlined_first) {
		stack_table_renumber(&from, n->by_place);
		r->stacks = from;
		return 0;
	}
	err = stack_table_init(&r->stacks, NULL);
	if (!err)
		err = stack_table_merge(&r->stacks, &from, n->by_place, n->inlined,
					n->inlined_first);
	stack_table_done(&from);
	return err;
}

/* A cgroup's path for its id. */
static int name_cgroups(struct report *r)
{
	char unknown[40];
	struct group *list;
	size_t count;
	uint32_t path;
	int err = 0;

	list = groups_list(r->groups, &count);
	for (size_t i = 0; !err && i < count; i++) {
		path = process_model_cgroup(r->model, list[i].cgroup);
		if (path == PROCESS_MODEL_NONE) {
			snprintf(unknown, sizeof(unknown),
				 list[i].cgroup ? "cgroup:%" PRIu64 : "[unknown]", list[i].cgroup);
			err = string_table_add(r->names, unknown, strlen(unknown), &path);
		}
		list[i].cgroup = path;
	}
	return err;
}

static int take_sums(struct report *r, const struct stack_counter *sampler)
{
	size_t count;
	const struct stack_counter_sum *sums = stack_counter_sums(sampler, &count);

	r->sums = malloc((count + 1) * sizeof(*sums));
	if (!r->sums)
		return -ENOMEM;
	if (count)
		memcpy(r->sums, sums, count * sizeof(*sums));
	r->sum_count = count;
	return 0;
}

static int pick_stacks(struct report *r, const struct report_query *query)
{
	struct group *groups;
	size_t count;
	int err = 0;

	groups = groups_list(r->groups, &count);
	if (query->pick)
		err = name_filter_run(query->pick, &r->stacks, &r->naming, r->names, r->containers,
				      groups, count);
	for (size_t i = 0; i < r->stacks.entry_count; i++)
		r->picked += r->stacks.entries[i].sample_count;
	return err;
}

static int make_wait_table(struct report *r)
{
	size_t count;

	return wait_table_make(&r->wait_table, &r->waits, &r->stacks, &r->naming,
			       groups_list(r->groups, &count), r->names);
}

static int count_samples(struct report *r, const struct report_query *query,
			 struct symbol_buckets_set *parts, struct stack_counter **out)
{
	const struct load_query load = {
		.attr = query->attr,
		.filter = query->filter,
		.groups = r->groups,
		.sum_groups = query->sum_groups,
		.keep_samples = query->keep_samples,
		.parts = parts,
		.sample_ns = query->sample_ns,
		.names = r->names,
		.roots = &query->roots,
		.cached = r->scan.cached.words ? &r->scan.cached : NULL,
		.later = &r->scan.later,
		.thread_count = query->thread_count,
	};

	return load_samples(r->capture, r->model, &load, out, &r->stats);
}

static int count_waits(struct report *r, const struct report_query *query,
		       struct stack_counter **out)
{
	size_t attr_count;
	const struct capture_attr *attrs = capture_attrs(r->capture, &attr_count);
	const struct offcpu_query how = { .filter = query->filter,
					  .groups = r->groups,
					  .cgroups = query->fields & GROUP_CGROUP &&
						     !query->each_wait,
					  .wakers = query->wakers,
					  .rows = query->wait_rows,
					  .each = query->each_wait,
					  .exact = query->exact_waits,
					  .by_busy = query->by_busy,
					  .roots = &query->roots,
					  .later = &r->scan.later,
					  .wall = query->wall ? &attrs[query->attr] : NULL,
					  .wall_by_period = query->wall_by_period,
					  .times = query->times };

	return offcpu_load(r->capture, r->model, r->names, &how, out, &r->waits);
}

/* From samples to stacks of functions. */
static int make_stacks(struct report *r, const struct report_query *query)
{
	struct name_context own = { .capture = NULL }, *namer = query->namer ? query->namer : &own;
	struct stack_counter *sampler = NULL;
	int err = open_namer(r, query, namer);

	if (!err)
		err = query->off_cpu ? count_waits(r, query, &sampler)
				     : count_samples(r, query, namer->parts, &sampler);
	name_context_fold_end(namer);
	if (!err) {
		block_cache_done(&r->scan.cached);
		if (r->scan.attr_lost && !query->off_cpu)
			r->counts.lost_samples = saturate_add(r->counts.lost_samples,
							      r->scan.attr_lost[query->attr]);
		err = stack_counter_finish(sampler); /* symbol tables will need the room */
		r->sampled = *stack_counter_counts(sampler);
	}
	if (!err)
		err = query->sum_groups ? take_sums(r, sampler) : 0;
	if (!err)
		err = name_places(r, query, sampler, namer);
	if (!query->namer)
		name_context_done(namer);
	if (!err)
		err = name_stacks(r, query, sampler);
	stack_counter_free(sampler);
	return err;
}

/*
 * All sums of views are parts of the sum of these, which therefore has to fit, also into the
 * numbers of readers of exports.  No recorder gets there; a file with other periods still gets
 * shares.
 */
static void bound_periods(struct report *r)
{
	unsigned __int128 stacks = 0, sums = 0;
	unsigned shift = 0;

	for (size_t i = 0; i < r->stacks.entry_count; i++)
		stacks += r->stacks.entries[i].period_sum;
	for (size_t i = 0; i < r->sum_count; i++)
		sums += r->sums[i].period_sum;
	while (stacks >> shift > INT64_MAX || sums >> shift > INT64_MAX)
		shift++;
	for (size_t i = 0; shift && i < r->stacks.entry_count; i++)
		r->stacks.entries[i].period_sum >>= shift;
	for (size_t i = 0; shift && i < r->stacks.sample_count; i++)
		r->stacks.samples[i].period >>= shift;
	for (size_t i = 0; shift && i < r->sum_count; i++)
		r->sums[i].period_sum >>= shift;
	r->period_shift = shift;
}

static uint16_t find_compilers(const struct process_model *m)
{
	uint16_t set = 0;

	for (uint32_t i = 0; m && i < process_model_file_count(m); i++)
		set |= runtimes_of_file(process_model_file(m, i)->path);
	return set & runtimes_unnamed();
}

static int make(struct report *r, const struct report_query *query)
{
	size_t attr_count;
	const struct capture_attr *attrs = capture_attrs(r->capture, &attr_count);
	int err = load_later(r, query);

	r->services = query->services;
	r->attr = query->attr < attr_count ? &attrs[query->attr] : NULL;
	r->event = r->attr && !query->off_cpu ? event_name(r->attr) : NULL;
	if (!err)
		err = groups_new(query->fields, query->quantum_ns ? query->quantum_ns : 1,
				 &r->groups);
	if (!err)
		err = make_stacks(r, query);
	if (!err && query->off_cpu)
		err = offcpu_add_reasons(&r->waits, &r->stacks, &r->naming, r->names);
	if (!err && query->without_interpreter)
		err = interpreter_frames_drop(&r->stacks, &r->naming, r->names);
	if (!err)
		bound_periods(r);
	if (!err)
		stack_table_finish(&r->stacks);
	if (!err)
		err = name_cgroups(r);
	if (!err)
		err = pick_stacks(r, query);
	if (!err && query->wait_rows)
		err = make_wait_table(r);
	r->compilers = find_compilers(r->model);
	if (!query->keep_model)
		drop_model(r);
	if (err || query->no_quality)
		return err;
	if (query->quality_later)
		return stack_quality_begin(&r->stacks, &r->naming, r->names, r->compilers,
					   &r->stack_quality_work);
	return stack_quality_make(&r->stacks, &r->naming, r->names, r->compilers, &r->quality);
}

int report_end_quality(struct report *r)
{
	struct stack_quality_work *work = r->stack_quality_work;

	r->stack_quality_work = NULL;
	return work ? stack_quality_end(work, r->names, &r->quality) : 0;
}

int report_make(struct report *r, const struct report_query *query)
{
	int err = make(r, query);

	if (r->on_made)
		r->on_made(r->on_made_arg);
	return err;
}

int report_comm_label(struct report *r, uint32_t group, uint32_t *label)
{
	size_t count;

	return report_comm_label_of(r, groups_list(r->groups, &count)[group].comm, label);
}

int report_comm_label_of(struct report *r, uint32_t number, uint32_t *label)
{
	char fixed[64], *comm = fixed;
	int err;

	if (number & STACK_COUNTER_TID_GROUP) {
		snprintf(fixed, sizeof(fixed), ":%d", (int)(number << 1) >> 1);
	} else {
		comm = strdup(string_table_text(r->names, number));
		if (!comm)
			return -ENOMEM;
		for (char *c = comm; *c; c++)
			if (*c == ' ')
				*c = '_';
	}
	err = function_table_label(r->names, comm, "", label);
	if (comm != fixed)
		free(comm);
	return err;
}
