/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elf_python: by files with the facts of CPython's (tests/lib/fixtures/python.c) */
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

#include "tests/unit/runtimefile.h"

static const struct {
	const char *name;
	enum elf_runtime_state state;
	uint32_t version;
} files[] = {
	{ "python3.11", ELF_RUNTIME_UNDERSTOOD, 0x030b },
	{ "python3.11.stripped", ELF_RUNTIME_UNDERSTOOD, 0x030b },
	{ "python3.13", ELF_RUNTIME_UNDERSTOOD, 0x030d },
	{ "python3.13.stripped", ELF_RUNTIME_UNDERSTOOD, 0x030d },
	/* Not a release: its structs may be others. */
	{ "python3.11-beta", ELF_RUNTIME_VERSION, 0 },
	/* Sizes of types that contradict the version, or the table. */
	{ "python3.11-other", ELF_RUNTIME_LAYOUT, 0x030b },
	{ "python3.12-as-3.11", ELF_RUNTIME_LAYOUT, 0x030b },
	{ "python3.13-other", ELF_RUNTIME_LAYOUT, 0x030d },
	{ "python3.13-none", ELF_RUNTIME_LAYOUT, 0x030d },
	{ "python3.13-threaded", ELF_RUNTIME_THREADED, 0x030d },
	{ "python3.15", ELF_RUNTIME_VERSION, 0x030f },
	{ "names", ELF_RUNTIME_NONE, 0 },
};

static void a_file_is_understood_when_all_its_facts_agree(void **state)
{
	struct elf_runtime p;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		p = runtimefile_in(elf_python_find, files[i].name);
		if (p.state != files[i].state || p.version != files[i].version)
			fail_msg("%s: %u, %x; not %u, %x", files[i].name, p.state, p.version,
				 files[i].state, files[i].version);
	}
}

static void the_table_of_offsets_is_taken_as_it_is(void **state)
{
	struct elf_runtime p;

	(void)state;
	p = runtimefile_in(elf_python_find, "python3.13");
	assert_int_equal(p.desc.kind, RUNTIME_PYTHON);
	assert_int_equal(p.desc.python.runtime_interpreters, 632);
	assert_int_equal(p.desc.python.interpreter_threads, 7344);
	assert_int_equal(p.desc.python.thread_frame, 72);
	assert_int_equal(p.desc.python.frame_code, 0);
	assert_int_equal(p.desc.python.frame_owner, 70);
	assert_int_equal(p.desc.python.code_qualname, 128);
	assert_int_equal(p.desc.python.code_instrs, 200);
	assert_int_equal(p.desc.python.code_bytes, 144);
	assert_int_equal(p.desc.python.compact_bytes, 56);
}

/* Its symbol is gone from the stripped file. */
#ifdef __x86_64__ /* instructions of which are read for that */
static void the_part_of_the_loop_that_is_elsewhere_is_found_by_jumps(void **state)
{
	struct elf_runtime full, stripped;

	(void)state;
	full = runtimefile_in(elf_python_find, "python3.11");
	stripped = runtimefile_in(elf_python_find, "python3.11.stripped");
	assert_int_equal(full.desc.eval[1].size_bytes, 7);
	assert_memory_equal(&full.desc, &stripped.desc, sizeof(full.desc));
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_understood_when_all_its_facts_agree),
		cmocka_unit_test(the_table_of_offsets_is_taken_as_it_is),
#ifdef __x86_64__
		cmocka_unit_test(the_part_of_the_loop_that_is_elsewhere_is_found_by_jumps),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
