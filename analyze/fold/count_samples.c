/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/count_samples.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "analyze/input/event/event_of.h"
#include "analyze/input/event/group_read.h"
#include "analyze/input/event/sample_decode.h"
#include "format/os/threads.h"
#include "analyze/fold/sample_chain.h"
#include "format/perf/perfrec.h"

/*
 * Blocks that a thread takes at once: few enough that all end together, but as many as that allows.
 * A thread's caches of a process are worth most in the blocks that follow.
 */
#define BATCH_BLOCKS_MIN   16 /* 4 MiB of records */
#define BATCH_BLOCKS_MAX   256
#define BATCHES_PER_THREAD 4
#define FEW_BLOCKS         128 /* 30 MiB of records */
#define ALL_STREAMS        UINT32_MAX

/* ---- which event ---- */

/* Whether name is the event's, as it is or without its modifiers ("cycles:uk"). */
static bool is_named(const struct capture_attr *attr, const char *name, bool exact)
{
	const char *full = event_name(attr), *colon = strrchr(full, ':');

	if (exact)
		return !strcmp(full, name);
	return colon && attr->attr.type != PERF_TYPE_TRACEPOINT &&
	       (size_t)(colon - full) == strlen(name) && !strncmp(full, name, strlen(name));
}

int load_choose_event(const struct capture *c, const struct load_scan *scan, const char *name,
		      size_t *attr)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	for (int exact = 1; name && exact >= 0; exact--) {
		for (size_t i = 0; i < count; i++) {
			if (is_named(&attrs[i], name, exact)) {
				*attr = i;
				return 0;
			}
		}
	}
	if (name || !count)
		return -ENOENT;
	*attr = 0;
	for (size_t i = 0; scan->attr_samples && i < count; i++) {
		if (scan->attr_samples[i]) {
			*attr = i;
			break;
		}
	}
	return 0;
}

/* ---- second pass ---- */

struct second_pass {
	const struct capture *c;
	const struct process_model *model;
	const struct load_query *query;
	const struct filter *filter; /* of the query; NULL: everything passes */
	const struct capture_attr *attr;
	struct sample_chains chains;
	enum result_place result_place;
	uint32_t stream_mask;
	bool *comm_passes;                           /* by number in the names; NULL: all do */
	size_t first_block, end_block, batch_blocks; /* what is divided: with all that is wanted */
	bool members; /* samples have counts of other events: all are read, in their order */
	bool divisible;
	bool indexed; /* blocks have their times, and how many samples of the event they have */
	atomic_size_t next_block;
	atomic_int err;
};

struct worker {
	struct second_pass *pass;
	struct sample_decode decode;
	struct stack_counter *sampler;
	struct sample_chain chain;
	struct record_iter *it; /* NULL: not needed yet */
	struct load_stats stats;
	pthread_t thread;
};

static bool comm_passes(const struct second_pass *p, uint32_t comm, uint32_t tid)
{
	char unknown[16];

	if (!p->comm_passes)
		return true;
	if (comm != PROCESS_MODEL_NONE)
		return p->comm_passes[comm];
	snprintf(unknown, sizeof(unknown), ":%d", (int)tid);
	return filter_passes_comm(p->filter, unknown);
}

static int count_parsed(struct worker *w, struct perf_sample *sample)
{
	/* The event of the record: it may be the leader of the group that the sample's event is in. */
	const struct capture_attr *attr = w->decode.attr;
	const struct second_pass *p = w->pass;
	const struct filter *filter = p->filter;
	struct process_model_where where;
	struct stack_result info;
	int result;

	if (filter &&
	    !filter_passes(filter, sample->pid, sample->tid, sample->cpu, sample->time_ns))
		return 0;
	stack_counter_where(w->sampler, sample, &where);
	if (!comm_passes(p, where.comm, sample->tid))
		return 0;
	/* The idle task has no maps either, but is an option of its own. */
	if (filter && filter->no_kernel_threads && sample->pid &&
	    where.epoch != PROCESS_MODEL_NONE &&
	    !process_model_has_maps(w->pass->model, where.space))
		return 0;
	if (p->query->sample_ns)
		sample->period = p->query->sample_ns;
	else if (!sample->period)
		sample->period = attr->attr.freq ? 1 : attr->attr.sample_period;
	result = sample_chain_complete(&w->chain, sample, attr, where.space, p->result_place,
				       &info);
	if (result < 0)
		return result;
	return stack_counter_put(w->sampler, sample, &where, result ? &info : NULL);
}

static int count_member(void *ctx, const struct perf_sample *sample,
			const struct capture_attr *attr)
{
	struct worker *w = ctx;
	struct perf_sample copy = *sample;

	if (attr != w->pass->attr)
		return 0;
	w->stats.event_samples++;
	return count_parsed(w, &copy);
}

static int count_sample(struct worker *w, const struct perf_event_header *header)
{
	const struct capture_attr *wanted = w->pass->attr;
	struct perf_sample sample;
	int result = sample_decode(&w->decode, header, wanted, &sample);

	if (result == -EBADMSG) {
		w->stats.event_samples += w->decode.attr == wanted;
		w->stats.broken_samples += w->decode.attr == wanted;
	}
	if (result < 1)
		return 0;
	if (sample_decode_is_group(&w->decode))
		return group_read_each(w->decode.members, &sample, count_member, w);
	w->stats.event_samples++;
	return count_parsed(w, &sample);
}

static int count_cached(struct worker *w, size_t first, size_t count)
{
	const struct block_cache *cache = w->pass->query->cached;
	int err = 0;

	for (size_t i = block_cache_from(cache, first);
	     i < cache->count && cache->list[i].block - first < count; i++) {
		size_t word = cache->list[i].first_word;

		while (!err && word < cache->list[i].end_word) {
			const struct perf_event_header *header =
				(const struct perf_event_header *)(cache->words + word);

			err = count_sample(w, header);
			if (!err && sample_chain_is_reused(&w->chain))
				err = stack_counter_flush(w->sampler);
			word += block_cache_words(header);
		}
	}
	return err ? err : stack_counter_flush(w->sampler);
}

static int count_blocks(struct worker *w, size_t first, size_t count)
{
	struct record rec;
	int err = 0;

	if (w->pass->query->cached)
		return count_cached(w, first, count);
	if (w->it)
		record_iter_seek(w->it, first, count);
	else
		err = record_iter_new(w->pass->c, w->pass->stream_mask, first, count, &w->it);
	while (!err && record_iter_next(w->it, &rec) == 1) {
		if (rec.header->type == PERF_RECORD_SAMPLE)
			err = count_sample(w, rec.header);
		if (!err && (sample_chain_is_reused(&w->chain) || !record_iter_keeps(w->it)))
			err = stack_counter_flush(w->sampler);
	}
	return err;
}

/* Whether a block can have samples that are asked for. */
static bool is_in_span(const struct second_pass *p, const struct capture_block *f)
{
	const struct filter *filter = p->filter;

	return !filter || time_span_meets(&filter->span, f);
}

/* Whether the slice can do without the block; the number of its samples is known. */
static bool pass_by(const struct second_pass *p, const struct capture_block *f,
		    struct load_stats *stats)
{
	if (f->stream < EBX_STREAM_END && p->stream_mask >> f->stream & 1 && is_in_span(p, f))
		return false;
	if (f->stream == EBX_STREAM_CPU)
		stats->event_samples += f->sample_count;
	return true;
}

/* Threads divide what lies between the first block that is wanted and the last. */
static void choose_blocks(struct second_pass *p, struct load_stats *stats)
{
	const struct capture_block *blocks = capture_blocks(p->c, &p->end_block);

	if (!p->indexed)
		return;
	while (p->first_block < p->end_block && pass_by(p, &blocks[p->first_block], stats))
		p->first_block++;
	while (p->first_block < p->end_block && pass_by(p, &blocks[p->end_block - 1], stats))
		p->end_block--;
}

/* The blocks of a slice; of the others it is known how many samples they have. */
static int count_batch(struct worker *w, size_t first, size_t count)
{
	const struct second_pass *p = w->pass;
	size_t all, i, end = first + count;
	const struct capture_block *blocks = capture_blocks(p->c, &all);
	int err = 0;

	for (; !err && first < end; first = i) {
		bool wanted = !p->indexed || is_in_span(p, &blocks[first]);

		for (i = first; i < end; i++) {
			if (p->indexed && is_in_span(p, &blocks[i]) != wanted)
				break;
			if (!wanted && blocks[i].stream == EBX_STREAM_CPU)
				w->stats.event_samples += blocks[i].sample_count;
		}
		if (wanted)
			err = count_blocks(w, first, i - first);
	}
	return err;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct second_pass *p = w->pass;
	size_t first;
	int err = 0, none = 0;

	if (!p->divisible) {
		err = count_blocks(w, 0, SIZE_MAX);
	} else {
		while (!err && !atomic_load(&p->err) &&
		       (first = atomic_fetch_add(&p->next_block, p->batch_blocks)) < p->end_block)
			err = count_batch(w, first,
					  p->end_block - first < p->batch_blocks
						  ? p->end_block - first
						  : p->batch_blocks);
	}
	if (w->it)
		w->stats.damaged_blocks += record_iter_damage(w->it);
	record_iter_free(w->it);
	w->it = NULL;
	if (err)
		atomic_compare_exchange_strong(&p->err, &none, err);
	return NULL;
}

static unsigned choose_thread_count(const struct second_pass *p)
{
	size_t blocks = p->end_block - p->first_block;

	return p->divisible ? threads_choose(p->query->thread_count,
					     (blocks + BATCH_BLOCKS_MIN - 1) / BATCH_BLOCKS_MIN)
			    : 1;
}

static size_t choose_batch_blocks(const struct second_pass *p, unsigned thread_count)
{
	size_t share = (p->end_block - p->first_block) / (thread_count * BATCHES_PER_THREAD);

	return share < BATCH_BLOCKS_MIN   ? BATCH_BLOCKS_MIN
	       : share > BATCH_BLOCKS_MAX ? BATCH_BLOCKS_MAX
					  : share;
}

/* The first worker is the calling thread.  When no more can be started, fewer do the work. */
static unsigned run_workers(struct worker *workers, unsigned count)
{
	unsigned started = 1;

	while (started < count &&
	       !pthread_create(&workers[started].thread, NULL, work, &workers[started]))
		started++;
	work(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	return started;
}

static void add_stats(struct load_stats *to, const struct load_stats *from)
{
	to->event_samples += from->event_samples;
	to->broken_samples += from->broken_samples;
	to->damaged_blocks += from->damaged_blocks;
}

static int count_all(struct second_pass *p, const struct process_model *model,
		     struct stack_counter **out, struct load_stats *stats)
{
	struct worker workers[THREADS_AT_ONCE] = { 0 };
	unsigned count = choose_thread_count(p);
	int err = 0;

	p->batch_blocks = choose_batch_blocks(p, count);
	atomic_store(&p->next_block, p->first_block);
	for (unsigned i = 0; !err && i < count; i++) {
		workers[i].pass = p;
		err = sample_decode_init(&workers[i].decode, p->c, true);
		if (!err)
			err = stack_counter_new(model, p->query->groups, p->query->parts,
						p->indexed &&
							p->end_block - p->first_block < FEW_BLOCKS,
						&workers[i].sampler);
		if (!err && p->query->sum_groups)
			stack_counter_sum_groups(workers[i].sampler);
		if (!err && p->query->keep_samples)
			stack_counter_keep_samples(workers[i].sampler);
		if (!err)
			err = sample_chain_init(&workers[i].chain, &p->chains);
	}
	if (!err) {
		run_workers(workers, count);
		err = atomic_load(&p->err);
	}
	for (unsigned i = 0; i < count; i++) {
		sample_chain_done(&workers[i].chain);
		sample_decode_done(&workers[i].decode);
		if (!err && i)
			err = stack_counter_join(workers[0].sampler, workers[i].sampler);
		else if (i)
			stack_counter_free(workers[i].sampler);
		add_stats(stats, &workers[i].stats);
	}
	if (err) {
		stack_counter_free(workers[0].sampler);
		return err;
	}
	*out = workers[0].sampler;
	return 0;
}

static int prepare_comms(struct second_pass *p)
{
	const struct filter *filter = p->filter;
	uint32_t count = string_table_count(p->query->names);

	if (!filter || !filter->comm_count)
		return 0;
	p->comm_passes = calloc(count, sizeof(*p->comm_passes));
	if (!p->comm_passes)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		p->comm_passes[i] = filter_passes_comm(filter,
						       string_table_text(p->query->names, i));
	return 0;
}

bool load_has_stream(const struct capture *c, size_t attr)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	return capture_get_kind(c) == CAPTURE_EBX && !attr && count &&
	       attrs[0].attr.type != PERF_TYPE_TRACEPOINT;
}

bool load_stream_is_of_one(const struct capture *c)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	for (size_t i = 1; i < count; i++)
		if (!event_is_table(&attrs[i]) && !capture_attr_is_side(&attrs[i]) &&
		    strncmp(attrs[i].name, "sched:", 6) != 0 &&
		    strcmp(attrs[i].name, "ebprec:mark") != 0 &&
		    strcmp(attrs[i].name, "ebprec:counter") != 0 /* never has samples */)
			return false;
	return load_has_stream(c, 0);
}

int load_samples(const struct capture *c, const struct process_model *model,
		 const struct load_query *query, struct stack_counter **out,
		 struct load_stats *stats)
{
	struct load_stats fresh = { 0 };
	struct second_pass p = { .c = c, .model = model, .query = query };
	const struct capture_attr *attrs;
	size_t attr_count;
	int err;

	attrs = capture_attrs(c, &attr_count);
	assert(query->attr < attr_count);
	p.attr = &attrs[query->attr];
	p.filter = query->filter && !filter_is_empty(query->filter) ? query->filter : NULL;
	p.members = group_read_any(c);
	p.divisible = capture_is_divisible(c) && !p.members;
	p.indexed = p.divisible && load_has_stream(c, query->attr);
	p.result_place = result_place_of(c, query->attr);
	/* Ours keep the samples of the first attr in a stream of their own, and those of tables. */
	p.stream_mask = load_has_stream(c, query->attr) ? 1u << EBX_STREAM_CPU
			: event_is_table(p.attr)        ? 1u << EBX_STREAM_METRIC
							: ALL_STREAMS & ~(1u << EBX_STREAM_SIDE);
	choose_blocks(&p, &fresh);
	if (query->cached)
		fresh.damaged_blocks = query->cached->damaged;
	err = prepare_comms(&p);
	if (!err)
		err = sample_chains_init(&p.chains, c, model, query->roots, query->later);
	if (!err)
		err = count_all(&p, model, out, &fresh);
	free(p.comm_passes);
	sample_chains_done(&p.chains);
	if (err)
		return err;
	*stats = fresh;
	return 0;
}
