/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf/elf_python.h"

#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/lower_bound.h"
#include "format/unwind/eh_frame.h"
#include "record/privsep/elf/elf_parts.h"

#define TEXTS_MAX_BYTES  (16u << 20) /* of names of symbols: CPython's are below 1 MiB */
#define SYMBOLS_MAX      (4u << 20)  /* of a table; more are not looked at */
#define TABLES_MAX       8           /* of symbols; a file has two */
#define STEP_SYMBOLS     1024u
#define TYPE_BASICSIZE   32  /* PyTypeObject: references, type, size, name; then tp_basicsize */
#define OFFSETS_BYTES    568 /* of _Py_DebugOffsets, that are read */
#define FIELD_MAX        0xfff0u
#define COLD_BYTES_MAX   (64u << 20)
#define COLD_TARGETS_MAX 16384u
#define COLD_JUMPS_MIN   4 /* places of it that are jumped to: chance leads to one */

enum name {
	N_RUNTIME,
	N_EVAL,
	N_COLD,
	N_CODE,
	N_TEXT,
	N_BYTES,
	N_VERSION,
	N_3_8,
	N_3_9,
	N_3_10,
	NAMES
};

static const char *const names[NAMES] = {
	[N_RUNTIME] = "_PyRuntime",
	[N_EVAL] = "_PyEval_EvalFrameDefault",
	[N_COLD] = "_PyEval_EvalFrameDefault.cold",
	[N_CODE] = "PyCode_Type",
	[N_TEXT] = "PyUnicode_Type",
	[N_BYTES] = "PyBytes_Type",
	/* Data with the version since 3.11; before, functions that are as old as a version. */
	[N_VERSION] = "Py_Version",
	[N_3_8] = "PyCode_NewWithPosOnlyArgs",
	[N_3_9] = "PyFrame_GetCode",
	[N_3_10] = "PyModule_AddObjectRef",
};

struct found {
	uint64_t addr, size_bytes;
	bool is_there;
};

#define NONE RUNTIME_NO_FIELD

/* Up to 3.10 a frame is an object, from 3.11 on a struct. */
#define OBJECT_FRAMES                                                                      \
	.runtime_interpreters = 32, .interpreter_next = 0, .interpreter_threads = 8,       \
	.thread_next = 8, .thread_id = 176, .thread_frame = 24, .cframe_frame = NONE,      \
	.frame_code = 32, .frame_previous = 24, .frame_entry = NONE, .frame_owner = NONE,  \
	.code_bytes = 128, .code_firstlineno = 40, .code_filename = 104, .code_name = 112, \
	.code_qualname = NONE, .code_lines = 120, .ascii_bytes = 48, .compact_bytes = 72

/* Sizes are the tp_basicsize of the types. */
static const struct known {
	uint16_t code_size, text_size;
	struct runtime_python_offsets at;
} versions[] = {
	{ 176,
	  80,
	  { OBJECT_FRAMES, .version = 0x0308, .frame_bytes = 112, .frame_instr = 104,
	    .instr = RUNTIME_PYTHON_INSTR_BYTES } },
	{ 176,
	  80,
	  { OBJECT_FRAMES, .version = 0x0309, .frame_bytes = 112, .frame_instr = 104,
	    .instr = RUNTIME_PYTHON_INSTR_BYTES } },
	{ 176,
	  80,
	  { OBJECT_FRAMES, .version = 0x030a, .frame_bytes = 104, .frame_instr = 96,
	    .instr = RUNTIME_PYTHON_INSTR_UNITS } },
	{ 184,
	  80,
	  { .version = 0x030b,
	    .runtime_interpreters = 40,
	    .interpreter_next = 0,
	    .interpreter_threads = 16,
	    .thread_next = 8,
	    .thread_id = 152,
	    .thread_frame = 56,
	    .cframe_frame = 8,
	    .frame_bytes = 72,
	    .frame_code = 32,
	    .frame_previous = 48,
	    .frame_instr = 56,
	    .frame_entry = 68,
	    .frame_owner = NONE,
	    .instr = RUNTIME_PYTHON_INSTR_POINTER,
	    .code_bytes = 144,
	    .code_firstlineno = 72,
	    .code_filename = 112,
	    .code_name = 120,
	    .code_qualname = 128,
	    .code_lines = 136,
	    .code_instrs = 184,
	    .ascii_bytes = 48,
	    .compact_bytes = 72 } },
	{ 192,
	  64,
	  { .version = 0x030c,
	    .runtime_interpreters = 40,
	    .interpreter_next = 0,
	    .interpreter_threads = 72,
	    .thread_next = 8,
	    .thread_id = 136,
	    .thread_frame = 56,
	    .cframe_frame = 0,
	    .frame_bytes = 72,
	    .frame_code = 0,
	    .frame_previous = 8,
	    .frame_instr = 56,
	    .frame_entry = NONE,
	    .frame_owner = 70,
	    .owner_entry = 3,
	    .instr = RUNTIME_PYTHON_INSTR_POINTER,
	    .code_bytes = 144,
	    .code_firstlineno = 68,
	    .code_filename = 112,
	    .code_name = 120,
	    .code_qualname = 128,
	    .code_lines = 136,
	    .code_instrs = 192,
	    .ascii_bytes = 40,
	    .compact_bytes = 56 } },
};

/* ---- symbols ---- */

static void see_symbol(struct found found[NAMES], const Elf64_Sym *sym, const char *texts,
		       size_t text_bytes)
{
	const char *name = texts + sym->st_name;

	if (sym->st_name >= text_bytes || sym->st_shndx == SHN_UNDEF || name[0] == '\0' ||
	    (name[0] != '_' && name[0] != 'P'))
		return;
	for (size_t i = 0; i < NAMES; i++)
		if (!found[i].is_there && !strcmp(name, names[i]))
			found[i] = (struct found){ sym->st_value, sym->st_size, true };
}

static void look_through(const struct elf_parts *parts, const Elf64_Shdr *table, const char *texts,
			 size_t text_bytes, struct found found[NAMES])
{
	Elf64_Sym symbols[STEP_SYMBOLS];
	uint64_t at, count = table->sh_size / sizeof(symbols[0]);

	count = count < SYMBOLS_MAX ? count : SYMBOLS_MAX;
	for (at = 0; at < count; at += STEP_SYMBOLS) {
		size_t want = count - at < STEP_SYMBOLS ? count - at : STEP_SYMBOLS, have;

		have = source_read(parts->file, table->sh_offset + at * sizeof(symbols[0]), symbols,
				   want * sizeof(symbols[0])) /
		       sizeof(symbols[0]);
		for (size_t i = 0; i < have; i++)
			see_symbol(found, &symbols[i], texts, text_bytes);
		if (have != want)
			return;
	}
}

/* Those of one table; most files have no such name, and are not looked through. */
static void find_in_table(const struct elf_parts *parts, const Elf64_Shdr *table,
			  struct found found[NAMES])
{
	const Elf64_Shdr *strings;
	char *texts;
	size_t size;

	if (table->sh_link >= parts->section_count || table->sh_entsize != sizeof(Elf64_Sym) ||
	    table->sh_size > parts->file->size_bytes)
		return;
	strings = &parts->sections[table->sh_link];
	if (strings->sh_size > TEXTS_MAX_BYTES)
		return;
	size = strings->sh_size;
	texts = malloc(size + 1);
	if (!texts)
		return;
	size = source_read(parts->file, strings->sh_offset, texts, size);
	texts[size] = '\0';
	if (memmem(texts, size, names[N_RUNTIME], strlen(names[N_RUNTIME]) + 1))
		look_through(parts, table, texts, size, found);
	free(texts);
}

static void find_symbols(const struct elf_parts *parts, struct found found[NAMES])
{
	static const uint32_t kinds[] = { SHT_DYNSYM, SHT_SYMTAB };
	size_t count = 0;

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < parts->section_count; i++)
			if (parts->sections[i].sh_type == kinds[k] && count++ < TABLES_MAX)
				find_in_table(parts, &parts->sections[i], found);
}

/* ---- versions and sizes in the file ---- */

static bool read_at(const struct elf_parts *parts, uint64_t addr, void *out, size_t size_bytes)
{
	uint64_t off;

	return elf_parts_offset(parts, addr, 0, &off) &&
	       source_read(parts->file, off, out, size_bytes) == size_bytes;
}

static uint64_t number_at(const struct elf_parts *parts, uint64_t addr)
{
	uint8_t bytes[8];

	return read_at(parts, addr, bytes, sizeof(bytes)) ? le64_load(bytes) : 0;
}

/* Major and minor, as in 0x030b; 0: not known, or not a release. */
static uint32_t version_of(const struct elf_parts *parts, const struct found found[NAMES])
{
	uint64_t hex;

	if (found[N_VERSION].is_there) {
		hex = number_at(parts, found[N_VERSION].addr);
		return (hex & 0xf0) == 0xf0 || (hex & 0xf0) == 0xc0 ? (uint32_t)(hex >> 16) & 0xffff
								    : 0;
	}
	return found[N_3_10].is_there  ? 0x030a
	       : found[N_3_9].is_there ? 0x0309
	       : found[N_3_8].is_there ? 0x0308
				       : 0;
}

/* _Py_DebugOffsets, of 3.13: where each field is (Include/internal/pycore_runtime.h). */
enum {
	AT_VERSION = 8,
	AT_FREE_THREADED = 16,
	AT_INTERPRETERS = 40,
	AT_INTERPRETER_NEXT = 64,
	AT_INTERPRETER_THREADS = 72,
	AT_THREAD_NEXT = 168,
	AT_THREAD_FRAME = 184,
	AT_THREAD_ID = 192,
	AT_FRAME_PREVIOUS = 232,
	AT_FRAME_CODE = 240,
	AT_FRAME_INSTR = 248,
	AT_FRAME_OWNER = 264,
	AT_CODE_FILENAME = 280,
	AT_CODE_NAME = 288,
	AT_CODE_QUALNAME = 296,
	AT_CODE_LINES = 304,
	AT_CODE_FIRSTLINENO = 312,
	AT_CODE_INSTRS = 344,
	AT_TYPE = 360,
	AT_BYTES_DATA = 528,
	AT_TEXT_STATE = 544,
	AT_TEXT_LENGTH = 552,
	AT_TEXT_ASCII = 560,
};

static uint16_t largest(const uint16_t *list, size_t count)
{
	uint16_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = list[i] > most ? list[i] : most;
	return most;
}

static bool take_fields(const uint8_t *table, struct runtime_python_offsets *o)
{
	const struct {
		uint16_t *to, at;
	} fields[] = {
		{ &o->runtime_interpreters, AT_INTERPRETERS },
		{ &o->interpreter_next, AT_INTERPRETER_NEXT },
		{ &o->interpreter_threads, AT_INTERPRETER_THREADS },
		{ &o->thread_next, AT_THREAD_NEXT },
		{ &o->thread_id, AT_THREAD_ID },
		{ &o->thread_frame, AT_THREAD_FRAME },
		{ &o->frame_code, AT_FRAME_CODE },
		{ &o->frame_previous, AT_FRAME_PREVIOUS },
		{ &o->frame_instr, AT_FRAME_INSTR },
		{ &o->frame_owner, AT_FRAME_OWNER },
		{ &o->code_firstlineno, AT_CODE_FIRSTLINENO },
		{ &o->code_filename, AT_CODE_FILENAME },
		{ &o->code_name, AT_CODE_NAME },
		{ &o->code_qualname, AT_CODE_QUALNAME },
		{ &o->code_lines, AT_CODE_LINES },
		{ &o->code_instrs, AT_CODE_INSTRS },
		{ &o->ascii_bytes, AT_TEXT_ASCII },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint64_t value = le64_load(table + fields[i].at);

		if (value > FIELD_MAX)
			return false;
		*fields[i].to = (uint16_t)value;
	}
	return true;
}

/* The table's offsets, where the BPF program can use them: what it takes for granted has to be the same there. */
static uint32_t take_offsets(const uint8_t *table, uint32_t version,
			     struct runtime_python_offsets *o)
{
	uint16_t frame[4], code[5];

	if (le64_load(table + AT_VERSION) >> 16 != version)
		return ELF_RUNTIME_LAYOUT;
	if (le64_load(table + AT_FREE_THREADED))
		return ELF_RUNTIME_THREADED;
	if (!take_fields(table, o) || le64_load(table + AT_TYPE) != 8 ||
	    le64_load(table + AT_BYTES_DATA) != 32 || le64_load(table + AT_TEXT_STATE) != 32 ||
	    le64_load(table + AT_TEXT_LENGTH) != 16)
		return ELF_RUNTIME_LAYOUT;
	memcpy(frame,
	       (uint16_t[]){ o->frame_code, o->frame_previous, o->frame_instr, o->frame_owner },
	       sizeof(frame));
	memcpy(code,
	       (uint16_t[]){ o->code_firstlineno, o->code_filename, o->code_name, o->code_qualname,
			     o->code_lines },
	       sizeof(code));
	o->frame_bytes = largest(frame, 4) + 8;
	o->code_bytes = largest(code, 5) + 8;
	o->compact_bytes = o->ascii_bytes + 16; /* utf8_length and utf8 */
	o->version = (uint16_t)version;
	o->cframe_frame = o->frame_entry = NONE;
	o->owner_entry = 3; /* FRAME_OWNED_BY_CSTACK */
	o->instr = RUNTIME_PYTHON_INSTR_POINTER;
	return o->frame_bytes <= 128 && o->code_bytes <= 256 && o->thread_id <= 192 &&
			       o->thread_frame <= 192 && o->thread_next <= 192
		       ? ELF_RUNTIME_UNDERSTOOD
		       : ELF_RUNTIME_LAYOUT;
}

static const struct known *known_version(uint32_t version)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].at.version == version)
			return &versions[i];
	return NULL;
}

static uint32_t take_layout(const struct elf_parts *parts, const struct found found[NAMES],
			    uint32_t version, struct runtime_python_offsets *out)
{
	uint64_t code_size = number_at(parts, found[N_CODE].addr + TYPE_BASICSIZE);
	uint64_t text_size = number_at(parts, found[N_TEXT].addr + TYPE_BASICSIZE);
	const struct known *known = known_version(version);
	uint8_t table[OFFSETS_BYTES];
	uint32_t state;

	if (known) {
		*out = known->at;
		return code_size == known->code_size && text_size == known->text_size
			       ? ELF_RUNTIME_UNDERSTOOD
			       : ELF_RUNTIME_LAYOUT;
	}
	if (version != 0x030d)
		return ELF_RUNTIME_VERSION;
	if (!read_at(parts, found[N_RUNTIME].addr, table, sizeof(table)) ||
	    memcmp(table, "xdebugpy", 8) != 0)
		return ELF_RUNTIME_LAYOUT;
	state = take_offsets(table, version, out);
	if (state == ELF_RUNTIME_UNDERSTOOD &&
	    (code_size != out->code_instrs || text_size != out->compact_bytes + 8u))
		state = ELF_RUNTIME_LAYOUT;
	return state;
}

static bool find_code(const struct elf_parts *parts, uint64_t addr, struct elf_runtime *out)
{
	uint64_t off;

	if (!elf_parts_offset(parts, addr, PF_X, &off))
		return false;
	out->code_vaddr = addr;
	out->code_offset = off;
	out->exec_vaddr = UINT64_MAX;
	for (size_t i = 0; i < parts->segment_count; i++) {
		const Elf64_Phdr *s = &parts->segments[i];

		if (s->p_type == PT_LOAD && s->p_flags & PF_X && s->p_vaddr < out->exec_vaddr)
			out->exec_vaddr = s->p_vaddr;
	}
	return true;
}

/* ---- the part of the loop that the compiler put elsewhere, where it has no symbol ---- */

struct cold_search {
	uint64_t *targets; /* sorted */
	size_t count;
	struct runtime_range hot, best;
	size_t best_count;
};

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Where jumps of 32 bits lead from the code, if not into itself.  Instructions are not decoded: what looks like a
 * jump and is none leads anywhere.
 */
static void find_targets(struct cold_search *s, const uint8_t *code, size_t size_bytes)
{
	for (size_t i = 0; i + 6 <= size_bytes && s->count < COLD_TARGETS_MAX; i++) {
		bool is_long = code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80;
		uint64_t end = s->hot.start + i + (is_long ? 6 : 5), to;

		if (!is_long && code[i] != 0xe9)
			continue;
		to = end + (uint64_t)(int64_t)(int32_t)le32_load(code + i + (is_long ? 2 : 1));
		if (to - s->hot.start >= s->hot.size_bytes)
			s->targets[s->count++] = to;
	}
	qsort(s->targets, s->count, sizeof(*s->targets), by_number);
}

/* A function's first byte is where calls lead to; a part of another function is jumped into. */
static int see_range(void *ctx, uint64_t pc, uint32_t size_bytes)
{
	struct cold_search *s = ctx;
	size_t lo = lower_bound(i, 0, s->count, s->targets[i] <= pc), n = 0;

	for (; lo < s->count && s->targets[lo] - pc < size_bytes; lo++)
		n += s->targets[lo] != s->targets[lo - !!lo];
	if (n > s->best_count) {
		s->best_count = n;
		s->best = (struct runtime_range){ pc, size_bytes };
	}
	return 0;
}

static uint8_t *read_part(const struct elf_parts *parts, uint64_t off, uint64_t size_bytes)
{
	uint8_t *bytes = size_bytes <= COLD_BYTES_MAX ? malloc(size_bytes + 1) : NULL;

	if (bytes && source_read(parts->file, off, bytes, size_bytes) == size_bytes)
		return bytes;
	free(bytes);
	return NULL;
}

static struct runtime_range find_cold(const struct elf_parts *parts, const struct elf_runtime *p)
{
	const Elf64_Shdr *frames = elf_parts_section(parts, ".eh_frame");
	struct cold_search s = { .hot = p->desc.eval[0] };
	uint8_t *code = read_part(parts, p->code_offset, s.hot.size_bytes);
	uint8_t *bytes = frames ? read_part(parts, frames->sh_offset, frames->sh_size) : NULL;

	s.targets = malloc(COLD_TARGETS_MAX * sizeof(*s.targets));
	if (code && bytes && s.targets) {
		const struct eh_frame_section section = {
			.data = bytes,
			.size_bytes = frames->sh_size,
			.vaddr = frames->sh_addr,
		};

		find_targets(&s, code, s.hot.size_bytes);
		(void)eh_frame_ranges(&section, see_range, &s, NULL);
	}
	free(code);
	free(bytes);
	free(s.targets);
	return s.best_count >= COLD_JUMPS_MIN ? s.best : (struct runtime_range){ 0 };
}

static void find(const struct elf_parts *parts, struct elf_runtime *out)
{
	struct found found[NAMES] = { 0 };

	find_symbols(parts, found);
	if (!found[N_RUNTIME].is_there || !found[N_EVAL].is_there || !found[N_EVAL].size_bytes)
		return;
	out->kind = RUNTIME_PYTHON;
	out->version = version_of(parts, found);
	out->state = out->version ? ELF_RUNTIME_LAYOUT : ELF_RUNTIME_VERSION;
	if (!find_code(parts, found[N_EVAL].addr, out))
		return;
	out->desc = (struct runtime_desc){
		.kind = RUNTIME_OTHER,
		.eval = { { found[N_EVAL].addr, found[N_EVAL].size_bytes },
			  { found[N_COLD].addr, found[N_COLD].size_bytes } },
		.state = found[N_RUNTIME].addr,
		.code_type = found[N_CODE].addr,
		.text_type = found[N_TEXT].addr,
		.bytes_type = found[N_BYTES].addr,
	};
	if (!found[N_COLD].is_there)
		out->desc.eval[1] = find_cold(parts, out);
	if (out->version && found[N_CODE].is_there && found[N_TEXT].is_there &&
	    found[N_BYTES].is_there)
		out->state = take_layout(parts, found, out->version, &out->desc.python);
	if (out->state == ELF_RUNTIME_UNDERSTOOD)
		out->desc.kind = RUNTIME_PYTHON;
}

void elf_python_find(const struct source *file, struct elf_runtime *out)
{
	struct elf_parts parts;

	memset(out, 0, sizeof(*out));
	if (elf_parts_read(file, &parts))
		return;
	find(&parts, out);
	elf_parts_done(&parts);
}
