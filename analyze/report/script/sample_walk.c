/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/script/sample_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int sample_walk_open(struct sample_walk *w, const struct capture *c, const struct load_scan *scan,
		     const struct process_model *model, const struct string_table *names,
		     const struct name_roots *roots, bool demangle)
{
	int err;

	*w = (struct sample_walk){ .capture = c, .model = model, .names = names };
	err = name_context_open(&w->namer, c, scan, model, roots, demangle, 0);
	if (!err)
		err = name_context_ask_kernel(&w->namer);
	/* Without formats, tracepoints have no text. */
	if (!err && tracepoint_text_new(c, &w->trace) == -ENOMEM)
		err = -ENOMEM;
	if (!err)
		err = sample_chains_init(&w->chains, c, model, roots, &scan->later);
	if (!err)
		err = sample_chain_init(&w->chain, &w->chains);
	if (!err)
		err = sample_decode_init(&w->decode, c, true);
	return err;
}

void sample_walk_close(struct sample_walk *w)
{
	sample_decode_done(&w->decode);
	sample_chain_done(&w->chain);
	sample_chains_done(&w->chains);
	tracepoint_text_free(w->trace);
	name_context_done(&w->namer);
	*w = (struct sample_walk){ 0 };
}

static bool is_wanted(const struct sample_walk *w, const struct perf_sample *sample)
{
	const struct filter *f = w->filter;
	struct process_model_where where;
	char unknown[16];

	if (!filter_passes(f, sample->pid, sample->tid, sample->cpu, sample->time_ns))
		return false;
	if (!f->comm_count && !f->no_kernel_threads)
		return true;
	process_model_thread(w->model, sample->pid, sample->tid, sample->time_ns, &where);
	/* The idle task has no maps either, but is an option of its own. */
	if (f->no_kernel_threads && sample->pid && where.epoch != PROCESS_MODEL_NONE &&
	    !process_model_has_maps(w->model, where.space))
		return false;
	snprintf(unknown, sizeof(unknown), ":%" PRId32, (int32_t)sample->tid);
	return !f->comm_count ||
	       filter_passes_comm(f, where.comm == PROCESS_MODEL_NONE
					     ? unknown
					     : string_table_text(w->names, where.comm));
}

static int pass_one(void *ctx, const struct perf_sample *sample, const struct capture_attr *attr)
{
	struct sample_walk *w = ctx;

	if ((w->only && attr != w->only) || !is_wanted(w, sample))
		return 0;
	return w->fn(w->ctx, sample, attr);
}

static int pass(void *ctx, const struct perf_event_header *header)
{
	struct sample_walk *w = ctx;
	struct perf_sample sample;
	int result = sample_decode(&w->decode, header, w->only, &sample);

	w->broken += result == -EBADMSG;
	return result < 1 ? 0 : sample_decode_each(&w->decode, &sample, pass_one, w);
}

int sample_walk_run(struct sample_walk *w, const struct filter *filter,
		    const struct capture_attr *only, sample_walk_fn fn, void *ctx)
{
	const struct time_span all = TIME_SPAN_ALL;

	w->filter = filter;
	w->only = only;
	w->fn = fn;
	w->ctx = ctx;
	/* The increments of a member are known only from the beginning on. */
	return samples_by_time_run(w->capture, w->decode.members ? &all : &filter->span, pass, w,
				   &w->stats);
}
