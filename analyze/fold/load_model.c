/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The first pass of load: the side-band becomes a model. */
#include "format/base/saturate.h"
#include "analyze/fold/count_samples.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "analyze/input/capture_meta.h"
#include "analyze/input/build_ids.h"
#include "analyze/input/event/sample_decode.h"
#include "analyze/process/liveness/side_slice.h"

/* Code that processes made is in objects of the file, which are read beside its records. */
struct jit_reader {
	const struct capture *c;
	struct load_scan *scan;
	pthread_t thread;
	bool started;
	int err;
};

struct first_pass {
	struct sample_decode decode;
	struct perf_event_attr bare; /* of records without an id: no tail, time 0 */
	struct process_model *model;
	struct tasks_reader *tasks; /* NULL: not wanted */
	struct load_scan *scan;
	struct jit_reader jits;
	bool jits_added;
	uint64_t *open_ns; /* by block: nothing from there on is earlier; NULL: not known */
};

/* ---- code that processes made ---- */

static void *read_jits(void *arg)
{
	struct jit_reader *r = arg;

	r->err = embedded_read(r->c, &r->scan->files);
	if (!r->err)
		r->err = jit_code_read(r->scan->files, &r->scan->jits);
	return NULL;
}

static void begin_jits(struct jit_reader *r)
{
	r->started = !pthread_create(&r->thread, NULL, read_jits, r);
	if (!r->started)
		read_jits(r);
}

static int end_jits(struct jit_reader *r)
{
	if (r->started)
		pthread_join(r->thread, NULL);
	r->started = false;
	return r->err;
}

static int add_jit_code(struct process_model *m, const struct jit_code_text *code)
{
	return process_model_add_jit_code(m, code->pid, code->time_ns, code->addr, code->size_bytes,
					  code->place);
}

static int add_jits(struct first_pass *p)
{
	const struct jit_code *jits = &p->scan->jits;
	int err = 0;

	if (p->jits_added)
		return 0;
	p->jits_added = true;
	for (size_t i = 0; !err && i < jits->count; i++)
		err = process_model_add_jit(p->model, jits->list[i].pid);
	for (size_t i = 0; !err && i < jits->code_count; i++)
		err = add_jit_code(p->model, &jits->code[i]);
	return err;
}

/* ---- the records ---- */

static int see_member(void *ctx, const struct perf_sample *sample, const struct capture_attr *attr)
{
	struct first_pass *p = ctx;

	(void)sample;
	p->scan->attr_samples[attr - p->decode.events.attrs]++;
	return 0;
}

static int see_sample(struct first_pass *p, const struct perf_event_header *header)
{
	struct load_scan *scan = p->scan;
	struct perf_sample sample;
	int err;

	if (sample_decode(&p->decode, header, NULL, &sample) != 1)
		return 0; /* the second pass counts it */
	err = sample_decode_each(&p->decode, &sample, see_member, p);
	if (err)
		return err;
	if (!scan->span_known)
		scan->span = (struct time_span){ sample.time_ns, sample.time_ns };
	scan->span_known = true;
	if (sample.time_ns < scan->span.from_ns)
		scan->span.from_ns = sample.time_ns;
	if (sample.time_ns > scan->span.to_ns)
		scan->span.to_ns = sample.time_ns;
	return 0;
}

/* perf names the kernel's map after the symbol whose address it stores as the file offset. */
static void see_kernel(struct load_scan *scan, const struct perfrec_side *side)
{
	static const char prefix[] = "[kernel.kallsyms]";
	const char *symbol = side->mmap.path + sizeof(prefix) - 1;

	if (strncmp(side->mmap.path, prefix, sizeof(prefix) - 1) || !*symbol ||
	    strlen(symbol) >= sizeof(scan->kernel_symbol))
		return;
	strcpy(scan->kernel_symbol, symbol);
	scan->kernel_addr = side->mmap.file_off_bytes;
}

/*
 * A LOST record of ours has its event; when it is not the side-band, no name is missing.  perf's
 * events and side-band share their rings, and its records do not distinguish them.
 */
static bool see_lost(struct first_pass *p, const struct perfrec_side *side)
{
	const struct capture_attr *attr;

	if (side->type != PERF_RECORD_LOST || !p->scan->attr_lost)
		return false;
	attr = capture_attr_by_id(p->decode.events.c, side->lost.id);
	if (!attr || capture_attr_is_side(attr))
		return false;
	p->scan->attr_lost[attr - p->decode.events.attrs] = saturate_add(
		p->scan->attr_lost[attr - p->decode.events.attrs], side->lost.count);
	return true;
}

static int parse_side(struct first_pass *p, const struct perf_event_header *header,
		      struct perfrec_side *out)
{
	const struct capture_attr *attr = event_of_find(&p->decode.events, header);

	/* perf leaves the tail of some records it makes up (KSYMBOL) as its memory was. */
	return perfrec_side(header, header->size, attr ? &attr->attr : &p->bare, out, NULL);
}

/* -ENOENT: it could not be read, and was counted. */
static int read_side_record(struct first_pass *p, const struct perf_event_header *header,
			    struct perfrec_side *out)
{
	int err = parse_side(p, header, out);

	if (!err)
		return 0;
	process_model_add_unread(p->model, header->type, err != -ENOTSUP);
	return -ENOENT;
}

static int see_side(struct first_pass *p, const struct perf_event_header *header)
{
	struct perfrec_side side;
	int err;

	if (read_side_record(p, header, &side))
		return 0;
	if (p->tasks) {
		err = tasks_reader_add(p->tasks, &side);
		if (err)
			return err;
	}
	if (see_lost(p, &side))
		return 0;
	if (side.type == PERFREC_LATER)
		return deferred_chains_add(&p->scan->later, side.id.tid, &side.later);
	if (side.type == PERF_RECORD_MMAP || side.type == PERF_RECORD_MMAP2)
		see_kernel(p->scan, &side);
	return process_model_add(p->model, &side);
}

static int see_build_id(void *ctx, const struct buildid *id, const char *path)
{
	return process_model_add_build_id(ctx, path, id);
}

static int see_record(struct first_pass *p, const struct record *rec)
{
	const struct perf_event_header *header = rec->header;

	if (header->type == PERF_RECORD_SAMPLE)
		return p->scan->attr_samples ? see_sample(p, header) : 0;
	if (header->type == PERFFILE_RECORD_BUILD_ID)
		return build_ids_entry(header, header->size, see_build_id, p->model);
	if (header->type >= PERFFILE_RECORD_HEADER_ATTR)
		return 0;
	return see_side(p, header);
}

static int see_needed(void *ctx, const struct record *rec)
{
	return see_record(ctx, rec);
}

static bool is_void(void *ctx, const struct record *rec)
{
	struct first_pass *p = ctx;
	struct perfrec_side side;

	return parse_side(p, rec->header, &side) || side_queue_is_void(&side);
}

static int make_needed(void *ctx, const struct record *rec, struct side_event *out)
{
	struct first_pass *p = ctx;
	struct perfrec_side side;
	int err = read_side_record(p, rec->header, &side);

	if (!err && (side.type == PERF_RECORD_MMAP || side.type == PERF_RECORD_MMAP2))
		see_kernel(p->scan, &side);
	return err ? err : process_model_make_event(p->model, &side, out);
}

/* Processes that made code have to be known before their mappings are applied. */
static int settle(struct first_pass *p, uint64_t open_ns)
{
	int err;

	if (!process_model_is_full(p->model))
		return 0;
	err = end_jits(&p->jits);
	if (!err)
		err = add_jits(p);
	return err ? err : process_model_settle(p->model, open_ns);
}

static int choose_needed(void *ctx, const uint32_t *order, size_t count, uint32_t *numbers)
{
	const struct first_pass *p = ctx;

	return process_model_choose_files(p->model, order, count, numbers);
}

/* They come by time. */
static int add_needed(void *ctx, const struct side_event *event)
{
	struct first_pass *p = ctx;
	int err = settle(p, event->time_ns);

	return err ? err : process_model_add_event(p->model, event);
}

/* Reads the records that the slice needs.  -ESTALE: that cannot be had alone. */
static int run_slice(const struct capture *c, const struct time_span *slice, struct first_pass *p)
{
	const struct side_slice_calls calls = {
		.ctx = p,
		.is_void = is_void,
		.see = see_needed,
		.make = make_needed,
		.choose = choose_needed,
		.give = add_needed,
	};
	struct side_slice *s;
	int err = side_slice_new(c, slice, &s);

	if (err)
		return err;
	err = end_jits(&p->jits);
	for (size_t i = 0; !err && i < p->scan->jits.count; i++)
		err = side_slice_keep(s, p->scan->jits.list[i].pid);
	if (!err)
		err = side_slice_read(s, &calls);
	p->scan->damaged_blocks = side_slice_damage(s);
	if (!err)
		side_slice_take_samples(s, &p->scan->cached);
	side_slice_free(s);
	return err;
}

/* The earliest time of all blocks from each one on; where none has it, it is not known. */
static int find_open_times(const struct capture *c, struct first_pass *p)
{
	size_t count;
	const struct capture_block *blocks = capture_blocks(c, &count);
	uint64_t open_ns = UINT64_MAX;

	if (capture_get_kind(c) != CAPTURE_EBX || !capture_is_divisible(c))
		return 0;
	p->open_ns = calloc(count + 1, sizeof(*p->open_ns));
	if (!p->open_ns)
		return -ENOMEM;
	for (size_t i = count; i-- > 0; p->open_ns[i] = open_ns)
		if ((blocks[i].stream == EBX_STREAM_SIDE ||
		     blocks[i].stream == CAPTURE_STREAM_MIXED) &&
		    blocks[i].t_min_ns < open_ns)
			open_ns = blocks[i].t_min_ns;
	return 0;
}

static int run_first_pass(const struct capture *c, struct first_pass *p)
{
	struct record_iter *it = NULL;
	struct record rec;
	uint32_t block = 0;
	int err;

	err = record_iter_new(c, 1u << EBX_STREAM_SIDE, 0, SIZE_MAX, &it);
	if (err)
		return err;
	while (!err && record_iter_next(it, &rec) == 1) {
		if (p->open_ns && rec.block != block)
			err = settle(p, p->open_ns[rec.block]);
		block = rec.block;
		if (!err)
			err = see_record(p, &rec);
	}
	p->scan->damaged_blocks = record_iter_damage(it);
	record_iter_free(it);
	return err;
}

/* Some records were counted. */
static int begin_anew(struct string_table *names, struct first_pass *p)
{
	int err;

	memset(p->scan->attr_lost, 0, p->scan->attr_count * sizeof(*p->scan->attr_lost));
	deferred_chains_done(&p->scan->later);
	process_model_free(p->model);
	p->model = NULL;
	p->jits_added = false;
	if (p->tasks) {
		tasks_reader_free(p->tasks);
		p->tasks = NULL;
		err = tasks_reader_new(p->decode.events.c, names, &p->tasks);
		if (err)
			return err;
	}
	return process_model_new(names, &p->model);
}

/* When a record has no time, or one outside of its block's, all are held until the end. */
static int read_all(const struct capture *c, struct string_table *names, struct first_pass *p)
{
	int err = find_open_times(c, p);

	if (!err)
		err = run_first_pass(c, p);
	if (err == -ESTALE) {
		free(p->open_ns);
		p->open_ns = NULL;
		err = begin_anew(names, p);
		if (!err)
			err = run_first_pass(c, p);
	}
	free(p->open_ns);
	p->open_ns = NULL;
	return err;
}

static int read_side(const struct capture *c, struct string_table *names,
		     const struct time_span *slice, struct first_pass *p)
{
	int err = process_model_new(names, &p->model);

	if (err || !slice || deferred_chains_any(c) || !side_slice_is_worth(c, slice))
		return err ? err : read_all(c, names, p);
	err = run_slice(c, slice, p);
	if (err != -ESTALE)
		return err;
	err = begin_anew(names, p); /* it cannot be had alone */
	return err ? err : read_all(c, names, p);
}

/* tasks: NULL: not wanted. */
static int load(const struct capture *c, struct string_table *names, const struct time_span *slice,
		struct process_model **out, struct load_scan *scan, struct tasks *tasks)
{
	struct load_scan fresh = { .span = TIME_SPAN_ALL };
	struct first_pass p = {
		.scan = &fresh,
		.jits = { .c = c, .scan = &fresh },
	};
	uint64_t **counts = capture_get_kind(c) == CAPTURE_EBX ? &fresh.attr_lost
							       : &fresh.attr_samples;
	int err = sample_decode_init(&p.decode, c, true), jit_err;

	if (err)
		return err;
	fresh.attr_count = p.decode.events.count;
	*counts = calloc(p.decode.events.count + 1, sizeof(**counts));
	if (!*counts) {
		sample_decode_done(&p.decode);
		return -ENOMEM;
	}
	begin_jits(&p.jits);
	err = tasks ? tasks_reader_new(c, names, &p.tasks) : 0;
	if (!err)
		err = read_side(c, names, slice, &p);
	sample_decode_done(&p.decode);
	if (!err)
		err = build_ids_walk(capture_feature(c, PERFFILE_BUILD_ID), see_build_id, p.model);
	jit_err = end_jits(&p.jits);
	if (!err)
		err = jit_err ? jit_err : add_jits(&p);
	if (!err)
		err = process_model_read_contexts(p.model, c);
	if (!err)
		err = process_model_seal(p.model);
	if (!err && tasks)
		err = tasks_reader_finish(p.tasks, tasks);
	tasks_reader_free(p.tasks);
	if (err) {
		process_model_free(p.model);
		load_scan_done(&fresh);
		return err;
	}
	if (!fresh.span_known)
		fresh.span_known = !time_span_of_capture(c, &fresh.span);
	if (fresh.span_known)
		capture_meta_extend(c, &fresh.span);
	*out = p.model;
	*scan = fresh;
	return 0;
}

int load_model(const struct capture *c, struct string_table *names, const struct time_span *slice,
	       struct process_model **out, struct load_scan *scan)
{
	return load(c, names, slice, out, scan, NULL);
}

int load_model_and_tasks(const struct capture *c, struct string_table *names,
			 struct process_model **out, struct load_scan *scan, struct tasks *tasks)
{
	return load(c, names, NULL, out, scan, tasks);
}

void load_scan_done(struct load_scan *scan)
{
	free(scan->attr_samples);
	free(scan->attr_lost);
	scan->attr_samples = scan->attr_lost = NULL;
	jit_code_done(&scan->jits);
	embedded_free(scan->files);
	scan->files = NULL;
	block_cache_done(&scan->cached);
	deferred_chains_done(&scan->later);
}
