/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/tracepoint/layout.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/cursor.h"

#define HEAD                             \
	"name: some\nID: 371\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"

#define FIELD(type, name, off, size) \
	"\tfield:" type " " name ";\toffset:" #off ";\tsize:" #size ";\tsigned:0;\n"

static const char *const names[] = { "comm", "pid", "flag", NULL };

static void tplayout_puts_a_comm_into_the_record(void **state)
{
	struct tracepoint_layout l;
	struct tracepoint_raw r;

	assert_int_equal(tracepoint_layout_from_format(HEAD FIELD("char", "comm[16]", 8, 16)
							       FIELD("pid_t", "pid", 24, 4)
								       FIELD("bool", "flag", 28, 1),
						       names, &l),
			 0);
	tracepoint_raw_begin(&r, &l, 8, 77);
	tracepoint_raw_comm(&r, 0, "exactly16letters");
	tracepoint_raw_number(&r, 1, 1234);
	tracepoint_raw_number(&r, 2, 1);
	assert_int_equal(tracepoint_raw_end(&r), 36); /* 32, and 4 + 36 is a multiple of 8 */
	assert_int_equal(le16_load(r.bytes), 371);
	assert_int_equal(r.bytes[2], 8);
	assert_int_equal(le32_load(r.bytes + 4), 77);
	assert_string_equal((char *)r.bytes + 8, "exactly16letter");
	assert_int_equal(le32_load(r.bytes + 24), 1234);
	assert_int_equal(r.bytes[28], 1);
}

static void tplayout_puts_a_comm_behind_the_record(void **state)
{
	static const char *const two[] = { "comm", "child", NULL };
	const char parent[TRACEPOINT_LAYOUT_COMM_BYTES] = "parent",
		   child[TRACEPOINT_LAYOUT_COMM_BYTES] = "";
	struct tracepoint_layout l;
	struct tracepoint_raw r;
	uint32_t at;

	assert_int_equal(
		tracepoint_layout_from_format(HEAD FIELD("__data_loc char[]", "comm", 8, 4)
						      FIELD("__data_loc char[]", "child", 12, 4),
					      two, &l),
		0);
	tracepoint_raw_begin(&r, &l, 0, 1);
	tracepoint_raw_comm(&r, 0, parent);
	tracepoint_raw_comm(&r, 1, child);
	assert_int_equal((4 + tracepoint_raw_end(&r)) % 8, 0);
	at = le32_load(r.bytes + 8);
	assert_int_equal(at >> 16, 7);
	assert_string_equal((char *)r.bytes + (at & 0xffff), "parent");
	at = le32_load(r.bytes + 12);
	assert_int_equal(at >> 16, 1);
	assert_string_equal((char *)r.bytes + (at & 0xffff), "");
}

static void tplayout_refuses_what_it_does_not_know(void **state)
{
	static const char *const cases[] = {
		"",
		HEAD,
		/* one is missing */
		HEAD FIELD("char", "comm[16]", 8, 16) FIELD("pid_t", "pid", 24, 4),
		/* of a size we do not know */
		HEAD FIELD("char", "comm[32]", 8, 32) FIELD("pid_t", "pid", 40, 4)
			FIELD("bool", "flag", 44, 1),
		/* inside the common header */
		HEAD FIELD("char", "comm[16]", 4, 16) FIELD("pid_t", "pid", 24, 4)
			FIELD("bool", "flag", 28, 1),
		/* far outside */
		HEAD FIELD("char", "comm[16]", 8, 16) FIELD("pid_t", "pid", 24, 4)
			FIELD("bool", "flag", 4000, 1),
		/* a string elsewhere whose place takes 8 bytes */
		HEAD FIELD("__data_loc char[]", "comm", 8, 8) FIELD("pid_t", "pid", 24, 4)
			FIELD("bool", "flag", 28, 1),
	};
	struct tracepoint_layout l = { .id = 42 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (tracepoint_layout_from_format(cases[i], names, &l) != -EBADMSG)
			fail_msg("taken: '%s'", cases[i]);
		assert_int_equal(l.id, 42);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tplayout_puts_a_comm_into_the_record),
		cmocka_unit_test(tplayout_puts_a_comm_behind_the_record),
		cmocka_unit_test(tplayout_refuses_what_it_does_not_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
