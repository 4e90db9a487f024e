/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "record/events/side_record.h"
#include "record/output/snapshot/backlog.h"

#include "tests/lib/gen/captures.h"

#define SECOND_NS 1000000000ULL

static struct maker from;
static struct backlog *window;
static struct account account;

static void begin(uint64_t keep_ns, uint64_t keep_bytes)
{
	account = (struct account){ 0 };
	maker_begin(&from, false);
	assert_int_equal(backlog_new(keep_ns, keep_bytes, 77, NULL, &window), 0);
}

static void end(void)
{
	backlog_free(window);
	maker_end(&from);
}

static void give_comm(uint32_t pid, const char *comm, uint64_t time_ns)
{
	struct side_record r = { .id = 77, .time_ns = time_ns };
	size_t size = side_record_comm(&r, pid, pid, comm);

	account.side_count++;
	assert_int_equal(writer_record(from.w, EBX_STREAM_SIDE, r.bytes, size, time_ns, -1), 0);
}

static void give_sample(uint64_t time_ns)
{
	account.sample_count++;
	maker_sample(&from, 7, time_ns, 0);
}

static void take(uint64_t now_ns, struct writer *to)
{
	account.duration_ns = now_ns;
	assert_int_equal(backlog_take(window, from.w, &account, now_ns, to), 0);
}

/* The first records of a capture of the backlog, as records of a batch. */
struct begun {
	uint64_t count;
	unsigned with_time;
	char names[256];
};

static int see(void *arg, const uint8_t *record, size_t size_bytes)
{
	struct begun *b = arg;

	if (le32_load(record) != PERF_RECORD_COMM)
		return 0;
	b->with_time += le64_load(record + size_bytes - SIDE_RECORD_TAIL_BYTES + 8) != 0;
	strcat(b->names, (const char *)record + 16);
	strcat(b->names, " ");
	return 0;
}

static struct begun begun(void)
{
	static const uint8_t uuid[16];
	struct writer_batch *batch = NULL;
	struct begun b = { 0 };
	struct writer *w = NULL;

	assert_int_equal(writer_like(-1, from.w, uuid, &w), 0);
	assert_int_equal(backlog_begin(window, w, &b.count), 0);
	assert_int_equal(writer_take(w, &batch), 0);
	assert_int_equal(writer_batch_records(batch, EBX_STREAM_SIDE, see, &b), 0);
	writer_batch_free(batch);
	writer_free(w);
	return b;
}

static void parts_older_than_the_time_are_dropped(void **state)
{
	struct begun b;

	begin(3 * SECOND_NS, 0);
	for (uint64_t i = 10; i < 20; i++) {
		give_comm(7, i < 16 ? "old" : "new", i * SECOND_NS);
		give_sample(i * SECOND_NS + 1);
		take((i + 1) * SECOND_NS, NULL);
	}
	/* Those that ended at 17, 18, 19 and 20 s cover the last 3 s. */
	assert_int_equal(backlog_part_count(window), 4);
	assert_int_equal(backlog_dropped_ns(window), 16 * SECOND_NS);
	assert_int_equal(backlog_before(window)->sample_count, 6);
	assert_int_equal(account_since(&account, backlog_before(window)).sample_count, 4);
	b = begun();
	assert_string_equal(b.names, "old ");
	assert_int_equal(b.with_time, 0);
	assert_int_equal(b.count, 2); /* its fork and its name */
	end();
}

static void parts_beyond_the_size_are_dropped(void **state)
{
	begin(0, 200000);
	for (uint64_t i = 0; i < 100; i++) {
		maker_noisy_sample(&from, 9996, i + 1);
		take(i + 1, NULL);
		assert_in_range(backlog_bytes(window), 1, 200000);
	}
	assert_in_range(backlog_part_count(window), 10, 20);
	end();
	/* However little is asked for, the last one stays. */
	begin(0, 1);
	for (uint64_t i = 0; i < 3; i++) {
		maker_noisy_sample(&from, 9996, i + 1);
		take(i + 1, NULL);
		assert_int_equal(backlog_part_count(window), 1);
	}
	end();
}

/* A name that came after the first retained sample is not yet the state. */
static void what_is_newer_than_the_first_sample_keeps_its_time(void **state)
{
	struct begun b;

	begin(SECOND_NS, 0);
	give_comm(7, "before", 10 * SECOND_NS);
	give_comm(7, "after", 11 * SECOND_NS);
	take(12 * SECOND_NS, NULL);
	give_sample(10 * SECOND_NS + 5);
	take(13 * SECOND_NS + 1, NULL);
	assert_int_equal(backlog_part_count(window), 1);
	b = begun();
	assert_string_equal(b.names, "before after ");
	assert_int_equal(b.with_time, 1);
	/* When that sample is gone, it is. */
	give_sample(13 * SECOND_NS);
	take(14 * SECOND_NS + 2, NULL);
	b = begun();
	assert_string_equal(b.names, "after ");
	assert_int_equal(b.with_time, 0);
	end();
}

static int count_record(void *arg, const uint8_t *record, size_t size_bytes)
{
	++*(unsigned *)arg;
	return 0;
}

/* Takes all that w has. */
static unsigned count_records(struct writer *w, unsigned counts[EBX_STREAM_END])
{
	struct writer_batch *batch = NULL;
	unsigned all = 0;

	assert_int_equal(writer_take(w, &batch), 0);
	for (unsigned i = 0; i < EBX_STREAM_END; i++) {
		counts[i] = 0;
		assert_int_equal(writer_batch_records(batch, i, count_record, &counts[i]), 0);
		all += counts[i];
	}
	writer_batch_free(batch);
	return all;
}

static void objects_stay_and_a_file_that_is_written_gets_all(void **state)
{
	static const uint8_t uuid[16];
	struct writer_batch *objects = NULL;
	struct writer *file = NULL;
	unsigned counts[EBX_STREAM_END];
	uint8_t facts[40000];

	for (uint32_t i = 0, n = 1; i < sizeof(facts); i++) {
		n = n * 1664525 + 1013904223;
		facts[i] = (uint8_t)(n >> 24);
	}
	begin(0, 0);
	assert_int_equal(writer_like(-1, from.w, uuid, &file), 0);
	for (uint64_t i = 10; i < 14; i++) {
		assert_int_equal(writer_object(from.w, EBX_FACTS, i, facts, sizeof(facts)), 0);
		assert_int_equal(writer_object(from.w, EBX_NOTE, i, "words", 5), 0);
		assert_int_equal(writer_object(from.w, EBX_MOUNTS, i, facts, sizeof(facts)), 0);
		give_comm(7, "seven", i * SECOND_NS);
		give_sample(i * SECOND_NS);
		take(i * SECOND_NS, file);
		assert_int_equal(backlog_part_count(window), 0);
	}
	assert_int_equal(count_records(file, counts), 8);
	assert_int_equal(counts[EBX_STREAM_CPU], 4);
	assert_int_equal(counts[EBX_STREAM_SIDE], 4);
	writer_free(file);
	/* The next file begins with the objects of all; of files and mounts others know which. */
	assert_int_equal(writer_like(-1, from.w, uuid, &file), 0);
	assert_int_equal(backlog_begin(window, file, &(uint64_t){ 0 }), 0);
	assert_int_equal(writer_batch_new(&objects), 0);
	assert_int_equal(writer_take_objects(file, objects), 0);
	assert_in_range(writer_batch_bytes(objects), 4 * 80, sizeof(facts));
	writer_batch_free(objects);
	writer_free(file);
	end();
}

static void an_hour_takes_no_more_than_a_minute(void **state)
{
	uint64_t minute = 0;

	begin(10 * SECOND_NS, 0);
	for (uint64_t i = 10; i < 3610; i++) {
		for (uint32_t k = 0; k < 20; k++)
			give_comm(100 + k, "name", i * SECOND_NS + k);
		for (uint64_t k = 0; k < 10; k++)
			give_sample(i * SECOND_NS + k);
		take((i + 1) * SECOND_NS, NULL);
		if (i == 70)
			minute = backlog_bytes(window);
	}
	assert_in_range(backlog_bytes(window), minute * 9 / 10, minute * 11 / 10);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_older_than_the_time_are_dropped),
		cmocka_unit_test(parts_beyond_the_size_are_dropped),
		cmocka_unit_test(what_is_newer_than_the_first_sample_keeps_its_time),
		cmocka_unit_test(objects_stay_and_a_file_that_is_written_gets_all),
		cmocka_unit_test(an_hour_takes_no_more_than_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
