/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sideslice.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/attrfinder.h"
#include "analyze/kin.h"
#include "analyze/members.h"
#include "analyze/vec.h"

#define FEW_FRAMES     128         /* of samples: to look through more takes longer than it saves */
#define HELD_MAX_BYTES (64u << 20) /* of records of the side-band */
#define SEEN_SLOTS     256u

/* The ids that stand at the beginning of the records held here. */
struct ids {
	uint32_t pid, tid, ppid, ptid;
};

/* Where a held record is, and the process that it is of. */
struct who {
	uint32_t pid;
	uint32_t word;
};

struct sideslice {
	const struct capture *c;
	struct timespan span;
	struct keptframes held; /* of the side-band */
	struct who *who;        /* each record's */
	size_t who_count, who_capacity;
	struct kin kin;
	/* Of the thread that looks through the samples, until it has ended. */
	pthread_t thread;
	bool started;
	struct keptframes samples;
	uint32_t *ids;
	size_t id_count, id_capacity;
	uint32_t seen[SEEN_SLOTS]; /* + 1 */
	int err;
};

static bool is_in_span(const struct capture_frame *f, const struct timespan *span)
{
	return f->stream == EBX_STREAM_CPU && f->t_min_ns <= span->to_ns &&
	       f->t_max_ns >= span->from_ns;
}

/* What the records will take that are held and kept, as far as the frames say so. */
static void sum_bytes(const struct capture *c, const struct timespan *span, size_t *side_bytes,
		      size_t *sample_bytes)
{
	size_t count;
	const struct capture_frame *frames = capture_frames(c, &count);

	*side_bytes = *sample_bytes = 0;
	for (size_t i = 0; i < count; i++) {
		if (frames[i].stream == EBX_STREAM_SIDE)
			*side_bytes += frames[i].raw_bytes;
		if (is_in_span(&frames[i], span))
			*sample_bytes += frames[i].raw_bytes;
	}
}

bool sideslice_is_worth(const struct capture *c, const struct timespan *span)
{
	size_t count, samples = 0, wanted = 0, side_bytes, sample_bytes;
	const struct capture_frame *frames = capture_frames(c, &count);

	if (capture_get_kind(c) != CAPTURE_EBX || !capture_is_divisible(c) || members_any(c))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (frames[i].stream == EBX_STREAM_CPU)
			samples++;
		else if (frames[i].stream == CAPTURE_STREAM_MIXED)
			return false; /* a record that no frame could hold */
		wanted += is_in_span(&frames[i], span);
	}
	sum_bytes(c, span, &side_bytes, &sample_bytes);
	return side_bytes <= HELD_MAX_BYTES && wanted <= FEW_FRAMES && wanted < samples;
}

/* ---- the processes of the samples ---- */

static int note_id(struct sideslice *s, uint32_t id)
{
	uint32_t *seen = &s->seen[id % SEEN_SLOTS];
	int err;

	if (*seen == id + 1)
		return 0;
	err = vec_reserve(&s->ids, &s->id_capacity, s->id_count + 1);
	if (err)
		return err;
	*seen = id + 1;
	s->ids[s->id_count++] = id;
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
		if (!attr ||
		    !perfrec_sample_ids(rec.header, rec.header->size, &attr->attr, &pid, &tid))
			continue;
		if (!err)
			err = note_id(s, pid);
		if (!err)
			err = note_id(s, tid);
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
	return NULL;
}

int sideslice_new(const struct capture *c, const struct timespan *span, struct sideslice **out)
{
	struct sideslice *s = calloc(1, sizeof(*s));
	size_t side_bytes, sample_bytes;
	int err;

	if (!s)
		return -ENOMEM;
	sum_bytes(c, span, &side_bytes, &sample_bytes);
	err = keptframes_reserve(&s->held, side_bytes);
	if (!err)
		err = keptframes_reserve(&s->samples, sample_bytes);
	if (err) {
		sideslice_free(s);
		return err;
	}
	s->c = c;
	s->span = *span;
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
	keptframes_done(&s->held);
	keptframes_done(&s->samples);
	free(s->who);
	free(s->ids);
	free(s);
}

void sideslice_take_samples(struct sideslice *s, struct keptframes *out)
{
	*out = s->samples;
	s->samples = (struct keptframes){ 0 };
}

/* ---- records ---- */

static struct ids ids_of(const struct perf_event_header *header)
{
	const uint8_t *p = (const uint8_t *)(header + 1);
	struct ids ids = { le32_load(p), le32_load(p + 4), 0, 0 };

	if (header->type == PERF_RECORD_FORK)
		ids = (struct ids){ ids.pid, le32_load(p + 8), ids.tid, le32_load(p + 12) };
	return ids;
}

bool sideslice_is_of_process(const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER &&
		       header->size >= sizeof(*header) + 8;
	case PERF_RECORD_COMM:
		return header->size >= sizeof(*header) + 8;
	case PERF_RECORD_FORK:
		return header->size >= sizeof(*header) + 16;
	default:
		return false;
	}
}

/* What a thread is called is of its process, and what a child has is what its parent had. */
static int link_ids(struct kin *k, const struct perf_event_header *header)
{
	const struct ids ids = ids_of(header);
	int err;

	if (header->type != PERF_RECORD_COMM && header->type != PERF_RECORD_FORK)
		return 0;
	err = kin_link(k, ids.tid, ids.pid);
	if (!err && header->type == PERF_RECORD_FORK)
		err = kin_link(k, ids.pid, ids.ppid);
	if (!err && header->type == PERF_RECORD_FORK)
		err = kin_link(k, ids.pid, ids.ptid);
	return err;
}

int sideslice_hold(struct sideslice *s, const struct record *rec)
{
	size_t word = s->held.word_count;
	int err = word < UINT32_MAX ? keptframes_add(&s->held, rec) : -EOVERFLOW;

	if (!err)
		err = vec_reserve(&s->who, &s->who_capacity, s->who_count + 1);
	if (err)
		return err;
	s->who[s->who_count++] = (struct who){ ids_of(rec->header).pid, (uint32_t)word };
	return link_ids(&s->kin, rec->header);
}

/* A fork is wanted for its parent, too: what was known of it begins there at the latest. */
static bool is_wanted_for_others(const struct kin *k, const struct perf_event_header *header)
{
	const struct ids ids = ids_of(header);

	return header->type == PERF_RECORD_FORK &&
	       (kin_is_wanted(k, ids.ppid) || kin_is_wanted(k, ids.ptid));
}

static int give_out(const struct sideslice *s,
		    int (*see)(void *ctx, const struct perf_event_header *header), void *ctx)
{
	uint32_t pid = 0;
	bool wanted = kin_is_wanted(&s->kin, pid);
	int err = 0;

	for (size_t i = 0; !err && i < s->who_count; i++) {
		const struct perf_event_header *header =
			(const struct perf_event_header *)(s->held.words + s->who[i].word);

		/* Mappings of a process come one behind the other. */
		if (s->who[i].pid != pid)
			wanted = kin_is_wanted(&s->kin, s->who[i].pid);
		pid = s->who[i].pid;
		if (wanted || is_wanted_for_others(&s->kin, header))
			err = see(ctx, header);
	}
	return err;
}

int sideslice_each_wanted(struct sideslice *s,
			  int (*see)(void *ctx, const struct perf_event_header *header), void *ctx)
{
	int err;

	wait_for_ids(s);
	err = s->err;
	for (size_t i = 0; !err && i < s->id_count; i++)
		err = kin_want(&s->kin, s->ids[i]);
	if (!err)
		err = kin_close(&s->kin);
	return err ? err : give_out(s, see, ctx);
}
