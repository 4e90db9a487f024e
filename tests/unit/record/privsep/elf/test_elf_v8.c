/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elf_v8: by files with the facts of V8's (tests/lib/fixtures/v8.c) */
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/runtimefile.h"

static uint8_t bytes[1 << 20];

static void offsets_are_those_of_the_file(void **state)
{
	struct elf_runtime r = runtimefile_in(elf_v8_find, "node20");

	(void)state;
	assert_int_equal(r.state, ELF_RUNTIME_UNDERSTOOD);
	assert_int_equal(r.desc.kind, RUNTIME_V8);
	assert_int_equal(r.desc.v8.map_type, 12);
	assert_int_equal(r.desc.v8.function_first, 2066);
	assert_int_equal(r.desc.v8.function_count, 17);
	assert_int_equal(r.desc.v8.function_shared, 24);
	assert_int_equal(r.desc.v8.shared_script, 32);
	assert_int_equal(r.desc.v8.script_source, 8);
	assert_int_equal(r.desc.v8.stream_head, 16);
	assert_int_equal(r.desc.v8.code_start, 40);
	assert_int_equal(r.desc.v8.code_size, 56);
	assert_int_equal(r.desc.v8.code_deopt, 16);
	assert_int_equal(r.desc.v8.wrapper_type, 0);
	assert_int_equal(r.desc.v8.bytecode_type, 191);
	assert_int_equal(r.desc.v8.bytecode_head, 54);
	assert_int_equal(r.desc.v8.bytecode_positions, 32);
	assert_int_equal(r.desc.v8.bytes_type, 190);
	assert_int_equal(r.desc.v8.shared_data, 8);
	assert_int_equal(r.desc.v8.version, 0x0b03);
	assert_int_equal(r.desc.v8.code_positions, 24);
	assert_int_equal(r.desc.v8.code_flags, 48);
	assert_int_equal(r.desc.v8.turbofan_kind, 13);
	assert_int_equal(r.desc.v8.inlinings_index, 7);
	assert_int_equal(r.desc.v8.compilation_index, 5);
	r = runtimefile_in(elf_v8_find, "node24");
	assert_int_equal(r.state, ELF_RUNTIME_UNDERSTOOD);
	assert_int_equal(r.desc.v8.shared_name, 24);
	assert_int_equal(r.desc.v8.script_source, 0); /* none is known: functions have no lines */
	assert_int_equal(r.desc.v8.code_deopt, 8);
	assert_int_equal(r.desc.v8.deopt_index, 7);
	assert_int_equal(r.desc.v8.wrapper_type, 195);
	assert_int_equal(r.desc.v8.bytecode_positions, 24);
	assert_int_equal(r.desc.v8.bytes_type, 196);
	assert_int_equal(r.desc.v8.version, 0x0d06);
	assert_int_equal(r.desc.v8.code_positions, 0); /* its tables are not known */
}

static void other_objects_are_not_understood(void **state)
{
	/* The field of the last one lies behind what is read of an object: it would be another object's. */
	static const char *const files[] = { "node24-slot", "node24-compressed", "node24-far" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct elf_runtime r = runtimefile_in(elf_v8_find, files[i]);

		if (r.state != ELF_RUNTIME_LAYOUT || r.desc.v8.is_understood)
			fail_msg("%s: %u", files[i], r.state);
	}
	assert_int_equal(runtimefile_in(elf_v8_find, "python3.13").state, ELF_RUNTIME_NONE);
}

static void a_file_that_lacks_a_fact_is_not_understood(void **state)
{
	static const char *const names[] = {
		"off_fp_function",
		"off_fp_context",
		"HeapObjectTag",
		"SmiShiftSize",
		"class_Map__instance_type__",
		"class_JSFunction__shared__",
		"type_JSFunction__",
		"type_SharedFunctionInfo__",
		"class_SharedFunctionInfo__name_or_scope_info__",
		"class_SharedFunctionInfo__script__",
		"type_ScopeInfo__",
		"type_Script__",
		"class_Script__name__",
		"class_String__length__",
		"ThinStringTag",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t size = runtimefile_read("node24", bytes, sizeof(bytes));
		char text[80];
		uint8_t *at;

		snprintf(text, sizeof(text), "v8dbg_%s", names[i]);
		at = memmem(bytes, size, text, strlen(text));
		while (at && strlen(names[i]) && names[i][strlen(names[i]) - 1] != '_' &&
		       at[strlen(text)])
			at = memmem(at + 1, size - (size_t)(at + 1 - bytes), text, strlen(text));
		assert_non_null(at);
		at[6] = '#';
		if (runtimefile_in_bytes(elf_v8_find, bytes, size).state != ELF_RUNTIME_LAYOUT)
			fail_msg("without %s", names[i]);
	}
}

/* Code is found by them, so only innermost frames are without names. */
static void without_facts_of_code_the_rest_is_understood(void **state)
{
	size_t size = runtimefile_read("node24", bytes, sizeof(bytes));
	uint8_t *at = memmem(bytes, size, "v8dbg_type_Code__", 17);
	struct elf_runtime r;

	(void)state;
	assert_non_null(at);
	at[6] = '#';
	r = runtimefile_in_bytes(elf_v8_find, bytes, size);
	assert_int_equal(r.state, ELF_RUNTIME_UNDERSTOOD);
	assert_int_equal(r.desc.v8.code_type, 0);
}

static void without_facts_of_bytecode_there_are_no_running_lines(void **state)
{
	static const char *const names[] = {
		"v8dbg_type_BytecodeArray__",      "v8dbg_class_BytecodeArray__data__",
		"v8dbg_type_ByteArray__",          "v8dbg_off_fp_bytecode_array",
		"v8dbg_off_fp_bytecode_offset",    "_ZN2v88internal7Version6major_E",
		"_ZN2v88internal7Version6minor_E",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t size = runtimefile_read("node24", bytes, sizeof(bytes));
		uint8_t *at = memmem(bytes, size, names[i], strlen(names[i]));
		struct elf_runtime r;

		assert_non_null(at);
		at[5] = '#';
		r = runtimefile_in_bytes(elf_v8_find, bytes, size);
		assert_int_equal(r.state, ELF_RUNTIME_UNDERSTOOD);
		if (r.desc.v8.bytecode_type || !r.desc.v8.code_type)
			fail_msg("without %s", names[i]);
	}
}

static void a_file_that_ends_early_is_none(void **state)
{
	size_t size = runtimefile_read("node20", bytes, sizeof(bytes));

	(void)state;
	for (size_t n = 0; n < size; n += 97) /* the end of the file has its sections */
		assert_true(runtimefile_in_bytes(elf_v8_find, bytes, n).state !=
			    ELF_RUNTIME_UNDERSTOOD);
}

/* All of it that is not there is a hole, which takes no disk: to read it would take a quarter of an hour. */
static void symbols_of_terabytes_are_not_all_read(void **state)
{
	const uint64_t table_bytes = 1ULL << 42;
	size_t size = runtimefile_read("node20", bytes, sizeof(bytes));
	Elf64_Ehdr *head = (Elf64_Ehdr *)(void *)bytes;
	Elf64_Shdr *sections = (Elf64_Shdr *)(void *)(bytes + head->e_shoff);
	struct source s = { .fd = memfd_create("sparse", MFD_CLOEXEC),
			    .size_bytes = 2 * table_bytes };
	struct elf_runtime r;

	(void)state;
	assert_true(s.fd >= 0);
	for (size_t i = 0; i < head->e_shnum; i++)
		if (sections[i].sh_type == SHT_DYNSYM)
			sections[i].sh_size = table_bytes / sizeof(Elf64_Sym) * sizeof(Elf64_Sym);
	assert_int_equal(write(s.fd, bytes, size), size);
	assert_int_equal(ftruncate(s.fd, (off_t)s.size_bytes), 0);
	alarm(60);
	r = runtimefile_in_source(elf_v8_find, &s);
	alarm(0);
	assert_int_equal(r.kind, RUNTIME_V8);
	close(s.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_those_of_the_file),
		cmocka_unit_test(other_objects_are_not_understood),
		cmocka_unit_test(a_file_that_lacks_a_fact_is_not_understood),
		cmocka_unit_test(without_facts_of_code_the_rest_is_understood),
		cmocka_unit_test(without_facts_of_bytecode_there_are_no_running_lines),
		cmocka_unit_test(a_file_that_ends_early_is_none),
		cmocka_unit_test(symbols_of_terabytes_are_not_all_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
