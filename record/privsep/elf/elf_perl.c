/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elf_perl - Perl 5.36 is understood, built with threads; of another one *out has the version, where that is known. */
#include <string.h>

#include "record/privsep/elf/elf_loop.h"
#include "record/privsep/elf/elf_names.h"
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

/* intrpvar.h, cop.h, sv.h, cv.h, gv.h, hv.h. */
static const struct runtime_perl_offsets perl_5_36 = {
	.version = 0x0524,
	.interp_op = 8,
	.interp_statement = 208,
	.interp_stack = 224,
	.stack_bytes = 48,
	.stack_contexts = 8,
	.stack_previous = 16,
	.stack_last = 32,
	.stack_last_call = 40,
	.context_bytes = 104,
	.context_statement = 16,
	.context_return = 48,
	.context_outer = 56,
	.context_code = 72,
	.statement_bytes = 64,
	.statement_type = 32,
	.statement_line = 36,
	.statement_file = 48,
	.statement_number = 60,
	.code_stash = 32,
	.code_name = 56,
	.code_file = 64,
	.code_flags = 92,
	.glob_name = 32,
	.glob_stash = 40,
	.glob_other = 56,
	.stash_name = 32,
	.stash_name_count = 60,
};

/* Sizes: the interpreter, and the part of it that 5.18 had. */
#define INTERPRETER_BYTES  3768
#define INTERPRETER_BEFORE 2880
#define OPTIONS_BYTES      512 /* a text, whose options are between blanks */

enum perl_name {
	PERL_LOOP,
	PERL_RUN,
	PERL_REVISION,
	PERL_VERSION,
	PERL_STATE,
	PERL_SIZE,
	PERL_SIZE_BEFORE,
	PERL_OPTIONS,
	PERL_NAMES
};

static bool read_name(const struct elf_parts *parts, const struct elf_name *name, void *out,
		      size_t size_bytes)
{
	return name->is_there && elf_parts_bytes(parts, name->addr, out, size_bytes);
}

/* Whether its interpreter has the size, and it the options, that Debian's has. */
static bool has_known_structs(const struct elf_parts *parts, const struct elf_name *names)
{
	const struct elf_name *of = &names[PERL_OPTIONS];
	char options[OPTIONS_BYTES + 1] = "";
	uint16_t size, before;

	return read_name(parts, &names[PERL_SIZE], &size, sizeof(size)) &&
	       read_name(parts, &names[PERL_SIZE_BEFORE], &before, sizeof(before)) &&
	       size == INTERPRETER_BYTES && before == INTERPRETER_BEFORE &&
	       of->size_bytes <= OPTIONS_BYTES && read_name(parts, of, options, of->size_bytes) &&
	       strstr(options, " MULTIPLICITY ") && strstr(options, " USE_ITHREADS ") &&
	       strstr(options, " USE_64_BIT_INT ") && !strstr(options, "DEBUG");
}

static void find_perl(const struct elf_parts *parts, struct elf_runtime *out)
{
	struct elf_name names[PERL_NAMES] = {
		[PERL_LOOP] = { .text = "Perl_runops_standard" },
		[PERL_RUN] = { .text = "perl_run" },
		[PERL_REVISION] = { .text = "PL_revision" },
		[PERL_VERSION] = { .text = "PL_version" },
		[PERL_STATE] = { .text = "PL_current_context" },
		[PERL_SIZE] = { .text = "PL_interp_size" },
		[PERL_SIZE_BEFORE] = { .text = "PL_interp_size_5_18_0" },
		[PERL_OPTIONS] = { .text = "PL_bincompat_options" },
	};
	uint8_t revision, version;

	elf_names_find(parts, SHT_DYNSYM, names, PERL_NAMES);
	if (!names[PERL_LOOP].is_there || !names[PERL_RUN].is_there)
		return;
	out->kind = RUNTIME_PERL;
	out->state = ELF_RUNTIME_VERSION;
	if (read_name(parts, &names[PERL_REVISION], &revision, 1) &&
	    read_name(parts, &names[PERL_VERSION], &version, 1))
		out->version = (uint32_t)revision << 8 | version;
	if (!elf_loop_place(parts, names[PERL_LOOP].addr, out))
		return;
	out->desc.kind = RUNTIME_OTHER;
	for (int i = 0; i < RUNTIME_EVAL_RANGES; i++)
		out->desc.eval[i] = (struct runtime_range){ names[PERL_LOOP + i].addr,
							    names[PERL_LOOP + i].size_bytes };
	if (out->version != perl_5_36.version)
		return;
	out->state = ELF_RUNTIME_THREADED;
	if (!names[PERL_SIZE].is_there)
		return;
	out->desc.perl = perl_5_36;
	out->state = ELF_RUNTIME_LAYOUT;
	if (!has_known_structs(parts, names) || !names[PERL_STATE].is_there ||
	    (!elf_names_thread_module(parts, &names[PERL_STATE], &out->desc) &&
	     !elf_names_thread_fixed(parts, &names[PERL_STATE], &out->desc)))
		return;
	out->state = ELF_RUNTIME_UNDERSTOOD;
	out->desc.kind = RUNTIME_PERL;
}

void elf_perl_find(const struct elf_parts *parts, struct elf_runtime *out)
{
	memset(out, 0, sizeof(*out));
	find_perl(parts, out);
}
