/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elf_perl: by files with the symbols of Perl's (tests/lib/fixtures/perl.c) */
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/runtimefile.h"

static const struct {
	const char *name;
	enum elf_runtime_state state;
	uint32_t version;
} files[] = {
#ifdef __x86_64__ /* elsewhere compilers leave the module's number to the dynamic linker's own functions */
	{ "perl5.36", ELF_RUNTIME_UNDERSTOOD, 0x0524 },
#endif
	{ "perl5.36-program", ELF_RUNTIME_UNDERSTOOD, 0x0524 },
	{ "perl5.38", ELF_RUNTIME_VERSION, 0x0526 },
	{ "perl5.36-other", ELF_RUNTIME_LAYOUT, 0x0524 },
	{ "perl5.36-debug", ELF_RUNTIME_LAYOUT, 0x0524 },
	{ "perl5.36-unthreaded", ELF_RUNTIME_THREADED, 0x0524 },
	/* A library whose variable's place is known to the dynamic linker alone. */
	{ "perl5.36-initial", ELF_RUNTIME_LAYOUT, 0x0524 },
	{ "php8.2", ELF_RUNTIME_NONE, 0 },
	{ "names", ELF_RUNTIME_NONE, 0 },
};

static void a_file_is_understood_when_all_its_facts_agree(void **state)
{
	struct elf_runtime p;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		p = runtimefile_in(elf_perl_find, files[i].name);
		if (p.state != files[i].state || p.version != files[i].version)
			fail_msg("%s: %u, %x", files[i].name, p.state, p.version);
		assert_int_equal(p.desc.kind == RUNTIME_PERL, p.state == ELF_RUNTIME_UNDERSTOOD);
	}
}

static void a_variable_of_the_program_has_a_fixed_place(void **state)
{
	struct elf_runtime p;

	(void)state;
	p = runtimefile_in(elf_perl_find, "perl5.36-program");
	assert_int_equal(p.desc.tls_module, 0);
#ifdef __x86_64__
	assert_true(p.desc.tls_offset == (uint64_t)-8);
	p = runtimefile_in(elf_perl_find, "perl5.36");
	assert_true(p.desc.tls_module);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_understood_when_all_its_facts_agree),
		cmocka_unit_test(a_variable_of_the_program_has_a_fixed_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
