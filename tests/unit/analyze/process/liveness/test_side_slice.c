/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* side_slice: a model of a slice answers for its samples as the complete one */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/fold/count_samples.h"
#include "analyze/process/liveness/side_slice.h"
#include "tests/lib/gen/captures.h"
#include "tests/unit/sidestory.h"

#define EVENTS 3000

/* ---- what happened at random ---- */

static void sample(struct maker *m, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct rec_sample s = { .pid = pid, .tid = tid, .time_ns = time_ns };
	size_t size = rec_sample(m->rec, &s);

	assert_int_equal(writer_record(m->w, EBX_STREAM_CPU, m->rec, size, time_ns, 0), 0);
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
		uint32_t pid = 10 + pick(m, ids), tid = pick(m, 3) ? pid : 10 + pick(m, ids);

		/* Rings are not emptied in the order of time, and some is there from the beginning. */
		happen(m, ids, pick(m, 60) ? time_ns - pick(m, 40) : 0);
		if (!pick(m, 3))
			sample(m, pid, tid, time_ns);
		if (i % 100 == 99)
			assert_int_equal(writer_flush(m->w, true), 0);
	}
	assert_int_equal(writer_finish(m->w, NULL, 0), 0);
}

/* The samples of the slice, as the complete file has them; how many they are. */
static size_t compare(const struct capture *c, const struct world *complete,
		      const struct world *part, const struct time_span *slice)
{
	size_t attr_count, count = 0;
	const struct capture_attr *attrs = capture_attrs(c, &attr_count);
	struct record_iter *it;
	struct perf_sample s;
	struct record rec;

	assert_int_equal(record_iter_new(c, 1u << EBX_STREAM_CPU, 0, SIZE_MAX, &it), 0);
	while (record_iter_next(it, &rec) == 1) {
		assert_int_equal(
			perfrec_sample(rec.header, rec.header->size, &attrs[0].attr, &s, NULL), 0);
		if (!time_span_has(slice, s.time_ns))
			continue;
		agree(complete, part, s.pid, s.tid, s.time_ns);
		count++;
	}
	record_iter_free(it);
	return count;
}

static uint64_t count_in(const struct capture *c, const struct world *w,
			 const struct time_span *slice, unsigned threads, struct load_stats *stats)
{
	struct filter f;
	struct load_query q = { .filter = &f, .names = w->names, .thread_count = threads };
	struct stack_counter *s;
	uint64_t samples;

	filter_init(&f);
	f.span = *slice;
	q.cached = w->scan.cached.words ? &w->scan.cached : NULL;
	assert_int_equal(load_samples(c, w->model, &q, &s, stats), 0);
	samples = stack_counter_counts(s)->samples;
	stack_counter_free(s);
	return samples;
}

static void slices_know_of_their_samples_what_the_complete_model_knows(void **state)
{
	struct load_stats stats_complete, stats_part;
	struct world complete, part;
	struct capture *c;
	struct bytes b;
	struct maker m;
	size_t samples;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		make_story(&m, seed);
		b = maker_bytes(&m);
		assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
		open_world(c, NULL, &complete);
		for (unsigned i = 0; i < 8; i++) {
			uint64_t from_ns = 1000 + pick(&m, EVENTS);
			struct time_span slice = { from_ns, from_ns + pick(&m, EVENTS / 4) };

			if (!i)
				slice = TIME_SPAN_ALL;
			assert_true(side_slice_is_worth(c, &slice));
			open_world(c, &slice, &part);
			samples = compare(c, &complete, &part, &slice);
			assert_int_equal(count_in(c, &part, &slice, 1 + i % 3, &stats_part),
					 samples);
			assert_int_equal(count_in(c, &complete, &slice, 1, &stats_complete),
					 samples);
			assert_int_equal(stats_part.event_samples, stats_complete.event_samples);
			assert_int_equal(stats_part.damaged_blocks, 0);
			assert_true(process_model_epoch_count(part.model) <=
				    process_model_epoch_count(complete.model));
			close_world(&part);
		}
		close_world(&complete);
		capture_close(c);
		free(b.data);
		maker_end(&m);
	}
}

/* Two families, each mapping files of its own, and others that have no samples. */
static void make_families(struct maker *m, uint32_t strangers)
{
	char path[8] = "/a";
	size_t size;

	maker_begin(m, false);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t parent = 100 + 100 * i;

		path[1] = (char)('a' + i);
		side_put(m, rec_mmap2(m->rec, parent, path, 10), 10);
		size = rec_task(m->rec, PERF_RECORD_FORK, parent + 1, parent, 20);
		side_put(m, size, 20);
		maker_sample(m, parent + 1, 1000 + 1000 * i, 0);
		assert_int_equal(writer_flush(m->w, true), 0);
	}
	for (uint32_t i = 0; i < strangers; i++)
		side_put(m, rec_mmap2(m->rec, 1000 + i, "/x", 30), 30);
	assert_int_equal(writer_finish(m->w, NULL, 0), 0);
}

static void others_are_left_out_and_parents_are_not(void **state)
{
	struct time_span slice = { 1900, 2100 };
	struct process_model_place place;
	struct process_model_where where;
	struct world part;
	struct capture *c;
	struct bytes b;
	struct maker m;

	make_families(&m, 0);
	b = maker_bytes(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	open_world(c, &slice, &part);
	process_model_thread(part.model, 201, 201, 2000, &where);
	assert_true(process_model_place(part.model, where.space, REC_MMAP2_AT, &place));
	assert_string_equal(process_model_file(part.model, place.file)->path, "/b");
	assert_int_equal(process_model_file_count(part.model), 1);
	process_model_thread(part.model, 101, 101, 1000, &where);
	assert_int_equal(where.epoch, PROCESS_MODEL_NONE);
	close_world(&part);
	capture_close(c);
	free(b.data);
	maker_end(&m);
}

static void outside_of_the_slice_only_processes_with_samples_are_known(void **state)
{
	struct time_span all = TIME_SPAN_ALL;
	struct capture *c;
	struct world w;
	struct bytes b;
	struct maker m;

	make_families(&m, 100);
	b = maker_bytes(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	assert_true(side_slice_is_worth(c, &all));
	open_world(c, &all, &w);
	assert_int_equal(process_model_file_count(w.model), 2);
	assert_string_equal(process_model_file(w.model, 0)->path, "/a");
	close_world(&w);
	open_world(c, NULL, &w);
	assert_int_equal(process_model_file_count(w.model), 3);
	close_world(&w);
	capture_close(c);
	free(b.data);
	maker_end(&m);
}

/* A block with another time than its record: nothing has the time of its turn. */
static void blocks_with_wrong_times_are_read_completely(void **state)
{
	struct time_span slice = { 1900, 2100 };
	struct capture *c;
	struct world w;
	struct bytes b;
	struct maker m;
	size_t size;

	maker_begin(&m, false);
	for (uint32_t i = 0; i < 2; i++) {
		side_put(&m, rec_mmap2(m.rec, 100 + i, i ? "/b" : "/a", 10), 10);
		maker_sample(&m, 101, 1000 + 1000 * i, 0);
		assert_int_equal(writer_flush(m.w, true), 0);
	}
	size = rec_comm(m.rec, 300, 300, "late", 30);
	side_put(&m, size, 40);
	assert_int_equal(writer_finish(m.w, NULL, 0), 0);
	b = maker_bytes(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	assert_true(side_slice_is_worth(c, &slice));
	open_world(c, &slice, &w);
	assert_int_equal(process_model_file_count(w.model), 2);
	assert_null(w.scan.cached.words);
	close_world(&w);
	capture_close(c);
	free(b.data);
	maker_end(&m);
}

static void all_of_the_time_is_no_slice_where_samples_are_most(void **state)
{
	struct time_span all = { 0, UINT64_MAX };
	struct capture *c;
	struct world w;
	struct bytes b;
	struct maker m;

	make_families(&m, 0);
	b = maker_bytes(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	assert_false(side_slice_is_worth(c, &all));
	open_world(c, &all, &w);
	assert_int_equal(process_model_file_count(w.model), 2);
	assert_null(w.scan.cached.words);
	close_world(&w);
	capture_close(c);
	free(b.data);
	maker_end(&m);
}

/* A mapping with a program's mode but of no process: the model takes it for the kernel's. */
static void maps_without_a_process_are_needed_by_all(void **state)
{
	struct time_span slice = { 1900, 2100 };
	struct process_model_place place;
	struct world part;
	struct capture *c;
	struct bytes b;
	struct maker m;

	maker_begin(&m, false);
	side_put(&m, rec_mmap2(m.rec, UINT32_MAX, "/nothing", 10), 10);
	maker_sample(&m, 101, 1000, 0);
	assert_int_equal(writer_flush(m.w, true), 0);
	maker_sample(&m, 101, 2000, 0);
	assert_int_equal(writer_finish(m.w, NULL, 0), 0);
	b = maker_bytes(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	assert_true(side_slice_is_worth(c, &slice));
	open_world(c, &slice, &part);
	assert_true(process_model_place(part.model, process_model_kernel(part.model, 2000),
					REC_MMAP2_AT, &place));
	assert_string_equal(process_model_file(part.model, place.file)->path, "/nothing");
	close_world(&part);
	capture_close(c);
	free(b.data);
	maker_end(&m);
}

/* ---- stack copies ---- */

enum { X86_REGS = 20, X86_IP = 8 };

/* A program of 32 bits, whose copy is its address alone. */
static void sample_with_copy(struct maker *m, uint64_t time_ns, uint64_t addr)
{
	struct rec_sample s = { .pid = 5, .tid = 5, .time_ns = time_ns };
	size_t size = rec_sample(m->rec, &s), copy = 8 + 8 * X86_REGS + 24;

	memset(m->rec + size, 0, copy);
	le64_store(m->rec + size, PERF_SAMPLE_REGS_ABI_32);
	le64_store(m->rec + size + 8 + 8ul * X86_IP, addr);
	le64_store(m->rec + size + copy - 24, 8); /* bytes of stack */
	le64_store(m->rec + size + copy - 8, 8);  /* of which are copied */
	size = rec_finish(m->rec, size + copy, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	assert_int_equal(writer_record(m->w, EBX_STREAM_CPU, m->rec, size, time_ns, 0), 0);
}

/* As a slice of what perf record --call-graph dwarf wrote. */
static void begin_with_copies(struct maker *m)
{
	struct writer_attr attrs[REC_ATTRS];
	const struct writer_opts opts = {
		.attrs = attrs, .attr_count = REC_ATTRS, .uuid = "copies", .level = 1
	};

	rec_attrs(attrs);
	attrs[0].attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attrs[0].attr.sample_regs_user = 0xff0fff;
	m->fd = memfd_create("capture", MFD_CLOEXEC);
	assert_true(m->fd >= 0);
	assert_int_equal(writer_new(m->fd, &opts, &m->w), 0);
}

/* The unwinder has room for one chain, and pending samples come one right behind the other. */
static void each_pending_sample_has_its_own_stack(void **state)
{
	struct filter f;
	struct load_query q = { .filter = &f, .thread_count = 1 };
	struct load_stats stats;
	struct stack_counter *s;
	struct world part;
	struct capture *c;
	struct bytes b;
	struct maker m;

	begin_with_copies(&m);
	side_put(&m, rec_mmap2(m.rec, 5, "/program", 10), 10);
	sample_with_copy(&m, 1000, REC_MMAP2_AT);
	assert_int_equal(writer_flush(m.w, true), 0);
	for (uint64_t i = 0; i < 4; i++)
		sample_with_copy(&m, 2000 + i, REC_MMAP2_AT + 16 * i);
	assert_int_equal(writer_finish(m.w, NULL, 0), 0);
	b = maker_bytes(&m);
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	filter_init(&f);
	f.span = (struct time_span){ 1900, 2100 };
	open_world(c, &f.span, &part);
	assert_non_null(part.scan.cached.words);
	q.names = part.names;
	q.cached = &part.scan.cached;
	assert_int_equal(load_samples(c, part.model, &q, &s, &stats), 0);
	assert_int_equal(stack_counter_counts(s)->samples, 4);
	assert_int_equal(stack_counter_stacks(s)->entry_count, 4);
	stack_counter_free(s);
	close_world(&part);
	capture_close(c);
	free(b.data);
	maker_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_know_of_their_samples_what_the_complete_model_knows),
		cmocka_unit_test(others_are_left_out_and_parents_are_not),
		cmocka_unit_test(outside_of_the_slice_only_processes_with_samples_are_known),
		cmocka_unit_test(blocks_with_wrong_times_are_read_completely),
		cmocka_unit_test(all_of_the_time_is_no_slice_where_samples_are_most),
		cmocka_unit_test(maps_without_a_process_are_needed_by_all),
		cmocka_unit_test(each_pending_sample_has_its_own_stack),
	};

	return cmocka_run_group_tests_name("sideslice", tests, NULL, NULL);
}
