/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/liveness/side_slice.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event/event_of.h"
#include "analyze/process/liveness/liveness.h"
#include "analyze/input/event/group_read.h"
#include "analyze/process/liveness/side_events.h"
#include "analyze/process/side_queue.h"
#include "analyze/process/liveness/reverse_merge.h"
#include "format/base/vec.h"

#define FEW_BLOCKS     128 /* of samples: to keep more takes too much memory */
#define MUCH_SIDE      2 /* times as many bytes: to look through the samples saves more than it takes */
#define HELD_MAX_BYTES (16u << 20) /* of records that wait for the samples to be looked through */

struct side_slice {
	const struct capture *c;
	struct time_span span;
	const struct perf_event_attr *attr; /* any: records end alike */
	uint32_t damaged;
	struct reverse_merge turns;
	const struct side_slice_calls *calls;
	/* Those that are needed. */
	struct liveness liveness;
	bool asked;
	size_t sample_count;       /* that are still to be asked for: the first ones */
	struct side_events events; /* by the numbers of liveness */
	struct record_pile pile;
	struct held_list others; /* of no process, in the pile */
	/* Owned by the thread that looks through the samples, until it has ended. */
	pthread_t thread;
	bool started;
	atomic_bool looked;
	bool keeps; /* the samples, which are few */
	struct block_cache samples;
	struct time_key *asks; /* pid << 32 | tid, by time when all are there */
	size_t ask_count, ask_capacity;
	int err;
};

static bool is_in_span(const struct capture_block *f, const struct time_span *span)
{
	return f->stream == EBX_STREAM_CPU && time_span_meets(span, f);
}

/* FORMAT.md 9, rule 7.  Then the time of a record is found without looking for its event. */
static bool is_same_tail(const struct capture *c)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);
	const uint64_t bits = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	for (size_t i = 1; i < count; i++)
		if ((attrs[i].attr.sample_type ^ attrs[0].attr.sample_type) & bits ||
		    attrs[i].attr.sample_id_all != attrs[0].attr.sample_id_all)
			return false;
	return count > 0;
}

bool side_slice_is_worth(const struct capture *c, const struct time_span *span)
{
	size_t count, wanted = 0;
	uint64_t sample_bytes = 0, wanted_bytes = 0, side_bytes = 0;
	const struct capture_block *blocks = capture_blocks(c, &count);

	if (capture_get_kind(c) != CAPTURE_EBX || !capture_is_divisible(c) || group_read_any(c) ||
	    !is_same_tail(c))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (blocks[i].stream == EBX_STREAM_CPU)
			sample_bytes += blocks[i].raw_bytes;
		else if (blocks[i].stream == EBX_STREAM_SIDE)
			side_bytes += blocks[i].raw_bytes;
		else if (blocks[i].stream == CAPTURE_STREAM_MIXED)
			return false; /* a record that no block could hold */
		if (is_in_span(&blocks[i], span)) {
			wanted_bytes += blocks[i].raw_bytes;
			wanted++;
		}
	}
	return (wanted <= FEW_BLOCKS && wanted_bytes < sample_bytes) ||
	       wanted_bytes <= side_bytes / MUCH_SIDE;
}

/* ---- the threads of the samples ---- */

static int note_sample(struct side_slice *s, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	int err = vec_reserve(&s->asks, &s->ask_capacity, s->ask_count + 1);

	if (!err)
		s->asks[s->ask_count++] = (struct time_key){ time_ns, (uint64_t)pid << 32 | tid };
	return err;
}

static int look_through(struct side_slice *s, struct record_iter *it)
{
	struct event_of finder = event_of_capture(s->c);
	const struct capture_attr *attr;
	struct record rec;
	uint32_t pid, tid;
	int err = 0;

	while (!err && record_iter_next(it, &rec) == 1) {
		if (rec.header->type != PERF_RECORD_SAMPLE)
			continue;
		if (s->keeps)
			err = block_cache_add(&s->samples, &rec);
		attr = event_of_find(&finder, rec.header);
		/* Also for one that does not fit its attr: the second pass will leave it out. */
		if (!err && attr &&
		    perfrec_sample_ids(rec.header, rec.header->size, &attr->attr, &pid, &tid))
			err = note_sample(
				s, pid, tid,
				perfrec_sample_time(rec.header, rec.header->size, &attr->attr));
	}
	return err;
}

static int sort_samples(struct side_slice *s)
{
	struct time_key *room = calloc(s->ask_count + 1, sizeof(*room)), *sorted;
	int err = vec_reserve(&s->asks, &s->ask_capacity, 1);

	if (!room || err) {
		free(room);
		return -ENOMEM;
	}
	sorted = merge_runs(s->asks, room, s->ask_count);
	free(sorted == room ? s->asks : room);
	s->asks = sorted;
	s->ask_capacity = s->ask_count;
	return 0;
}

static void *find_ids(void *arg)
{
	struct side_slice *s = arg;
	struct record_iter *it = NULL;
	size_t count, i, end;
	const struct capture_block *blocks = capture_blocks(s->c, &count);
	int err = record_iter_new(s->c, 1u << EBX_STREAM_CPU, 0, 0, &it);

	for (i = 0; !err && i < count; i = end) {
		for (end = i; end < count && is_in_span(&blocks[end], &s->span); end++)
			;
		if (end > i) {
			record_iter_seek(it, i, end - i);
			err = look_through(s, it);
		} else {
			end++;
		}
	}
	if (it)
		s->samples.damaged = record_iter_damage(it);
	record_iter_free(it);
	s->err = err ? err : sort_samples(s);
	atomic_store(&s->looked, true);
	return NULL;
}

/*
 * Reserves memory, as far as the blocks have their sizes; for the side-band no more than may be
 * held.
 */
static int reserve(struct side_slice *s)
{
	size_t count, side_bytes = 0, sample_bytes = 0, wanted = 0;
	const struct capture_block *blocks = capture_blocks(s->c, &count);
	int err;

	for (size_t i = 0; i < count; i++) {
		if (blocks[i].stream == EBX_STREAM_SIDE && side_bytes < HELD_MAX_BYTES)
			side_bytes += blocks[i].raw_bytes;
		if (is_in_span(&blocks[i], &s->span)) {
			sample_bytes += blocks[i].raw_bytes;
			wanted++;
		}
	}
	err = reverse_merge_reserve(&s->turns, side_bytes);
	s->keeps = wanted <= FEW_BLOCKS;
	return err || !s->keeps ? err : block_cache_reserve(&s->samples, sample_bytes);
}

int side_slice_new(const struct capture *c, const struct time_span *span, struct side_slice **out)
{
	struct side_slice *s = calloc(1, sizeof(*s));
	size_t attr_count;
	int err;

	if (!s)
		return -ENOMEM;
	s->c = c;
	s->span = *span;
	s->attr = &capture_attrs(c, &attr_count)->attr;
	err = reserve(s);
	if (err) {
		side_slice_free(s);
		return err;
	}
	s->started = !pthread_create(&s->thread, NULL, find_ids, s);
	if (!s->started)
		find_ids(s);
	*out = s;
	return 0;
}

static void wait_for_ids(struct side_slice *s)
{
	if (s->started)
		pthread_join(s->thread, NULL);
	s->started = false;
}

void side_slice_free(struct side_slice *s)
{
	if (!s)
		return;
	wait_for_ids(s);
	liveness_done(&s->liveness);
	block_cache_done(&s->samples);
	reverse_merge_done(&s->turns);
	free(s->pile.words);
	side_events_done(&s->events);
	free(s->others.list);
	free(s->asks);
	free(s);
}

int side_slice_keep(struct side_slice *s, uint32_t pid)
{
	return liveness_keep(&s->liveness, pid);
}

void side_slice_take_samples(struct side_slice *s, struct block_cache *out)
{
	*out = s->samples;
	s->samples = (struct block_cache){ 0 };
}

uint32_t side_slice_damage(const struct side_slice *s)
{
	return s->damaged;
}

/* ---- whose turn it is ---- */

/*
 * Whether the meaning of the record depends on its time, or on the record before it.  That of a
 * truncated record does not; its reader will see.
 */
static bool is_in_order(const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_CGROUP:
		return header->size >= sizeof(*header) + 8;
	case PERF_RECORD_FORK:
		return header->size >= sizeof(*header) + 16;
	default:
		return false;
	}
}

/* As sidelog has it. */
static uint64_t time_of(const struct side_slice *s, const struct perf_event_header *header)
{
	const uint8_t *p = (const uint8_t *)(header + 1);
	uint64_t time_ns = perfrec_time(header, header->size, s->attr);

	if (header->type == PERF_RECORD_FORK && !time_ns && header->size >= sizeof(*header) + 24 &&
	    !(header->misc & PERF_RECORD_MISC_FORK_EXEC))
		time_ns = le64_load(p + 16); /* no sample_id_all */
	return time_ns;
}

/* The records of one block: those that only count something are given out. */
static int read_block(struct side_slice *s, struct record_iter *it, size_t block)
{
	size_t count;
	const struct capture_block *f = &capture_blocks(s->c, &count)[block];
	struct record rec;
	uint64_t time_ns;
	int err = 0;

	record_iter_seek(it, block, 1);
	while (!err && record_iter_next(it, &rec) == 1) {
		if (!is_in_order(rec.header)) {
			err = s->liveness.repeated ? 0 : s->calls->see(s->calls->ctx, &rec);
			continue;
		}
		time_ns = time_of(s, rec.header);
		if (time_ns && (time_ns < f->t_min_ns || time_ns > f->t_max_ns))
			err = -ESTALE;
		else
			err = reverse_merge_hold(&s->turns, &rec, time_ns);
	}
	return err;
}

/* ---- what is needed ---- */

static bool is_of_process(const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return side_queue_map_pid(header->misc, le32_load(header + 1)) != SIDE_QUEUE_KERNEL;
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
		return true;
	default:
		return false;
	}
}

/* 1: the record is needed; *number: liveness_fork() */
static int ask_liveness(struct liveness *k, const struct perf_event_header *header,
			uint64_t time_ns, uint32_t *number)
{
	const uint8_t *p = (const uint8_t *)(header + 1);
	struct liveness_task task = { .pid = le32_load(p), .tid = le32_load(p + 4) };

	switch (header->type) {
	case PERF_RECORD_COMM:
		return liveness_comm(k, task.pid, task.tid,
				     header->misc & PERF_RECORD_MISC_COMM_EXEC, number);
	case PERF_RECORD_FORK:
		task.ppid = task.tid;
		task.tid = le32_load(p + 8);
		task.ptid = le32_load(p + 12);
		return liveness_fork(k, &task, number);
	default:
		return liveness_map(k, task.pid, time_ns, number);
	}
}

/* Whether the record is about a process of the samples, or about an ancestor of one. */
static bool is_concerned(const struct liveness *k, const struct perf_event_header *header)
{
	const uint8_t *ids = (const uint8_t *)(header + 1);
	unsigned count = header->type == PERF_RECORD_FORK   ? 4
			 : header->type == PERF_RECORD_COMM ? 2
							    : 1;

	for (unsigned i = 0; i < count; i++)
		if (liveness_knows(k, le32_load(ids + 4 * i)))
			return true;
	return false;
}

static int keep_record(struct side_slice *s, const struct held *h)
{
	struct held copy = { .time_ns = h->time_ns, .place = h->place };
	int err = record_pile_add(&s->pile, record_pile_at(&s->turns.pile, h->word), &copy.word);

	return err ? err : held_list_add(&s->others, &copy);
}

/* In the place of another that is not needed any more, or behind all. */
static int keep_event(struct side_slice *s, const struct held *h, uint32_t number)
{
	const struct record rec = { .header = record_pile_at(&s->turns.pile, h->word),
				    .block = (uint32_t)(h->place >> 32) };
	struct side_event event;
	int err = s->calls->make(s->calls->ctx, &rec, &event);

	if (err && err != -ENOENT)
		return err;
	return side_events_put(&s->events, number, err ? NULL : &event, h->place);
}

static int expect_samples(struct side_slice *s)
{
	int err = s->err;

	for (size_t i = 0; !err && i < s->ask_count; i++)
		err = liveness_expect(&s->liveness, (uint32_t)(s->asks[i].index >> 32),
				      (uint32_t)s->asks[i].index, s->asks[i].time_ns);
	s->sample_count = s->ask_count;
	s->asked = true;
	return err;
}

/* The samples that are no earlier. */
static int ask_samples(struct side_slice *s, uint64_t time_ns)
{
	int err = 0;

	while (!err && s->sample_count && s->asks[s->sample_count - 1].time_ns >= time_ns) {
		const struct time_key *ask = &s->asks[--s->sample_count];

		err = liveness_ask(&s->liveness, (uint32_t)(ask->index >> 32),
				   (uint32_t)ask->index);
	}
	return err;
}

static int keep_if_needed(struct side_slice *s, const struct held *h)
{
	const struct record rec = { .header = record_pile_at(&s->turns.pile, h->word),
				    .block = (uint32_t)(h->place >> 32) };
	uint32_t number = 0;
	int needed;

	if (!is_concerned(&s->liveness, rec.header))
		return 0;
	if (s->calls->is_void(s->calls->ctx, &rec)) /* it changes no process */
		return s->liveness.repeated ? 0 : s->calls->see(s->calls->ctx, &rec);
	needed = ask_liveness(&s->liveness, rec.header, h->time_ns, &number);
	return needed > 0 ? keep_event(s, h, number) : needed;
}

/* Keeps what is needed of those whose turn has come. */
static int settle(struct side_slice *s)
{
	int err = 0;

	wait_for_ids(s);
	if (!s->asked)
		err = expect_samples(s);
	for (size_t i = 0; !err && i < s->turns.turn.count; i++) {
		const struct held *h = &s->turns.turn.list[i];
		const struct perf_event_header *header = record_pile_at(&s->turns.pile, h->word);

		if (!is_of_process(header)) {
			err = keep_record(s, h);
			continue;
		}
		err = ask_samples(s, h->time_ns);
		if (!err)
			err = keep_if_needed(s, h);
	}
	return err ? err : reverse_merge_forget(&s->turns);
}

/* ---- all of it ---- */

/* The side-band's blocks by their latest time; *out is owned. */
static int list_blocks(const struct capture *c, struct time_key **out, size_t *count)
{
	size_t all, n = 0;
	const struct capture_block *blocks = capture_blocks(c, &all);
	struct time_key *keys = calloc(all + 1, sizeof(*keys));
	struct time_key *room = calloc(all + 1, sizeof(*room));

	if (!keys || !room) {
		free(keys);
		free(room);
		return -ENOMEM;
	}
	for (size_t i = 0; i < all; i++)
		if (blocks[i].stream == EBX_STREAM_SIDE)
			keys[n++] = (struct time_key){ blocks[i].t_max_ns, i };
	*out = merge_runs(keys, room, n);
	free(*out == keys ? room : keys);
	*count = n;
	return 0;
}

static int read_backwards(struct side_slice *s, struct record_iter *it)
{
	struct time_key *blocks = NULL;
	size_t i = 0;
	int err = list_blocks(s->c, &blocks, &i);

	while (!err && i--) {
		err = read_block(s, it, blocks[i].index);
		if (!err)
			err = reverse_merge_end_block(&s->turns, i ? blocks[i - 1].time_ns : 0);
		if (!err && (atomic_load(&s->looked) || s->turns.pile.count > HELD_MAX_BYTES / 8))
			err = settle(s);
	}
	if (!err)
		err = reverse_merge_end(&s->turns);
	free(blocks);
	if (!err)
		err = settle(s);
	return err ? err : ask_samples(s, 0);
}

static int read_once(struct side_slice *s)
{
	struct record_iter *it = NULL;
	int err = record_iter_new(s->c, 1u << EBX_STREAM_SIDE, 0, 0, &it);

	s->pile.count = s->others.count = s->events.count = 0;
	if (s->asked) /* and all was shown once */
		s->sample_count = s->ask_count;
	if (!err)
		err = read_backwards(s, it);
	if (it)
		s->damaged = record_iter_damage(it);
	record_iter_free(it);
	return err;
}

/* In the order of the file: of some the last one counts. */
static int keep_others(struct side_slice *s)
{
	struct side_event event;
	int err = 0;

	if (s->others.count)
		qsort(s->others.list, s->others.count, sizeof(*s->others.list), held_by_place);
	for (size_t i = 0; !err && i < s->others.count; i++) {
		const struct held *h = &s->others.list[i];
		const struct record rec = { .header = record_pile_at(&s->pile, h->word),
					    .block = (uint32_t)(h->place >> 32) };

		err = s->calls->make(s->calls->ctx, &rec, &event);
		if (err == -ENOENT)
			err = 0;
		else if (!err)
			err = side_events_put(&s->events, (uint32_t)s->events.count, &event,
					      h->place);
	}
	return err;
}

int side_slice_read(struct side_slice *s, const struct side_slice_calls *calls)
{
	int err;

	s->calls = calls;
	err = read_once(s);
	if (!err && liveness_again(&s->liveness))
		err = read_once(s);
	if (err)
		return err;
	reverse_merge_done(&s->turns);
	free(s->asks);
	s->asks = NULL;
	side_events_drop(&s->events, s->liveness.free, s->liveness.free_count);
	err = keep_others(s);
	if (!err)
		err = side_events_number_files(&s->events, calls->choose, calls->ctx);
	return err ? err : side_events_give(&s->events, calls->give, calls->ctx);
}
