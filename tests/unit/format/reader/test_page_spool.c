/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* A page gives the capture that it carries, byte for byte, or none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/base/base64.h"
#include "format/reader/page_spool.h"

#define BEGIN "<!DOCTYPE html>\n<body><pre>&lt;script</pre>\n"
#define END   "<script>viewer</script></body></html>\n"

/* A page of so many bytes of noise, and what stands in front of them. */
static struct outbuf make_page(const uint8_t *bytes, size_t size, size_t padding)
{
	struct outbuf page = { 0 };
	struct source capture;

	source_of_bytes(bytes, size, &capture);
	outbuf_add(&page, BEGIN, strlen(BEGIN));
	memset(outbuf_reserve(&page, padding), ' ', padding);
	page.size_bytes += padding;
	assert_true(page_spool_add(&page, &capture));
	outbuf_add(&page, END, strlen(END));
	assert_true(outbuf_ok(&page));
	return page;
}

static void fill(uint8_t *bytes, size_t size)
{
	uint32_t state = 7;

	for (size_t i = 0; i < size; i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(state >> 24);
	}
}

/* The result of page_spool_take(); where it is 0, it wrote the wanted bytes. */
static int take(const uint8_t *page, size_t page_bytes, const uint8_t *wanted, size_t size,
		struct parse_err *err)
{
	int fd = memfd_create("test", MFD_CLOEXEC), ret;
	uint8_t *got = malloc(size + 1);
	uint64_t bytes = 0;
	struct source s;

	assert_true(fd >= 0);
	source_of_bytes(page, page_bytes, &s);
	assert_true(page_spool_is(&s));
	ret = page_spool_take(&s, fd, &bytes, err);
	if (!ret) {
		assert_int_equal(bytes, size);
		assert_int_equal(pread(fd, got, size + 1, 0), (ssize_t)size);
		assert_memory_equal(got, wanted, size);
	}
	close(fd);
	free(got);
	return ret;
}

static void captures_of_all_lengths_come_back(void **state)
{
	static uint8_t bytes[200000];
	static const size_t sizes[] = { 1, 2, 3, 4, 49151, 49152, 49153, 200000 };
	static const size_t paddings[] = { 0, (256 << 10) - 80, (256 << 10) - 60, 300000 };

	(void)state;
	fill(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t k = 0; k < sizeof(paddings) / sizeof(paddings[0]); k++) {
			struct outbuf page = make_page(bytes, sizes[i], paddings[k]);

			assert_int_equal(take(page.data, page.size_bytes, bytes, sizes[i], NULL),
					 0);
			outbuf_done(&page);
		}
}

/* The scan looks at overlapping pieces: a block on each of their borders is found. */
static void a_block_on_the_border_of_two_pieces_is_found(void **state)
{
	static uint8_t bytes[9];

	(void)state;
	fill(bytes, sizeof(bytes));
	for (size_t back = 0; back < 130; back++) {
		struct outbuf page = make_page(bytes, sizeof(bytes), (256 << 10) - back);

		assert_int_equal(take(page.data, page.size_bytes, bytes, sizeof(bytes), NULL), 0);
		outbuf_done(&page);
	}
}

static void a_page_that_is_cut_gives_none(void **state)
{
	uint8_t bytes[100];
	struct outbuf page;

	(void)state;
	fill(bytes, sizeof(bytes));
	page = make_page(bytes, sizeof(bytes), 0);
	for (size_t size = strlen(BEGIN); size < page.size_bytes - strlen(END) - 1; size++) {
		struct parse_err err = { 0 };
		uint8_t *copy = malloc(size);

		memcpy(copy, page.data, size);
		assert_int_equal(take(copy, size, bytes, sizeof(bytes), &err), -EBADMSG);
		assert_non_null(err.what);
		free(copy);
	}
	outbuf_done(&page);
}

static void a_page_with_a_changed_bit_gives_none_or_the_same(void **state)
{
	uint8_t bytes[100];
	struct outbuf page;
	size_t refused = 0;

	(void)state;
	fill(bytes, sizeof(bytes));
	page = make_page(bytes, sizeof(bytes), 0);
	for (size_t i = strlen("<!DOCTYPE html>"); i < page.size_bytes; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			page.data[i] ^= (uint8_t)(1u << bit);
			refused += take(page.data, page.size_bytes, bytes, sizeof(bytes), NULL) !=
				   0;
			page.data[i] ^= (uint8_t)(1u << bit);
		}
	/* Every bit of the base64, at least. */
	assert_true(refused > base64_chars(sizeof(bytes)) * 8);
	outbuf_done(&page);
}

static void wrong_lengths_and_checksums_are_refused(void **state)
{
	static const char *const heads[] = {
		"\" data-crc32c=\"00000000\" id=\"capture\">AAAA</script>",
		"-3\" data-crc32c=\"8c28b28a\" id=\"capture\">AAAA</script>",
		" 3\" data-crc32c=\"8c28b28a\" id=\"capture\">AAAA</script>",
		"4\" data-crc32c=\"8c28b28a\" id=\"capture\">AAAA</script>",
		"2\" data-crc32c=\"8c28b28a\" id=\"capture\">AAAA</script>",
		"3\" data-crc32c=\"00000000\" id=\"capture\">AAAA</script>",
		"3\" data-crc32c=\"\" id=\"capture\">AAAA</script>",
		"3\" id=\"capture\">AAAA</script>",
		"3\" data-crc32c=\"8c28b28a\" id=\"other\">AAAA</script>",
		"3\" data-crc32c=\"8c28b28a\" id=\"capture\">AAAAAAAA</script>",
		"3\" data-crc32c=\"8c28b28a\" id=\"capture\">AA\nA</script>",
		"3\" data-crc32c=\"8c28b28a\" id=\"capture\">AAA=</script>",
		"18446744073709551615\" data-crc32c=\"8c28b28a\" id=\"capture\">AAAA</script>",
		"99999999999999999999999\" data-crc32c=\"8c28b28a\" id=\"capture\">AAAA</script>",
		"13835058055282163712\" data-crc32c=\"8c28b28a\" id=\"capture\">AAAA</script>",
	};
	static const uint8_t zeros[3];
	struct outbuf good = make_page(zeros, sizeof(zeros), 0);

	(void)state;
	assert_non_null(memmem(good.data, good.size_bytes, "AAAA</script>", 13));
	outbuf_done(&good);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct parse_err err = { 0 };
		char text[400];
		int size = snprintf(text, sizeof(text),
				    BEGIN
				    "<script type=\"application/x-ebprec\" data-bytes=\"%s\n" END,
				    heads[i]);

		assert_int_equal(take((const uint8_t *)text, (size_t)size, zeros, 3, &err),
				 -EBADMSG);
		assert_non_null(err.what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_of_all_lengths_come_back),
		cmocka_unit_test(a_block_on_the_border_of_two_pieces_is_found),
		cmocka_unit_test(a_page_that_is_cut_gives_none),
		cmocka_unit_test(a_page_with_a_changed_bit_gives_none_or_the_same),
		cmocka_unit_test(wrong_lengths_and_checksums_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
