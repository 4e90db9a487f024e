/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* markelf: this very program has marks */
#include "record/privsep/elf/elf_notes.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/include/ebprec-mark.h"
#include "record/privsep/elf/elf_facts.h"

struct image {
	uint8_t *bytes;
	size_t size_bytes;
};

static struct image own_image(void)
{
	struct source s;
	struct image i;

	assert_int_equal(source_open("/proc/self/exe", &s, NULL), 0);
	i.size_bytes = s.size_bytes;
	i.bytes = malloc(i.size_bytes);
	assert_non_null(i.bytes);
	assert_int_equal(source_read(&s, 0, i.bytes, i.size_bytes), i.size_bytes);
	source_done(&s);
	return i;
}

static size_t sites_in(const struct image *i, struct elf_notes_site out[ELF_NOTES_SITES_MAX])
{
	struct source s;

	source_of_bytes(i->bytes, i->size_bytes, &s);
	return elf_notes_sites(&s, out);
}

static void markelf_finds_the_nop_and_its_counter(void **state)
{
	struct elf_notes_site sites[ELF_NOTES_SITES_MAX];
	struct image i = own_image();
	size_t n;

	ebprec_mark("unit", "test", "no recorder listens");
	n = sites_in(&i, sites);
	/* cmd_mark may be linked in, too. */
	assert_in_range(n, 1, 2);
	for (size_t k = 0; k < n; k++) {
		assert_true(sites[k].nop_bytes < i.size_bytes);
		/* nop: of aarch64 the lowest byte of 0xd503201f */
		assert_int_equal(i.bytes[sites[k].nop_bytes],
				 UNWIND_HERE == UNWIND_AARCH64 ? 0x1f : 0x90);
		assert_int_equal(i.bytes[sites[k].semaphore_bytes], 0);
		assert_int_equal(sites[k].semaphore_bytes, sites[0].semaphore_bytes);
	}
	free(i.bytes);
}

static void markelf_leaves_other_files_alone(void **state)
{
	struct elf_notes_site sites[ELF_NOTES_SITES_MAX];
	struct image i = own_image();
	static const struct {
		size_t off;
		uint8_t value;
	} broken[] = {
		{ 0, 0 },
		{ EI_CLASS, ELFCLASS32 },
		{ EI_DATA, ELFDATA2MSB },
		{ offsetof(Elf64_Ehdr, e_machine), EM_386 },
		{ offsetof(Elf64_Ehdr, e_phentsize), 8 },
		{ offsetof(Elf64_Ehdr, e_shentsize), 8 },
		{ offsetof(Elf64_Ehdr, e_shoff) + 6, 0xff },
		{ offsetof(Elf64_Ehdr, e_phoff) + 6, 0xff },
	};

	for (size_t k = 0; k < sizeof(broken) / sizeof(broken[0]); k++) {
		uint8_t was = i.bytes[broken[k].off];

		i.bytes[broken[k].off] = broken[k].value;
		assert_int_equal(sites_in(&i, sites), 0);
		i.bytes[broken[k].off] = was;
	}
	assert_true(sites_in(&i, sites) > 0);
	i.size_bytes = 0;
	assert_int_equal(sites_in(&i, sites), 0);
	free(i.bytes);
}

/* Wherever the note is damaged, there is a site that lies in the file, or none. */
static void markelf_believes_no_note(void **state)
{
	struct elf_notes_site sites[ELF_NOTES_SITES_MAX];
	struct image i = own_image();
	uint8_t *note = memmem(i.bytes, i.size_bytes, "stapsdt", 8);
	size_t n, all_count = sites_in(&i, sites);

	assert_non_null(note);
	for (uint8_t *p = note - 12; p < note + 100; p++) {
		for (int bit = 0; bit < 8; bit++) {
			*p ^= (uint8_t)(1 << bit);
			n = sites_in(&i, sites);
			assert_true(n <= all_count);
			for (size_t k = 0; k < n; k++) {
				assert_true(sites[k].nop_bytes < i.size_bytes);
				assert_true(sites[k].semaphore_bytes < i.size_bytes);
			}
			*p ^= (uint8_t)(1 << bit);
		}
	}
	/* Cut at the end: the section headers are there. */
	for (; i.size_bytes && all_count; i.size_bytes -= i.size_bytes > 64 ? 64 : i.size_bytes) {
		n = sites_in(&i, sites);
		assert_true(n <= all_count);
		if (!n)
			break;
	}
	free(i.bytes);
}

/* By file capabilities the recorder may do more than its user. */
static void a_file_of_the_recording_user_is_read_as_a_strangers(void **state)
{
	const struct stat roots = { .st_mode = S_IFREG | 0755 };
	struct stat own = { .st_mode = S_IFREG | 0755 };
	const uid_t user = geteuid();

	if (!user)
		assert_int_equal(seteuid(12345), 0);
	own.st_uid = geteuid();
	assert_true(elf_facts_is_of_others(&own));
	assert_false(elf_facts_is_of_others(&roots));
	assert_int_equal(seteuid(user), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(markelf_finds_the_nop_and_its_counter),
		cmocka_unit_test(markelf_leaves_other_files_alone),
		cmocka_unit_test(markelf_believes_no_note),
		cmocka_unit_test(a_file_of_the_recording_user_is_read_as_a_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
