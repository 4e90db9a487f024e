/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/event_attrs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "record/events/side_record.h"

#define WORDS 12

/* A record of so many words behind its header and the tail, whose last one is the id. */
static struct perf_event_header *record(uint64_t words[WORDS], uint32_t type, size_t body,
					uint64_t id)
{
	struct perf_event_header h = { .type = type,
				       .size = (uint16_t)(8 + 8 * body + SIDE_RECORD_TAIL_BYTES) };

	memcpy(words, &h, sizeof(h));
	words[h.size / 8 - 1] = id;
	return (void *)words;
}

static void attrs_of_late_events_are_found_by_ids_of_the_head(void **state)
{
	uint64_t w[WORDS] = { 0 };
	struct event_attrs a = { .late_count = 0 };

	assert_int_equal(event_attrs_add_id(&a, ATTR_SIDE, 10), 0);
	assert_int_equal(event_attrs_add_id(&a, ATTR_SIDE, 11), 0);
	assert_int_equal(event_attrs_add_id(&a, ATTR_SAMPLE, 20), 0);
	event_attrs_settle_ids(&a, record(w, PERF_RECORD_COMM, 2, 77));
	assert_int_equal(w[6], 77);
	assert_int_equal(event_attrs_add_late_id(&a, ATTR_SIDE, 77), 0);
	assert_int_equal(event_attrs_add_late_id(&a, ATTR_SAMPLE, 78), 0);
	/* They are not among those that the head has. */
	assert_int_equal(a.entry[ATTR_SIDE].id_count, 2);
	event_attrs_settle_ids(&a, record(w, PERF_RECORD_COMM, 2, 77));
	assert_int_equal(w[6], 10);
	event_attrs_settle_ids(&a, record(w, PERF_RECORD_COMM, 2, 11));
	assert_int_equal(w[6], 11);
	/* A name that only looks like one stays. */
	w[1] = w[2] = 77;
	event_attrs_settle_ids(&a, record(w, PERF_RECORD_COMM, 2, 77));
	assert_int_equal(w[1], 77);
	assert_int_equal(w[2], 77);
	/* id, lost */
	w[1] = w[2] = 77;
	event_attrs_settle_ids(&a, record(w, PERF_RECORD_LOST, 2, 77));
	assert_int_equal(w[1], 10);
	assert_int_equal(w[2], 77);
	/* time, id, stream_id */
	w[1] = w[2] = w[3] = 78;
	event_attrs_settle_ids(&a, record(w, PERF_RECORD_THROTTLE, 3, 78));
	assert_int_equal(w[1], 78);
	assert_int_equal(w[2], 20);
	assert_int_equal(w[3], 20);
	assert_int_equal(w[7], 20);
	event_attrs_done(&a);
}

static void attrs_of_records_too_short_stay(void **state)
{
	uint64_t w[WORDS] = { 0 };
	struct event_attrs a = { .late_count = 0 };

	assert_int_equal(event_attrs_add_id(&a, ATTR_SIDE, 10), 0);
	assert_int_equal(event_attrs_add_late_id(&a, ATTR_SIDE, 77), 0);
	record(w, PERF_RECORD_LOST, 0, 0)->size = 32;
	w[1] = w[3] = 77;
	event_attrs_settle_ids(&a, (void *)w);
	assert_int_equal(w[1], 77);
	assert_int_equal(w[3], 77);
	event_attrs_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attrs_of_late_events_are_found_by_ids_of_the_head),
		cmocka_unit_test(attrs_of_records_too_short_stay),
	};

	return cmocka_run_group_tests_name("attrs", tests, NULL, NULL);
}
