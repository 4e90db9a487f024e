/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* group_read: samples with the values of all events of their group */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/input/event/group_read.h"
#include "tests/lib/gen/captures.h"
#include "tests/lib/gen/perffiles.h"

#define ATTR_AT   120 /* of begin_file() */
#define ANY_WORDS 32

struct count {
	uint64_t id, value;
};

/* A capture of one event with the ids 11 and 12, whose samples carry counts. */
static struct capture *open_capture(struct perf *p, uint64_t read_format)
{
	struct capture *c;

	begin_file(p);
	le64_store(p->file.data + ATTR_AT + offsetof(struct perf_event_attr, sample_type),
		   PERF_SAMPLE_READ);
	le64_store(p->file.data + ATTR_AT + offsetof(struct perf_event_attr, read_format),
		   read_format);
	end_file(p);
	assert_int_equal(capture_from_bytes(p->file.data, p->file.size_bytes, &c, NULL), 0);
	return c;
}

/* The bytes that the kernel writes for the counts, by the comment in <linux/perf_event.h>. */
static size_t put_counts(uint8_t *rec, uint64_t format, const struct count *counts, size_t count)
{
	uint64_t words[ANY_WORDS];
	size_t n = 0;
	bool group = format & PERF_FORMAT_GROUP;

	if (group)
		words[n++] = count;
	for (size_t i = 0; i < (group ? 0 : 1); i++)
		words[n++] = counts[i].value;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words[n++] = 1001;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words[n++] = 1002;
	for (size_t i = 0; i < count; i++) {
		if (group)
			words[n++] = counts[i].value;
		if (format & PERF_FORMAT_ID)
			words[n++] = counts[i].id;
		if (format & PERF_FORMAT_LOST)
			words[n++] = 1003;
	}
	for (size_t i = 0; i < n; i++)
		le64_store(rec + 8 + 8 * i, words[i]);
	return rec_finish(rec, 8 + 8 * n, PERF_RECORD_SAMPLE, 0);
}

static struct perf_sample parse(const struct capture *c, const uint8_t *rec, size_t size)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);
	struct perf_sample s;

	assert_int_equal(perfrec_sample(rec, size, &attrs[0].attr, &s, NULL), 0);
	return s;
}

/* Appends each value: "11+5 12+7". */
static int append_value(void *ctx, const struct perf_sample *sample,
			const struct capture_attr *attr)
{
	char *text = ctx;

	(void)attr;
	sprintf(text + strlen(text), "%s%u+%u", *text ? " " : "", (unsigned)sample->id,
		(unsigned)sample->period);
	return 0;
}

static void counts_are_found_whatever_stands_beside_them(void **state)
{
	const struct count counts[] = { { 11, 500 }, { 12, 600 } };
	_Alignas(8) uint8_t rec[8 * ANY_WORDS + 8];

	for (uint64_t format = 0; format < 32; format++) {
		size_t wanted = format & PERF_FORMAT_GROUP ? 2 : 1;
		struct perf_sample s;
		struct capture *c;
		struct perf p;

		c = open_capture(&p, format);
		s = parse(c, rec, put_counts(rec, format, counts, wanted));
		assert_int_equal(s.read_count, wanted);
		for (size_t i = 0; i < wanted; i++) {
			assert_int_equal(perfrec_count(&s, i).value, counts[i].value);
			assert_int_equal(perfrec_count(&s, i).id,
					 format & PERF_FORMAT_ID ? counts[i].id : 0);
		}
		assert_int_equal(group_read_any(c), !!(format & PERF_FORMAT_ID));
		capture_close(c);
		done(&p);
	}
}

static const struct {
	struct count counts[3];
	size_t count;
	bool is_retained;
	const char *want, *want_of_copy;
} steps[] = {
	{ { { 11, 5 }, { 12, 7 } }, 2, false, "11+5 12+7", NULL },
	{ { { 11, 9 }, { 12, 7 } }, 2, true, "11+4", "11+4" }, /* nothing new of 12 */
	{ { { 11, 9 }, { 12, 7 } }, 2, true, "", "" },
	{ { { 99, 1000 }, { 12, 8 } }, 2, false, "12+1", NULL }, /* no event has 99 */
	{ { { 12, 10 }, { 12, 13 }, { 11, 10 } }, 3, true, "12+2 12+3 11+1", "12+2 12+3 11+1" },
};

static void a_member_has_what_it_grew_by_and_a_copy_the_same(void **state)
{
	uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	_Alignas(8) uint8_t rec[8 * ANY_WORDS + 8];
	struct group_read *m, *cut, *of_copy;
	struct capture *c;
	struct perf p;

	c = open_capture(&p, format);
	assert_int_equal(group_read_new(c, &m), 0);
	assert_int_equal(group_read_new(c, &cut), 0);
	assert_int_equal(group_read_new(c, &of_copy), 0);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		size_t size = put_counts(rec, format, steps[i].counts, steps[i].count);
		struct perf_sample s = parse(c, rec, size);
		char text[100] = "";

		assert_int_equal(group_read_each(m, &s, append_value, text), 0);
		assert_string_equal(text, steps[i].want);
		assert_int_equal(group_read_rebase(cut, &s, steps[i].is_retained), 0);
		if (!steps[i].is_retained)
			continue;
		*text = '\0';
		s = parse(c, rec, size);
		assert_int_equal(group_read_each(of_copy, &s, append_value, text), 0);
		assert_string_equal(text, steps[i].want_of_copy);
	}
	group_read_free(m);
	group_read_free(cut);
	group_read_free(of_copy);
	capture_close(c);
	done(&p);
}

static int refuse(void *ctx, const struct perf_sample *sample, const struct capture_attr *attr)
{
	(void)sample, (void)attr;
	return ++*(int *)ctx == 2 ? -EIO : 0;
}

static void a_callback_may_stop_it(void **state)
{
	const struct count counts[] = { { 11, 1 }, { 12, 1 }, { 11, 2 } };
	uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	_Alignas(8) uint8_t rec[8 * ANY_WORDS + 8];
	struct perf_sample s;
	struct group_read *m;
	struct capture *c;
	struct perf p;
	int calls = 0;

	c = open_capture(&p, format);
	assert_int_equal(group_read_new(c, &m), 0);
	s = parse(c, rec, put_counts(rec, format, counts, 3));
	assert_int_equal(group_read_each(m, &s, refuse, &calls), -EIO);
	assert_int_equal(calls, 2);
	group_read_free(m);
	capture_close(c);
	done(&p);
}

/* Two threads, each of which counts from 0 under the same ids. */
static void inherited_events_are_counted_by_thread(void **state)
{
	const struct {
		uint32_t tid;
		struct count counts[2];
		const char *want;
	} turns[] = {
		{ 5, { { 11, 100 }, { 12, 7 } }, "11+100 12+7" },
		{ 6, { { 11, 3 }, { 12, 1 } }, "11+3 12+1" },
		{ 5, { { 11, 150 }, { 12, 7 } }, "11+50" },
		{ 6, { { 11, 3 }, { 12, 9 } }, "12+8" },
	};
	uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	_Alignas(8) uint8_t rec[8 * ANY_WORDS + 8];
	struct group_read *m, *copy;
	struct capture *c;
	uint8_t *attr;
	struct perf p;

	begin_file(&p);
	attr = p.file.data + ATTR_AT;
	le64_store(attr + offsetof(struct perf_event_attr, sample_type),
		   PERF_SAMPLE_READ | PERF_SAMPLE_TID);
	le64_store(attr + offsetof(struct perf_event_attr, read_format), format);
	attr[40] |= 2; /* inherit */
	end_file(&p);
	assert_int_equal(capture_from_bytes(p.file.data, p.file.size_bytes, &c, NULL), 0);
	assert_int_equal(group_read_new(c, &m), 0);
	assert_int_equal(group_read_new(c, &copy), 0);
	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		size_t size = put_counts(rec, format, turns[i].counts, 2);
		struct perf_sample s;
		char got[100] = "";

		memmove(rec + 16, rec + 8, size - 8); /* pid and tid stand before the counts */
		le32_store(rec + 8, 5);
		le32_store(rec + 12, turns[i].tid);
		s = parse(c, rec, rec_finish(rec, size + 8, PERF_RECORD_SAMPLE, 0));
		assert_int_equal(group_read_each(m, &s, append_value, got), 0);
		assert_string_equal(got, turns[i].want);
		/* A copy without the first sample: its thread begins with what it grew by. */
		assert_int_equal(group_read_rebase(copy, &s, i > 0), 0);
		if (i == 2)
			assert_int_equal(perfrec_count(&s, 0).value, 50);
	}
	group_read_free(m);
	group_read_free(copy);
	capture_close(c);
	done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_found_whatever_stands_beside_them),
		cmocka_unit_test(a_member_has_what_it_grew_by_and_a_copy_the_same),
		cmocka_unit_test(a_callback_may_stop_it),
		cmocka_unit_test(inherited_events_are_counted_by_thread),
	};

	return cmocka_run_group_tests_name("members", tests, NULL, NULL);
}
