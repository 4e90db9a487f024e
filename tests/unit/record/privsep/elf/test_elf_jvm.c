/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elf_jvm: by files with the tables of a JVM (tests/lib/fixtures/jvm.c) */
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

#include "tests/unit/runtimefile.h"

static uint8_t bytes[1 << 18];

static void need_x86(void)
{
	if (UNWIND_HERE != UNWIND_X86_64)
		skip();
}

static void entries_are_those_of_the_table(void **state)
{
	struct elf_runtime r;

	(void)state;
	need_x86();
	r = runtimefile_in(elf_jvm_find, "java17");
	assert_int_equal(r.state, ELF_RUNTIME_UNDERSTOOD);
	assert_int_equal(r.desc.kind, RUNTIME_JVM);
	assert_int_equal(r.version, 17);
	assert_int_equal(r.desc.jvm.entry[RUNTIME_JVM_ARRAY_COUNT], 2);
	assert_int_equal(r.desc.jvm.entry[RUNTIME_JVM_BLOB_CODE], 12);
	assert_int_equal(r.desc.jvm.entry[RUNTIME_JVM_NMETHOD_METHOD], 14);
	assert_int_equal(r.desc.jvm.entry[RUNTIME_JVM_SYMBOL_BODY], 25);
	assert_int_equal(r.desc.jvm.block_bytes, 16);
	assert_int_equal(r.desc.jvm.const_bytes, 32);
	assert_int_equal(r.desc.jvm.pool_bytes, 32);
	assert_int_equal(r.desc.jvm.blob_code_bytes, 8);
	assert_int_equal(r.desc.jvm.blob_complete_bytes, 4);
	assert_int_equal(r.desc.jvm.version, 17);
	assert_int_equal(r.desc.jvm.scopes, RUNTIME_JVM_SCOPES_IN_BLOB);
	assert_int_equal(r.desc.jvm.entry[RUNTIME_JVM_NMETHOD_ID], 26);
	assert_int_equal(r.desc.jvm.entry[RUNTIME_JVM_SCOPES_AT], 29);
	assert_int_equal(r.desc.jvm.entry[RUNTIME_JVM_SCOPES_DATA], RUNTIME_NO_FIELD);
	assert_true(r.desc.state && r.desc.code_type && r.desc.state != r.desc.code_type);
	r = runtimefile_in(elf_jvm_find, "java25");
	assert_int_equal(r.state, ELF_RUNTIME_UNDERSTOOD);
	assert_int_equal(r.desc.jvm.blob_code_bytes, 4);
	assert_int_equal(r.desc.jvm.blob_complete_bytes, 2);
	assert_int_equal(r.desc.jvm.scopes, RUNTIME_JVM_SCOPES_APART);
	assert_int_equal(r.desc.jvm.entry[RUNTIME_JVM_METADATA_AT], 33);
}

/* Methods have names without them. */
static void lines_and_scopes_may_be_missing(void **state)
{
	static const struct {
		const char *name;
		uint32_t field;
	} files[] = {
		{ "java17-without-28", RUNTIME_JVM_CONST_FLAGS },
		{ "java17-without-29", RUNTIME_JVM_SCOPES_AT },
		{ "java25-without-33", RUNTIME_JVM_METADATA_AT },
	};

	(void)state;
	need_x86();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct elf_runtime r = runtimefile_in(elf_jvm_find, files[i].name);

		assert_int_equal(r.state, ELF_RUNTIME_UNDERSTOOD);
		assert_int_equal(r.desc.jvm.entry[files[i].field], RUNTIME_NO_FIELD);
		assert_int_equal(r.desc.jvm.scopes,
				 i ? RUNTIME_JVM_NO_SCOPES : RUNTIME_JVM_SCOPES_IN_BLOB);
	}
}

static void other_versions_and_structs_are_not_understood(void **state)
{
	static const struct {
		const char *name;
		uint32_t state;
	} files[] = {
		{ "java16", ELF_RUNTIME_VERSION },
		{ "java26", ELF_RUNTIME_VERSION },
		{ "java17-large", ELF_RUNTIME_LAYOUT },
		{ "java17-without-0", ELF_RUNTIME_LAYOUT },
		{ "java17-without-2", ELF_RUNTIME_LAYOUT },
		{ "java17-without-12", ELF_RUNTIME_LAYOUT },
		{ "java17-without-16", ELF_RUNTIME_LAYOUT },
		{ "java17-without-25", ELF_RUNTIME_LAYOUT },
		{ "node20", ELF_RUNTIME_NONE },
		{ "python3.13", ELF_RUNTIME_NONE },
	};

	(void)state;
	need_x86();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct elf_runtime r = runtimefile_in(elf_jvm_find, files[i].name);

		if (r.state != files[i].state || r.desc.jvm.block_bytes)
			fail_msg("%s: %u", files[i].name, r.state);
	}
}

/* Section headers stand at the end, so all that is cut has none. */
static void a_file_that_ends_early_is_not_understood(void **state)
{
	size_t size = runtimefile_read("java17", bytes, sizeof(bytes));

	(void)state;
	need_x86();
	for (size_t n = 0; n < size; n += 509) {
		struct elf_runtime r = runtimefile_in_bytes(elf_jvm_find, bytes, n);

		if (r.state == ELF_RUNTIME_UNDERSTOOD)
			fail_msg("%zu of %zu bytes", n, size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_those_of_the_table),
		cmocka_unit_test(lines_and_scopes_may_be_missing),
		cmocka_unit_test(other_versions_and_structs_are_not_understood),
		cmocka_unit_test(a_file_that_ends_early_is_not_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
