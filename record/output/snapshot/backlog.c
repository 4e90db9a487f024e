/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/snapshot/backlog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/outbuf.h"
#include "format/base/vec.h"
#include "record/output/snapshot/process_state.h"
#include "record/output/snapshot/sched_state.h"
#include "record/events/side_record.h"

#define AFTER_EXIT_NS 1000000000ULL /* a task is still seen for a moment after it ended */
#define ARRIVED_NS    2000000000ULL /* a sample comes no later than a round or two */

/* The records between two flushes. */
struct part {
	struct writer_batch *batch;
	struct account upto; /* at its end */
	uint64_t end_ns;
};

struct backlog {
	uint64_t keep_ns, keep_bytes;
	struct writer_batch *objects;
	struct part *parts; /* [first, end) are there */
	size_t first, end, room;
	uint64_t bytes;
	struct process_state *state;
	struct sched_state *sched; /* NULL: no switches are recorded */
	struct outbuf late;        /* side-band records of dropped parts, newer than the state */
	struct account before;
	uint64_t dropped_ns;
	uint64_t from_ns; /* the state is that of this moment */
};

int backlog_new(uint64_t keep_ns, uint64_t keep_bytes, uint64_t side_id,
		const struct event_attrs *attrs, struct backlog **out)
{
	struct backlog *w = calloc(1, sizeof(*w));
	int err = w ? writer_batch_new(&w->objects) : -ENOMEM;

	if (!err)
		err = process_state_new(side_id, &w->state);
	if (!err && attrs)
		err = sched_state_new(attrs, &w->sched);
	if (err) {
		backlog_free(w);
		return err;
	}
	w->keep_ns = keep_ns;
	w->keep_bytes = keep_bytes;
	*out = w;
	return 0;
}

void backlog_free(struct backlog *w)
{
	if (!w)
		return;
	for (; w->first < w->end; w->first++)
		writer_batch_free(w->parts[w->first].batch);
	writer_batch_free(w->objects);
	process_state_free(w->state);
	sched_state_free(w->sched);
	outbuf_done(&w->late);
	free(w->parts);
	free(w);
}

/* ---- what is dropped ---- */

static uint64_t time_of(const uint8_t *record, size_t size_bytes)
{
	return size_bytes < SIDE_RECORD_TAIL_BYTES + 8
		       ? 0
		       : le64_load(record + size_bytes - SIDE_RECORD_TAIL_BYTES + 8);
}

static int on_dropped(void *arg, const uint8_t *record, size_t size_bytes)
{
	struct backlog *w = arg;

	if (time_of(record, size_bytes) < w->from_ns)
		return process_state_record(w->state, record, size_bytes);
	outbuf_add(&w->late, record, size_bytes);
	return outbuf_ok(&w->late) ? 0 : -ENOMEM;
}

static int on_dropped_event(void *arg, const uint8_t *record, size_t size_bytes)
{
	return sched_state_record(arg, record, size_bytes);
}

/*
 * The time of the first retained sample, now or later: records that still come may be a little
 * older than now.
 */
static uint64_t first_retained_ns(const struct backlog *w)
{
	uint64_t now_ns = w->parts[w->end - 1].end_ns;
	uint64_t first_ns = now_ns > ARRIVED_NS ? now_ns - ARRIVED_NS : 0;

	for (size_t i = w->first; i < w->end; i++) {
		uint64_t ns = writer_batch_first_ns(w->parts[i].batch);

		if (ns && ns < first_ns)
			first_ns = ns;
	}
	return first_ns;
}

/* Records that were too new for the state before may not be so any more. */
static int settle_late(struct backlog *w)
{
	struct outbuf was = w->late;
	size_t at = 0;
	int err = 0;

	w->late = (struct outbuf){ 0 };
	while (!err && at < was.size_bytes) {
		size_t size = le16_load(was.data + at + 6);

		err = on_dropped(w, was.data + at, size);
		at += size;
	}
	outbuf_done(&was);
	return err;
}

static int drop_first(struct backlog *w)
{
	struct part *p = &w->parts[w->first++];
	int err;

	w->bytes -= writer_batch_bytes(p->batch);
	w->before = p->upto;
	w->dropped_ns = p->end_ns;
	w->from_ns = first_retained_ns(w);
	err = settle_late(w);
	if (!err)
		err = writer_batch_records(p->batch, EBX_STREAM_SIDE, on_dropped, w);
	if (!err && w->sched)
		err = writer_batch_records(p->batch, EBX_STREAM_SCHED, on_dropped_event, w->sched);
	writer_batch_free(p->batch);
	if (w->from_ns > AFTER_EXIT_NS)
		process_state_settle(w->state, w->from_ns - AFTER_EXIT_NS);
	return err;
}

/* A part goes when all that is behind it covers the time, or when there is no room.  The last
 * one stays: a capture without a sample is of no use. */
static bool too_much(const struct backlog *w, uint64_t now_ns)
{
	const struct part *p = &w->parts[w->first];

	if (w->first == w->end)
		return false;
	if (!w->keep_ns && !w->keep_bytes)
		return true;
	return (w->keep_ns && p->end_ns + w->keep_ns < now_ns) ||
	       (w->keep_bytes && w->bytes > w->keep_bytes && w->end - w->first > 1);
}

/* ---- what comes in ---- */

static int make_room(struct backlog *w)
{
	if (w->end < w->room)
		return 0;
	if (w->first >= w->room / 2 && w->first) {
		memmove(w->parts, w->parts + w->first, (w->end - w->first) * sizeof(*w->parts));
		w->end -= w->first;
		w->first = 0;
		return 0;
	}
	return vec_reserve(&w->parts, &w->room, w->end + 1);
}

/*
 * The objects since the last part go into a running file as well.  file_origin_cache holds those of
 * files.
 */
static int take_objects(struct backlog *w, struct writer *from, struct writer *to)
{
	struct writer_batch *fresh;
	int err = writer_batch_new(&fresh);

	if (err)
		return err;
	err = writer_take_objects(from, fresh);
	if (!err && to)
		err = writer_put(to, fresh);
	writer_batch_forget(fresh, EBX_FACTS);
	writer_batch_forget(fresh, EBX_MOUNTS);
	if (!err)
		err = writer_batch_join(w->objects, fresh);
	writer_batch_free(fresh);
	return err;
}

int backlog_take(struct backlog *w, struct writer *from, const struct account *upto,
		 uint64_t now_ns, struct writer *to)
{
	struct part p = { .upto = *upto, .end_ns = now_ns };
	int err = make_room(w);

	if (!err)
		err = take_objects(w, from, to);
	if (!err)
		err = writer_take(from, &p.batch);
	if (err)
		return err;
	w->parts[w->end++] = p;
	w->bytes += writer_batch_bytes(p.batch);
	if (to)
		err = writer_put(to, p.batch);
	while (!err && too_much(w, now_ns))
		err = drop_first(w);
	return err;
}

/* ---- what goes out ---- */

struct begin {
	struct writer *to;
	uint64_t count;
};

static int put_record(void *arg, const uint8_t *record, size_t size_bytes)
{
	struct begin *b = arg;

	b->count++;
	return writer_record(b->to, EBX_STREAM_SIDE, record, size_bytes,
			     time_of(record, size_bytes), -1);
}

/* The states of threads when the file begins; the first one has none. */
static int put_border(struct backlog *w, struct writer *to)
{
	struct buf border = { 0 };
	int err = w->sched && w->dropped_ns ? sched_state_border(w->sched, w->dropped_ns, &border)
					    : 0;

	if (!err && border.size_bytes)
		err = writer_object(to, EBX_BORDER, 0, border.data, border.size_bytes);
	buf_done(&border);
	return err;
}

int backlog_begin(struct backlog *w, struct writer *to, uint64_t *record_count)
{
	struct begin b = { .to = to };
	size_t at = 0;
	int err;

	err = writer_put(to, w->objects);
	if (!err)
		err = put_border(w, to);
	if (!err)
		err = process_state_each(w->state, put_record, &b);
	while (!err && at < w->late.size_bytes) {
		size_t size = le16_load(w->late.data + at + 6);

		err = put_record(&b, w->late.data + at, size);
		at += size;
	}
	if (!err)
		*record_count = b.count;
	return err;
}

int backlog_each_state(struct backlog *w,
		       int (*on_record)(void *arg, const uint8_t *record, size_t size_bytes),
		       void *arg)
{
	return process_state_each(w->state, on_record, arg);
}

size_t backlog_cgroup_count(const struct backlog *w)
{
	return process_state_cgroup_count(w->state);
}

uint64_t backlog_from_ns(const struct backlog *w)
{
	return w->from_ns;
}

void backlog_drop_cgroups(struct backlog *w,
			  bool (*may_go)(void *arg, uint64_t id, const char *path), void *arg)
{
	process_state_drop_cgroups(w->state, may_go, arg);
}

size_t backlog_part_count(const struct backlog *w)
{
	return w->end - w->first;
}

int backlog_put_part(const struct backlog *w, size_t part, struct writer *to)
{
	return writer_put(to, w->parts[w->first + part].batch);
}

const struct account *backlog_part_account(const struct backlog *w, size_t part)
{
	return &w->parts[w->first + part].upto;
}

const struct account *backlog_account(const struct backlog *w)
{
	return w->first < w->end ? &w->parts[w->end - 1].upto : &w->before;
}

const struct account *backlog_before(const struct backlog *w)
{
	return &w->before;
}

uint64_t backlog_dropped_ns(const struct backlog *w)
{
	return w->dropped_ns;
}

uint64_t backlog_bytes(const struct backlog *w)
{
	return w->bytes;
}
