/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_sidestate - any side-band records, in any order, as what a window dropped
 *
 * The input is a sequence of: a byte for the kind, one for the length, and the record's body.  The
 * state is given to a second one, which must come out the same.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "record/output/snapshot/process_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define RECORD_MAX (8 + 256)

static const uint16_t kinds[] = {
	PERF_RECORD_FORK,      PERF_RECORD_EXIT,       PERF_RECORD_COMM,
	PERF_RECORD_MMAP2,     PERF_RECORD_CGROUP,     PERF_RECORD_KSYMBOL,
	PERF_RECORD_BPF_EVENT, PERF_RECORD_NAMESPACES, PERF_RECORD_LOST,
};

struct sum {
	struct process_state *to; /* NULL: only count */
	uint64_t count;
	uint32_t crc;
};

static int add(void *arg, const uint8_t *record, size_t size_bytes)
{
	struct sum *s = arg;

	if (size_bytes < 8 || size_bytes % 8 || le16_load(record + 6) != size_bytes)
		abort();
	s->count++;
	s->crc += crc32c(0, record, size_bytes); /* the order of processes is of no matter */
	return s->to ? process_state_record(s->to, record, size_bytes) : 0;
}

static void feed(struct process_state *s, const uint8_t *data, size_t size_bytes)
{
	_Alignas(8) uint8_t record[RECORD_MAX];

	while (size_bytes >= 2) {
		size_t body = data[1] & 0xf8, take;

		memset(record, 0, sizeof(record));
		le32_store(record, kinds[(data[0] & 15) % (sizeof(kinds) / sizeof(kinds[0]))]);
		le16_store(record + 4, data[0] & 16 ? PERF_RECORD_MISC_COMM_EXEC : 0);
		le16_store(record + 6, (uint16_t)(8 + body));
		take = body < size_bytes - 2 ? body : size_bytes - 2;
		memcpy(record + 8, data + 2, take);
		if (process_state_record(s, record, 8 + body))
			return;
		if (data[0] & 32)
			process_state_settle(s, data[1]);
		data += 2 + take;
		size_bytes -= 2 + take;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct process_state *first = NULL, *second = NULL;
	struct sum one = { 0 }, two = { 0 };

	if (!process_state_new(7, &first) && !process_state_new(7, &second)) {
		feed(first, data, size_bytes);
		one.to = second;
		if (process_state_each(first, add, &one) || process_state_each(second, add, &two))
			abort();
		if (two.count > one.count)
			abort();
	}
	process_state_free(first);
	process_state_free(second);
	return 0;
}
