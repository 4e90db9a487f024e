/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Bytes as text and back: the examples of RFC 4648, and texts that are of no bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/base64.h"

static void bytes_become_the_text_of_the_rfc_and_come_back(void **state)
{
	static const char *const pairs[][2] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
		{ "\xfb\xff\xbf", "+/+/" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const char *bytes = pairs[i][0], *text = pairs[i][1];
		struct outbuf out = { 0 };
		uint8_t back[16];
		size_t size;

		base64_add(&out, (const uint8_t *)bytes, strlen(bytes));
		assert_int_equal(out.size_bytes, strlen(text));
		assert_int_equal(base64_chars(strlen(bytes)), strlen(text));
		if (*text)
			assert_memory_equal(out.data, text, strlen(text));
		assert_true(base64_decode((const uint8_t *)text, strlen(text), back, &size));
		assert_int_equal(size, strlen(bytes));
		assert_memory_equal(back, bytes, size);
		outbuf_done(&out);
	}
}

static void texts_of_no_bytes_are_refused(void **state)
{
	static const char *const texts[] = { "A",
					     "AA",
					     "AAA",
					     "====",
					     "A===",
					     "AA=A",
					     "AA==AAAA",
					     "AB==",
					     "AAB=",
					     "AA-_",
					     "AA A",
					     "AAA\n",
					     "\xc1"
					     "AAA",
					     "AAAAA",
					     "A=A=" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		uint8_t back[16];
		size_t size;

		assert_false(
			base64_decode((const uint8_t *)texts[i], strlen(texts[i]), back, &size));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_become_the_text_of_the_rfc_and_come_back),
		cmocka_unit_test(texts_of_no_bytes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
