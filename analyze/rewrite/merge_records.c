/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/rewrite/merge_records.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "format/os/threads.h"

#define BATCHES_AHEAD 2

static const uint8_t no_uuid[16]; /* of writers without a file */

/* The records of a capture, as far as they are rewritten. */
struct output {
	struct writer_batch *batches[BATCHES_AHEAD]; /* owned; the oldest first */
	size_t batch_count;
	bool is_done;
	int err;
	struct rewrite_stats stats;
};

struct merge_records {
	struct merge_records_source source;
	struct writer *like;    /* nothing is written by it: all threads read its head */
	struct output *outputs; /* by capture */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t next;      /* capture that no thread has begun */
	size_t current;   /* capture whose batches the caller takes */
	size_t under_way; /* captures from current on that may have begun */
	bool is_stopped;
	pthread_t *threads;
	unsigned thread_count;
};

/* ---- threads that rewrite ---- */

struct worker {
	struct merge_records *m;
	size_t current;
};

/* Waits until there is room for it.  -ECANCELED: the caller wants no more. */
static int hand_over(void *ctx, struct writer *w)
{
	struct worker *k = ctx;
	struct merge_records *m = k->m;
	struct output *o = &m->outputs[k->current];
	struct writer_batch *batch;
	int err = writer_take(w, &batch);

	if (err)
		return err;
	pthread_mutex_lock(&m->lock);
	while (o->batch_count == BATCHES_AHEAD && !m->is_stopped)
		pthread_cond_wait(&m->changed, &m->lock);
	if (m->is_stopped)
		err = -ECANCELED;
	else
		o->batches[o->batch_count++] = batch;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	if (err)
		writer_batch_free(batch);
	return err;
}

/* Waits until the caller is not too far behind.  False: there is none any more. */
static bool take_next(struct worker *k)
{
	struct merge_records *m = k->m;
	bool found;

	pthread_mutex_lock(&m->lock);
	while (m->next >= m->current + m->under_way && !m->is_stopped)
		pthread_cond_wait(&m->changed, &m->lock);
	found = m->next < m->source.count && !m->is_stopped;
	if (found)
		k->current = m->next++;
	pthread_mutex_unlock(&m->lock);
	return found;
}

static int rewrite_one(struct worker *k, struct rewrite *rw)
{
	struct rewrite_join join = { 0 };
	int err = writer_like(-1, k->m->like, no_uuid, &rw->w);

	if (err)
		return err;
	k->m->source.prepare(k->m->source.ctx, k->current, rw, &join);
	join.flush = hand_over;
	join.flush_ctx = k;
	rw->join = &join;
	err = rewrite_records(rw);
	if (!err)
		err = hand_over(k, rw->w);
	rw->join = NULL;
	writer_free(rw->w);
	return err;
}

static void *work(void *arg)
{
	struct worker k = { .m = arg };
	struct rewrite *rw = malloc(sizeof(*rw));

	while (take_next(&k)) {
		struct output *o = &k.m->outputs[k.current];
		int err = -ENOMEM;

		if (rw) {
			*rw = (struct rewrite){ .w = NULL };
			err = rewrite_one(&k, rw);
		}
		pthread_mutex_lock(&k.m->lock);
		o->err = err;
		o->is_done = true;
		if (rw)
			o->stats = rw->stats;
		pthread_cond_broadcast(&k.m->changed);
		pthread_mutex_unlock(&k.m->lock);
	}
	free(rw);
	return NULL;
}

int merge_records_begin(const struct merge_records_source *source, unsigned thread_count,
			struct merge_records **out)
{
	struct merge_records *m = calloc(1, sizeof(*m));
	unsigned count = threads_choose(thread_count, source->count);
	int err;

	if (!m)
		return -ENOMEM;
	m->source = *source;
	m->under_way = count;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
	m->outputs = calloc(source->count, sizeof(*m->outputs));
	m->threads = calloc(count, sizeof(*m->threads));
	err = m->outputs && m->threads ? writer_like(-1, source->like, no_uuid, &m->like) : -ENOMEM;
	while (!err && m->thread_count < count) {
		err = -pthread_create(&m->threads[m->thread_count], NULL, work, m);
		m->thread_count += !err;
	}
	if (err && !m->thread_count) {
		merge_records_end(m);
		return err;
	}
	*out = m; /* with fewer threads it takes longer */
	return 0;
}

/* ---- the caller ---- */

/* The next batch of the capture; NULL: there is none any more. */
static struct writer_batch *take_batch(struct merge_records *m, struct output *o)
{
	struct writer_batch *batch = NULL;

	pthread_mutex_lock(&m->lock);
	while (!o->batch_count && !o->is_done)
		pthread_cond_wait(&m->changed, &m->lock);
	if (o->batch_count) {
		batch = o->batches[0];
		o->batches[0] = o->batches[1];
		o->batch_count--;
	}
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	return batch;
}

int merge_records_put(struct merge_records *m, size_t i, struct writer *to,
		      struct rewrite_stats *stats)
{
	struct output *o = &m->outputs[i];
	struct writer_batch *batch;
	int err = 0;

	pthread_mutex_lock(&m->lock);
	m->current = i;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	while (!err && (batch = take_batch(m, o))) {
		err = writer_put(to, batch);
		writer_batch_free(batch);
		if (!err)
			err = writer_flush(to, /* round= */ false);
	}
	if (err || o->err)
		return err ? err : o->err;
	stats->record_count += o->stats.record_count;
	stats->sample_count += o->stats.sample_count;
	stats->skipped_count += o->stats.skipped_count;
	stats->twin_count += o->stats.twin_count;
	stats->bad_blocks += o->stats.bad_blocks;
	return 0;
}

void merge_records_end(struct merge_records *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	m->is_stopped = true;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	while (m->thread_count)
		pthread_join(m->threads[--m->thread_count], NULL);
	for (size_t i = 0; m->outputs && i < m->source.count; i++)
		while (m->outputs[i].batch_count)
			writer_batch_free(m->outputs[i].batches[--m->outputs[i].batch_count]);
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->lock);
	writer_free(m->like);
	free(m->outputs);
	free(m->threads);
	free(m);
}
