/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* buildid: notes and ELF files, complete, cut and hostile */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/base/buildid.h"
#include "format/base/cursor.h"

#define ID "\xde\xad\xbe\xef\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"

struct bytes {
	uint8_t data[8192];
	size_t size_bytes;
};

static void put(struct bytes *b, const void *data, size_t size_bytes)
{
	assert_true(size_bytes <= sizeof(b->data) - b->size_bytes);
	memcpy(b->data + b->size_bytes, data, size_bytes);
	b->size_bytes += size_bytes;
}

static void put_note(struct bytes *b, uint32_t type, const char *name, uint32_t name_bytes,
		     const void *desc, uint32_t desc_bytes)
{
	const uint32_t head[3] = { name_bytes, desc_bytes, type };

	put(b, head, sizeof(head));
	put(b, name, name_bytes);
	put(b, "\0\0\0", -name_bytes & 3);
	put(b, desc, desc_bytes);
	put(b, "\0\0\0", -desc_bytes & 3);
}

static int from_notes(const struct bytes *b, struct buildid *out)
{
	uint8_t *copy = malloc(b->size_bytes + 1); /* a heap block: reads behind it are seen */
	int ret;

	memcpy(copy, b->data, b->size_bytes);
	copy = realloc(copy, b->size_bytes ? b->size_bytes : 1);
	ret = buildid_from_notes(copy, b->size_bytes, out);
	free(copy);
	return ret;
}

static int from_file(const struct bytes *b, struct buildid *out)
{
	int ret, fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(write(fd, b->data, b->size_bytes) == (ssize_t)b->size_bytes);
	ret = buildid_from_fd(fd, out);
	close(fd);
	return ret;
}

/* An ELF file with one note segment: property note, build-id note. */
static void make_elf64(struct bytes *b)
{
	Elf64_Ehdr e = { .e_ident = ELFMAG,
			 .e_phoff = sizeof(e),
			 .e_phentsize = sizeof(Elf64_Phdr) };
	Elf64_Phdr p[2] = { { .p_type = PT_LOAD }, { .p_type = PT_NOTE } };

	memset(b, 0, sizeof(*b));
	e.e_ident[EI_CLASS] = ELFCLASS64;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	e.e_phnum = 2;
	p[1].p_offset = sizeof(e) + sizeof(p);
	p[1].p_filesz = 32 + 36;
	put(b, &e, sizeof(e));
	put(b, p, sizeof(p));
	put_note(b, NT_GNU_PROPERTY_TYPE_0, "GNU", 4, "0123456789abcdef", 16);
	put_note(b, NT_GNU_BUILD_ID, "GNU", 4, ID, 20);
}

#define ELF64_PHDR(b, i) ((b)->data + sizeof(Elf64_Ehdr) + (i) * sizeof(Elf64_Phdr))

static void make_elf32(struct bytes *b)
{
	Elf32_Ehdr e = { .e_ident = ELFMAG,
			 .e_phoff = sizeof(e),
			 .e_phentsize = sizeof(Elf32_Phdr) };
	Elf32_Phdr p = { .p_type = PT_NOTE };

	memset(b, 0, sizeof(*b));
	e.e_ident[EI_CLASS] = ELFCLASS32;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	e.e_phnum = 1;
	p.p_offset = sizeof(e) + sizeof(p);
	p.p_filesz = 36;
	put(b, &e, sizeof(e));
	put(b, &p, sizeof(p));
	put_note(b, NT_GNU_BUILD_ID, "GNU", 4, ID, 20);
}

static void check_id(const struct buildid *id)
{
	assert_int_equal(id->size_bytes, 20);
	assert_memory_equal(id->bytes, ID, 20);
}

static void buildid_found_behind_other_notes(void **state)
{
	struct bytes b = { .size_bytes = 0 };
	struct buildid id;

	put_note(&b, 6, "Xen", 4, "abcde", 5);
	put_note(&b, NT_GNU_BUILD_ID, "GNU\0", 5, "no", 2); /* another owner */
	put_note(&b, NT_GNU_BUILD_ID, "", 0, "", 0);
	put_note(&b, NT_GNU_BUILD_ID, "GNU", 4, ID, 20);
	assert_int_equal(from_notes(&b, &id), 0);
	check_id(&id);
}

static void buildid_of_other_lengths(void **state)
{
	struct bytes b = { .size_bytes = 0 };
	struct buildid id;

	put_note(&b, NT_GNU_BUILD_ID, "GNU", 4, ID, 7); /* -Wl,--build-id=0x... */
	assert_int_equal(from_notes(&b, &id), 0);
	assert_int_equal(id.size_bytes, 7);
	b.size_bytes--; /* the padding of the last note may be missing */
	assert_int_equal(from_notes(&b, &id), 0);
	b.size_bytes = 0;
	put_note(&b, NT_GNU_BUILD_ID, "GNU", 4, ID ID, 40);
	assert_int_equal(from_notes(&b, &id), 0);
	check_id(&id); /* cut */
}

static void buildid_no_note_is_no_id(void **state)
{
	struct bytes b = { .size_bytes = 0 };
	struct buildid id;

	assert_int_equal(from_notes(&b, &id), -ENOENT);
	put(&b, "\0\0\0\0\0\0\0\0\0\0", 11); /* shorter than a note: padding */
	assert_int_equal(from_notes(&b, &id), -ENOENT);
	b.size_bytes = 0;
	put_note(&b, NT_GNU_BUILD_ID, "GNU", 4, "", 0);
	assert_int_equal(from_notes(&b, &id), -ENOENT);
}

static void buildid_cut_and_lying_notes_are_refused(void **state)
{
	static const struct {
		const char *what;
		size_t off_bytes;
		uint32_t value;
	} lies[] = {
		{ "name behind the end", 0, 64 },         { "name of ones", 0, UINT32_MAX },
		{ "name that wraps", 0, UINT32_MAX - 3 }, { "desc behind the end", 4, 21 },
		{ "desc of ones", 4, UINT32_MAX },
	};
	struct buildid id = { .size_bytes = 3 };
	struct bytes b = { .size_bytes = 0 };
	size_t i;

	put_note(&b, NT_GNU_BUILD_ID, "GNU", 4, ID, 20);
	for (b.size_bytes = 35; b.size_bytes >= 12; b.size_bytes--)
		assert_int_equal(from_notes(&b, &id), -EBADMSG);
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		b.size_bytes = 0;
		put_note(&b, NT_GNU_BUILD_ID, "GNU", 4, ID, 20);
		le32_store(b.data + lies[i].off_bytes, lies[i].value);
		if (from_notes(&b, &id) != -EBADMSG)
			fail_msg("%s: not refused", lies[i].what);
	}
	assert_int_equal(id.size_bytes, 3); /* untouched */
}

static void buildid_of_elf_files_of_both_classes(void **state)
{
	struct buildid id;
	struct bytes b;

	make_elf64(&b);
	assert_int_equal(from_file(&b, &id), 0);
	check_id(&id);
	memset(&id, 0, sizeof(id));
	make_elf32(&b);
	assert_int_equal(from_file(&b, &id), 0);
	check_id(&id);
}

static void buildid_every_cut_of_a_file_is_refused(void **state)
{
	struct buildid id = { .size_bytes = 3 };
	struct bytes b;
	size_t n;

	make_elf64(&b);
	for (n = b.size_bytes; n--;) {
		b.size_bytes = n;
		assert_int_equal(from_file(&b, &id), -EBADMSG);
	}
	make_elf32(&b);
	for (n = b.size_bytes; n--;) {
		b.size_bytes = n;
		assert_int_equal(from_file(&b, &id), -EBADMSG);
	}
	assert_int_equal(id.size_bytes, 3);
}

static void buildid_hostile_headers_are_refused(void **state)
{
	static const struct {
		const char *what;
		size_t off_bytes, size_bytes;
		uint64_t value;
		int ret;
	} cases[] = {
		{ "magic", 0, 1, 0x7e, -EBADMSG },
		{ "class 0", EI_CLASS, 1, 0, -EBADMSG },
		{ "class 3", EI_CLASS, 1, 3, -EBADMSG },
		{ "big-endian", EI_DATA, 1, ELFDATA2MSB, -EBADMSG },
		{ "a class it is not", EI_CLASS, 1, ELFCLASS32, -ENOENT }, /* reads as phnum 0 */
		{ "no headers", offsetof(Elf64_Ehdr, e_phnum), 2, 0, -ENOENT },
		{ "65535 headers", offsetof(Elf64_Ehdr, e_phnum), 2, 0xffff, -EBADMSG },
		{ "1171 headers", offsetof(Elf64_Ehdr, e_phnum), 2, 1171, -EBADMSG },
		{ "headers of no size", offsetof(Elf64_Ehdr, e_phentsize), 2, 0, -EBADMSG },
		{ "headers of 32 bits", offsetof(Elf64_Ehdr, e_phentsize), 2, 32, -EBADMSG },
		{ "headers behind the end", offsetof(Elf64_Ehdr, e_phoff), 8, 1 << 20, -EBADMSG },
		{ "headers at -1", offsetof(Elf64_Ehdr, e_phoff), 8, UINT64_MAX, -EBADMSG },
		{ "headers at the last offset", offsetof(Elf64_Ehdr, e_phoff), 8, INT64_MAX,
		  -EBADMSG },
	};
	struct buildid id;
	struct bytes b;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_elf64(&b);
		memcpy(b.data + cases[i].off_bytes, &cases[i].value, cases[i].size_bytes);
		ret = from_file(&b, &id);
		if (ret != cases[i].ret)
			fail_msg("%s: %d, expected %d", cases[i].what, ret, cases[i].ret);
	}
}

static void buildid_notes_outside_of_the_file_are_refused(void **state)
{
	static const struct {
		uint64_t off_bytes, size_bytes;
	} cases[] = {
		{ 176, 69 },       { 176, UINT64_MAX }, { UINT64_MAX, 68 }, { UINT64_MAX - 67, 68 },
		{ INT64_MAX, 68 }, { 100000, 68 },      { 176, 65536 },
	};
	struct buildid id;
	struct bytes b;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_elf64(&b);
		le64_store(ELF64_PHDR(&b, 1) + offsetof(Elf64_Phdr, p_offset), cases[i].off_bytes);
		le64_store(ELF64_PHDR(&b, 1) + offsetof(Elf64_Phdr, p_filesz), cases[i].size_bytes);
		assert_int_equal(from_file(&b, &id), -EBADMSG);
	}
	make_elf64(&b); /* empty segment: no id, but not broken either */
	le64_store(ELF64_PHDR(&b, 1) + offsetof(Elf64_Phdr, p_filesz), 0);
	assert_int_equal(from_file(&b, &id), -ENOENT);
}

static void buildid_a_broken_segment_does_not_hide_another(void **state)
{
	struct buildid id;
	struct bytes b;

	make_elf64(&b);
	le32_store(ELF64_PHDR(&b, 0), PT_NOTE);
	le64_store(ELF64_PHDR(&b, 0) + offsetof(Elf64_Phdr, p_offset), 1 << 20);
	le64_store(ELF64_PHDR(&b, 0) + offsetof(Elf64_Phdr, p_filesz), 36);
	assert_int_equal(from_file(&b, &id), 0);
	check_id(&id);
}

static void buildid_other_kinds_of_files_are_refused(void **state)
{
	struct buildid id;
	int fd, fds[2];

	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(buildid_from_fd(fd, &id), -EBADMSG);
	close(fd);
	fd = open("/", O_RDONLY | O_CLOEXEC);
	assert_int_equal(buildid_from_fd(fd, &id), -EISDIR);
	close(fd);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(buildid_from_fd(fds[0], &id), -ESPIPE);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(buildid_from_fd(-1, &id), -EBADF);
}

static void buildid_hex_is_lower_case(void **state)
{
	struct buildid id = { .bytes = { 0x0a, 0xFF, 0x10 }, .size_bytes = 3 };
	char hex[BUILDID_HEX_BYTES];

	buildid_hex(&id, hex);
	assert_string_equal(hex, "0aff10");
	id.size_bytes = 0;
	buildid_hex(&id, hex);
	assert_string_equal(hex, "");
	memset(&id, 0xab, sizeof(id)); /* a length that cannot be */
	buildid_hex(&id, hex);
	assert_int_equal(strlen(hex), 2 * BUILDID_MAX_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buildid_found_behind_other_notes),
		cmocka_unit_test(buildid_of_other_lengths),
		cmocka_unit_test(buildid_no_note_is_no_id),
		cmocka_unit_test(buildid_cut_and_lying_notes_are_refused),
		cmocka_unit_test(buildid_of_elf_files_of_both_classes),
		cmocka_unit_test(buildid_every_cut_of_a_file_is_refused),
		cmocka_unit_test(buildid_hostile_headers_are_refused),
		cmocka_unit_test(buildid_notes_outside_of_the_file_are_refused),
		cmocka_unit_test(buildid_a_broken_segment_does_not_hide_another),
		cmocka_unit_test(buildid_other_kinds_of_files_are_refused),
		cmocka_unit_test(buildid_hex_is_lower_case),
	};

	return cmocka_run_group_tests_name("buildid", tests, NULL, NULL);
}
