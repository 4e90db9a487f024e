/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_v8 - whether an ELF file contains V8, and how its functions are read
 *
 * V8 describes its objects for debuggers of core files: v8dbg_* are symbols of ints with offsets, types and
 * flags (tools/gen-postmortem-metadata.py).  They are dynamic symbols, which strip leaves in node and in libnode.so.
 * Their names end with the type of a field, which changed over time, so they are found by how they begin.
 *
 * The values that BPF takes for granted have to be in the file as well, or V8 is one that is not understood.  The file lacks
 * the words of a ScopeInfo before the name: those are checked where they are read.
 */
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "record/privsep/elf/elf_loop.h"
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

#define TEXTS_MAX_BYTES (64u << 20) /* of names of symbols: node's are below 10 MiB */
#define STEP_SYMBOLS    1024u
#define SYMBOLS_MAX     (1u << 20) /* dynamic ones: node has some 100,000; more are not looked at */
#define FACTS_MAX       4096u      /* of V8's: node has below 1000 */
#define PREFIX          "v8dbg_"
#define VERSION_PREFIX  "_ZN2v88internal7Version" /* v8::internal::Version:: */
#define FIELD_MAX       56 /* bytes, where the last field begins: 64 of an object are read */
#define TYPE_MAX        0x3fff
/* Types of functions from JS_FUNCTION_TYPE on, where the file does not have the last one (up to node 20). */
#define FUNCTION_TYPES 17

enum name {
	N_FUNCTION_SLOT,
	N_CONTEXT_SLOT,
	N_MAP_TYPE,
	N_FUNCTION,
	N_LAST_FUNCTION,
	N_FUNCTION_SHARED,
	N_SHARED,
	N_SHARED_NAME,
	N_SHARED_SCRIPT,
	N_SHARED_TOKEN,
	N_SCOPE,
	N_SCRIPT,
	N_SCRIPT_NAME,
	N_FIRST_OF_CODE, /* from here on they may be missing: then innermost frames have no name */
	N_CODE = N_FIRST_OF_CODE,
	N_CODE_START,
	N_CODE_SIZE,
	N_CODE_DEOPT,
	N_STREAM,
	N_STREAM_START,
	N_CODE_FLAGS,
	N_CODE_POSITIONS,
	N_DEOPT_COUNT, /* without these four no inlined function has a name */
	N_DEOPT_LITERALS,
	N_DEOPT_INLININGS,
	N_DEOPT_COMPILATION,
	N_DEOPT_SHARED,
	N_DEOPT_WRAPPED,
	N_WRAPPER,
	N_SCRIPT_SOURCE, /* without it functions have no lines */
	N_BYTECODE,      /* without these seven they have no running lines */
	N_BYTECODE_DATA,
	N_BYTES,
	N_BYTECODE_SLOT,
	N_INSTR_SLOT,
	N_MAJOR,
	N_MINOR,
	N_TRUSTED_BYTES, /* these are not in all versions */
	N_BYTECODE_WRAPPER,
	N_SHARED_DATA,
	N_FIRST_FIXED,
	N_TAG = N_FIRST_FIXED,
	N_SMI_SHIFT,
	N_MAP,
	N_NONSTRING,
	N_KINDS,
	N_ONE_BYTE,
	N_SEQ,
	N_CONS,
	N_SLICED,
	N_THIN,
	N_LENGTH,
	N_CHARS,
	N_CHARS_16,
	N_CONS_FIRST,
	N_CONS_SECOND,
	N_SLICED_PARENT,
	N_SLICED_OFFSET,
	N_THIN_ACTUAL,
	NAMES
};

/* How the names begin, behind v8dbg_; and the value that bpf/runtime/v8.bpf.h relies on. */
static const struct {
	const char *text;
	int32_t value;
} names[NAMES] = {
	[N_FUNCTION_SLOT] = { "off_fp_function", -16 },
	[N_CONTEXT_SLOT] = { "off_fp_context", -8 },
	[N_MAP_TYPE] = { "class_Map__instance_type__", 0 },
	[N_FUNCTION] = { "type_JSFunction__", 0 },
	[N_LAST_FUNCTION] = { "LastJSFunctionType", 0 },
	[N_FUNCTION_SHARED] = { "class_JSFunction__shared__", 0 },
	[N_SHARED] = { "type_SharedFunctionInfo__", 0 },
	[N_SHARED_NAME] = { "class_SharedFunctionInfo__name_or_scope_info__", 0 },
	[N_SHARED_SCRIPT] = { "class_SharedFunctionInfo__script_", 0 },
	[N_SHARED_TOKEN] = { "class_SharedFunctionInfo__raw_function_token_offset__", 0 },
	[N_SCOPE] = { "type_ScopeInfo__", 0 },
	[N_SCRIPT] = { "type_Script__", 0 },
	[N_SCRIPT_NAME] = { "class_Script__name__", 0 },
	[N_CODE] = { "type_Code__", 0 },
	[N_CODE_START] = { "class_Code__instruction_start__", 0 },
	[N_CODE_SIZE] = { "class_Code__instruction_size__", 0 },
	[N_CODE_DEOPT] = { "class_Code__deoptimization_data__", 0 },
	[N_STREAM] = { "type_InstructionStream__", 0 },
	[N_STREAM_START] = { "class_InstructionStream__instruction_start__", 0 },
	[N_CODE_FLAGS] = { "class_Code__flags__", 0 },
	[N_CODE_POSITIONS] = { "class_Code__source_position_table__", 0 },
	[N_DEOPT_COUNT] = { "DeoptimizationDataInlinedFunctionCountIndex", 0 },
	[N_DEOPT_LITERALS] = { "DeoptimizationDataLiteralArrayIndex", 0 },
	[N_DEOPT_INLININGS] = { "DeoptimizationDataInliningPositionsIndex", 0 },
	[N_DEOPT_COMPILATION] = { "DeoptimizationDataOptimizationIdIndex", 0 },
	[N_DEOPT_SHARED] = { "DeoptimizationDataSharedFunctionInfoIndex", 0 },
	[N_DEOPT_WRAPPED] = { "DeoptimizationDataWrappedSharedFunctionInfoIndex", 0 },
	[N_WRAPPER] = { "type_SharedFunctionInfoWrapper__", 0 },
	[N_SCRIPT_SOURCE] = { "class_Script__source__", 0 },
	[N_BYTECODE] = { "type_BytecodeArray__", 0 },
	[N_BYTECODE_DATA] = { "class_BytecodeArray__data__", 0 },
	[N_BYTES] = { "type_ByteArray__", 0 },
	[N_BYTECODE_SLOT] = { "off_fp_bytecode_array", -32 },
	[N_INSTR_SLOT] = { "off_fp_bytecode_offset", -40 },
	[N_MAJOR] = { "6major_E", 0 }, /* behind VERSION_PREFIX */
	[N_MINOR] = { "6minor_E", 0 },
	[N_TRUSTED_BYTES] = { "type_TrustedByteArray__", 0 },
	[N_BYTECODE_WRAPPER] = { "class_BytecodeArray__wrapper__", 0 },
	[N_SHARED_DATA] = { "class_SharedFunctionInfo__function_data__", 0 },
	[N_TAG] = { "HeapObjectTag", 1 },
	[N_SMI_SHIFT] = { "SmiShiftSize", 31 }, /* else pointers are compressed */
	[N_MAP] = { "class_HeapObject__map__", 0 },
	[N_NONSTRING] = { "FirstNonstringType", 0x80 },
	[N_KINDS] = { "StringRepresentationMask", 7 },
	[N_ONE_BYTE] = { "OneByteStringTag", 8 },
	[N_SEQ] = { "SeqStringTag", 0 },
	[N_CONS] = { "ConsStringTag", 1 },
	[N_SLICED] = { "SlicedStringTag", 3 },
	[N_THIN] = { "ThinStringTag", 5 },
	[N_LENGTH] = { "class_String__length__", 12 },
	[N_CHARS] = { "class_SeqOneByteString__chars__", 16 },
	[N_CHARS_16] = { "class_SeqTwoByteString__chars__", 16 },
	[N_CONS_FIRST] = { "class_ConsString__first__", 16 },
	[N_CONS_SECOND] = { "class_ConsString__second__", 24 },
	[N_SLICED_PARENT] = { "class_SlicedString__parent__", 16 },
	[N_SLICED_OFFSET] = { "class_SlicedString__offset__", 24 },
	[N_THIN_ACTUAL] = { "class_ThinString__actual__", 16 },
};

struct found {
	int32_t value[NAMES];
	bool is_there[NAMES];
	uint32_t count;    /* of V8's facts */
	bool is_ambiguous; /* one name has two values, or there are too many */
};

/* ---- symbols ---- */

static bool is_name(const char *text, enum name n)
{
	size_t size = strlen(names[n].text);

	/* One that has no type behind it is complete; off_fp_context_or_frame_type is another one. */
	return !strncmp(text, names[n].text, size) &&
	       (names[n].text[size - 1] == '_' || text[size] == '\0');
}

static void see_value(const struct elf_parts *parts, const char *text, uint64_t addr,
		      struct found *found)
{
	uint8_t bytes[4] = { 0 };
	uint64_t off;
	int32_t value;

	for (enum name n = 0; n < NAMES; n++) {
		if (!is_name(text, n))
			continue;
		/* In .bss it is in no part of the file, and 0. */
		if (elf_parts_offset(parts, addr, 0, &off) &&
		    source_read(parts->file, off, bytes, sizeof(bytes)) != sizeof(bytes))
			return;
		value = (int32_t)le32_load(bytes);
		found->is_ambiguous |= found->is_there[n] && found->value[n] != value;
		found->value[n] = value;
		found->is_there[n] = true;
	}
}

/* The name of one of V8's facts, without its prefix; NULL: it is another symbol. */
static const char *fact_of(const char *name)
{
	if (!strncmp(name, PREFIX, strlen(PREFIX)))
		return name + strlen(PREFIX);
	return !strncmp(name, VERSION_PREFIX, strlen(VERSION_PREFIX))
		       ? name + strlen(VERSION_PREFIX)
		       : NULL;
}

static void see_symbols(const struct elf_parts *parts, const Elf64_Shdr *table, const char *texts,
			size_t text_bytes, struct found *found)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym);
	Elf64_Sym symbols[STEP_SYMBOLS];

	count = count < SYMBOLS_MAX ? count : SYMBOLS_MAX;
	for (uint64_t at = 0; at < count; at += STEP_SYMBOLS) {
		size_t want = count - at < STEP_SYMBOLS ? count - at : STEP_SYMBOLS, have;

		have = source_read(parts->file, table->sh_offset + at * sizeof(symbols[0]), symbols,
				   want * sizeof(symbols[0])) /
		       sizeof(symbols[0]);
		for (size_t i = 0; i < have; i++) {
			const char *fact;

			if (symbols[i].st_name >= text_bytes || symbols[i].st_shndx == SHN_UNDEF)
				continue;
			fact = fact_of(texts + symbols[i].st_name);
			if (!fact)
				continue;
			if (found->count++ == FACTS_MAX) {
				found->is_ambiguous = true;
				return;
			}
			see_value(parts, fact, symbols[i].st_value, found);
		}
		if (have != want)
			return;
	}
}

static void find_symbols(const struct elf_parts *parts, struct found *found)
{
	const Elf64_Shdr *table = elf_parts_section(parts, ".dynsym");
	const char *texts;
	size_t size;

	if (!table || table->sh_entsize != sizeof(Elf64_Sym) ||
	    table->sh_size > parts->file->size_bytes)
		return;
	texts = elf_parts_texts(parts, table, TEXTS_MAX_BYTES, &size);
	if (texts && memmem(texts, size, PREFIX, strlen(PREFIX)))
		see_symbols(parts, table, texts, size, found);
}

/* ---- the description ---- */

static bool is_field(int32_t offset, int32_t align)
{
	return offset >= 8 && offset <= FIELD_MAX && offset % align == 0;
}

static bool is_type(int32_t type)
{
	return type >= 0x80 && type <= TYPE_MAX;
}

static bool is_as_known(const struct found *f)
{
	const int32_t *v = f->value;

	for (enum name n = 0; n < NAMES; n++)
		if ((!f->is_there[n] && n != N_LAST_FUNCTION &&
		     (n < N_FIRST_OF_CODE || n >= N_FIRST_FIXED)) ||
		    ((n >= N_FIRST_FIXED || n <= N_CONTEXT_SLOT) && v[n] != names[n].value))
			return false;
	return !f->is_ambiguous && is_field(v[N_MAP_TYPE], 2) &&
	       is_field(v[N_FUNCTION_SHARED], 8) && is_field(v[N_SHARED_NAME], 8) &&
	       is_field(v[N_SHARED_SCRIPT], 8) && v[N_SHARED_NAME] != v[N_SHARED_SCRIPT] &&
	       is_field(v[N_SHARED_TOKEN], 2) && is_field(v[N_SCRIPT_NAME], 8) &&
	       is_type(v[N_FUNCTION]) && is_type(v[N_SHARED]) && is_type(v[N_SCOPE]) &&
	       is_type(v[N_SCRIPT]) && v[N_SHARED] != v[N_SCOPE] && v[N_SHARED] != v[N_SCRIPT] &&
	       v[N_SCOPE] != v[N_SCRIPT];
}

/*
 * Where compiled code is.  node 18 has it in the Code itself; node 20 lacks fields of the Code, and from 22 on that of
 * the deoptimization data is missing: those are as in its source, and every use checks what it finds there.
 */
static void find_code_offsets(const struct found *f, struct runtime_v8_offsets *o)
{
	const int32_t *v = f->value;
	bool has_stream = f->is_there[N_STREAM] && f->is_there[N_STREAM_START],
	     has_start = f->is_there[N_CODE_START], has_size = f->is_there[N_CODE_SIZE],
	     is_wrapped = f->is_there[N_DEOPT_WRAPPED];
	int32_t head = has_stream ? v[N_STREAM_START] : v[N_CODE_START],
		start = !has_stream ? 0
			: has_start ? v[N_CODE_START]
				    : 40,
		size = has_size ? v[N_CODE_SIZE] : 56,
		deopt = f->is_there[N_CODE_DEOPT] ? v[N_CODE_DEOPT]
			: has_stream              ? 8
						  : 16,
		index = is_wrapped                    ? v[N_DEOPT_WRAPPED]
			: f->is_there[N_DEOPT_SHARED] ? v[N_DEOPT_SHARED]
						      : 6;

	if (!f->is_there[N_CODE] || !is_type(v[N_CODE]) || head < 16 || head > 128 || head % 8 ||
	    (start && !is_field(start, 8)) || !is_field(size, 4) || !is_field(deopt, 8) ||
	    index < 0 || index > 15 || (has_stream && !is_type(v[N_STREAM])) ||
	    (is_wrapped && (!f->is_there[N_WRAPPER] || !is_type(v[N_WRAPPER]))) ||
	    (!has_stream && !(has_start && has_size)))
		return;
	o->code_type = (uint16_t)v[N_CODE];
	o->stream_type = has_stream ? (uint16_t)v[N_STREAM] : 0;
	o->stream_head = (uint16_t)head;
	o->code_start = (uint16_t)start;
	o->code_size = (uint16_t)size;
	o->code_deopt = (uint16_t)deopt;
	o->deopt_index = (uint16_t)index;
	o->wrapper_type = is_wrapped ? (uint16_t)v[N_WRAPPER] : 0;
}

/* The number that V8 has for TurboFan's code; 0: not known. */
static uint16_t turbofan_kind(uint16_t version)
{
	switch (version) {
	case 0x0b03: /* node 20 */
	case 0x0e06: /* 26 */
		return 13;
	case 0x0c04: /* 22 */
	case 0x0d06: /* 24 */
		return 12;
	default:
		return 0;
	}
}

/*
 * Where optimized code has what it inlined, from node 20 on.  There the field of the flags is missing, and from 22 on that of the
 * positions: those are as in its source.  The tables are encoded as those of bytecode.
 */
static void find_inlined_offsets(const struct found *f, struct runtime_v8_offsets *o)
{
	const int32_t *v = f->value;
	int32_t positions = f->is_there[N_CODE_POSITIONS] ? v[N_CODE_POSITIONS] : o->code_deopt + 8,
		flags = f->is_there[N_CODE_FLAGS] ? v[N_CODE_FLAGS] : o->code_size - 8;

	for (enum name n = N_DEOPT_COUNT; n <= N_DEOPT_COMPILATION; n++)
		if (!f->is_there[n] || v[n] < 0 || v[n] > 15)
			return;
	o->turbofan_kind = turbofan_kind(o->version);
	if (!o->code_type || !o->stream_type || !o->bytecode_type || !o->turbofan_kind ||
	    !is_field(positions, 8) || !is_field(flags, 4))
		return;
	o->code_flags = (uint16_t)flags;
	o->code_positions = (uint16_t)positions;
	o->inlined_count_index = (uint16_t)v[N_DEOPT_COUNT];
	o->literals_index = (uint16_t)v[N_DEOPT_LITERALS];
	o->inlinings_index = (uint16_t)v[N_DEOPT_INLININGS];
	o->compilation_index = (uint16_t)v[N_DEOPT_COMPILATION];
}

/*
 * Where bytecode and its positions are.  From node 22 on, whose bytecode has a wrapper, the field of the positions is missing, as
 * that of a function's data: those are as in its source, and every use checks what it finds there.
 */
static void find_bytecode_offsets(const struct found *f, struct runtime_v8_offsets *o)
{
	const int32_t *v = f->value;
	bool is_wrapped = f->is_there[N_BYTECODE_WRAPPER];
	int32_t bytes = f->is_there[N_TRUSTED_BYTES] ? v[N_TRUSTED_BYTES] : v[N_BYTES],
		data = f->is_there[N_SHARED_DATA] ? v[N_SHARED_DATA] : 8;

	for (enum name n = N_BYTECODE; n <= N_MINOR; n++)
		if (!f->is_there[n])
			return;
	if (!is_type(v[N_BYTECODE]) || !is_type(bytes) || bytes == v[N_BYTECODE] ||
	    v[N_BYTECODE_SLOT] != names[N_BYTECODE_SLOT].value || v[N_MAJOR] < 0 ||
	    v[N_MAJOR] > 0xff || v[N_MINOR] < 0 || v[N_MINOR] > 0xff ||
	    v[N_INSTR_SLOT] != names[N_INSTR_SLOT].value || v[N_BYTECODE_DATA] < 40 ||
	    v[N_BYTECODE_DATA] > 128 || !is_field(data, 8))
		return;
	o->version = (uint16_t)(v[N_MAJOR] << 8 | v[N_MINOR]);
	o->bytecode_type = (uint16_t)v[N_BYTECODE];
	o->bytecode_head = (uint16_t)v[N_BYTECODE_DATA];
	o->bytecode_positions = is_wrapped ? 24 : 32;
	o->bytes_type = (uint16_t)bytes;
	o->shared_data = (uint16_t)data;
}

static struct runtime_v8_offsets offsets_of(const struct found *f)
{
	const int32_t *v = f->value;
	int32_t last = f->is_there[N_LAST_FUNCTION] ? v[N_LAST_FUNCTION]
						    : v[N_FUNCTION] + FUNCTION_TYPES - 1;

	return (struct runtime_v8_offsets){
		.is_understood = 1,
		.map_type = (uint16_t)v[N_MAP_TYPE],
		.function_first = (uint16_t)v[N_FUNCTION],
		.function_count = last >= v[N_FUNCTION] && last - v[N_FUNCTION] < 64
					  ? (uint16_t)(last - v[N_FUNCTION] + 1)
					  : 1,
		.function_shared = (uint16_t)v[N_FUNCTION_SHARED],
		.shared_type = (uint16_t)v[N_SHARED],
		.shared_name = (uint16_t)v[N_SHARED_NAME],
		.shared_script = (uint16_t)v[N_SHARED_SCRIPT],
		.shared_token = (uint16_t)v[N_SHARED_TOKEN],
		.scope_type = (uint16_t)v[N_SCOPE],
		.script_type = (uint16_t)v[N_SCRIPT],
		.script_name = (uint16_t)v[N_SCRIPT_NAME],
		.script_source = f->is_there[N_SCRIPT_SOURCE] && is_field(v[N_SCRIPT_SOURCE], 8)
					 ? (uint16_t)v[N_SCRIPT_SOURCE]
					 : 0,
	};
}

void elf_v8_find(const struct elf_parts *parts, struct elf_runtime *out)
{
	struct found found = { 0 };

	memset(out, 0, sizeof(*out));
	find_symbols(parts, &found);
	if (found.count && elf_loop_place_any(parts, out)) {
		out->kind = out->desc.kind = RUNTIME_V8;
		out->state = ELF_RUNTIME_LAYOUT;
		if (is_as_known(&found)) {
			out->state = ELF_RUNTIME_UNDERSTOOD;
			out->desc.v8 = offsets_of(&found);
			find_code_offsets(&found, &out->desc.v8);
			find_bytecode_offsets(&found, &out->desc.v8);
			find_inlined_offsets(&found, &out->desc.v8);
		}
	}
}
