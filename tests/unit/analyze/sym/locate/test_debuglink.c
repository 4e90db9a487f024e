/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* debuglink: sections that name other files, complete and broken, and what xz packed */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/sym/locate/debuglink.h"

/* An ELF file of one section besides the empty one and the names. */
struct tiny {
	uint8_t bytes[64 + 64 + 64 + 3 * 64];
	struct elf_file *elf;
};

static void put(uint8_t *at, uint64_t v, size_t n)
{
	while (n--) {
		*at++ = (uint8_t)v;
		v >>= 8;
	}
}

static void tiny_make(struct tiny *t, const char *section, const void *data, size_t data_bytes)
{
	static const uint8_t ident[16] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	uint8_t *sections = t->bytes + 192;

	assert_true(data_bytes <= 64);
	memset(t->bytes, 0, sizeof(t->bytes));
	memcpy(t->bytes, ident, sizeof(ident));
	put(t->bytes + 16, 3, 2);  /* ET_DYN */
	put(t->bytes + 18, 62, 2); /* EM_X86_64 */
	put(t->bytes + 20, 1, 4);
	put(t->bytes + 40, 192, 8); /* e_shoff */
	put(t->bytes + 52, 64, 2);
	put(t->bytes + 58, 64, 2);
	put(t->bytes + 60, 3, 2);
	put(t->bytes + 62, 2, 2); /* names */
	memcpy(t->bytes + 64, data, data_bytes);
	memcpy(t->bytes + 129, section, strlen(section));
	put(sections + 64, 1, 4);
	put(sections + 64 + 4, 1, 4); /* SHT_PROGBITS */
	put(sections + 64 + 24, 64, 8);
	put(sections + 64 + 32, data_bytes, 8);
	put(sections + 128 + 4, 3, 4); /* SHT_STRTAB */
	put(sections + 128 + 24, 128, 8);
	put(sections + 128 + 32, 64, 8);
	assert_int_equal(elf_file_from_bytes(t->bytes, sizeof(t->bytes), &t->elf), 0);
}

static void debuglink_reads_name_and_crc(void **state)
{
	static const struct {
		const char *data;
		size_t size_bytes;
		int err;
		const char *name;
	} cases[] = {
		{ "app.debug\0\0\0\x01\x02\x03\x04", 16, 0, "app.debug" },
		{ "abc\0\x01\x02\x03\x04", 8, 0, "abc" },
		{ "abc\0\x01\x02\x03\x04 and more", 17, 0, "abc" },
		{ "abc\0\x01\x02\x03", 7, -EBADMSG, NULL },
		{ "abcd\0\0\0\0\x01\x02\x03", 11, -EBADMSG, NULL },
		{ "abcd", 4, -EBADMSG, NULL }, /* no end */
		{ "\0\0\0\0\x01\x02\x03\x04", 8, -EBADMSG, NULL },
		{ "", 0, -EBADMSG, NULL },
		{ "../etc/passwd\0\0\0\x01\x02\x03\x04", 20, -EBADMSG, NULL },
		{ "/etc\0\0\0\0\x01\x02\x03\x04", 12, -EBADMSG, NULL },
		{ "..\0\0\x01\x02\x03\x04", 8, -EBADMSG, NULL },
	};
	struct debuglink link;
	struct tiny t;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tiny_make(&t, ".gnu_debuglink", cases[i].data, cases[i].size_bytes);
		assert_int_equal(debuglink_read(t.elf, &link), cases[i].err);
		if (!cases[i].err) {
			assert_string_equal(link.name, cases[i].name);
			assert_int_equal(link.crc32, 0x04030201);
			free(link.name);
		}
		elf_file_close(t.elf);
	}
	tiny_make(&t, ".other", "abc\0\x01\x02\x03\x04", 8);
	assert_int_equal(debuglink_read(t.elf, &link), -ENOENT);
	elf_file_close(t.elf);
}

static void altlink_reads_path_and_build_id(void **state)
{
	struct altlink link;
	struct tiny t;

	tiny_make(&t, ".gnu_debugaltlink", "../x/y\0abcdefghijklmnopqrst", 27);
	assert_int_equal(altlink_read(t.elf, &link), 0);
	assert_string_equal(link.path, "../x/y");
	assert_int_equal(link.build_id.size_bytes, 20);
	assert_memory_equal(link.build_id.bytes, "abcdefghijklmnopqrst", 20);
	free(link.path);
	elf_file_close(t.elf);
	tiny_make(&t, ".gnu_debugaltlink", "../x/y\0", 7); /* no id */
	assert_int_equal(altlink_read(t.elf, &link), -EBADMSG);
	elf_file_close(t.elf);
	tiny_make(&t, ".gnu_debugaltlink", "../x/y", 6);
	assert_int_equal(altlink_read(t.elf, &link), -EBADMSG);
	elf_file_close(t.elf);
}

/* "123456789" has the CRC that all of its kind are described by. */
static void debuglink_crc_is_the_common_one(void **state)
{
	char path[] = "/tmp/ebprec-test-XXXXXX";
	int fd = mkstemp(path);
	uint32_t crc = 0;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, "123456789", 9), 9);
	assert_int_equal(debuglink_crc(fd, &crc), 0);
	assert_int_equal(crc, 0xcbf43926);
	close(fd);
	assert_int_equal(debuglink_crc(fd, &crc), -EBADF);
}

/* n bytes 'x' packed; *out is owned. */
static size_t pack(size_t n, uint8_t **out)
{
	size_t packed_bytes = 0, room_bytes = lzma_stream_buffer_bound(n);
	uint8_t *plain = malloc(n + 1);

	*out = malloc(room_bytes);
	memset(plain, 'x', n + 1);
	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, plain, n, *out,
						 &packed_bytes, room_bytes),
			 LZMA_OK);
	free(plain);
	return packed_bytes;
}

static void minidebug_unpacks_what_is_not_too_much(void **state)
{
	static const size_t sizes[] = { 0, 1, 1 << 18, (1 << 18) + 1, 5 << 20 };
	uint8_t *packed, *out;
	size_t i, n, packed_bytes;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		packed_bytes = pack(sizes[i], &packed);
		assert_int_equal(minidebug_unpack(packed, packed_bytes, &out, &n), 0);
		assert_int_equal(n, sizes[i]);
		assert_true(!n || out[n - 1] == 'x');
		free(out);
		free(packed);
	}
	packed_bytes = pack((size_t)MINIDEBUG_MAX_BYTES + 1,
			    &packed); /* some KiB that are a bomb */
	assert_int_equal(minidebug_unpack(packed, packed_bytes, &out, &n), -EOVERFLOW);
	free(packed);
}

static void minidebug_refuses_what_is_broken(void **state)
{
	uint8_t *packed, *out;
	size_t i, n, packed_bytes = pack(1000, &packed);

	for (i = 0; i < packed_bytes; i++)
		assert_int_equal(minidebug_unpack(packed, i, &out, &n), -EBADMSG);
	for (i = 0; i < packed_bytes; i++) {
		packed[i] ^= 0x55;
		assert_int_equal(minidebug_unpack(packed, packed_bytes, &out, &n), -EBADMSG);
		packed[i] ^= 0x55;
	}
	free(packed);
	assert_int_equal(minidebug_unpack((const uint8_t *)"text", 4, &out, &n), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(debuglink_reads_name_and_crc),
		cmocka_unit_test(altlink_reads_path_and_build_id),
		cmocka_unit_test(debuglink_crc_is_the_common_one),
		cmocka_unit_test(minidebug_unpacks_what_is_not_too_much),
		cmocka_unit_test(minidebug_refuses_what_is_broken),
	};

	return cmocka_run_group_tests_name("debuglink", tests, NULL, NULL);
}
