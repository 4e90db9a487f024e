/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bench_multiply - makes a long recording of a short one
 *
 * bench_multiply IN OUT SAMPLES	repeats IN, side-band and all, a second apart each time, until OUT
 *				has at least so many samples
 *
 * Each repetition is as a recording that went on would have been: the same programs start and end
 * again; records about the state at the start, which have no time, are not repeated.  The number of
 * distinct stacks does not grow.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/rewrite/rewrite.h"
#include "format/base/cursor.h"
#include "format/perf/perfrec.h"

#define GAP_NS      1000000000u
#define FLUSH_BYTES (1u << 20)

struct job {
	const struct capture *c;
	uint64_t want, have; /* samples */
	uint64_t span_ns;
	uint8_t rec[PERFFILE_RECORD_MAX];
};

/* Puts the record off by shift_ns where it lies; its time then, 0 for none. */
static uint64_t put_off(uint8_t *rec, size_t size_bytes, const struct perf_event_attr *attr,
			uint64_t shift_ns, int *cpu)
{
	struct perf_sample sample;
	struct perfrec_side side;
	uint64_t time_ns;
	size_t at;

	*cpu = -1;
	if (le32_load(rec) == PERF_RECORD_SAMPLE) {
		if (perfrec_sample(rec, size_bytes, attr, &sample, NULL))
			return 0;
		*cpu = sample.cpu;
		time_ns = sample.time_ns;
		at = 32; /* header, identifier, ip, pid and tid */
	} else {
		if (perfrec_side(rec, size_bytes, attr, &side, NULL) == -EBADMSG)
			return 0;
		time_ns = side.id.time_ns;
		at = perfrec_true_size(rec, size_bytes, perfrec_tail_bytes(attr)) -
		     perfrec_tail_bytes(attr) + 8;
	}
	if (!time_ns || at + 8 > size_bytes || le64_load(rec + at) != time_ns)
		return 0;
	le64_store(rec + at, time_ns + shift_ns);
	return time_ns + shift_ns;
}

static int repeat(struct job *j, struct writer *w, uint64_t shift_ns)
{
	const struct capture_block *blocks;
	const struct capture_attr *attr;
	struct record_iter *it = NULL;
	struct record rec;
	size_t count;
	int err, cpu;

	blocks = capture_blocks(j->c, &count);
	attr = capture_attrs(j->c, &count);
	err = record_iter_new(j->c, UINT32_MAX, 0, SIZE_MAX, &it);
	while (!err && record_iter_next(it, &rec) == 1) {
		size_t size = rec.header->size;
		uint64_t time_ns;

		if (rec.header->type >= PERFFILE_RECORD_HEADER_ATTR)
			continue;
		memcpy(j->rec, rec.header, size);
		time_ns = put_off(j->rec, size, &attr->attr, shift_ns, &cpu);
		if (shift_ns && !time_ns && rec.header->type != PERF_RECORD_SAMPLE)
			continue;
		err = writer_record(w, (enum ebx_stream)blocks[rec.block].stream, j->rec, size,
				    time_ns, cpu);
		j->have += rec.header->type == PERF_RECORD_SAMPLE;
		if (!err && writer_pending_bytes(w) > FLUSH_BYTES)
			err = writer_flush(w, false);
	}
	record_iter_free(it);
	return err ? err : writer_flush(w, true);
}

static int repeat_all(void *arg, struct writer *w)
{
	struct job *j = arg;
	uint64_t n = 0;
	int err;

	do
		err = repeat(j, w, n++ * j->span_ns);
	while (!err && j->have && j->have < j->want);
	return err;
}

/* The records that rewriting would append have been repeated already. */
static bool leave_out(void *ctx, const struct capture_attr *attr, struct perf_event_header *rec)
{
	(void)ctx;
	(void)attr;
	(void)rec;
	return false;
}

static bool keep_object(void *ctx, const struct capture_object *o, uint8_t *data,
			size_t *size_bytes)
{
	(void)ctx;
	(void)o;
	(void)data;
	(void)size_bytes;
	return true;
}

static bool keep_section(void *ctx, unsigned bit, uint8_t *data, size_t size_bytes)
{
	(void)ctx;
	(void)bit;
	(void)data;
	(void)size_bytes;
	return true;
}

/* From the first moment to the last. */
static void measure(struct job *j)
{
	size_t count;
	const struct capture_block *blocks = capture_blocks(j->c, &count);
	uint64_t from_ns = UINT64_MAX, to_ns = 0;

	for (size_t i = 0; i < count; i++) {
		if (blocks[i].t_min_ns && blocks[i].t_min_ns < from_ns)
			from_ns = blocks[i].t_min_ns;
		if (blocks[i].t_max_ns != UINT64_MAX && blocks[i].t_max_ns > to_ns)
			to_ns = blocks[i].t_max_ns;
	}
	j->span_ns = to_ns - from_ns + GAP_NS;
}

int main(int argc, char **argv)
{
	static struct job job;
	const struct rewrite_edit edit = {
		.record = leave_out,
		.object = keep_object,
		.section = keep_section,
	};
	struct rewrite_opts opts = { .add = repeat_all, .add_arg = &job, .edit = &edit };
	struct rewrite_stats stats;
	struct capture *c;
	int fd, err;

	if (argc != 4) {
		fprintf(stderr, "usage: bench_multiply IN OUT SAMPLES\n");
		return 2;
	}
	err = capture_open(argv[1], &c, NULL);
	if (err || capture_get_kind(c) != CAPTURE_EBX) {
		fprintf(stderr, "bench_multiply: '%s' is no capture of ours\n", argv[1]);
		return 1;
	}
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	job.c = c;
	job.want = strtoull(argv[3], NULL, 10);
	measure(&job);
	err = fd < 0 ? -errno : rewrite_capture(c, fd, &opts, &stats);
	if (!err && !job.have)
		err = -ENODATA;
	capture_close(c);
	if (err || close(fd)) {
		fprintf(stderr, "bench_multiply: %s\n", strerror(-err));
		return 1;
	}
	printf("%" PRIu64 " samples\n", job.have);
	return 0;
}
