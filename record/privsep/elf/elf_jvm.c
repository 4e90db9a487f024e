/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_jvm - the HotSpot JVM in an ELF file, Java 17 to 25
 *
 * libjvm.so exports gHotSpotVMStructs and gHotSpotVMTypes, tables of the fields and sizes of its structs for debuggers
 * (src/hotspot/share/runtime/vmStructs.cpp).  Their texts, and the addresses of static fields, are pointers that the
 * relocations have; sizes are in the file; the offsets of fields the JVM fills in as it starts, so the description has which
 * entry is of which field (bpf/runtime_maps.h), and BPF reads the offsets in the process.
 */
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "record/privsep/elf/elf_loop.h"
#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

#define JAVA_FIRST      17
#define JAVA_LAST       25
#define TEXTS_MAX_BYTES (1u << 20) /* of names of dynamic symbols: libjvm.so has 9 KB */
#define SYMBOLS_MAX     4096u      /* the same: it has 530 */
#define ENTRIES_MAX     2048u      /* of one table: they have below 800 */
#define RELOCATIONS_MAX (1u << 20) /* libjvm.so has 125,000 */
#define STEP            2048u      /* relocations that are read at once */
#define NAME_BYTES      48
#define NO_ENTRY        RUNTIME_NO_FIELD

/* VMStructEntry: type, field, type of the field, is static, offset, address.  VMTypeEntry: type, superclass, 3 ints, size. */
enum {
	STRUCT_BYTES = 48,
	STRUCT_STATIC = 24,
	STRUCT_ADDRESS = 40,
	TYPE_BYTES = 40,
	TYPE_SIZE = 32
};

#define STRUCTS_SYMBOL "gHotSpotVMStructs"
#define TYPES_SYMBOL   "gHotSpotVMTypes"

/* Bytes of the file's memory, with the pointers that relocations put there. */
struct image {
	uint64_t addr;
	size_t size_bytes;
	uint8_t *data; /* owned */
};

struct text {
	char text[NAME_BYTES];
};

enum { TYPE, FIELD, TYPE_OF_FIELD, STRUCT_TEXTS }; /* the first words of a VMStructEntry */

/* Each text is compared with many: all are read once. */
struct tables {
	const struct elf_parts *parts;
	struct image structs, types;
	struct text (*struct_texts)[STRUCT_TEXTS]; /* owned, one for each entry, as the next one */
	struct text *type_texts;
	size_t struct_count, type_count;
};

static const struct {
	const char *type, *name;
	const char *other_type, *other_name; /* of other versions; NULL: none */
} fields[RUNTIME_JVM_FIELDS] = {
	[RUNTIME_JVM_ARRAY_COUNT] = { "GrowableArrayBase", "_len", NULL, NULL },
	[RUNTIME_JVM_ARRAY_DATA] = { "GrowableArray<int>", "_data", NULL, NULL },
	[RUNTIME_JVM_HEAP_MEMORY] = { "CodeHeap", "_memory", NULL, NULL },
	[RUNTIME_JVM_HEAP_SEGMENTS] = { "CodeHeap", "_segmap", NULL, NULL },
	[RUNTIME_JVM_HEAP_SHIFT] = { "CodeHeap", "_log2_segment_size", NULL, NULL },
	[RUNTIME_JVM_SPACE_LOW] = { "VirtualSpace", "_low", NULL, NULL },
	[RUNTIME_JVM_SPACE_HIGH] = { "VirtualSpace", "_high", NULL, NULL },
	[RUNTIME_JVM_BLOCK_USED] = { "HeapBlock::Header", "_used", NULL, NULL },
	[RUNTIME_JVM_BLOB_NAME] = { "CodeBlob", "_name", NULL, NULL },
	[RUNTIME_JVM_BLOB_BYTES] = { "CodeBlob", "_size", NULL, NULL },
	[RUNTIME_JVM_BLOB_CODE] = { "CodeBlob", "_code_begin", "CodeBlob", "_code_offset" },
	[RUNTIME_JVM_BLOB_FRAME] = { "CodeBlob", "_frame_size", NULL, NULL },
	[RUNTIME_JVM_BLOB_COMPLETE] = { "CodeBlob", "_frame_complete_offset", NULL, NULL },
	[RUNTIME_JVM_NMETHOD_METHOD] = { "nmethod", "_method", "CompiledMethod", "_method" },
	[RUNTIME_JVM_NMETHOD_ID] = { "nmethod", "_compile_id", NULL, NULL },
	[RUNTIME_JVM_METHOD_CONST] = { "Method", "_constMethod", NULL, NULL },
	[RUNTIME_JVM_CONST_POOL] = { "ConstMethod", "_constants", NULL, NULL },
	[RUNTIME_JVM_CONST_NAME] = { "ConstMethod", "_name_index", NULL, NULL },
	[RUNTIME_JVM_CONST_CODE_BYTES] = { "ConstMethod", "_code_size", NULL, NULL },
	[RUNTIME_JVM_POOL_COUNT] = { "ConstantPool", "_length", NULL, NULL },
	[RUNTIME_JVM_POOL_HOLDER] = { "ConstantPool", "_pool_holder", NULL, NULL },
	[RUNTIME_JVM_POOL_FILE] = { "ConstantPool", "_source_file_name_index", NULL, NULL },
	[RUNTIME_JVM_KLASS_NAME] = { "Klass", "_name", NULL, NULL },
	[RUNTIME_JVM_SYMBOL_BYTES] = { "Symbol", "_length", NULL, NULL },
	[RUNTIME_JVM_SYMBOL_BODY] = { "Symbol", "_body", NULL, NULL },
	[RUNTIME_JVM_CONST_FLAGS] = { "ConstMethod", "_flags", "ConstMethod", "_flags._flags" },
	[RUNTIME_JVM_CONST_WORDS] = { "ConstMethod", "_constMethod_size", NULL, NULL },
	[RUNTIME_JVM_SCOPES_AT] = { "CompiledMethod", "_scopes_data_begin", "nmethod",
				    "_immutable_data" },
	[RUNTIME_JVM_SCOPES_DATA] = { "nmethod", "_scopes_data_offset", NULL, NULL },
	[RUNTIME_JVM_SCOPES_DESCS] = { "nmethod", "_scopes_pcs_offset", NULL, NULL },
	[RUNTIME_JVM_SCOPES_END] = { "nmethod", "_dependencies_offset", "nmethod",
				     "_immutable_data_size" },
	[RUNTIME_JVM_METADATA_AT] = { "CodeBlob", "_mutable_data", NULL, NULL },
	[RUNTIME_JVM_METADATA_OFFSET] = { "nmethod", "_metadata_offset", "CodeBlob",
					  "_relocation_size" },
	[RUNTIME_JVM_METADATA_END] = { "CodeBlob", "_mutable_data_size", NULL, NULL },
};

/* ---- symbols ---- */

/* The address of a dynamic symbol among those in texts; 0: there is none. */
static uint64_t symbol_addr(const struct elf_parts *parts, const Elf64_Shdr *table,
			    const char *texts, size_t text_bytes, const char *name)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym), found = 0;
	Elf64_Sym *symbols;
	size_t have;

	count = count < SYMBOLS_MAX ? count : SYMBOLS_MAX;
	symbols = malloc(count * sizeof(*symbols) + 1);
	if (!symbols)
		return 0;
	have = source_read(parts->file, table->sh_offset, symbols, count * sizeof(*symbols)) /
	       sizeof(*symbols);
	for (size_t i = 0; i < have && !found; i++)
		if (symbols[i].st_name < text_bytes && symbols[i].st_shndx != SHN_UNDEF &&
		    !strcmp(texts + symbols[i].st_name, name))
			found = symbols[i].st_value;
	free(symbols);
	return found;
}

/* Where the pointers to the tables are.  False: this is no JVM. */
static bool find_symbols(const struct elf_parts *parts, uint64_t *structs, uint64_t *types)
{
	const Elf64_Shdr *table = elf_parts_section(parts, ".dynsym");
	const char *texts;
	size_t size;

	*structs = *types = 0;
	if (!table || table->sh_entsize != sizeof(Elf64_Sym))
		return false;
	texts = elf_parts_texts(parts, table, TEXTS_MAX_BYTES, &size);
	if (texts && memmem(texts, size, STRUCTS_SYMBOL, sizeof(STRUCTS_SYMBOL))) {
		*structs = symbol_addr(parts, table, texts, size, STRUCTS_SYMBOL);
		*types = symbol_addr(parts, table, texts, size, TYPES_SYMBOL);
	}
	return *structs && *types;
}

/* ---- memory of the file, as it is when it is loaded ---- */

static bool read_image(const struct elf_parts *parts, uint64_t addr, size_t size_bytes,
		       struct image *out)
{
	uint64_t off;

	*out = (struct image){ .addr = addr };
	if (!elf_parts_offset(parts, addr, 0, &off))
		return false;
	out->data = calloc(1, size_bytes);
	if (!out->data)
		return false;
	out->size_bytes = source_read(parts->file, off, out->data, size_bytes);
	return true;
}

static void relocate(struct image *to, const Elf64_Rela *r)
{
	uint64_t at = r->r_offset - to->addr;

	if (ELF64_R_TYPE(r->r_info) == R_X86_64_RELATIVE && at < to->size_bytes &&
	    to->size_bytes - at >= 8)
		le64_store(to->data + at, (uint64_t)r->r_addend);
}

/* Puts what relocations have into both. */
static void relocate_images(const struct elf_parts *parts, struct image *a, struct image *b)
{
	const Elf64_Shdr *table = elf_parts_section(parts, ".rela.dyn");
	uint64_t count = table ? table->sh_size / sizeof(Elf64_Rela) : 0;
	Elf64_Rela *step = malloc(STEP * sizeof(*step));

	count = count < RELOCATIONS_MAX ? count : RELOCATIONS_MAX;
	for (uint64_t at = 0; step && at < count; at += STEP) {
		size_t want = count - at < STEP ? count - at : STEP, have;

		have = source_read(parts->file, table->sh_offset + at * sizeof(*step), step,
				   want * sizeof(*step)) /
		       sizeof(*step);
		for (size_t i = 0; i < have; i++) {
			relocate(a, &step[i]);
			relocate(b, &step[i]);
		}
		if (have != want)
			break;
	}
	free(step);
}

/* A word of it; 0: it is not there. */
static uint64_t word_at(const struct image *m, size_t at)
{
	return at <= m->size_bytes && m->size_bytes - at >= 8 ? le64_load(m->data + at) : 0;
}

/* The text at an address of the file, as far as there is room for it; "": there is none. */
static void read_text(const struct elf_parts *parts, uint64_t addr, struct text *out)
{
	size_t have = 0;
	uint64_t off;

	if (addr && elf_parts_offset(parts, addr, 0, &off))
		have = source_read(parts->file, off, out->text, sizeof(out->text));
	if (!memchr(out->text, 0, have))
		out->text[0] = '\0';
}

/* Both tables end where the file does, or with an entry without a name. */
static bool read_texts(struct tables *t)
{
	t->struct_texts = calloc(ENTRIES_MAX, sizeof(*t->struct_texts));
	t->type_texts = calloc(ENTRIES_MAX, sizeof(*t->type_texts));
	if (!t->struct_texts || !t->type_texts)
		return false;
	for (size_t i = 0; i < ENTRIES_MAX && word_at(&t->structs, i * STRUCT_BYTES); i++) {
		for (size_t k = 0; k < STRUCT_TEXTS; k++)
			read_text(t->parts, word_at(&t->structs, i * STRUCT_BYTES + 8 * k),
				  &t->struct_texts[i][k]);
		t->struct_count++;
	}
	for (size_t i = 0; i < ENTRIES_MAX && word_at(&t->types, i * TYPE_BYTES); i++) {
		read_text(t->parts, word_at(&t->types, i * TYPE_BYTES), &t->type_texts[i]);
		t->type_count++;
	}
	return true;
}

static void free_tables(struct tables *t)
{
	free(t->structs.data);
	free(t->types.data);
	free(t->struct_texts);
	free(t->type_texts);
}

/* Reads both tables.  *out needs free_tables() in any case. */
static bool read_tables(const struct elf_parts *parts, uint64_t structs, uint64_t types,
			struct tables *out)
{
	struct image a, b;
	bool found;

	*out = (struct tables){ .parts = parts };
	found = read_image(parts, structs, 8, &a);
	found &= read_image(parts, types, 8, &b); /* read in any case, as both are freed */
	if (found) {
		relocate_images(parts, &a, &b);
		found = read_image(parts, word_at(&a, 0), (size_t)ENTRIES_MAX * STRUCT_BYTES,
				   &out->structs);
		found &= read_image(parts, word_at(&b, 0), (size_t)ENTRIES_MAX * TYPE_BYTES,
				    &out->types);
	}
	if (found)
		relocate_images(parts, &out->structs, &out->types);
	free(a.data);
	free(b.data);
	return found && read_texts(out);
}

/* ---- entries ---- */

/* The entry of a field; NO_ENTRY: there is none. */
static uint16_t entry_of(const struct tables *t, const char *type, const char *name)
{
	for (size_t i = 0; i < t->struct_count; i++)
		if (!strcmp(t->struct_texts[i][FIELD].text, name) &&
		    !strcmp(t->struct_texts[i][TYPE].text, type))
			return (uint16_t)i;
	return NO_ENTRY;
}

static bool is_static(const struct tables *t, uint16_t entry)
{
	return (uint32_t)word_at(&t->structs, (size_t)entry * STRUCT_BYTES + STRUCT_STATIC);
}

/* Where a static field is; 0: there is none. */
static uint64_t static_addr(const struct tables *t, const char *type, const char *name)
{
	uint16_t entry = entry_of(t, type, name);

	return entry != NO_ENTRY && is_static(t, entry)
		       ? word_at(&t->structs, (size_t)entry * STRUCT_BYTES + STRUCT_ADDRESS)
		       : 0;
}

/* The size of a struct; 0: there is none, or it is larger than any of those. */
static uint16_t size_of(const struct tables *t, const char *type)
{
	for (size_t i = 0; i < t->type_count; i++)
		if (!strcmp(t->type_texts[i].text, type)) {
			uint64_t size = word_at(&t->types, i * TYPE_BYTES + TYPE_SIZE);

			return size <= 256 ? (uint16_t)size : 0;
		}
	return 0;
}

/* Whether the field has this type, as the table calls it. */
static bool is_of_type(const struct tables *t, uint16_t entry, const char *type)
{
	return !strcmp(t->struct_texts[entry][TYPE_OF_FIELD].text, type);
}

static uint32_t version_of(const struct tables *t)
{
	uint64_t addr = static_addr(t, "Abstract_VM_Version", "_vm_major_version");
	uint8_t bytes[4];

	return addr && elf_parts_bytes(t->parts, addr, bytes, sizeof(bytes)) ? le32_load(bytes) : 0;
}

/* ---- the description ---- */

/*
 * Where nmethods have their scopes: up to Java 22 in the blob, from 25 on apart from it.  Java 23 and 24 are between these, and no
 * longer maintained.
 */
static uint16_t scopes_of(const struct runtime_jvm_structs *j)
{
	static const uint8_t common[] = { RUNTIME_JVM_SCOPES_AT, RUNTIME_JVM_SCOPES_DESCS,
					  RUNTIME_JVM_SCOPES_END, RUNTIME_JVM_METADATA_OFFSET };
	static const uint8_t apart[] = { RUNTIME_JVM_SCOPES_DATA, RUNTIME_JVM_METADATA_AT,
					 RUNTIME_JVM_METADATA_END };
	size_t apart_count = 0;

	for (size_t i = 0; i < sizeof(common); i++)
		if (j->entry[common[i]] == RUNTIME_NO_FIELD)
			return RUNTIME_JVM_NO_SCOPES;
	for (size_t i = 0; i < sizeof(apart); i++)
		apart_count += j->entry[apart[i]] != RUNTIME_NO_FIELD;
	return !apart_count                   ? RUNTIME_JVM_SCOPES_IN_BLOB
	       : apart_count == sizeof(apart) ? RUNTIME_JVM_SCOPES_APART
					      : RUNTIME_JVM_NO_SCOPES;
}

/* False: a field that all versions have is missing. */
static bool find_fields(const struct tables *t, struct runtime_jvm_structs *out)
{
	for (size_t i = 0; i < RUNTIME_JVM_FIELDS; i++) {
		uint16_t entry = entry_of(t, fields[i].type, fields[i].name);

		if (entry == NO_ENTRY && fields[i].other_type)
			entry = entry_of(t, fields[i].other_type, fields[i].other_name);
		if (entry != NO_ENTRY && is_static(t, entry))
			entry = NO_ENTRY;
		if (entry == NO_ENTRY && i < RUNTIME_JVM_CONST_FLAGS)
			return false;
		out->entry[i] = entry;
	}
	return true;
}

/* Whether the description is complete. */
static bool describe(const struct tables *t, uint64_t structs, struct runtime_desc *out)
{
	struct runtime_jvm_structs *j = &out->jvm;

	out->state = structs;
	out->code_type = static_addr(t, "CodeCache", "_heaps");
	if (!out->code_type || !find_fields(t, j))
		return false;
	j->const_bytes = size_of(t, "ConstMethod");
	j->pool_bytes = size_of(t, "ConstantPool");
	j->blob_code_bytes = is_of_type(t, j->entry[RUNTIME_JVM_BLOB_CODE], "int") ? 4 : 8;
	j->blob_complete_bytes = is_of_type(t, j->entry[RUNTIME_JVM_BLOB_COMPLETE], "int") ? 4 : 2;
	j->block_bytes = size_of(t, "HeapBlock");
	j->scopes = scopes_of(j);
	return j->const_bytes && j->pool_bytes && j->pool_bytes <= 128 && j->block_bytes &&
	       j->block_bytes <= 16;
}

static void describe_jvm(const struct elf_parts *parts, uint64_t structs, uint64_t types,
			 struct elf_runtime *out)
{
	struct tables t;

	out->kind = out->desc.kind = RUNTIME_JVM;
	out->state = ELF_RUNTIME_LAYOUT;
	if (UNWIND_HERE == UNWIND_X86_64) {
		if (read_tables(parts, structs, types, &t)) {
			out->version = version_of(&t);
			if (out->version < JAVA_FIRST || out->version > JAVA_LAST)
				out->state = ELF_RUNTIME_VERSION;
			else if (describe(&t, t.structs.addr, &out->desc))
				out->state = ELF_RUNTIME_UNDERSTOOD;
			out->desc.jvm.version = (uint16_t)out->version;
		}
		free_tables(&t);
	}
	if (out->state != ELF_RUNTIME_UNDERSTOOD)
		memset(&out->desc.jvm, 0, sizeof(out->desc.jvm));
}

void elf_jvm_find(const struct elf_parts *parts, struct elf_runtime *out)
{
	uint64_t structs, types;

	memset(out, 0, sizeof(*out));
	if (find_symbols(parts, &structs, &types) && elf_loop_place_any(parts, out))
		describe_jvm(parts, structs, types, out);
}
