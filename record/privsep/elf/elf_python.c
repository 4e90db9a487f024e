/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_python - whether an ELF file contains CPython, and how its frames are read
 *
 * CPython is where _PyRuntime and _PyEval_EvalFrameDefault are defined, whatever the file is called.  From 3.13 on it
 * has a table of the offsets of its structs (_Py_DebugOffsets, cookie "xdebugpy"); those of 3.8 to 3.12 are in a
 * table here, as the DWARF of these versions has them.  Sizes that the file has of some types have to agree with
 * either, or the interpreter is one that is not understood: a frame that is missing is better than a wrong name.
 */
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "record/privsep/elf/elf_loop.h"
#include "record/privsep/elf/elf_names.h"
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

#define TYPE_BASICSIZE 32  /* PyTypeObject: references, type, size, name; then tp_basicsize */
#define OFFSETS_BYTES  568 /* of _Py_DebugOffsets, that are read */
#define FIELD_MAX      0xfff0u

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

static const struct elf_name wanted[NAMES] = {
	[N_RUNTIME] = { .text = "_PyRuntime" },
	[N_EVAL] = { .text = "_PyEval_EvalFrameDefault" },
	[N_COLD] = { .text = "_PyEval_EvalFrameDefault.cold" },
	[N_CODE] = { .text = "PyCode_Type" },
	[N_TEXT] = { .text = "PyUnicode_Type" },
	[N_BYTES] = { .text = "PyBytes_Type" },
	/* Data with the version since 3.11; before, functions that are as old as a version. */
	[N_VERSION] = { .text = "Py_Version" },
	[N_3_8] = { .text = "PyCode_NewWithPosOnlyArgs" },
	[N_3_9] = { .text = "PyFrame_GetCode" },
	[N_3_10] = { .text = "PyModule_AddObjectRef" },
};

#define NONE RUNTIME_NO_FIELD

/* Up to 3.10 a frame is an object, from 3.11 on a struct. */
#define OBJECT_FRAMES                                                                      \
	.runtime_interpreters = 32, .interpreter_next = 0, .interpreter_threads = 8,       \
	.thread_next = 8, .thread_id = 176, .thread_frame = 24, .cframe_frame = NONE,      \
	.frame_code = 32, .frame_previous = 24, .frame_entry = NONE, .frame_owner = NONE,  \
	.code_bytes = 128, .code_firstlineno = 40, .code_filename = 104, .code_name = 112, \
	.code_qualname = NONE, .code_lines = 120, .ascii_bytes = 48, .compact_bytes = 72

#define STRUCT_FRAMES                                                                            \
	.runtime_interpreters = 40, .interpreter_next = 0, .thread_next = 8, .thread_frame = 56, \
	.frame_bytes = 72, .frame_instr = 56, .instr = RUNTIME_PYTHON_INSTR_POINTER,             \
	.code_bytes = 144, .code_filename = 112, .code_name = 120, .code_qualname = 128,         \
	.code_lines = 136

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
	  { STRUCT_FRAMES, .version = 0x030b, .interpreter_threads = 16, .thread_id = 152,
	    .cframe_frame = 8, .frame_code = 32, .frame_previous = 48, .frame_entry = 68,
	    .frame_owner = NONE, .code_firstlineno = 72, .code_instrs = 184, .ascii_bytes = 48,
	    .compact_bytes = 72 } },
	{ 192,
	  64,
	  { STRUCT_FRAMES, .version = 0x030c, .interpreter_threads = 72, .thread_id = 136,
	    .cframe_frame = 0, .frame_code = 0, .frame_previous = 8, .frame_entry = NONE,
	    .frame_owner = 70, .owner_entry = 3, .code_firstlineno = 68, .code_instrs = 192,
	    .ascii_bytes = 40, .compact_bytes = 56 } },
};

/* ---- versions and sizes in the file ---- */

static uint64_t number_at(const struct elf_parts *parts, uint64_t addr)
{
	uint8_t bytes[8];

	return elf_parts_bytes(parts, addr, bytes, sizeof(bytes)) ? le64_load(bytes) : 0;
}

/* Major and minor, as in 0x030b; 0: not known, or not a release. */
static uint32_t version_of(const struct elf_parts *parts, const struct elf_name found[NAMES])
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

static uint32_t take_layout(const struct elf_parts *parts, const struct elf_name found[NAMES],
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
	if (!elf_parts_bytes(parts, found[N_RUNTIME].addr, table, sizeof(table)) ||
	    memcmp(table, "xdebugpy", 8) != 0)
		return ELF_RUNTIME_LAYOUT;
	state = take_offsets(table, version, out);
	if (state == ELF_RUNTIME_UNDERSTOOD &&
	    (code_size != out->code_instrs || text_size != out->compact_bytes + 8u))
		state = ELF_RUNTIME_LAYOUT;
	return state;
}

static void find(const struct elf_parts *parts, struct elf_runtime *out)
{
	struct elf_name found[NAMES];

	memcpy(found, wanted, sizeof(found));
	elf_names_find(parts, SHT_DYNSYM, found, NAMES);
	elf_names_find(parts, SHT_SYMTAB, found, NAMES);
	if (!found[N_RUNTIME].is_there || !found[N_EVAL].is_there || !found[N_EVAL].size_bytes)
		return;
	out->kind = RUNTIME_PYTHON;
	out->version = version_of(parts, found);
	out->state = out->version ? ELF_RUNTIME_LAYOUT : ELF_RUNTIME_VERSION;
	if (!elf_loop_place(parts, found[N_EVAL].addr, out))
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
		out->desc.eval[1] = elf_loop_cold(parts, out->desc.eval[0]);
	if (out->version && found[N_CODE].is_there && found[N_TEXT].is_there &&
	    found[N_BYTES].is_there)
		out->state = take_layout(parts, found, out->version, &out->desc.python);
	if (out->state == ELF_RUNTIME_UNDERSTOOD)
		out->desc.kind = RUNTIME_PYTHON;
}

void elf_python_find(const struct elf_parts *parts, struct elf_runtime *out)
{
	memset(out, 0, sizeof(*out));
	find(parts, out);
}
