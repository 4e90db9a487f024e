/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define NUMBERS (sizeof(struct account) / sizeof(uint64_t))

/* The n-th number is n + 1. */
static struct account numbered(void)
{
	struct account a;

	for (size_t i = 0; i < NUMBERS; i++)
		((uint64_t *)&a)[i] = i + 1;
	return a;
}

static void account_table_names_each_number_once(void **state)
{
	unsigned named[NUMBERS] = { 0 };

	for (size_t i = 0; i < account_field_count; i++) {
		assert_int_equal(account_fields[i].offset % sizeof(uint64_t), 0);
		for (size_t k = 0; k < account_numbers(&account_fields[i]); k++)
			named[account_fields[i].offset / sizeof(uint64_t) + k]++;
	}
	for (size_t i = 0; i < NUMBERS; i++)
		assert_int_equal(named[i], 1);
}

/* Numbers of one name are added up where they stand next to each other: twice would be two members. */
static void account_has_each_name_once_or_next_to_itself(void **state)
{
	for (size_t i = 0; i + 1 < account_field_count; i++)
		for (size_t k = i + 1; account_fields[i].name && k < account_field_count; k++)
			if (account_fields[k].name &&
			    !strcmp(account_fields[i].name, account_fields[k].name))
				assert_string_equal(account_fields[i].name,
						    account_fields[i + 1].name);
}

static void account_of_a_part_is_the_difference_of_what_adds_up(void **state)
{
	struct account all = numbered(), before = numbered(), part;

	all.row_count += 7;
	all.exit_count += 3;
	all.stack_why_count[UNWIND_WHY_COUNT - 1] += 2;
	all.lost_count[EBPREC_EV_METRIC] += 5;
	part = account_since(&all, &before);
	assert_int_equal(part.row_count, 7);
	assert_int_equal(part.exit_count, 3);
	assert_int_equal(part.sample_count, 0);
	assert_int_equal(part.stack_why_count[UNWIND_WHY_COUNT - 1], 2);
	assert_int_equal(part.lost_count[EBPREC_EV_METRIC], 5);
	assert_int_equal(part.hit_count, 0);
	assert_int_equal(part.table_bytes, all.table_bytes);
}

static void account_of_records_that_were_not_written_is_a_loss(void **state)
{
	static const struct {
		size_t offset;
		unsigned lost_as;
	} records[] = {
		{ offsetof(struct account, sample_count), EBPREC_EV_CPU },
		{ offsetof(struct account, switch_count), EBPREC_EV_SWITCH },
		{ offsetof(struct account, wakeup_count), EBPREC_EV_TASK },
		{ offsetof(struct account, task_count), EBPREC_EV_TASK },
		{ offsetof(struct account, exit_count), EBPREC_EV_EXIT },
		{ offsetof(struct account, waker_count), EBPREC_EV_WAKER },
		{ offsetof(struct account, mark_count), EBPREC_EV_MARK },
		{ offsetof(struct account, row_count), EBPREC_EV_METRIC },
		{ offsetof(struct account, args_count), EBPREC_EV_EXEC },
		{ offsetof(struct account, side_count), ACCOUNT_LOST_SIDE },
	};

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		struct account now = numbered(), written = numbered();
		uint64_t missing[EBPREC_EV_END + 1] = { 0 };

		*(uint64_t *)((char *)&now + records[i].offset) += 11;
		now.stack_how_count[STACK_RESULT_CFI]++;
		now.throttle_count++;
		now.args_cut_count++;
		now.jit_file_count += 3;
		now.jit_bytes += 1000;
		now.jit_cut_count++;
		account_give_up(&now, &written, missing);
		for (unsigned type = 0; type <= EBPREC_EV_END; type++)
			assert_int_equal(missing[type], type == records[i].lost_as ? 11 : 0);
		written.throttle_count++;
		written.jit_missing_count += 3; /* no name, as if there were no file */
		assert_memory_equal(&now, &written, sizeof(now));
	}
}

static void account_lost_is_what_the_rings_and_the_writer_lost(void **state)
{
	struct account a = { .sample_count = 1000, .args_missing_count = 1000 };

	a.lost_count[EBPREC_EV_WAKER] = 2;
	a.side_lost_count = 30;
	a.interrupted_count = 400;
	assert_int_equal(account_lost(&a), 432);
}

static void account_as_json_has_objects_and_sums(void **state)
{
	struct account a = { .sample_count = 12, .table_bytes = 13, .args_count = 14 };
	struct outbuf out = { 0 };
	struct json_writer j = { .out = &out };
	const char *text;

	a.lost_count[EBPREC_EV_MARK] = 20;
	a.lost_count[EBPREC_EV_CODE] = 4;
	a.code_refused_count = 5;
	a.layers_missing_count = 6;
	a.not_begun_count = 7;
	a.lost_count[EBPREC_EV_PROBE] = 3;
	a.stack_why_count[UNWIND_NO_TABLE] = 5;
	json_writer_begin(&j, NULL);
	account_json(&j, &a);
	json_writer_u64(&j, "behind", 1);
	json_writer_end(&j);
	outbuf_add(&out, "", 1);
	text = (const char *)out.data;
	assert_non_null(strstr(text, "\n  \"samples\": 12,\n"));
	assert_non_null(strstr(text, "\n    \"marks\": 23,\n"));
	assert_non_null(strstr(text, "\n    \"code_names\": 9,\n"));
	assert_non_null(strstr(text, "\n    \"mount_layers\": 6,\n"));
	assert_non_null(strstr(text, "\n    \"not_begun\": 7,\n"));
	assert_non_null(strstr(text, "\n    \"tables\": {\n      \"built\": 0,\n"));
	assert_non_null(strstr(text, "      \"bytes\": 13,\n"));
	assert_non_null(strstr(text, "\n    \"processes_without_room\": 0\n  },\n"));
	assert_non_null(strstr(text, "\n  \"behind\": 1\n}"));
	assert_non_null(strstr(text, unwind_why_text(UNWIND_NO_TABLE)));
	assert_null(strstr(text, unwind_why_text(UNWIND_NO_ROOM)));
	assert_null(strstr(strstr(text, "\"lost\"") + 1, "\"lost\""));
	outbuf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(account_table_names_each_number_once),
		cmocka_unit_test(account_has_each_name_once_or_next_to_itself),
		cmocka_unit_test(account_of_a_part_is_the_difference_of_what_adds_up),
		cmocka_unit_test(account_of_records_that_were_not_written_is_a_loss),
		cmocka_unit_test(account_lost_is_what_the_rings_and_the_writer_lost),
		cmocka_unit_test(account_as_json_has_objects_and_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
