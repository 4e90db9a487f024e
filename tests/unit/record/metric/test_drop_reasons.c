/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/drop_reasons.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define LONG "OF_MORE_LETTERS_THAN_ANY_THAT_IS"

static struct btf *types_with(const char *name)
{
	struct btf *btf = btf__new_empty();

	assert_non_null(btf);
	assert_true(btf__add_enum(btf, name, 4) > 0);
	assert_int_equal(0, btf__add_enum_value(btf, "SKB_NOT_DROPPED_YET", 0));
	assert_int_equal(0, btf__add_enum_value(btf, "SKB_DROP_REASON_NO_SOCKET", 3));
	assert_int_equal(0, btf__add_enum_value(btf, "SKB_DROP_REASON_" LONG, 255));
	assert_int_equal(0, btf__add_enum_value(btf, "SKB_DROP_REASON_BEHIND", 256));
	assert_int_equal(0, btf__add_enum_value(btf, "SKB_DROP_REASON_SUBSYS_MASK", -65536));
	return btf;
}

static void dropreasons_are_the_kernels_names_without_what_they_share(void **state)
{
	struct btf *btf = types_with("skb_drop_reason");
	struct drop_reasons got;

	assert_int_equal(0, drop_reasons_from_btf(btf, &got));
	assert_string_equal("SKB_NOT_DROPPED_YET", got.names[0]);
	assert_string_equal("", got.names[1]);
	assert_string_equal("NO_SOCKET", got.names[3]);
	assert_string_equal("OF_MORE_LETTERS_THAN_ANY_THAT_I", got.names[255]);
	btf__free(btf);
}

static void dropreasons_of_types_without_them_are_none(void **state)
{
	struct btf *btf = types_with("another_reason");
	struct drop_reasons got = { .names[3] = "as it was" };

	assert_int_equal(-ENOENT, drop_reasons_from_btf(btf, &got));
	assert_string_equal("as it was", got.names[3]);
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dropreasons_are_the_kernels_names_without_what_they_share),
		cmocka_unit_test(dropreasons_of_types_without_them_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
