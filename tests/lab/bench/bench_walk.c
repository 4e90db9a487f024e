/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bench_walk - what cannot be saved: decompressing a capture and walking its records
 *
 * bench_walk FILE	on all CPUs; each sample is parsed and each address of its stack looked at
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/reader/capture.h"
#include "format/base/cursor.h"
#include "format/perf/perfrec.h"

#define BATCH_BLOCKS 16
#define THREADS_MAX  64

struct walk {
	const struct capture *c;
	size_t block_count;
	atomic_size_t next;
	atomic_uint_fast64_t samples, addresses, sum;
};

static void walk_batch(struct walk *w, size_t first, uint64_t *samples, uint64_t *addresses,
		       uint64_t *sum)
{
	size_t count = w->block_count - first, attr_count;
	const struct capture_attr *attrs = capture_attrs(w->c, &attr_count);
	struct record_iter *it;
	struct perf_sample s;
	struct record rec;

	if (record_iter_new(w->c, UINT32_MAX, first, count < BATCH_BLOCKS ? count : BATCH_BLOCKS,
			    &it))
		exit(1);
	while (record_iter_next(it, &rec) == 1) {
		if (rec.header->type != PERF_RECORD_SAMPLE ||
		    perfrec_sample(rec.header, rec.header->size, &attrs->attr, &s, NULL))
			continue;
		++*samples;
		*addresses += s.chain_count;
		for (size_t i = 0; i < s.chain_count; i++)
			*sum += le64_load(s.chain + 8 * i);
	}
	record_iter_free(it);
}

static void *walk(void *arg)
{
	uint64_t samples = 0, addresses = 0, sum = 0;
	struct walk *w = arg;
	size_t first;

	while ((first = atomic_fetch_add(&w->next, BATCH_BLOCKS)) < w->block_count)
		walk_batch(w, first, &samples, &addresses, &sum);
	w->samples += samples;
	w->addresses += addresses;
	w->sum += sum;
	return NULL;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	static struct walk w;
	pthread_t threads[THREADS_MAX];
	struct capture *c;
	int started = 0;

	if (argc != 2 || capture_open(argv[1], &c, NULL)) {
		fprintf(stderr, "usage: bench_walk FILE\n");
		return 2;
	}
	w.c = c;
	capture_blocks(c, &w.block_count);
	while (started + 1 < cpus && started < THREADS_MAX &&
	       !pthread_create(&threads[started], NULL, walk, &w))
		started++;
	walk(&w);
	while (started)
		pthread_join(threads[--started], NULL);
	printf("%" PRIu64 " samples, %" PRIu64 " addresses, %" PRIx64 "\n", w.samples, w.addresses,
	       w.sum);
	capture_close(c);
	return 0;
}
