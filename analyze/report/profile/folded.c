/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Each thread puts the next piece of some hundred lines into words, and waits for its turn to write it.
 * Its way through the tree goes on where its last piece ended, past the lines of the others, of which
 * it is known how many there are below each node.
 */
#include "analyze/report/profile/folded.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/profile/folded_order.h"
#include "format/base/saturate.h"
#include "format/os/threads.h"
#include "format/base/vec.h"

#define PIECE_LINES  512
#define SHARE_PIECES 16 /* fewer are not worth a thread */

/* A level of the walk: items [next, end) are still to be written below this caller. */
struct level {
	uint32_t next, end;
	size_t line_bytes; /* of the line up to this caller */
};

/* The work that all threads share. */
struct job {
	const struct calltree *tree;
	const struct string_table *names;
	struct folded_order order;
	FILE *to;
	uint32_t line_count;
	atomic_uint next_piece;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t moved;
	uint32_t turn; /* the piece that is to be written next */
	int err;       /* the first */
};

struct walk {
	struct job *job;
	struct level *levels;
	size_t level_count, level_capacity;
	uint32_t at_line; /* lines that lie behind */
	char *line;
	size_t line_bytes, line_capacity;
	char *block; /* the piece */
	size_t block_bytes, block_capacity;
	pthread_t thread;
};

/* ---- lines ---- */

static int put_text(struct walk *w, const char *text, size_t size_bytes)
{
	int err = vec_reserve(&w->line, &w->line_capacity, w->line_bytes + size_bytes);

	if (err)
		return err;
	memcpy(w->line + w->line_bytes, text, size_bytes);
	w->line_bytes += size_bytes;
	return 0;
}

static int push(struct walk *w, uint32_t node)
{
	const uint32_t *first = w->job->order.first;
	int err = vec_reserve(&w->levels, &w->level_capacity, w->level_count + 1);

	if (err)
		return err;
	w->levels[w->level_count++] = (struct level){ first[node], first[node + 1], w->line_bytes };
	return 0;
}

/* The line, its count and its end. */
static int write_line(struct walk *w, uint64_t weight)
{
	char count[FOLDED_ORDER_COUNT_BYTES], *at;
	size_t size = folded_order_print_count(count, weight);
	int err;

	err = vec_reserve(&w->block, &w->block_capacity, w->block_bytes + w->line_bytes + size + 1);
	if (err)
		return err;
	at = w->block + w->block_bytes;
	memcpy(at, w->line, w->line_bytes);
	memcpy(at + w->line_bytes, count, size);
	at[w->line_bytes + size] = '\n';
	w->block_bytes += w->line_bytes + size + 1;
	return 0;
}

/* Goes on to the item, of which some lines are in the piece. */
static int take_item(struct walk *w, struct folded_item item)
{
	const struct calltree_node *node = &w->job->tree->nodes[item.node];
	int err = put_text(w, string_table_text(w->job->names, node->label),
			   string_table_bytes(w->job->names, node->label));

	if (err)
		return err;
	if (item.is_end) {
		w->at_line++;
		return write_line(w, node->self);
	}
	err = put_text(w, ";", 1);
	return err ? err : push(w, item.node);
}

/* Puts the lines [begin, end) into the block. */
static int make_piece(struct walk *w, uint32_t begin, uint32_t end)
{
	const struct folded_order *o = &w->job->order;
	int err = 0;

	w->block_bytes = 0;
	while (!err && w->level_count && w->at_line < end) {
		struct level *level = &w->levels[w->level_count - 1];
		struct folded_item item;
		uint32_t lines;

		w->line_bytes = level->line_bytes;
		if (level->next == level->end) {
			w->level_count--;
			continue;
		}
		item = o->items[level->next++];
		lines = item.is_end ? 1 : o->lines[item.node];
		if (w->at_line < begin && lines <= begin - w->at_line)
			w->at_line += lines;
		else
			err = take_item(w, item);
	}
	return err;
}

/* ---- threads ---- */

/* Waits for the turn of the piece.  Returns why there is none, or 0. */
static int wait_turn(struct job *job, uint32_t piece)
{
	int err;

	pthread_mutex_lock(&job->lock);
	while (!job->err && job->turn != piece)
		pthread_cond_wait(&job->moved, &job->lock);
	err = job->err;
	pthread_mutex_unlock(&job->lock);
	return err;
}

static void end_turn(struct job *job, int err)
{
	pthread_mutex_lock(&job->lock);
	if (err && !job->err)
		job->err = err;
	job->turn++;
	pthread_cond_broadcast(&job->moved);
	pthread_mutex_unlock(&job->lock);
}

static int write_block(const struct walk *w)
{
	errno = 0;
	if (fwrite(w->block, 1, w->block_bytes, w->job->to) != w->block_bytes)
		return errno ? -errno : -EIO;
	return 0;
}

static void *work(void *arg)
{
	struct walk *w = arg;
	struct job *job = w->job;
	int err = push(w, CALLTREE_ROOT);
	uint32_t piece, begin, end;

	while (!err && (piece = atomic_fetch_add(&job->next_piece, 1)) <
			       bounded_pieces(job->line_count, PIECE_LINES)) {
		begin = piece * PIECE_LINES;
		end = job->line_count - begin < PIECE_LINES ? job->line_count : begin + PIECE_LINES;
		err = make_piece(w, begin, end);
		if (!err && wait_turn(job, piece))
			break; /* another thread failed */
		if (!err) {
			err = write_block(w);
			end_turn(job, err);
		}
	}
	if (err)
		end_turn(job, err); /* also where it came to no turn */
	free(w->levels);
	free(w->line);
	free(w->block);
	return NULL;
}

/* The calling thread is one of them; where no more can be started, fewer do the work. */
static void run(struct job *job, unsigned thread_count)
{
	unsigned want = threads_choose(thread_count, job->line_count / PIECE_LINES / SHARE_PIECES);
	struct walk walks[THREADS_AT_ONCE];
	unsigned started = 0;

	for (unsigned i = 0; i < want; i++)
		walks[i] = (struct walk){ .job = job };
	while (started + 1 < want &&
	       !pthread_create(&walks[started + 1].thread, NULL, work, &walks[started + 1]))
		started++;
	work(&walks[0]);
	for (unsigned i = 1; i <= started; i++)
		pthread_join(walks[i].thread, NULL);
}

int folded_write(const struct calltree *t, const struct string_table *names, unsigned thread_count,
		 FILE *to)
{
	struct job job = { .tree = t, .names = names, .to = to };
	int err = folded_order_make(t, names, thread_count, &job.order);

	if (err)
		return err;
	job.line_count = job.order.lines[CALLTREE_ROOT];
	pthread_mutex_init(&job.lock, NULL);
	pthread_cond_init(&job.moved, NULL);
	run(&job, thread_count);
	pthread_cond_destroy(&job.moved);
	pthread_mutex_destroy(&job.lock);
	folded_order_done(&job.order);
	return job.err;
}
