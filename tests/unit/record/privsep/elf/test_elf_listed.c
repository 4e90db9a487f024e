/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elf_listed: by files with the symbols of Ruby's and PHP's (tests/lib/fixtures/ruby.c, php.c) */
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

#include "tests/unit/runtimefile.h"

static const struct {
	const char *name;
	enum elf_runtime_state state;
	enum runtime_kind kind;
	uint32_t version;
} files[] = {
#ifdef __x86_64__ /* of which calls are read */
	{ "ruby3.1", ELF_RUNTIME_UNDERSTOOD, RUNTIME_RUBY, 0x0301 },
#endif
	{ "ruby3.2", ELF_RUNTIME_VERSION, RUNTIME_RUBY, 0x0302 },
	{ "ruby-none", ELF_RUNTIME_VERSION, RUNTIME_RUBY, 0 },
	{ "ruby3.1-small", ELF_RUNTIME_LAYOUT, RUNTIME_RUBY, 0x0301 },
	/* The variable is that of the program: no word has the number of its module. */
	{ "ruby3.1-fixed", ELF_RUNTIME_LAYOUT, RUNTIME_RUBY, 0x0301 },
	{ "ruby3.1-other", ELF_RUNTIME_NONE, RUNTIME_NONE, 0 },
	{ "php8.2", ELF_RUNTIME_UNDERSTOOD, RUNTIME_PHP, 0x0802 },
	{ "php8.3", ELF_RUNTIME_VERSION, RUNTIME_PHP, 0x0803 },
	{ "php8.2-other", ELF_RUNTIME_LAYOUT, RUNTIME_PHP, 0x0802 },
	{ "php8.2-threads", ELF_RUNTIME_THREADED, RUNTIME_PHP, 0x0802 },
	{ "python3.11", ELF_RUNTIME_NONE, RUNTIME_NONE, 0 },
	{ "names", ELF_RUNTIME_NONE, RUNTIME_NONE, 0 },
};

static void a_file_is_understood_when_all_its_facts_agree(void **state)
{
	struct elf_runtime p;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		p = runtimefile_in(elf_listed_find, files[i].name);
		if (p.state != files[i].state || p.kind != files[i].kind ||
		    p.version != files[i].version)
			fail_msg("%s: %u, %u, %x", files[i].name, p.state, p.kind, p.version);
		if ((p.desc.kind == files[i].kind) != (p.state == ELF_RUNTIME_UNDERSTOOD) &&
		    p.state != ELF_RUNTIME_NONE)
			fail_msg("%s: its frames are read as those of kind %u", files[i].name,
				 p.desc.kind);
	}
}

#ifdef __x86_64__
static void the_large_function_that_is_called_is_the_loop(void **state)
{
	struct elf_runtime p;

	(void)state;
	p = runtimefile_in(elf_listed_find, "ruby3.1");
	assert_true(p.desc.is_nested);
	assert_true(p.desc.eval[0].size_bytes > 8192 && p.desc.eval[0].size_bytes < 8192 + 256);
	assert_true(p.desc.eval[1].size_bytes && p.desc.eval[1].size_bytes < 256);
	assert_int_equal(p.desc.eval[1].start, p.code_vaddr);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_understood_when_all_its_facts_agree),
#ifdef __x86_64__
		cmocka_unit_test(the_large_function_that_is_called_is_the_loop),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
