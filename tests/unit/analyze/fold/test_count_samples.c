/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* load and embedded: captures in memory */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/input/event/event_of.h"
#include "analyze/input/embedded_files.h"
#include "analyze/fold/count_samples.h"
#include "analyze/input/capture_stats.h"
#include "tests/lib/gen/captures.h"

struct loaded {
	struct bytes bytes;
	struct capture *c;
	struct string_table *names;
	struct process_model *model;
	struct load_scan scan;
};

static void load(struct maker *m, struct loaded *l)
{
	l->bytes = maker_bytes(m);
	assert_int_equal(capture_from_bytes(l->bytes.data, l->bytes.size, &l->c, NULL), 0);
	assert_int_equal(string_table_new(&l->names), 0);
	assert_int_equal(load_model(l->c, l->names, NULL, &l->model, &l->scan), 0);
}

static void unload(struct loaded *l)
{
	load_scan_done(&l->scan);
	process_model_free(l->model);
	string_table_free(l->names);
	capture_close(l->c);
	free(l->bytes.data);
}

/* Four processes, two CPUs, frames of a few hundred samples; one sample of another event. */
static void make(struct maker *m, bool plain, unsigned samples)
{
	char name[8] = "p0";

	maker_begin(m, plain);
	for (uint32_t pid = 0; pid < 4; pid++) {
		name[1] = (char)('0' + pid);
		maker_comm(m, 10 + pid, name, 5);
	}
	for (unsigned i = 0; i < samples; i++) {
		maker_sample(m, 10 + i % 4, 1000 + i, i % 2);
		if (i % 300 == 299)
			assert_int_equal(writer_flush(m->w, true), 0);
	}
	maker_noisy_sample(m, 12, 9000);
	assert_int_equal(writer_finish(m->w, NULL, 0), 0);
}

static uint64_t count(struct loaded *l, size_t attr, const struct filter *filter, unsigned threads,
		      struct load_stats *stats)
{
	struct load_query q = {
		.attr = attr,
		.filter = filter,
		.names = l->names,
		.thread_count = threads,
	};
	struct stack_counter *s;
	uint64_t samples;

	assert_int_equal(load_samples(l->c, l->model, &q, &s, stats), 0);
	samples = stack_counter_counts(s)->samples;
	stack_counter_free(s);
	return samples;
}

static void every_sample_is_counted_by_any_number_of_threads(void **state)
{
	struct load_stats stats;
	struct loaded l;
	struct maker m;

	make(&m, false, 20000);
	load(&m, &l);
	for (unsigned threads = 0; threads <= 9; threads += 3) {
		assert_int_equal(count(&l, 0, NULL, threads, &stats), 20000);
		assert_int_equal(stats.event_samples, 20000);
		assert_int_equal(stats.broken_samples + stats.damaged_blocks, 0);
	}
	unload(&l);
	maker_end(&m);
}

static void filters_leave_out_but_still_see(void **state)
{
	struct filter_error error;
	struct load_stats stats;
	struct filter f;
	struct loaded l;
	struct maker m;

	make(&m, false, 1000);
	load(&m, &l);
	filter_init(&f);
	assert_int_equal(filter_add_comms(&f, "p1,nothing", &error), 0);
	assert_int_equal(count(&l, 0, &f, 1, &stats), 250);
	assert_int_equal(stats.event_samples, 1000);
	assert_int_equal(filter_add_pids(&f, "10", &error), 0);
	assert_int_equal(count(&l, 0, &f, 1, &stats), 0);
	filter_done(&f);
	assert_int_equal(filter_add_cpus(&f, "1", &error), 0);
	f.span = (struct time_span){ 1000, 1099 };
	assert_int_equal(count(&l, 0, &f, 1, &stats), 50);
	filter_done(&f);
	unload(&l);
	maker_end(&m);
}

static void plain_file_gives_the_same(void **state)
{
	struct load_stats stats;
	struct loaded l;
	struct maker m;

	make(&m, true, 1000);
	load(&m, &l);
	assert_int_equal(count(&l, 0, NULL, 0, &stats), 1000);
	assert_int_equal(l.scan.attr_samples[0], 1000);
	assert_int_equal(l.scan.attr_samples[1], 0);
	assert_int_equal(l.scan.attr_samples[2], 1);
	assert_true(l.scan.span_known);
	assert_int_equal(l.scan.span.from_ns, 1000);
	assert_int_equal(l.scan.span.to_ns, 9000);
	unload(&l);
	maker_end(&m);
}

static void losses_are_of_the_event_they_name_and_counted_once(void **state)
{
	static const struct {
		uint64_t id, count;
	} lost[] = { { REC_CPU_ID, 5 },
		     { REC_SIDE_ID, 40 },
		     { REC_RAW_ID, 300 },
		     { REC_CPU_ID, 2 },
		     { 9999, 1000 } };
	struct process_model_counts counts;
	struct loaded l;
	struct capture_stats t;
	struct maker m;

	for (int plain = 0; plain < 2; plain++) {
		maker_begin(&m, plain);
		for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
			size_t size = rec_lost(m.rec, lost[i].id, lost[i].count, 1000 + i);

			writer_lost(m.w, EBX_STREAM_CPU, lost[i].count);
			assert_int_equal(
				writer_record(m.w, EBX_STREAM_SIDE, m.rec, size, 1000 + i, -1), 0);
		}
		maker_sample(&m, 10, 2000, 0);
		assert_int_equal(writer_finish(m.w, NULL, 0), 0);
		load(&m, &l);
		counts = *process_model_counts(l.model);
		assert_int_equal(capture_stats_capture(l.c, UINT32_MAX, &t), 0);
		assert_int_equal(t.lost_count, 1347);
		assert_int_equal(t.attrs[0].lost_count, 7);
		assert_int_equal(t.attrs[1].lost_count, 40);
		assert_int_equal(t.attrs[2].lost_count, 300);
		assert_int_equal(t.attrs[3].lost_count, 1000);
		capture_stats_done(&t);
		if (plain) { /* names may be lost with any of them */
			assert_null(l.scan.attr_lost);
			assert_int_equal(counts.lost_events, 1347);
		} else {
			assert_int_equal(l.scan.attr_lost[0], 7);
			assert_int_equal(l.scan.attr_lost[1], 0);
			assert_int_equal(l.scan.attr_lost[2], 300);
			assert_int_equal(counts.lost_events, 1040);
		}
		assert_int_equal(counts.lost_samples, 0);
		unload(&l);
		maker_end(&m);
	}
}

static void statistics_of_streams_add_up_to_those_of_the_file(void **state)
{
	static const uint32_t masks[] = { UINT32_MAX, 1u << EBX_STREAM_CPU,
					  ~(1u << EBX_STREAM_CPU) };
	struct capture_stats t[3];
	struct loaded l;
	struct maker m;

	make(&m, false, 1000);
	load(&m, &l);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(capture_stats_capture(l.c, masks[i], &t[i]), 0);
	for (size_t i = 0; i < CAPTURE_STATS_TYPES; i++)
		assert_int_equal(t[0].types[i], t[1].types[i] + t[2].types[i]);
	for (size_t i = 0; i <= t[0].attr_count; i++)
		assert_int_equal(t[0].attrs[i].sample_count,
				 t[1].attrs[i].sample_count + t[2].attrs[i].sample_count);
	assert_int_equal(t[1].types[PERF_RECORD_SAMPLE], 1001);
	assert_int_equal(t[2].types[PERF_RECORD_COMM], 4);
	/* The counts of the blocks are of all of them. */
	assert_int_equal(t[2].streams[EBX_STREAM_CPU].sample_count, 1001);
	for (size_t i = 0; i < 3; i++)
		capture_stats_done(&t[i]);
	unload(&l);
	maker_end(&m);
}

/* EVENT_DESC of three events, without their attrs and ids. */
static void describe(uint8_t desc[8 + 3 * 40], const char *third)
{
	memset(desc, 0, 8 + 3 * 40);
	le32_store(desc, 3);
	for (size_t i = 0; i < 3; i++)
		le32_store(desc + 8 + 40 * i + 4, 32);
	snprintf((char *)desc + 8 + 2 * 40 + 8, 32, "%s", third);
}

/* The third event: with these only the first has samples in the stream of CPUs. */
static void events_that_may_share_the_stream_of_cpus_are_known(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		const char *name;
		bool alone;
	} cases[] = {
		{ PERF_TYPE_TRACEPOINT, 300, "sched:sched_switch", true },
		{ PERF_TYPE_TRACEPOINT, 65000, "ebprec:mark", true },
		{ PERF_TYPE_TRACEPOINT, 65001, "ebprec:counter", true },
		{ PERF_TYPE_TRACEPOINT, 65100, "ebprec:syscalls", true },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, "dummy:HG", true },
		{ PERF_TYPE_TRACEPOINT, 400, "syscalls:sys_enter_openat", false },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions", false },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t desc[8 + 3 * 40];
		const struct writer_feature names = { PERFFILE_EVENT_DESC, desc, sizeof(desc) };
		struct writer_attr attrs[REC_ATTRS];
		struct writer_opts opts = { .attrs = attrs,
					    .attr_count = REC_ATTRS,
					    .features = &names,
					    .feature_count = 1,
					    .level = 1 };
		struct maker m = { .fd = memfd_create("capture", MFD_CLOEXEC) };
		struct capture *c;
		struct bytes b;

		rec_attrs(attrs);
		attrs[2].attr.type = cases[i].type;
		attrs[2].attr.config = cases[i].config;
		describe(desc, cases[i].name);
		assert_int_equal(writer_new(m.fd, &opts, &m.w), 0);
		assert_int_equal(writer_finish(m.w, NULL, 0), 0);
		b = maker_bytes(&m);
		assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
		assert_int_equal(load_stream_is_of_one(c), cases[i].alone);
		capture_close(c);
		free(b.data);
		maker_end(&m);
	}
}

static void other_events_are_counted_when_asked_for(void **state)
{
	struct load_stats stats;
	struct loaded l;
	struct maker m;
	size_t attr;

	make(&m, false, 10);
	load(&m, &l);
	assert_int_equal(load_choose_event(l.c, &l.scan, "bpf-output", &attr), 0);
	assert_int_equal(attr, 2);
	assert_int_equal(count(&l, attr, NULL, 0, &stats), 1);
	unload(&l);
	maker_end(&m);
}

static void first_event_with_samples_is_the_one(void **state)
{
	struct loaded l;
	struct maker m;
	size_t attr = 77;

	make(&m, true, 0); /* only the third attr has a sample */
	load(&m, &l);
	assert_int_equal(load_choose_event(l.c, &l.scan, NULL, &attr), 0);
	assert_int_equal(attr, 2);
	unload(&l);
	maker_end(&m);
	make(&m, false, 0); /* ours: always the first */
	load(&m, &l);
	assert_int_equal(load_choose_event(l.c, &l.scan, NULL, &attr), 0);
	assert_int_equal(attr, 0);
	unload(&l);
	maker_end(&m);
}

static void event_that_is_not_there_is_not_found(void **state)
{
	static const char *const names[] = { "", "cpu", "cpu-clock ", "cycles", "cpu-clock:u" };
	struct loaded l;
	struct maker m;
	size_t attr = 77;

	make(&m, false, 10);
	load(&m, &l);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(load_choose_event(l.c, &l.scan, names[i], &attr), -ENOENT);
	assert_int_equal(attr, 77);
	unload(&l);
	maker_end(&m);
}

static void event_names_need_no_modifiers(void **state)
{
	struct capture_attr attr = { .name = "cycles:u" };

	assert_string_equal(event_name(&attr), "cycles:u");
	attr = (struct capture_attr){ .name = "", .attr.type = PERF_TYPE_SOFTWARE };
	assert_string_equal(event_name(&attr), "cpu-clock");
	attr.attr.config = 1000;
	assert_string_equal(event_name(&attr), "event");
	attr.name = NULL;
	attr.attr.type = PERF_TYPE_TRACEPOINT;
	assert_string_equal(event_name(&attr), "tracepoint");
}

/* A frame whose bytes are spoiled: its samples are gone, the others stay, and it is reported. */
static void spoiled_frame_is_counted_as_damage(void **state)
{
	struct load_stats stats;
	struct loaded l;
	struct maker m;
	const struct capture_block *frames;
	uint8_t spoiled = 0xa5;
	size_t frame_count, i;
	uint64_t lost;

	make(&m, false, 1000);
	load(&m, &l);
	frames = capture_blocks(l.c, &frame_count);
	for (i = 0; i < frame_count && frames[i].stream != EBX_STREAM_CPU; i++)
		;
	assert_true(i < frame_count);
	lost = frames[i].sample_count;
	assert_int_equal(
		pwrite(m.fd, &spoiled, 1, (off_t)(frames[i].off_bytes + frames[i].file_bytes - 16)),
		1);
	unload(&l);
	load(&m, &l);
	assert_int_equal(count(&l, 0, NULL, 0, &stats), 1000 - lost);
	assert_int_equal(stats.damaged_blocks, 1);
	unload(&l);
	maker_end(&m);
}

/* ---- embedded files ---- */

static void put_object(struct maker *m, uint64_t number, const char *name, const char *content)
{
	uint8_t object[256];
	size_t n = strlen(name), size = 2 + n + strlen(content);

	le16_store(object, (uint16_t)n);
	memcpy(object + 2, name, n);
	memcpy(object + 2 + n, content, strlen(content));
	assert_int_equal(writer_object(m->w, EBX_FILE, number, object, size), 0);
}

static int embedded_one(const struct capture *c, const char *name, char **out, size_t *size_bytes)
{
	struct embedded *e;
	int err = embedded_read(c, &e);

	if (err)
		return err;
	err = embedded_get(e, name, out, size_bytes);
	embedded_free(e);
	return err;
}

static void pieces_are_joined_in_the_order_of_their_numbers(void **state)
{
	struct loaded l;
	struct maker m;
	size_t size;
	char *text;

	maker_begin(&m, false);
	put_object(&m, 7, "/proc/kallsyms", "third");
	put_object(&m, 2, "/proc/kallsyms", "first,");
	put_object(&m, 3, "/proc/kallsym", "no");
	put_object(&m, 4, "/proc/kallsyms2", "no");
	put_object(&m, 5, "/proc/kallsyms", "second,");
	assert_int_equal(writer_finish(m.w, NULL, 0), 0);
	load(&m, &l);
	assert_int_equal(embedded_one(l.c, "/proc/kallsyms", &text, &size), 0);
	assert_string_equal(text, "first,second,third");
	assert_int_equal(size, 18);
	free(text);
	unload(&l);
	maker_end(&m);
}

/* More than is cached in memory: the rest is unpacked again when it is asked for. */
static void large_files_are_complete(void **state)
{
	const size_t piece_bytes = 900000;
	uint8_t *piece = malloc(piece_bytes);
	struct embedded *e;
	struct loaded l;
	struct maker m;
	size_t size;
	char *text;

	assert_non_null(piece);
	maker_begin(&m, false);
	for (uint8_t i = 0; i < 6; i++) {
		memset(piece, 'a' + i, piece_bytes);
		memcpy(piece, i % 2 ? "\1\0y" : "\1\0x", 3);
		assert_int_equal(writer_object(m.w, EBX_FILE, i, piece, piece_bytes), 0);
	}
	assert_int_equal(writer_finish(m.w, NULL, 0), 0);
	load(&m, &l);
	assert_int_equal(embedded_read(l.c, &e), 0);
	for (uint8_t i = 0; i < 2; i++) {
		assert_int_equal(embedded_get(e, i ? "y" : "x", &text, &size), 0);
		assert_int_equal(size, 3 * (piece_bytes - 3));
		for (size_t at = 0; at < size; at++)
			if (text[at] != 'a' + i + 2 * (char)(at / (piece_bytes - 3)))
				fail_msg("%zu of %u", at, i);
		free(text);
	}
	assert_int_equal(embedded_get(e, "z", &text, &size), -ENOENT);
	embedded_free(e);
	free(piece);
	unload(&l);
	maker_end(&m);
}

static int note_name(void *ctx, const char *name, const char *text, size_t size_bytes)
{
	char *seen = ctx;

	assert_int_equal(strlen(text), size_bytes);
	strcat(strcat(strcat(strcat(seen, name), "="), text), " ");
	return 0;
}

static void each_file_comes_once_and_completely(void **state)
{
	char seen[100] = "";
	struct embedded *e;
	struct loaded l;
	struct maker m;

	maker_begin(&m, false);
	put_object(&m, 1, "perf-1.map", "a");
	put_object(&m, 2, "perf-2.map", "b");
	put_object(&m, 3, "jit-1.dump", "c");
	put_object(&m, 4, "perf-1.map", "d");
	assert_int_equal(writer_finish(m.w, NULL, 0), 0);
	load(&m, &l);
	assert_int_equal(embedded_read(l.c, &e), 0);
	assert_int_equal(embedded_each(e, "perf-", note_name, seen), 0);
	assert_string_equal(seen, "perf-1.map=ad perf-2.map=b ");
	embedded_free(e);
	unload(&l);
	maker_end(&m);
}

static void missing_or_broken_piece_is_no_file(void **state)
{
	const uint8_t broken[] = { 200, 0, 'x' }; /* a name longer than the object */
	struct loaded l;
	struct maker m;
	char *text = NULL;
	size_t size;

	maker_begin(&m, false);
	assert_int_equal(writer_object(m.w, EBX_FILE, 1, broken, sizeof(broken)), 0);
	assert_int_equal(writer_object(m.w, EBX_FILE, 2, "", 0), 0);
	assert_int_equal(writer_object(m.w, EBX_META, 3, "\1\0x", 3), 0);
	assert_int_equal(writer_finish(m.w, NULL, 0), 0);
	load(&m, &l);
	assert_int_equal(embedded_one(l.c, "x", &text, &size), -ENOENT);
	assert_int_equal(embedded_one(l.c, "", &text, &size), -ENOENT);
	assert_null(text);
	unload(&l);
	maker_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_is_counted_by_any_number_of_threads),
		cmocka_unit_test(filters_leave_out_but_still_see),
		cmocka_unit_test(plain_file_gives_the_same),
		cmocka_unit_test(losses_are_of_the_event_they_name_and_counted_once),
		cmocka_unit_test(statistics_of_streams_add_up_to_those_of_the_file),
		cmocka_unit_test(events_that_may_share_the_stream_of_cpus_are_known),
		cmocka_unit_test(other_events_are_counted_when_asked_for),
		cmocka_unit_test(first_event_with_samples_is_the_one),
		cmocka_unit_test(event_that_is_not_there_is_not_found),
		cmocka_unit_test(event_names_need_no_modifiers),
		cmocka_unit_test(spoiled_frame_is_counted_as_damage),
		cmocka_unit_test(pieces_are_joined_in_the_order_of_their_numbers),
		cmocka_unit_test(large_files_are_complete),
		cmocka_unit_test(each_file_comes_once_and_completely),
		cmocka_unit_test(missing_or_broken_piece_is_no_file),
	};

	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
