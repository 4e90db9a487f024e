/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calltree.h"
#include "analyze/flat.h"
#include "analyze/folded.h"
#include "analyze/kallsyms.h"

int report_open(const struct capture *capture, struct report *r)
{
	struct report fresh = { .capture = capture };
	int err;

	err = strings_new(&fresh.names);
	if (err)
		return err;
	err = load_model(capture, fresh.names, &fresh.model, &fresh.scan);
	if (err) {
		strings_free(fresh.names);
		return err;
	}
	fresh.counts = *model_counts(fresh.model);
	*r = fresh;
	return 0;
}

void report_done(struct report *r)
{
	verdict_done(&r->verdict);
	symuse_done(&r->symbols);
	stacks_done(&r->stacks);
	naming_done(&r->naming);
	load_scan_done(&r->scan);
	model_free(r->model);
	strings_free(r->names);
	*r = (struct report){ 0 };
}

static bool has_kernel_places(const struct places *places)
{
	for (size_t i = 0; i < places->count; i++)
		if (places->list[i].kind == PLACE_KERNEL)
			return true;
	return false;
}

static int name_places(struct report *r, const struct report_query *query,
		       const struct sampler *sampler)
{
	const struct places *places = sampler_places(sampler);
	struct resolver_opts opts = {
		.roots = query->roots,
		.demangle = query->demangle,
		.jits = r->scan.jits.list,
		.jit_count = r->scan.jits.count,
	};
	struct resolver *resolver = NULL;
	char *kallsyms = NULL;
	int err;

	if (has_kernel_places(places)) {
		r->kallsyms_err = kallsyms_of_capture(r->capture, &r->scan, &kallsyms,
						      &opts.kallsyms_bytes);
		if (r->kallsyms_err == -ENOMEM)
			return -ENOMEM;
		opts.kallsyms = kallsyms;
	}
	err = resolver_new(&opts, &resolver);
	if (!err)
		err = symuse_load(&r->symbols, sampler_stacks(sampler), places, r->model, resolver);
	if (!err)
		err = naming_run(&r->naming, r->model, places, resolver, r->names);
	if (!err)
		err = symuse_sum(&r->symbols, &r->naming, resolver, r->names);
	resolver_free(resolver);
	free(kallsyms);
	return err;
}

int report_make(struct report *r, const struct report_query *query)
{
	struct load_query load = {
		.attr = query->attr,
		.filter = query->filter,
		.names = r->names,
		.symfs = query->roots.symfs,
		.thread_count = query->thread_count,
	};
	struct sampler *sampler;
	int err;

	err = load_samples(r->capture, r->model, &load, &sampler, &r->stats);
	if (err)
		return err;
	if (r->scan.attr_lost)
		r->counts.lost_samples += r->scan.attr_lost[query->attr];
	sampler_finish(sampler); /* symbol tables will need the room */
	r->sampled = *sampler_counts(sampler);
	err = name_places(r, query, sampler);
	if (!err)
		err = stacks_init(&r->stacks);
	if (!err)
		err = stacks_merge(&r->stacks, sampler_stacks(sampler), r->naming.by_place);
	if (!err)
		stacks_finish(&r->stacks);
	sampler_free(sampler);
	model_free(r->model);
	r->model = NULL;
	return err ? err : verdict_make(&r->stacks, &r->naming, r->names, &r->verdict);
}

/* ---- folded ---- */

/* What stands first in a line: the comm with '_' for blanks, as stackcollapse-perf.pl has it. */
static int comm_label(void *ctx, uint32_t group, uint32_t *label)
{
	struct report *r = ctx;
	char fixed[64], *comm = fixed;
	int err;

	if (group & SAMPLER_TID_GROUP) {
		snprintf(fixed, sizeof(fixed), ":%d", (int)(group << 1) >> 1);
	} else {
		comm = strdup(strings_text(r->names, group));
		if (!comm)
			return -ENOMEM;
		for (char *c = comm; *c; c++)
			if (*c == ' ')
				*c = '_';
	}
	err = naming_label(r->names, comm, "", label);
	if (comm != fixed)
		free(comm);
	return err;
}

static int function_labels(struct report *r, bool annotate, uint32_t **out)
{
	const struct naming *n = &r->naming;
	uint32_t *labels = calloc(n->function_count + 1, sizeof(*labels));
	int err = labels ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n->function_count; i++) {
		bool mark = annotate && n->functions[i].is_kernel;

		err = naming_label(r->names, strings_text(r->names, n->functions[i].name),
				   mark ? "_[k]" : "", &labels[i]);
	}
	if (err) {
		free(labels);
		return err;
	}
	*out = labels;
	return 0;
}

int report_folded(struct report *r, const struct report_folded *how, FILE *to)
{
	struct calltree_labels by = { .group = comm_label, .ctx = r };
	struct calltree tree;
	uint32_t *labels;
	int err;

	err = function_labels(r, how->annotate, &labels);
	if (err)
		return err;
	by.frames = labels;
	err = calltree_build(&r->stacks, &by, how->by_period ? CALLTREE_PERIOD : CALLTREE_SAMPLES,
			     &tree);
	free(labels);
	if (err)
		return err;
	err = folded_write(&tree, r->names, to);
	calltree_done(&tree);
	return err;
}

/* ---- flat ---- */

int report_flat(struct report *r, bool by_period, double min_percent, FILE *to)
{
	struct flat_style style = { .weight = by_period ? "period" : "samples" };
	struct calltree_labels by = { 0 };
	struct calltree tree;
	struct flat flat;
	int err;

	err = calltree_build(&r->stacks, &by, by_period ? CALLTREE_PERIOD : CALLTREE_SAMPLES,
			     &tree);
	if (err)
		return err;
	err = flat_make(&tree, &r->naming, r->names, &flat);
	calltree_done(&tree);
	if (err)
		return err;
	style.min_total = (uint64_t)(min_percent / 100 * (double)flat.sum);
	if (style.min_total < 1)
		style.min_total = 1;
	flat_write(&flat, &r->naming, r->names, &style, to);
	flat_done(&flat);
	return 0;
}
