/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/runs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/radix_sort.h"

/* Lists the runs of one thread behind those of another.  order: not sorted yet, with the time as the key. */
static size_t list_runs(const struct page_waits *w, struct page_run *runs, struct radix_item *order)
{
	size_t count = 0;

	for (size_t t = 0; t < w->thread_count; t++) {
		const struct page_thread *th = &w->threads[t];

		for (size_t i = th->piece; i < th->piece + th->pieces; i++) {
			const struct page_piece *piece = &w->pieces[i];

			if (piece->state != THREAD_STATES_RUN)
				continue;
			order[count] = (struct radix_item){ piece->from_ns, (uint32_t)count };
			runs[count++] = (struct page_run){ piece->from_ns, piece->to_ns,
							   (uint32_t)t, piece->cpu };
		}
	}
	return count;
}

static int order_runs(const struct page_run *runs, struct radix_item **order, size_t count)
{
	int err = radix_sort(order, count);

	for (size_t i = 0; !err && i < count; i++)
		(*order)[i].key = runs[(*order)[i].value].cpu;
	return err ? err : radix_sort(order, count);
}

int page_runs_list(const struct page_waits *w, struct page_run **out, size_t *count)
{
	struct page_run *runs = calloc(w->piece_count + 1, sizeof(*runs)), *sorted = NULL;
	struct radix_item *order = calloc(w->piece_count + 1, sizeof(*order));
	int err = runs && order ? 0 : -ENOMEM;

	if (!err) {
		*count = list_runs(w, runs, order);
		sorted = calloc(*count + 1, sizeof(*sorted));
		err = sorted ? order_runs(runs, &order, *count) : -ENOMEM;
	}
	for (size_t i = 0; !err && i < *count; i++)
		sorted[i] = runs[order[i].value];
	free(runs);
	free(order);
	if (err)
		free(sorted);
	else
		*out = sorted;
	return err;
}

uint64_t page_runs_place(struct page_runs_recent *recent, uint32_t thread)
{
	size_t place = 0, moved;
	bool is_there;

	while (place < recent->count && recent->threads[place] != thread)
		place++;
	is_there = place < recent->count;
	if (!is_there && recent->count < PAGE_RUNS_RECENT)
		recent->count++;
	moved = is_there ? place : recent->count - 1;
	memmove(recent->threads + 1, recent->threads, moved * sizeof(recent->threads[0]));
	recent->threads[0] = thread;
	return is_there ? place : (uint64_t)PAGE_RUNS_RECENT + thread;
}

/* Behind the last run of a thread. */
static size_t find_last_run(const struct page_waits *w, const struct page_thread *th)
{
	size_t end = th->piece + th->pieces;

	while (end > th->piece && w->pieces[end - 1].state != THREAD_STATES_RUN)
		end--;
	return end;
}

size_t page_runs_lengths(const struct page_waits *w, void (*visit)(void *ctx, uint64_t ns),
			 void *ctx)
{
	size_t count = 0;

	for (const struct page_thread *th = w->threads; th < w->threads + w->thread_count; th++) {
		size_t last = find_last_run(w, th);
		bool is_first = true;

		for (size_t i = th->piece; i < th->piece + th->pieces; i++) {
			const struct page_piece *piece = &w->pieces[i];
			bool is_run = piece->state == THREAD_STATES_RUN;

			if (!is_run && !(is_first && i < last)) {
				count++;
				if (visit)
					visit(ctx, piece->to_ns - piece->from_ns);
			}
			is_first = is_run;
		}
	}
	return count;
}
