/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_perfrec - any bytes as an attr and a record
 *
 * The first 40 bytes choose the attr; the rest is the record, its size made right (otherwise
 * nearly every input would end at the first check).  Data that a parser hands out are read, so that the
 * sanitizers see a pointer that leaves the record.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/perf/perfrec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static volatile uint8_t sink;

static void touch(const uint8_t *p, size_t size_bytes)
{
	size_t i;

	for (i = 0; p && i < size_bytes; i++)
		sink ^= p[i];
}

static void touch_sample(const struct perf_sample *s, uint64_t regs_mask)
{
	touch(s->chain, s->chain_count * 8);
	touch(s->raw, s->raw_bytes);
	if (s->user_regs_abi)
		touch(s->user_regs, (size_t)__builtin_popcountll(regs_mask) * 8);
	touch(s->user_stack, s->user_stack_bytes);
}

static void touch_side(const struct perfrec_side *s)
{
	const char *str = NULL;

	switch (s->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		str = s->mmap.path;
		if (s->mmap.id.build_id.size_bytes > BUILDID_MAX_BYTES)
			abort();
		break;
	case PERF_RECORD_COMM:
		str = s->comm.comm;
		break;
	case PERF_RECORD_KSYMBOL:
		str = s->ksymbol.name;
		break;
	case PERF_RECORD_CGROUP:
		str = s->cgroup.path;
		break;
	default:
		return;
	}
	touch((const uint8_t *)str, strlen(str));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct perf_event_attr attr = { 0 };
	struct perfrec_side side;
	struct perf_sample s;
	uint8_t *rec;
	size_t n;

	attr.sample_type = cursor_u64(&c);
	attr.branch_sample_type = cursor_u64(&c);
	attr.sample_regs_user = cursor_u64(&c);
	attr.sample_regs_intr = cursor_u64(&c);
	attr.read_format = cursor_u32(&c);
	attr.sample_id_all = cursor_u32(&c) & 1;
	n = cursor_left(&c);
	if (!cursor_ok(&c) || n > UINT16_MAX)
		return 0;
	rec = malloc(n ? n : 1); /* of its exact size */
	if (!rec)
		return 0;
	memcpy(rec, data + c.off_bytes, n);
	if (n >= 8)
		le16_store(rec + 6, (uint16_t)n);
	sink ^= (uint8_t)perfrec_identifier(rec, n, &attr);
	if (!perfrec_sample(rec, n, &attr, &s, NULL))
		touch_sample(&s, attr.sample_regs_user);
	if (!perfrec_side(rec, n, &attr, &side, NULL))
		touch_side(&side);
	free(rec);
	return 0;
}
