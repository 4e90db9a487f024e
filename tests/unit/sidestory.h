/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sidestory - side-band records of things that happen at random, and what a model makes of them
 *
 * Needs cmocka's headers before it.
 */
#ifndef EBPREC_TESTS_SIDESTORY_H
#define EBPREC_TESTS_SIDESTORY_H

#include <stdio.h>

#include "analyze/fold/count_samples.h"
#include "tests/lib/gen/captures.h"

#define AREA 0x10000u

static inline uint32_t pick(struct maker *m, uint32_t count)
{
	uint8_t bytes[4];

	maker_noise(m, bytes, sizeof(bytes));
	return le32_load(bytes) % count;
}

static inline void side_put(struct maker *m, size_t size, uint64_t time_ns)
{
	assert_int_equal(writer_record(m->w, EBX_STREAM_SIDE, m->rec, size, time_ns, -1), 0);
}

/* A fork, an exec, a new name, or a mapping; of processes and threads that need not be known. */
static inline void happen(struct maker *m, uint32_t ids, uint64_t time_ns)
{
	uint32_t pid = 10 + pick(m, ids), tid = pick(m, 3) ? pid : 10 + pick(m, ids);
	uint32_t ppid = pick(m, 3) ? 10 + pick(m, ids) : pid; /* the same: a thread */
	char name[32];
	size_t size;

	switch (pick(m, 4)) {
	case 0:
		size = rec_task(m->rec, PERF_RECORD_FORK, pid, ppid, time_ns);
		if (!pick(m, 4))
			le16_store(m->rec + 4, PERF_RECORD_MISC_FORK_EXEC);
		le32_store(m->rec + 16, tid);
		if (!pick(m, 3))
			le32_store(m->rec + 20, 10 + pick(m, ids));
		break;
	case 1:
		snprintf(name, sizeof(name), "c%u", pick(m, 1000));
		size = rec_comm(m->rec, pid, tid, name, time_ns);
		if (pick(m, 2))
			le16_store(m->rec + 4, PERF_RECORD_MISC_COMM_EXEC);
		break;
	default:
		snprintf(name, sizeof(name), "/f%u", pick(m, 200));
		size = rec_mmap2(m->rec, pid, name, time_ns);
		le64_store(m->rec + 16, AREA * (1 + pick(m, 6)));
		le64_store(m->rec + 24, AREA * (1 + pick(m, 2)));
		if (!pick(m, 8)) /* unknown, kernel, user, hypervisor or a guest's */
			le16_store(m->rec + 4, (uint16_t)pick(m, 6));
		if (!pick(m, 16)) /* malformed: it is none */
			le64_store(m->rec + (pick(m, 2) ? 24 : 16), pick(m, 2) ? 0 : UINT64_MAX);
		break;
	}
	side_put(m, size, time_ns);
}

struct world {
	struct string_table *names;
	struct process_model *model;
	struct load_scan scan;
};

static inline void open_world(const struct capture *c, const struct time_span *slice,
			      struct world *w)
{
	assert_int_equal(string_table_new(&w->names), 0);
	assert_int_equal(load_model(c, w->names, slice, &w->model, &w->scan), 0);
}

static inline void close_world(struct world *w)
{
	load_scan_done(&w->scan);
	process_model_free(w->model);
	string_table_free(w->names);
}

/* All that a report asks of a sample, as text. */
static inline void describe(const struct world *w, uint32_t pid, uint32_t tid, uint64_t time_ns,
			    char *text, size_t size)
{
	struct process_model_where where;
	struct process_model_place place;
	int at;

	process_model_thread(w->model, pid, tid, time_ns, &where);
	at = snprintf(text, size, "%u/%u at %u: %s", pid, tid, (unsigned)time_ns,
		      where.comm == PROCESS_MODEL_NONE ? "?"
						       : string_table_text(w->names, where.comm));
	at += snprintf(text + at, size - (size_t)at, " %d%d", where.epoch != PROCESS_MODEL_NONE,
		       process_model_has_maps(w->model, where.space));
	for (uint64_t addr = AREA / 2; addr < AREA * 9; addr += AREA) {
		if (process_model_place(w->model, where.space, addr, &place))
			at += snprintf(text + at, size - (size_t)at, " %s+%x",
				       process_model_file(w->model, place.file)->path,
				       (unsigned)place.file_off_bytes);
		else
			at += snprintf(text + at, size - (size_t)at, " -");
	}
}

static inline void agree(const struct world *a, const struct world *b, uint32_t pid, uint32_t tid,
			 uint64_t time_ns)
{
	char one[512], other[512];

	describe(a, pid, tid, time_ns, one, sizeof(one));
	describe(b, pid, tid, time_ns, other, sizeof(other));
	assert_string_equal(one, other);
}

#endif
