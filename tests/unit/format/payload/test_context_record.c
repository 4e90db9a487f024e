/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/payload/context_record.h"

/*
 * As protoc writes it: resource { attributes { key: "x" value { int_value: 3 } } attributes { key: "service.name"
 * value { string_value: "check\u00f6-out" } } dropped_attributes_count: 2 } attributes { key: "service.name" value {
 * string_value: "other" } }
 */
static const uint8_t example[] = "\x0a\x2a"
				 "\x0a\x07\x0a\x01x\x12\x02\x18\x03"
				 "\x0a\x1d\x0a\x0cservice.name\x12\x0d\x0a\x0b"
				 "check\xc3\xb6-out"
				 "\x10\x02"
				 "\x12\x17\x0a\x0cservice.name\x12\x07\x0a\x05other";

static bool has_name(const uint8_t *message, size_t size_bytes, const char *want)
{
	/* A sanitizer sees what is read behind it. */
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);
	const char *name;
	size_t name_bytes;
	bool found;

	memcpy(copy, message, size_bytes);
	found = context_record_service(copy, size_bytes, &name, &name_bytes);
	if (found) {
		assert_true((const uint8_t *)name >= copy &&
			    (const uint8_t *)name + name_bytes <= copy + size_bytes);
		assert_true(name_bytes && name_bytes <= CONTEXT_RECORD_NAME_MAX);
		found = name_bytes == strlen(want) && !memcmp(name, want, name_bytes);
	}
	free(copy);
	return found;
}

static void name_is_that_of_the_resource(void **state)
{
	(void)state;
	assert_true(has_name(example, sizeof(example) - 1, "check\xc3\xb6-out"));
}

static void message_that_is_cut_has_no_name(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof(example) - 1; size++)
		/* Cut between two fields it is complete. */
		assert_int_equal(has_name(example, size, "check\xc3\xb6-out"), size == 44);
}

static void any_byte_may_be_wrong(void **state)
{
	uint8_t bad[sizeof(example) - 1];

	(void)state;
	for (size_t i = 0; i < sizeof(bad); i++)
		for (unsigned value = 0; value < 256; value++) {
			memcpy(bad, example, sizeof(bad));
			bad[i] = (uint8_t)value;
			(void)has_name(bad, sizeof(bad), "");
		}
}

static void lengths_that_overflow_have_no_name(void **state)
{
	static const char *const bad[] = {
		"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x",
		"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x",
		"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80",
		"\x0b",
		"\x0c",
		"\x0f\x01",
		"\x09"
		"1234567",
		"\x0d"
		"123",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(has_name((const uint8_t *)bad[i], strlen(bad[i]), ""));
}

static bool is_taken(const char *name, size_t name_bytes)
{
	uint8_t message[CONTEXT_RECORD_NAME_MAX + 64];
	size_t size = context_record_message(name, name_bytes, message);

	return has_name(message, size, name);
}

static void names_that_are_none_are_refused(void **state)
{
	char longest[CONTEXT_RECORD_NAME_MAX + 1];

	(void)state;
	memset(longest, 'a', CONTEXT_RECORD_NAME_MAX);
	longest[CONTEXT_RECORD_NAME_MAX] = '\0';
	for (size_t size = 1; size <= CONTEXT_RECORD_NAME_MAX; size++)
		assert_true(is_taken(longest + CONTEXT_RECORD_NAME_MAX - size, size));
	assert_true(is_taken("unknown_services", 16));
	assert_true(is_taken("unknown", 7));
	assert_false(is_taken("", 0));
	assert_false(is_taken("unknown_service", 15));
	assert_false(is_taken("unknown_service:java", 20));
	assert_false(is_taken("a\nb", 3));
	assert_false(is_taken("\x1b[31m", 5));
	assert_false(is_taken("a\x7f", 2));
}

static void message_of_a_name_is_not_larger_than_where_it_was_found(void **state)
{
	uint8_t bytes[sizeof(example) - 1];
	const char *name;
	size_t name_bytes, size;

	(void)state;
	memcpy(bytes, example, sizeof(bytes));
	assert_true(context_record_service(bytes, sizeof(bytes), &name, &name_bytes));
	size = context_record_message(name, name_bytes, bytes); /* over itself */
	assert_true(size <= sizeof(bytes));
	assert_true(has_name(bytes, size, "check\xc3\xb6-out"));
}

static void entries_come_back_and_broken_ones_end_the_sequence(void **state)
{
	uint8_t bytes[2 * CONTEXT_RECORD_HEAD_BYTES + sizeof(example) + 8];
	struct context_record r = { .pid = 7, .since_ns = 1ULL << 40, .size_bytes = 5 }, got;
	struct cursor c;

	(void)state;
	context_record_encode(&r, bytes);
	memcpy(bytes + CONTEXT_RECORD_HEAD_BYTES, "12345678", 8);
	le32_store(bytes, CONTEXT_RECORD_HEAD_BYTES + 8); /* three bytes of a later version */
	context_record_encode(&(struct context_record){ .pid = 8 },
			      bytes + CONTEXT_RECORD_HEAD_BYTES + 8);
	c = cursor_of(bytes, 2 * CONTEXT_RECORD_HEAD_BYTES + 8);
	assert_int_equal(context_record_next(&c, &got), 1);
	assert_int_equal(got.pid, 7);
	assert_int_equal(got.since_ns, 1ULL << 40);
	assert_int_equal(got.size_bytes, 5);
	assert_memory_equal(got.message, "12345", 5);
	assert_int_equal(context_record_next(&c, &got), 1);
	assert_int_equal(got.pid, 8);
	assert_int_equal(got.size_bytes, 0);
	assert_int_equal(context_record_next(&c, &got), 0);
	for (size_t size = 1; size < CONTEXT_RECORD_HEAD_BYTES + 8; size++) {
		c = cursor_of(bytes, size);
		assert_int_equal(context_record_next(&c, &got), -EBADMSG);
	}
	le32_store(bytes + 16, 9);
	c = cursor_of(bytes, sizeof(bytes));
	assert_int_equal(context_record_next(&c, &got), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_is_that_of_the_resource),
		cmocka_unit_test(message_that_is_cut_has_no_name),
		cmocka_unit_test(any_byte_may_be_wrong),
		cmocka_unit_test(lengths_that_overflow_have_no_name),
		cmocka_unit_test(names_that_are_none_are_refused),
		cmocka_unit_test(message_of_a_name_is_not_larger_than_where_it_was_found),
		cmocka_unit_test(entries_come_back_and_broken_ones_end_the_sequence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
