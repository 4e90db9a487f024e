/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* sideslice and kin: a model of a slice says of its samples what the whole one says */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/kin.h"
#include "analyze/load.h"
#include "analyze/sideslice.h"
#include "tests/gen/captures.h"

#define EVENTS 3000
#define AREA   0x10000u

/* ---- kin ---- */

static void wanted_is_what_the_wanted_depend_on(void **state)
{
	/* 1 -> 2 -> 3 -> 1 is a ring, 4 -> 3 leads into it, 5 -> 6 stands apart. */
	static const uint32_t links[][2] = { { 1, 2 }, { 2, 3 }, { 3, 1 }, { 4, 3 }, { 5, 6 } };
	static const struct {
		uint32_t want;
		const char *wanted; /* of 1 to 7 */
	} cases[] = {
		{ 1, "1110000" }, { 4, "1111000" }, { 5, "0000110" },
		{ 6, "0000010" }, { 7, "0000001" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char wanted[8] = "";
		struct kin k = { 0 };

		for (size_t l = 0; l < sizeof(links) / sizeof(links[0]); l++)
			assert_int_equal(kin_link(&k, links[l][0], links[l][1]), 0);
		assert_int_equal(kin_want(&k, cases[i].want), 0);
		assert_int_equal(kin_close(&k), 0);
		for (uint32_t id = 1; id <= 7; id++)
			wanted[id - 1] = kin_is_wanted(&k, id) ? '1' : '0';
		assert_string_equal(wanted, cases[i].wanted);
		kin_done(&k);
	}
}

static void long_chains_are_followed_in_any_order(void **state)
{
	for (int backwards = 0; backwards < 2; backwards++) {
		struct kin k = { 0 };

		for (uint32_t i = 0; i < 100000; i++) {
			uint32_t id = backwards ? 100000 - i : i;

			assert_int_equal(kin_link(&k, id + 1, id), 0);
		}
		assert_int_equal(kin_want(&k, 100000), 0);
		assert_int_equal(kin_close(&k), 0);
		assert_true(kin_is_wanted(&k, 1));
		assert_false(kin_is_wanted(&k, 200000));
		kin_done(&k);
	}
}

/* ---- slices of what happened at random ---- */

static uint32_t pick(struct maker *m, uint32_t count)
{
	uint8_t bytes[4];

	maker_noise(m, bytes, sizeof(bytes));
	return le32_load(bytes) % count;
}

static void put(struct maker *m, size_t size, uint64_t time_ns)
{
	assert_int_equal(writer_record(m->w, EBX_STREAM_SIDE, m->rec, size, time_ns, -1), 0);
}

/* A fork, an exec, a new name, or a mapping; of processes and threads that need not be known. */
static void happen(struct maker *m, uint32_t ids, uint64_t time_ns)
{
	uint32_t pid = 10 + pick(m, ids), tid = pick(m, 3) ? pid : 10 + pick(m, ids);
	char name[32];
	size_t size;

	switch (pick(m, 4)) {
	case 0:
		size = rec_task(m->rec, PERF_RECORD_FORK, pid, 10 + pick(m, ids), time_ns);
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
		break;
	}
	put(m, size, time_ns);
}

static void make_story(struct maker *m, uint64_t seed)
{
	/* Few ids are used again and again, of many most have nothing to do with each other. */
	uint32_t ids = seed % 3 == 0 ? 40 : seed % 3 == 1 ? 400 : 2000;

	maker_begin(m, false);
	m->random ^= seed * 0x9e3779b97f4a7c15u;
	for (uint64_t i = 0; i < EVENTS; i++) {
		/* Some at one moment, where the order is that of the file. */
		uint64_t time_ns = 1000 + i / 2 * 2;

		happen(m, ids, time_ns);
		if (!pick(m, 3))
			maker_sample(m, 10 + pick(m, ids), time_ns, 0);
		if (i % 100 == 99)
			assert_int_equal(writer_flush(m->w, true), 0);
	}
	assert_int_equal(writer_finish(m->w, NULL, 0), 0);
}

struct world {
	struct strings *names;
	struct model *model;
	struct load_scan scan;
};

static void open_world(const struct capture *c, const struct timespan *slice, struct world *w)
{
	assert_int_equal(strings_new(&w->names), 0);
	assert_int_equal(load_model(c, w->names, slice, &w->model, &w->scan), 0);
}

static void close_world(struct world *w)
{
	load_scan_done(&w->scan);
	model_free(w->model);
	strings_free(w->names);
}

/* All that a report asks of a sample, as text. */
static void say(const struct world *w, uint32_t pid, uint64_t time_ns, char *text, size_t size)
{
	struct model_where where;
	struct model_place place;
	int at;

	model_thread(w->model, pid, pid, time_ns, &where);
	at = snprintf(text, size, "%u at %u: %s", pid, (unsigned)time_ns,
		      where.comm == MODEL_NONE ? "?" : strings_text(w->names, where.comm));
	at += snprintf(text + at, size - (size_t)at, " %d%d", where.epoch != MODEL_NONE,
		       model_has_maps(w->model, where.space));
	for (uint64_t addr = AREA / 2; addr < AREA * 9; addr += AREA) {
		if (model_place(w->model, where.space, addr, &place))
			at += snprintf(text + at, size - (size_t)at, " %s+%x",
				       model_file(w->model, place.file)->path,
				       (unsigned)place.file_off_bytes);
		else
			at += snprintf(text + at, size - (size_t)at, " -");
	}
}

/* The samples of the slice, as the whole file has them; how many they are. */
static size_t compare(const struct capture *c, const struct world *whole, const struct world *part,
		      const struct timespan *slice)
{
	size_t attr_count, count = 0;
	const struct capture_attr *attrs = capture_attrs(c, &attr_count);
	struct record_iter *it;
	struct perf_sample s;
	struct record rec;

	assert_int_equal(record_iter_new(c, 1u << EBX_STREAM_CPU, 0, SIZE_MAX, &it), 0);
	while (record_iter_next(it, &rec) == 1) {
		char a[512], b[512];

		assert_int_equal(
			perfrec_sample(rec.header, rec.header->size, &attrs[0].attr, &s, NULL), 0);
		if (!timespan_has(slice, s.time_ns))
			continue;
		say(whole, s.pid, s.time_ns, a, sizeof(a));
		say(part, s.pid, s.time_ns, b, sizeof(b));
		assert_string_equal(a, b);
		count++;
	}
	record_iter_free(it);
	return count;
}

static uint64_t count_in(const struct capture *c, const struct world *w,
			 const struct timespan *slice, unsigned threads, struct load_stats *stats)
{
	struct filter f;
	struct load_query q = { .filter = &f, .names = w->names, .thread_count = threads };
	struct sampler *s;
	uint64_t samples;

	filter_init(&f);
	f.span = *slice;
	q.kept = w->scan.kept.words ? &w->scan.kept : NULL;
	assert_int_equal(load_samples(c, w->model, &q, &s, stats), 0);
	samples = sampler_counts(s)->samples;
	sampler_free(s);
	return samples;
}

static void slices_know_of_their_samples_what_the_whole_knows(void **state)
{
	struct load_stats stats_whole, stats_part;
	struct world whole, part;
	struct capture *c;
	struct bytes b;
	struct maker m;
	size_t samples;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		make_story(&m, seed);
		b = maker_bytes(&m);
		assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
		open_world(c, NULL, &whole);
		for (unsigned i = 0; i < 8; i++) {
			uint64_t from_ns = 1000 + pick(&m, EVENTS);
			struct timespan slice = { from_ns, from_ns + pick(&m, EVENTS / 4) };

			assert_true(sideslice_is_worth(c, &slice));
			open_world(c, &slice, &part);
			samples = compare(c, &whole, &part, &slice);
			assert_int_equal(count_in(c, &part, &slice, 1 + i % 3, &stats_part),
					 samples);
			assert_int_equal(count_in(c, &whole, &slice, 1, &stats_whole), samples);
			assert_int_equal(stats_part.event_samples, stats_whole.event_samples);
			assert_int_equal(stats_part.damaged_frames, 0);
			assert_true(model_epoch_count(part.model) <=
				    model_epoch_count(whole.model));
			close_world(&part);
		}
		close_world(&whole);
		capture_close(c);
		free(b.data);
		maker_end(&m);
	}
}

/* Two families, each mapping files of its own. */
static void make_families(struct maker *m)
{
	char path[8] = "/a";
	size_t size;

	maker_begin(m, false);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t parent = 100 + 100 * i;

		path[1] = (char)('a' + i);
		put(m, rec_mmap2(m->rec, parent, path, 10), 10);
		size = rec_task(m->rec, PERF_RECORD_FORK, parent + 1, parent, 20);
		put(m, size, 20);
		maker_sample(m, parent + 1, 1000 + 1000 * i, 0);
		assert_int_equal(writer_flush(m->w, true), 0);
	}
	assert_int_equal(writer_finish(m->w, NULL, 0), 0);
}

static void others_are_left_out_and_parents_are_not(void **state)
{
	struct timespan slice = { 1900, 2100 };
	struct model_place place;
	struct model_where where;
	struct world part;
	struct capture *c;
	struct bytes b;
	struct maker m;

	make_families(&m);
	b = maker_bytes(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	open_world(c, &slice, &part);
	model_thread(part.model, 201, 201, 2000, &where);
	assert_true(model_place(part.model, where.space, REC_MMAP2_AT, &place));
	assert_string_equal(model_file(part.model, place.file)->path, "/b");
	assert_int_equal(model_file_count(part.model), 1);
	model_thread(part.model, 101, 101, 1000, &where);
	assert_int_equal(where.epoch, MODEL_NONE);
	close_world(&part);
	capture_close(c);
	free(b.data);
	maker_end(&m);
}

static void all_of_the_time_is_no_slice(void **state)
{
	struct timespan all = { 0, UINT64_MAX };
	struct capture *c;
	struct world w;
	struct bytes b;
	struct maker m;

	make_families(&m);
	b = maker_bytes(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	assert_false(sideslice_is_worth(c, &all));
	open_world(c, &all, &w);
	assert_int_equal(model_file_count(w.model), 2);
	assert_null(w.scan.kept.words);
	close_world(&w);
	capture_close(c);
	free(b.data);
	maker_end(&m);
}

/* Records too short for what they should say go the way of all others, and are counted as broken. */
static void records_without_ids_are_not_held(void **state)
{
	static const struct {
		uint32_t type;
		uint16_t misc, size;
		bool held;
	} cases[] = {
		{ PERF_RECORD_COMM, 0, 8, false },
		{ PERF_RECORD_COMM, 0, 16, true },
		{ PERF_RECORD_FORK, 0, 16, false },
		{ PERF_RECORD_FORK, 0, 24, true },
		{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 8, false },
		{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 16, true },
		{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_KERNEL, 72, false },
		{ PERF_RECORD_MMAP, PERF_RECORD_MISC_GUEST_USER, 72, false },
		{ PERF_RECORD_EXIT, 0, 56, false },
		{ PERF_RECORD_LOST, 0, 24, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct perf_event_header header = { cases[i].type, cases[i].misc, cases[i].size };

		assert_int_equal(sideslice_is_of_process(&header), cases[i].held);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wanted_is_what_the_wanted_depend_on),
		cmocka_unit_test(long_chains_are_followed_in_any_order),
		cmocka_unit_test(slices_know_of_their_samples_what_the_whole_knows),
		cmocka_unit_test(others_are_left_out_and_parents_are_not),
		cmocka_unit_test(all_of_the_time_is_no_slice),
		cmocka_unit_test(records_without_ids_are_not_held),
	};

	return cmocka_run_group_tests_name("sideslice", tests, NULL, NULL);
}
