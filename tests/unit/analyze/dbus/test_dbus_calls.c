/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* dbus_calls - replies find their calls by caller and serial number */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/dbus/dbus_calls.h"

static void add(struct dbus_calls *c, uint64_t time_ns, enum dbus_type type, uint32_t serial,
		uint32_t reply_serial, const char *sender, const char *destination)
{
	struct dbus_message m = { .type = type,
				  .wants_reply = type == DBUS_CALL,
				  .serial = serial,
				  .reply_serial = reply_serial };

	strcpy(m.sender, sender);
	strcpy(m.destination, destination);
	strcpy(m.member, "M");
	strcpy(m.error, type == DBUS_ERROR ? "e.r" : "");
	assert_int_equal(dbus_calls_add(c, time_ns, &m), 0);
}

static struct dbus_calls *new_calls(void)
{
	struct dbus_calls *c;

	assert_int_equal(dbus_calls_new(&c), 0);
	return c;
}

static void expect(const struct dbus_calls *c, size_t i, enum dbus_call_state state,
		   uint64_t duration_ns, const char *error)
{
	struct dbus_call call = dbus_calls_at(c, i);

	assert_int_equal(call.state, state);
	assert_int_equal(call.duration_ns, duration_ns);
	assert_string_equal(call.error, error);
}

static void replies_of_one_number_go_to_their_callers(void **state)
{
	struct dbus_calls *c = new_calls();

	(void)state;
	add(c, 10, DBUS_RETURN, 1, 7, ":1.1", ":1.2"); /* of a call that was not heard */
	add(c, 100, DBUS_CALL, 7, 0, ":1.2", "a");
	add(c, 200, DBUS_CALL, 7, 0, ":1.3", "a");
	add(c, 250, DBUS_ERROR, 2, 7, ":1.1", ":1.3");
	add(c, 300, DBUS_RETURN, 3, 8, ":1.1", ":1.2");
	add(c, 400, DBUS_RETURN, 4, 7, ":1.1", ":1.2");
	add(c, 500, DBUS_RETURN, 5, 7, ":1.1", ":1.2"); /* a second reply */
	assert_int_equal(dbus_calls_count(c), 2);
	expect(c, 0, DBUS_CALL_RETURNED, 300, "");
	expect(c, 1, DBUS_CALL_RETURNED, 50, "e.r");
	dbus_calls_free(c);
}

static void a_number_that_is_used_again_is_that_of_the_later_call(void **state)
{
	struct dbus_calls *c = new_calls();

	(void)state;
	add(c, 100, DBUS_CALL, 7, 0, ":1.2", "a");
	add(c, 200, DBUS_CALL, 7, 0, ":1.2", "a");
	add(c, 210, DBUS_RETURN, 1, 7, ":1.1", ":1.2");
	expect(c, 0, DBUS_CALL_OPEN, 0, "");
	expect(c, 1, DBUS_CALL_RETURNED, 10, "");
	dbus_calls_free(c);
}

static void a_clock_that_goes_back_gives_no_duration(void **state)
{
	struct dbus_calls *c = new_calls();

	(void)state;
	add(c, 100, DBUS_CALL, 7, 0, ":1.2", "a");
	add(c, 90, DBUS_RETURN, 1, 7, ":1.1", ":1.2");
	expect(c, 0, DBUS_CALL_RETURNED, 0, "");
	dbus_calls_free(c);
}

static void the_older_half_is_dropped_and_counted_before_there_are_too_many(void **state)
{
	struct dbus_calls *c = new_calls();
	uint32_t half = DBUS_CALLS_MAX / 2;

	(void)state;
	for (uint32_t i = 0; i < DBUS_CALLS_MAX + 5; i++) {
		char sender[16];

		snprintf(sender, sizeof(sender), ":1.%u", i);
		add(c, i, DBUS_CALL, 7, 0, sender, "a");
	}
	assert_int_equal(dbus_calls_count(c), half + 5);
	assert_int_equal(dbus_calls_dropped(c, 0), half);
	assert_int_equal(dbus_calls_dropped(c, half - 1), half);
	assert_int_equal(dbus_calls_dropped(c, half), 0);
	add(c, DBUS_CALLS_MAX * 2, DBUS_RETURN, 1, 7, "a", ":1.5"); /* of a call that was dropped */
	for (uint32_t i = 0; i < 5; i++) {
		char sender[16];

		snprintf(sender, sizeof(sender), ":1.%u", half + i);
		add(c, DBUS_CALLS_MAX * 2, DBUS_ERROR, 1, 7, "a", sender);
		assert_int_equal(dbus_calls_at(c, i).time_ns, half + i);
		assert_string_equal(dbus_calls_at(c, i).sender, sender);
		expect(c, i, DBUS_CALL_RETURNED, DBUS_CALLS_MAX * 2 - (half + i), "e.r");
	}
	expect(c, 5, DBUS_CALL_OPEN, 0, "");
	dbus_calls_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_of_one_number_go_to_their_callers),
		cmocka_unit_test(a_number_that_is_used_again_is_that_of_the_later_call),
		cmocka_unit_test(a_clock_that_goes_back_gives_no_duration),
		cmocka_unit_test(the_older_half_is_dropped_and_counted_before_there_are_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
