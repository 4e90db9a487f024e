/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/jvm_asker.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define STATUS(state, uid, nspid, caught)                                               \
	"Name:\tjava\nState:\t" state "\nUid:\t" uid "\nGid:\t5\t6\t7\t8\nNSpid:" nspid \
	"\nSigCgt:\t" caught "\n"

static void target_is_as_proc_has_it(void **state)
{
	struct jvm_asker_target t;

	(void)state;
	assert_int_equal(jvm_asker_parse_status(STATUS("S (sleeping)", "1\t2\t3\t4",
						       "\t4711\t77\t9", "2000000181005ccf"),
						&t),
			 0);
	assert_int_equal(t.user, 2);
	assert_int_equal(t.group, 6);
	assert_int_equal(t.inner_pid, 9);
	assert_true(t.catches_quit);
	assert_false(t.is_stopped);
	assert_int_equal(
		jvm_asker_parse_status(
			STATUS("T (stopped)", "1\t2\t3\t4", "\t4711", "2000000181005ccb"), &t),
		0);
	assert_int_equal(t.inner_pid, 4711);
	assert_false(t.catches_quit);
	assert_true(t.is_stopped);
}

static void broken_status_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"Uid:\t1\t2\n",
		STATUS("S", "1", "\t1", "0"),
		STATUS("S", "1\t", "\t1", "0"),
		STATUS("S", "1\tx", "\t1", "0"),
		STATUS("S", "1\t4294967295", "\t1", "0"),
		STATUS("S", "1\t2", "", "0"),
		STATUS("S", "1\t2", "\t0", "0"),
		STATUS("S", "1\t2", "\t99999999999999999999", "0"),
		STATUS("S", "1\t2", "\t1", ""),
	};
	struct jvm_asker_target t;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (jvm_asker_parse_status(texts[i], &t) != -EBADMSG)
			fail_msg("%zu: %s", i, texts[i]);
}

static void answer_begins_with_its_result(void **state)
{
	(void)state;
	assert_int_equal(jvm_asker_parse_answer("0\n", 2), JVM_ASKER_DONE);
	assert_int_equal(jvm_asker_parse_answer("0\ndone\n", 7), JVM_ASKER_DONE);
	assert_int_equal(jvm_asker_parse_answer("100\nnot there\n", 14), JVM_ASKER_REFUSED);
	assert_int_equal(jvm_asker_parse_answer("0", 1), JVM_ASKER_REFUSED);
	assert_int_equal(jvm_asker_parse_answer("", 0), JVM_ASKER_SILENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(target_is_as_proc_has_it),
		cmocka_unit_test(broken_status_is_refused),
		cmocka_unit_test(answer_begins_with_its_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
