/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sideslice.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/attrfinder.h"
#include "analyze/kin.h"
#include "analyze/members.h"
#include "analyze/sideturns.h"
#include "analyze/vec.h"

#define FEW_FRAMES     128         /* of samples: to look through more takes longer than it saves */
#define HELD_MAX_BYTES (16u << 20) /* of records that wait for the samples to be looked through */
#define SEEN_SLOTS     256u

struct sample_ids {
	uint32_t pid, tid;
	bool known;
};

struct sideslice {
	const struct capture *c;
	struct timespan span;
	const struct perf_event_attr *attr; /* any: records end alike */
	uint32_t damaged;
	struct sideturns turns;
	/* Those that are needed. */
	struct kin kin;
	bool asked;
	struct recordpile pile;
	struct heldlist kept;
	/* Of the thread that looks through the samples, until it has ended. */
	pthread_t thread;
	bool started;
	atomic_bool looked;
	struct keptframes samples;
	struct sample_ids *ids;
	size_t id_count, id_capacity;
	struct sample_ids seen[SEEN_SLOTS];
	int err;
};

static bool is_in_span(const struct capture_frame *f, const struct timespan *span)
{
	return f->stream == EBX_STREAM_CPU && f->t_min_ns <= span->to_ns &&
	       f->t_max_ns >= span->from_ns;
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

bool sideslice_is_worth(const struct capture *c, const struct timespan *span)
{
	size_t count, samples = 0, wanted = 0;
	const struct capture_frame *frames = capture_frames(c, &count);

	if (capture_get_kind(c) != CAPTURE_EBX || !capture_is_divisible(c) || members_any(c) ||
	    !is_same_tail(c))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (frames[i].stream == EBX_STREAM_CPU)
			samples++;
		else if (frames[i].stream == CAPTURE_STREAM_MIXED)
			return false; /* a record that no frame could hold */
		wanted += is_in_span(&frames[i], span);
	}
	return wanted <= FEW_FRAMES && wanted < samples;
}

/* ---- the threads of the samples ---- */

static int note_ids(struct sideslice *s, uint32_t pid, uint32_t tid)
{
	struct sample_ids *seen = &s->seen[tid % SEEN_SLOTS];
	int err;

	if (seen->known && seen->pid == pid && seen->tid == tid)
		return 0;
	err = vec_reserve(&s->ids, &s->id_capacity, s->id_count + 1);
	if (err)
		return err;
	*seen = (struct sample_ids){ pid, tid, true };
	s->ids[s->id_count++] = *seen;
	return 0;
}

static int look_through(struct sideslice *s, struct record_iter *it)
{
	struct attrfinder finder = attrfinder_of(s->c);
	const struct capture_attr *attr;
	struct record rec;
	uint32_t pid, tid;
	int err = 0;

	while (!err && record_iter_next(it, &rec) == 1) {
		if (rec.header->type != PERF_RECORD_SAMPLE)
			continue;
		err = keptframes_add(&s->samples, &rec);
		attr = attrfinder_find(&finder, rec.header);
		/* Of one that does not fit its attr, too: the second pass will leave it out. */
		if (!err && attr &&
		    perfrec_sample_ids(rec.header, rec.header->size, &attr->attr, &pid, &tid))
			err = note_ids(s, pid, tid);
	}
	return err;
}

static void *find_ids(void *arg)
{
	struct sideslice *s = arg;
	struct record_iter *it = NULL;
	size_t count, i, end;
	const struct capture_frame *frames = capture_frames(s->c, &count);
	int err = record_iter_new(s->c, 1u << EBX_STREAM_CPU, 0, 0, &it);

	for (i = 0; !err && i < count; i = end) {
		for (end = i; end < count && is_in_span(&frames[end], &s->span); end++)
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
	s->err = err;
	atomic_store(&s->looked, true);
	return NULL;
}

/* What they will take, as far as the frames say so; of the side-band no more than may be held. */
static int reserve(struct sideslice *s)
{
	size_t count, side_bytes = 0, sample_bytes = 0;
	const struct capture_frame *frames = capture_frames(s->c, &count);
	int err;

	for (size_t i = 0; i < count; i++) {
		if (frames[i].stream == EBX_STREAM_SIDE && side_bytes < HELD_MAX_BYTES)
			side_bytes += frames[i].raw_bytes;
		if (is_in_span(&frames[i], &s->span))
			sample_bytes += frames[i].raw_bytes;
	}
	err = sideturns_reserve(&s->turns, side_bytes);
	return err ? err : keptframes_reserve(&s->samples, sample_bytes);
}

int sideslice_new(const struct capture *c, const struct timespan *span, struct sideslice **out)
{
	struct sideslice *s = calloc(1, sizeof(*s));
	size_t attr_count;
	int err;

	if (!s)
		return -ENOMEM;
	s->c = c;
	s->span = *span;
	s->attr = &capture_attrs(c, &attr_count)->attr;
	err = reserve(s);
	if (err) {
		sideslice_free(s);
		return err;
	}
	s->started = !pthread_create(&s->thread, NULL, find_ids, s);
	if (!s->started)
		find_ids(s);
	*out = s;
	return 0;
}

static void wait_for_ids(struct sideslice *s)
{
	if (s->started)
		pthread_join(s->thread, NULL);
	s->started = false;
}

void sideslice_free(struct sideslice *s)
{
	if (!s)
		return;
	wait_for_ids(s);
	kin_done(&s->kin);
	keptframes_done(&s->samples);
	sideturns_done(&s->turns);
	free(s->pile.words);
	free(s->kept.list);
	free(s->ids);
	free(s);
}

void sideslice_take_samples(struct sideslice *s, struct keptframes *out)
{
	*out = s->samples;
	s->samples = (struct keptframes){ 0 };
}

uint32_t sideslice_damage(const struct sideslice *s)
{
	return s->damaged;
}

/* ---- whose turn it is ---- */

/*
 * Whether it means something that depends on when it came, or behind which other.  One that is too short
 * does not, and whoever gets it will see.
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
static uint64_t time_of(const struct sideslice *s, const struct perf_event_header *header)
{
	const uint8_t *p = (const uint8_t *)(header + 1);
	uint64_t time_ns = perfrec_time(header, header->size, s->attr);

	if (header->type == PERF_RECORD_FORK && !time_ns && header->size >= sizeof(*header) + 24 &&
	    !(header->misc & PERF_RECORD_MISC_FORK_EXEC))
		time_ns = le64_load(p + 16); /* no sample_id_all */
	return time_ns;
}

/* The records of one frame: those that only count something are given out. */
static int read_frame(struct sideslice *s, struct record_iter *it, size_t frame,
		      int (*see)(void *ctx, const struct record *rec), void *ctx)
{
	size_t count;
	const struct capture_frame *f = &capture_frames(s->c, &count)[frame];
	struct record rec;
	uint64_t time_ns;
	int err = 0;

	record_iter_seek(it, frame, 1);
	while (!err && record_iter_next(it, &rec) == 1) {
		if (!is_in_order(rec.header)) {
			err = s->kin.repeated ? 0 : see(ctx, &rec);
			continue;
		}
		time_ns = time_of(s, rec.header);
		if (time_ns && (time_ns < f->t_min_ns || time_ns > f->t_max_ns))
			err = -ESTALE;
		else
			err = sideturns_hold(&s->turns, &rec, time_ns);
	}
	return err;
}

/* ---- what is needed ---- */

/* 1: the record is needed; *number: kin_fork() */
static int ask_kin(struct kin *k, const struct perf_event_header *header, uint64_t time_ns,
		   uint32_t *number)
{
	const uint8_t *p = (const uint8_t *)(header + 1);
	struct kin_task task = { .pid = le32_load(p), .tid = le32_load(p + 4) };

	switch (header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		if ((header->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER)
			return 1;
		return kin_map(k, task.pid, time_ns, number);
	case PERF_RECORD_COMM:
		return kin_comm(k, task.pid, task.tid, time_ns, number);
	case PERF_RECORD_FORK:
		task.ppid = task.tid;
		task.tid = le32_load(p + 8);
		task.ptid = le32_load(p + 12);
		return kin_fork(k, &task, time_ns, number);
	default:
		return 1;
	}
}

/* In the place of another that is not needed any more, or behind all. */
static int keep(struct sideslice *s, const struct held *h, uint32_t number)
{
	const struct perf_event_header *header = recordpile_at(&s->turns.pile, h->word);
	struct held kept = { .time_ns = h->time_ns, .place = h->place };
	int err = 0;

	if (number < s->kept.count)
		kept.word = s->kept.list[number].word;
	if (number < s->kept.count &&
	    keptframes_words(recordpile_at(&s->pile, kept.word)) == keptframes_words(header))
		memcpy(s->pile.words + kept.word, header, header->size);
	else
		err = recordpile_add(&s->pile, header, &kept.word);
	if (err || number == s->kept.count)
		return err ? err : heldlist_add(&s->kept, &kept);
	s->kept.list[number] = kept;
	return 0;
}

/* The slice, and all that frames have which were looked through for it. */
static int ask(struct sideslice *s)
{
	uint64_t to_ns = s->span.to_ns;
	size_t count;
	const struct capture_frame *frames = capture_frames(s->c, &count);
	int err = s->err;

	for (size_t i = 0; i < count; i++)
		if (is_in_span(&frames[i], &s->span) && frames[i].t_max_ns > to_ns)
			to_ns = frames[i].t_max_ns;
	for (size_t i = 0; !err && i < s->id_count; i++)
		err = kin_ask(&s->kin, s->ids[i].pid, s->ids[i].tid);
	kin_begin(&s->kin, s->span.from_ns, to_ns);
	s->asked = true;
	return err;
}

/* Keeps what is needed of those whose turn has come. */
static int settle(struct sideslice *s)
{
	uint32_t number;
	int err = 0, needed;

	wait_for_ids(s);
	if (!s->asked)
		err = ask(s);
	for (size_t i = 0; !err && i < s->turns.turn.count; i++) {
		const struct held *h = &s->turns.turn.list[i];

		number = (uint32_t)s->kept.count;
		needed = ask_kin(&s->kin, recordpile_at(&s->turns.pile, h->word), h->time_ns,
				 &number);
		if (needed)
			err = needed < 0 ? needed : keep(s, h, number);
	}
	return err ? err : sideturns_forget(&s->turns);
}

/* ---- all of it ---- */

/* The side-band's frames by their latest time; *out is owned. */
static int list_frames(const struct capture *c, struct timekey **out, size_t *count)
{
	size_t all, n = 0;
	const struct capture_frame *frames = capture_frames(c, &all);
	struct timekey *keys = calloc(all + 1, sizeof(*keys));
	struct timekey *room = calloc(all + 1, sizeof(*room));

	if (!keys || !room) {
		free(keys);
		free(room);
		return -ENOMEM;
	}
	for (size_t i = 0; i < all; i++)
		if (frames[i].stream == EBX_STREAM_SIDE)
			keys[n++] = (struct timekey){ frames[i].t_max_ns, i };
	*out = timesort(keys, room, n);
	free(*out == keys ? room : keys);
	*count = n;
	return 0;
}

static int read_backwards(struct sideslice *s, struct record_iter *it,
			  int (*see)(void *ctx, const struct record *rec), void *ctx)
{
	struct timekey *frames = NULL;
	size_t i = 0;
	int err = list_frames(s->c, &frames, &i);

	while (!err && i--) {
		err = read_frame(s, it, frames[i].index, see, ctx);
		if (!err)
			err = sideturns_end_frame(&s->turns, i ? frames[i - 1].time_ns : 0);
		if (!err && (atomic_load(&s->looked) || s->turns.pile.count > HELD_MAX_BYTES / 8))
			err = settle(s);
	}
	if (!err)
		err = sideturns_end(&s->turns);
	free(frames);
	return err ? err : settle(s);
}

static int read_once(struct sideslice *s, int (*see)(void *ctx, const struct record *rec),
		     void *ctx)
{
	struct record_iter *it = NULL;
	int err = record_iter_new(s->c, 1u << EBX_STREAM_SIDE, 0, 0, &it);

	s->pile.count = s->kept.count = 0;
	if (!err)
		err = read_backwards(s, it, see, ctx);
	if (it)
		s->damaged = record_iter_damage(it);
	record_iter_free(it);
	return err;
}

int sideslice_read(struct sideslice *s, int (*see)(void *ctx, const struct record *rec), void *ctx)
{
	int err = read_once(s, see, ctx);

	if (!err && kin_again(&s->kin))
		err = read_once(s, see, ctx);
	if (!err && s->kept.count)
		qsort(s->kept.list, s->kept.count, sizeof(*s->kept.list), held_by_place);
	for (size_t i = 0; !err && i < s->kept.count; i++) {
		const struct held *h = &s->kept.list[i];
		const struct record rec = { .header = recordpile_at(&s->pile, h->word),
					    .frame = (uint32_t)(h->place >> 32) };

		err = see(ctx, &rec);
	}
	return err;
}
