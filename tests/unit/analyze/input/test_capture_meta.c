/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/input/capture_meta.h"
#include "tests/unit/finished.h"

static struct capture *capture_with(uint64_t object, const char *text, size_t size_bytes,
				    struct bytes *b)
{
	maker_begin(&maker, false);
	assert_int_equal(writer_object(maker.w, EBX_META, object, text, size_bytes), 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	*b = maker_bytes(&maker);
	maker_end(&maker);
	return open_bytes(b);
}

/* The value of "key" in the text as JSON; "-": there is none. */
static const char *key_of_bytes(const char *text, size_t size_bytes)
{
	static char out[200];
	struct bytes b;
	struct capture *c = capture_with(EBX_META_START, text, size_bytes, &b);
	struct capture_meta_value meta = capture_meta_read(c, EBX_META_START);
	struct capture_meta_value v = capture_meta_member(meta, "key");

	snprintf(out, sizeof(out), "%.*s", v.text ? (int)v.size_bytes : 1, v.text ? v.text : "-");
	capture_meta_free(meta);
	capture_close(c);
	free(b.data);
	return out;
}

/* With its NULs. */
#define TEXT(literal) literal, sizeof(literal) - 1

static const char *key_of(const char *text)
{
	return key_of_bytes(text, strlen(text));
}

static void member_is_found_by_its_key_alone(void **state)
{
	assert_string_equal(key_of("{\"key\": 1}"), "1");
	assert_string_equal(key_of("{\"a\":{\"b\":2,\"key\" : \"x, }\" }, \"z\":3}"), "\"x, }\"");
	assert_string_equal(key_of("{\"a\": \"key\", \"b\": \"\\\"key\\\": 1\", \"key\": 2}"), "2");
	/* a key that ends like it */
	assert_string_equal(key_of("{\"\\\"key\": 1, \"key\": 2}"), "2");
	assert_string_equal(key_of("{\"a\": [\"key\", {\"key\": 1}, [[]]], \"key\": 2}"), "2");
	assert_string_equal(key_of("{\"keys\": 1, \"ke\": 2}"), "-");
	assert_string_equal(key_of("[{\"key\": 1}]"), "-");
	assert_string_equal(key_of("{\"key\": [1, {\"a\": \"]\"}], \"b\": 1}"),
			    "[1, {\"a\": \"]\"}]");
}

static void text_that_is_no_json_has_no_values(void **state)
{
	char deep[3 * 70 + 20] = "";

	assert_string_equal(key_of("key\": 1"), "-");
	assert_string_equal(key_of("{\"key\": 1"), "-");
	assert_string_equal(key_of("{\"key\": 1}}"), "-");
	assert_string_equal(key_of("{\"key\": 1, }"), "-");
	assert_string_equal(key_of("{\"key\": \"1}"), "-");
	assert_string_equal(key_of(""), "-");
	assert_string_equal(key_of_bytes(TEXT("{\"key\": 1, \"a\0\": 2}")), "-");
	assert_string_equal(key_of_bytes(TEXT("{\"a\": \"\0\", \"key\": 1}")), "-");
	assert_string_equal(key_of_bytes(TEXT("{\"key\": 1, \"a\\\0\": 2}")), "-");
	strcat(deep, "{\"key\": 1, \"a\": ");
	for (int i = 0; i < 70; i++)
		strcat(deep, "[");
	for (int i = 0; i < 70; i++)
		strcat(deep, "]");
	assert_string_equal(key_of(strcat(deep, "}")), "-");
}

static struct capture_meta_value text_of(const char *text)
{
	return (struct capture_meta_value){ text, strlen(text) };
}

static void numbers_have_64_bits_or_are_none(void **state)
{
	static const char *const bad[] = {
		"", "-1", "1.5", "1e3", "18446744073709551616", "\"1\"", "true", "{}",
	};
	uint64_t n = 7;

	assert_true(capture_meta_number(text_of("18446744073709551615"), NULL, &n));
	assert_true(n == UINT64_MAX);
	assert_true(capture_meta_number(text_of("{\"a\": {\"n\": 12 }}"), "n", &n));
	assert_int_equal(n, 12);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(capture_meta_number(text_of(bad[i]), NULL, &n));
	assert_int_equal(n, 12);
}

static void strings_lose_their_escapes(void **state)
{
	char *text = capture_meta_string(text_of("\"a\\\"b\\\\\\/\\u00e9\\u20AC\""));

	assert_string_equal(text, "a\"b\\/\xc3\xa9\xe2\x82\xac");
	free(text);
	assert_null(capture_meta_string(text_of("\"\\q\"")));
	assert_null(capture_meta_string(text_of("\"\\ud800\"")));
	assert_null(capture_meta_string(text_of("\"\\u00\"")));
	assert_null(capture_meta_string(text_of("1")));
}

static void elements_of_an_array_come_one_by_one(void **state)
{
	const struct capture_meta_value array = text_of("[ 1, {\"a\": \"}],\"} ,[2] ]");
	struct capture_meta_value at = capture_meta_first(array);

	assert_true(at.size_bytes == 1 && *at.text == '1');
	at = capture_meta_next(array, at);
	assert_int_equal(at.size_bytes, strlen("{\"a\": \"}],\"}"));
	at = capture_meta_next(array, at);
	assert_memory_equal(at.text, "[2]", 3);
	assert_null(capture_meta_next(array, at).text);
	assert_null(capture_meta_first(text_of("[]")).text);
	assert_null(capture_meta_first(text_of("{}")).text);
}

static void parts_without_times_of_switches_have_those_of_records(void **state)
{
	static const char text[] =
		"{\"parts\": [{\"from_mono_ns\": 1, \"to_mono_ns\": 5},"
		"{\"name\": \"}\", \"from_mono_ns\": 9, \"to_mono_ns\": 12,"
		"\"switches_from_mono_ns\": 10, \"switches_to_mono_ns\": 11, \"system_wide\": true},"
		"{\"from_mono_ns\": 11}]}";
	struct capture_meta_part parts[CAPTURE_META_PARTS_MAX];
	struct bytes b;
	struct capture *c = capture_with(EBX_META_PARTS, text, sizeof(text) - 1, &b);

	assert_int_equal(capture_meta_parts(c, parts), 2);
	assert_int_equal(parts[0].switches.from_ns, 1);
	assert_int_equal(parts[0].switches.to_ns, 5);
	assert_false(parts[0].system_wide);
	assert_int_equal(parts[1].records.from_ns, 9);
	assert_int_equal(parts[1].switches.from_ns, 10);
	assert_int_equal(parts[1].switches.to_ns, 11);
	assert_true(parts[1].system_wide);
	capture_close(c);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(member_is_found_by_its_key_alone),
		cmocka_unit_test(text_that_is_no_json_has_no_values),
		cmocka_unit_test(numbers_have_64_bits_or_are_none),
		cmocka_unit_test(strings_lose_their_escapes),
		cmocka_unit_test(elements_of_an_array_come_one_by_one),
		cmocka_unit_test(parts_without_times_of_switches_have_those_of_records),
	};

	return cmocka_run_group_tests_name("capture_meta", tests, NULL, NULL);
}
