/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_listed - the Ruby or the PHP that an ELF file contains
 *
 * Ruby 3.1 and PHP 8.2 are understood, without its threads; of another one *out has the version, where that is known.
 */
#include <stdlib.h>
#include <string.h>

#include "record/privsep/elf/elf_loop.h"
#include "record/privsep/elf/elf_names.h"
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

#define CORE_BYTES_MIN 4096        /* of vm_exec_core(): Debian's has 17,527 */
#define TEXTS_MAX      (32u << 20) /* of .rodata: Debian's PHP has 2 MiB */
#define ENGINE         "Zend Engine v"

/* vm_core.h, iseq.h. */
static const struct runtime_listed_offsets ruby_3_1 = {
	.version = 0x0301,
	.state_frame = 16,
	.frame_bytes = 64,
	.frame_previous = RUNTIME_NO_FIELD,
	.frame_instr = 0,
	.frame_code = 16,
	.frame_flags = 32,
	.code_bytes = 88,
	.code_name = 80,
	.code_qualname = 72,
	.code_file = 64,
	.code_instrs = 8,
	.code_instr_count = 4,
	.code_lines = 120,
	.instr_bytes = 8,
	.code_method = 176,
};

/* Zend/zend_compile.h, Zend/zend_globals.h, Zend/zend.h. */
static const struct runtime_listed_offsets php_8_2 = {
	.version = 0x0802,
	.state_frame = 488,
	.frame_bytes = 56,
	.frame_previous = 48,
	.frame_instr = 0,
	.frame_code = 24,
	.frame_flags = 40,
	.code_bytes = 168,
	.code_name = 8,
	.code_qualname = 16,
	.code_file = 152,
	.code_instrs = 88,
	.code_instr_count = 80,
	.code_first_line = 160,
	.class_name = 8,
	.instr_bytes = 32,
	.instr_line = 24,
	.class_references = 24,
};

/* The sizes of PHP 8.2's variables, without threads. */
#define PHP_EXECUTOR_BYTES 1800
#define PHP_COMPILER_BYTES 568

/* "3.1.2" -> 0x0301; 0: it is no version. */
static uint32_t version_of(const char *text)
{
	char *end;
	unsigned long major = strtoul(text, &end, 10), minor;

	if (end == text || *end != '.' || major > 255)
		return 0;
	text = end + 1;
	minor = strtoul(text, &end, 10);
	return end == text || minor > 255 ? 0 : (uint32_t)(major << 8 | minor);
}

/* ---- Ruby ---- */

enum ruby_name { RUBY_STATE, RUBY_LOOP, RUBY_VERSION, RUBY_ARRAY, RUBY_NAMES };

/* vm_exec() calls vm_exec_core(), which is no name in a stripped library. */
static void find_ruby(const struct elf_parts *parts, struct elf_runtime *out)
{
	struct elf_name names[RUBY_NAMES] = {
		[RUBY_STATE] = { .text = "ruby_current_ec" },
		[RUBY_LOOP] = { .text = "rb_vm_exec" },
		[RUBY_VERSION] = { .text = "ruby_version" },
		[RUBY_ARRAY] = { .text = "rb_cArray" },
	};
	struct runtime_range outer;
	char text[8] = "";

	elf_names_find(parts, SHT_DYNSYM, names, RUBY_NAMES);
	if (!names[RUBY_STATE].is_there || !names[RUBY_LOOP].is_there)
		return;
	outer = (struct runtime_range){ names[RUBY_LOOP].addr, names[RUBY_LOOP].size_bytes };
	out->kind = RUNTIME_RUBY;
	out->state = ELF_RUNTIME_VERSION;
	if (names[RUBY_VERSION].is_there &&
	    elf_parts_bytes(parts, names[RUBY_VERSION].addr, text, 7))
		out->version = version_of(text);
	if (!elf_loop_place(parts, outer.start, out))
		return;
	out->desc.kind = RUNTIME_OTHER;
	out->desc.eval[0] = out->desc.eval[1] = outer;
	if (out->version != ruby_3_1.version)
		return;
	out->desc.eval[0] = elf_loop_callee(parts, outer);
	out->desc.is_nested = 1;
	out->desc.listed = ruby_3_1;
	out->desc.state = names[RUBY_ARRAY].addr;
	out->state = ELF_RUNTIME_LAYOUT;
	if (out->desc.eval[0].size_bytes < CORE_BYTES_MIN ||
	    !elf_names_thread_module(parts, &names[RUBY_STATE], &out->desc))
		return;
	out->state = ELF_RUNTIME_UNDERSTOOD;
	out->desc.kind = RUNTIME_RUBY;
}

/* ---- PHP ---- */

enum php_name { PHP_LOOP, PHP_STATE, PHP_COMPILER, PHP_THREADED, PHP_NAMES };

/* "Zend Engine v4.2.36" in the file's texts: PHP 8.2's engine is 4.2. */
static uint32_t php_version(const struct elf_parts *parts)
{
	const Elf64_Shdr *texts = elf_parts_section(parts, ".rodata");
	char *bytes = texts && texts->sh_size <= TEXTS_MAX ? malloc(texts->sh_size + 1) : NULL;
	uint32_t version = 0;
	const char *at;
	size_t size;

	if (!bytes)
		return 0;
	size = source_read(parts->file, texts->sh_offset, bytes, texts->sh_size);
	bytes[size] = '\0';
	at = memmem(bytes, size, ENGINE, strlen(ENGINE));
	if (at)
		version = version_of(at + strlen(ENGINE));
	free(bytes);
	return version >= 0x0300 && version < 0x0500 ? version + 0x0400 : 0;
}

static void find_php(const struct elf_parts *parts, struct elf_runtime *out)
{
	struct elf_name names[PHP_NAMES] = {
		[PHP_LOOP] = { .text = "execute_ex" },
		[PHP_STATE] = { .text = "executor_globals" },
		[PHP_COMPILER] = { .text = "compiler_globals" },
		[PHP_THREADED] = { .text = "executor_globals_id" },
	};
	struct runtime_range loop;

	elf_names_find(parts, SHT_DYNSYM, names, PHP_NAMES);
	if (!names[PHP_LOOP].is_there ||
	    (!names[PHP_STATE].is_there && !names[PHP_THREADED].is_there))
		return;
	loop = (struct runtime_range){ names[PHP_LOOP].addr, names[PHP_LOOP].size_bytes };
	out->kind = RUNTIME_PHP;
	out->version = php_version(parts);
	out->state = names[PHP_THREADED].is_there ? ELF_RUNTIME_THREADED : ELF_RUNTIME_VERSION;
	if (!elf_loop_place(parts, loop.start, out))
		return;
	out->desc.kind = RUNTIME_OTHER;
	out->desc.eval[0] = loop;
	out->desc.eval[1] = elf_loop_cold(parts, loop);
	if (out->state == ELF_RUNTIME_THREADED || out->version != php_8_2.version)
		return;
	out->desc.state = names[PHP_STATE].addr;
	out->desc.listed = php_8_2;
	out->state = ELF_RUNTIME_LAYOUT;
	if (names[PHP_STATE].size_bytes != PHP_EXECUTOR_BYTES ||
	    names[PHP_COMPILER].size_bytes != PHP_COMPILER_BYTES)
		return;
	out->state = ELF_RUNTIME_UNDERSTOOD;
	out->desc.kind = RUNTIME_PHP;
}

void elf_listed_find(const struct elf_parts *parts, struct elf_runtime *out)
{
	memset(out, 0, sizeof(*out));
	find_ruby(parts, out);
	if (out->state == ELF_RUNTIME_NONE)
		find_php(parts, out);
}
