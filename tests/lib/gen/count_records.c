/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * count_records - what the capture reader finds in a file, as numbers
 *
 * Made to be compared with `perf report --stats`, which counts the same by other code.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/reader/capture.h"
#include "format/base/crc32c.h"

#define TYPES 128

static void print_damage(const struct capture_damage *d)
{
	printf("unfinished %d cut %d at %" PRIu64 " bad_blocks %" PRIu32 " bad_bytes %" PRIu64
	       " bad_sections %" PRIu32 " missing_seq %" PRIu32 " unknown %" PRIu32 "+%" PRIu32
	       "\n",
	       d->unfinished, d->cut, d->cut_off_bytes, d->bad_blocks, d->bad_bytes,
	       d->bad_sections, d->missing_seq, d->unknown_records, d->unknown_blocks);
	if (d->first.what)
		printf("first: %s at %" PRIu64 "\n", d->first.what, d->first.offset_bytes);
}

/* The checksum is of all records in order, so that two files can be compared by it. */
static int count(const struct capture *c)
{
	uint64_t by_type[TYPES] = { 0 };
	struct record_iter *it = NULL;
	uint32_t crc = 0, crc_samples = 0;
	struct record rec;
	int err = record_iter_new(c, UINT32_MAX, 0, SIZE_MAX, &it);

	if (err)
		return err;
	while (record_iter_next(it, &rec) > 0) {
		by_type[rec.header->type < TYPES ? rec.header->type : 0]++;
		crc = crc32c(crc, rec.header, rec.header->size);
		if (rec.header->type == PERF_RECORD_SAMPLE)
			crc_samples = crc32c(crc_samples, rec.header, rec.header->size);
	}
	for (unsigned i = 0; i < TYPES; i++)
		if (by_type[i])
			printf("type %u: %" PRIu64 "\n", i, by_type[i]);
	printf("crc %08" PRIx32 " samples %08" PRIx32 " iter damage %" PRIu32 "\n", crc,
	       crc_samples, record_iter_damage(it));
	record_iter_free(it);
	return 0;
}

int main(int argc, char **argv)
{
	size_t blocks, attrs, objects;
	const struct capture_attr *attr;
	struct capture *c = NULL;
	struct parse_err why;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: count_records FILE|-\n");
		return 2;
	}
	err = capture_open(argv[1], &c, &why);
	if (err) {
		fprintf(stderr, "count_records: cannot open %s: %s (%s)\n", argv[1], strerror(-err),
			why.what ? why.what : "");
		return 1;
	}
	(void)capture_blocks(c, &blocks);
	attr = capture_attrs(c, &attrs);
	(void)capture_objects(c, &objects);
	printf("kind %d blocks %zu objects %zu divisible %d\n", capture_get_kind(c), blocks,
	       objects, capture_is_divisible(c));
	for (size_t i = 0; i < attrs; i++)
		printf("attr %zu: '%s' ids %zu\n", i, attr[i].name, attr[i].id_count);
	print_damage(capture_damage(c));
	err = count(c);
	capture_close(c);
	return err ? 1 : 0;
}
