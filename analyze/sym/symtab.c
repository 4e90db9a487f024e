/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* symtab - which function covers this address of an ELF file? */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/demangle.h"
#include "analyze/sym/plt.h"
#include "analyze/sym/symtab.h"
#include "format/cursor.h"

#define TABLES_MAX 3
/* How many symbols a look-up passes on its way out to one that covers it: nesting is shallow. */
#define NESTING_MAX 1024

struct symbol {
	uint64_t start, end; /* [start, end), empty for an alias that another one hides */
	uint64_t reach;      /* the largest end of this and all symbols before */
	const char *name;    /* as in the file, in one of symtab.strings */
	char *printed;       /* owned; made at the first use */
	uint32_t order;      /* as read: .symtab, then .dynsym, then the PLT */
	uint8_t bind, type;  /* STB_*, STT_* */
	bool plt;
	bool sized; /* end is final; else the latest that it may be */
};

struct symtab {
	struct symbol *symbols; /* by start, then order */
	size_t count, room;
	uint8_t *strings[TABLES_MAX]; /* string tables, each with a NUL behind */
	size_t string_count;
	bool full;
};

/* One table on its way in. */
struct source {
	const struct elffile *file;
	const struct elffile_section *table;
	const uint8_t *data;
	const char *strings;
	uint64_t string_bytes;
	bool is64;
};

struct raw_symbol {
	uint64_t value, size_bytes;
	uint32_t name_off;
	uint16_t section;
	uint8_t info, other;
};

/* ---- reading ---- */

static struct raw_symbol raw_decode(struct cursor *c, bool is64)
{
	struct raw_symbol r;

	r.name_off = cursor_u32(c);
	if (is64) {
		r.info = cursor_u8(c);
		r.other = cursor_u8(c);
		r.section = cursor_u16(c);
		r.value = cursor_u64(c);
		r.size_bytes = cursor_u64(c);
	} else {
		r.value = cursor_u32(c);
		r.size_bytes = cursor_u32(c);
		r.info = cursor_u8(c);
		r.other = cursor_u8(c);
		r.section = cursor_u16(c);
	}
	return r;
}

/* $a, $d, $t, $x: where ARM code changes its kind.  They name nothing. */
static bool is_mapping_symbol(uint16_t machine, const char *name)
{
	if (machine != EM_ARM && machine != EM_AARCH64)
		return false;
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (name[2] == '\0' || name[2] == '.');
}

/* The executable section the symbol lies in, NULL when it is none of ours. */
static const struct elffile_section *section_of(const struct elffile *e, const struct raw_symbol *r)
{
	const struct elffile_section *sections;
	uint8_t type = r->info & 15;
	size_t count;

	sections = elffile_sections(e, &count);
	if (r->section == SHN_UNDEF || r->section >= SHN_LORESERVE || r->section >= count)
		return NULL;
	sections += r->section;
	if (!(sections->flags & SHF_ALLOC) || !(sections->flags & SHF_EXECINSTR))
		return NULL;
	if (r->value < sections->addr || r->value - sections->addr >= sections->size_bytes)
		return NULL;
	switch (type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		return sections;
	case STT_NOTYPE: /* perf wants "text" in the name of the section */
		if ((r->other & 3) == STV_HIDDEN || (r->other & 3) == STV_INTERNAL ||
		    !strstr(sections->name, "text"))
			return NULL;
		return sections;
	default:
		return NULL;
	}
}

static uint64_t add_clamped(uint64_t a, uint64_t b, uint64_t max)
{
	return a > max || b > max - a ? max : a + b;
}

static void add_symbol(struct symtab *t, const struct source *src, const struct raw_symbol *r)
{
	const struct elffile_section *s;
	const char *name;
	uint64_t limit;

	if (!r->name_off || r->name_off >= src->string_bytes)
		return;
	name = src->strings + r->name_off; /* ends at the NUL behind the table at the latest */
	s = section_of(src->file, r);
	if (!s || !*name || is_mapping_symbol(elffile_machine(src->file), name))
		return;
	limit = add_clamped(s->addr, s->size_bytes, UINT64_MAX);
	t->symbols[t->count] = (struct symbol){
		.start = r->value,
		.end = r->size_bytes ? add_clamped(r->value, r->size_bytes, limit) : limit,
		.name = name,
		.order = (uint32_t)t->count,
		.bind = r->info >> 4,
		.type = r->info & 15,
		.sized = r->size_bytes,
	};
	t->count++;
}

static int reserve(struct symtab *t, size_t more)
{
	struct symbol *symbols;

	if (more > UINT32_MAX - t->count)
		return -EOVERFLOW;
	symbols = reallocarray(t->symbols, t->count + more + 1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	t->symbols = symbols;
	t->room = t->count + more;
	return 0;
}

static int add_symbols(struct symtab *t, const struct source *src)
{
	size_t i, n, entry_bytes = src->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct cursor c = cursor_of(src->data, (size_t)src->table->size_bytes);
	struct raw_symbol r;
	int err;

	n = (size_t)src->table->size_bytes / entry_bytes;
	err = reserve(t, n);
	if (err)
		return err;
	for (i = 0; i < n; i++) {
		r = raw_decode(&c, src->is64);
		add_symbol(t, src, &r);
	}
	return 0;
}

/* Joins one table with its strings.  -ENODATA: the file has no such table. */
static int add_table(struct symtab *t, const struct elffile *e, uint32_t type)
{
	const struct elffile_section *sections, *table = elffile_by_type(e, type);
	struct source src = { .file = e, .table = table, .is64 = elffile_is64(e) };
	uint8_t *data = NULL, *strings = NULL;
	size_t count;
	int err;

	if (!table || !table->size_bytes)
		return -ENODATA;
	sections = elffile_sections(e, &count);
	if (table->entry_bytes != (src.is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)) ||
	    table->link >= count)
		return -EBADMSG;
	err = elffile_read(e, table, &data);
	if (err)
		return err;
	err = elffile_read(e, &sections[table->link], &strings);
	if (err)
		goto out;
	src.data = data;
	src.strings = (const char *)strings;
	src.string_bytes = sections[table->link].size_bytes;
	err = add_symbols(t, &src);
	if (err)
		goto out;
	t->strings[t->string_count++] = strings;
	strings = NULL;
out:
	free(strings);
	free(data);
	return err;
}

/* ---- order ---- */

static int by_start(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/*
 * Sorts, and gives the symbols without a size their end.  Of several at one address only the last
 * gets one, the others stay empty: so does perf.
 */
static void seal(struct symtab *t)
{
	uint64_t reach = 0;
	size_t i;

	if (t->count > 1)
		qsort(t->symbols, t->count, sizeof(*t->symbols), by_start);
	for (i = 0; i < t->count; i++) {
		struct symbol *s = &t->symbols[i], *next = i + 1 < t->count ? s + 1 : NULL;

		if (!s->sized && next && next->start < s->end)
			s->end = next->start;
		s->sized = true;
		if (s->end > reach)
			reach = s->end;
		s->reach = reach;
	}
}

/* ---- choice ---- */

/* "NAME@plt", without the version that a NAME of .symtab may have.  NULL: no memory. */
static char *with_plt(const char *name)
{
	size_t n = strcspn(name, "@");
	char *s = malloc(n + sizeof("@plt"));

	if (!s)
		return NULL;
	memcpy(s, name, n);
	memcpy(s + n, "@plt", sizeof("@plt"));
	return s;
}

static const char *printed(struct symbol *s)
{
	char *name;

	if (s->printed)
		return s->printed;
	name = demangle(s->name);
	if (s->plt) {
		s->printed = with_plt(name ? name : s->name);
		free(name);
	} else {
		s->printed = name;
	}
	return s->printed ? s->printed : s->name;
}

/*
 * Whether b is the better name for the address that both begin at.  These are perf's rules, in
 * its order: a type, not weak, global, fewer leading underscores, longer; else the first.
 */
static bool prefer(struct symbol *a, struct symbol *b)
{
	const char *name_a, *name_b;
	size_t under_a, under_b;

	if (a->type != b->type && (a->type == STT_NOTYPE || b->type == STT_NOTYPE))
		return a->type == STT_NOTYPE;
	if ((a->bind == STB_WEAK) != (b->bind == STB_WEAK))
		return a->bind == STB_WEAK;
	if ((a->bind == STB_GLOBAL) != (b->bind == STB_GLOBAL))
		return b->bind == STB_GLOBAL;
	name_a = printed(a);
	name_b = printed(b);
	under_a = strspn(name_a, "_");
	under_b = strspn(name_b, "_");
	if (under_a != under_b)
		return under_b < under_a;
	return strlen(name_b) > strlen(name_a);
}

/* The best of the symbols [first, last], which begin at one address, that cover vaddr. */
static struct symbol *best_of(struct symtab *t, size_t first, size_t last, uint64_t vaddr)
{
	struct symbol *best = NULL;
	size_t i;

	for (i = first; i <= last; i++) {
		struct symbol *s = &t->symbols[i];

		if (s->end > vaddr && (!best || prefer(best, s)))
			best = s;
	}
	return best;
}

/* The number of symbols that begin at or before vaddr. */
static size_t count_before(const struct symtab *t, uint64_t vaddr)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->symbols[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * From the nearest beginning outwards.  The innermost function wins; a label inside of a function
 * does not: it is no more than a place in it.
 */
static struct symbol *find(struct symtab *t, uint64_t vaddr)
{
	struct symbol *s, *label = NULL;
	size_t first, last, passed = 0, n = count_before(t, vaddr);

	while (n && t->symbols[n - 1].reach > vaddr && passed < NESTING_MAX) {
		last = n - 1;
		for (first = last; first && t->symbols[first - 1].start == t->symbols[last].start;)
			first--;
		s = best_of(t, first, last, vaddr);
		if (s && s->type != STT_NOTYPE)
			return s;
		if (!label)
			label = s;
		passed += last - first + 1;
		n = first;
	}
	return label;
}

const char *symtab_find(struct symtab *t, uint64_t vaddr, bool demangled)
{
	struct symbol *s = find(t, vaddr);

	if (!s)
		return NULL;
	return demangled || s->plt ? printed(s) : s->name;
}

uint64_t symtab_start(struct symtab *t, uint64_t vaddr)
{
	const struct symbol *s = find(t, vaddr);

	return s ? s->start : vaddr;
}

/* ---- PLT ---- */

/* The name of a .dynsym entry, NULL when there is none. */
static const char *dynsym_name(const struct source *src, uint32_t index)
{
	size_t entry_bytes = src->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint32_t off;

	if (!index || index >= src->table->size_bytes / entry_bytes)
		return NULL;
	off = le32_load(src->data + index * entry_bytes); /* st_name comes first in both classes */
	return off && off < src->string_bytes ? src->strings + off : NULL;
}

static void add_stub(struct symtab *t, const struct plt_entry *p, const char *name)
{
	t->symbols[t->count] = (struct symbol){
		.start = p->vaddr,
		.end = add_clamped(p->vaddr, p->size_bytes, UINT64_MAX),
		.name = name,
		.order = (uint32_t)t->count,
		.bind = STB_GLOBAL,
		.type = STT_FUNC,
		.plt = true,
		.sized = true,
	};
	t->count++;
}

/* Names of stubs to choosers (IFUNC) are looked up, so the table must be sealed before. */
static int add_stubs(struct symtab *t, const struct source *src, const struct plt_entry *entries,
		     size_t count)
{
	size_t i, sealed_count = t->count;
	int err = reserve(t, count);

	if (err)
		return err;
	for (i = 0; i < count; i++) {
		const char *name = dynsym_name(src, entries[i].symbol);

		if (!name && entries[i].resolver) {
			struct symtab sealed = *t;
			struct symbol *s;

			sealed.count = sealed_count;
			s = find(&sealed, entries[i].resolver);
			name = s ? s->name : NULL;
		}
		if (name && *name)
			add_stub(t, &entries[i], name);
	}
	return 0;
}

static int add_plt(struct symtab *t, const struct elffile *e)
{
	const struct elffile_section *sections, *table = elffile_by_type(e, SHT_DYNSYM);
	struct elffile_section none = { 0 };
	struct source src = { .file = e, .table = table ? table : &none, .is64 = elffile_is64(e) };
	struct plt_entry *entries = NULL;
	uint8_t *data = NULL, *strings = NULL;
	size_t count, entry_count = 0;
	int err;

	err = plt_read(e, &entries, &entry_count);
	if (err || !entry_count)
		goto out;
	sections = elffile_sections(e, &count);
	if (table && table->link < count && !elffile_read(e, table, &data) &&
	    !elffile_read(e, &sections[table->link], &strings)) {
		src.data = data;
		src.strings = (const char *)strings;
		src.string_bytes = sections[table->link].size_bytes;
	} else {
		src.table = &none; /* only choosers can be named */
	}
	err = add_stubs(t, &src, entries, entry_count);
	if (!err && strings) {
		t->strings[t->string_count++] = strings;
		strings = NULL;
	}
	seal(t);
out:
	free(strings);
	free(data);
	free(entries);
	return err;
}

/* ---- all of it ---- */

static int add_tables(struct symtab *t, const struct elffile *file, const struct elffile *debug,
		      const struct elffile *mini)
{
	int err, broken = 0;

	err = debug ? add_table(t, debug, SHT_SYMTAB) : -ENODATA;
	if (err && err != -ENOMEM)
		err = add_table(t, file, SHT_SYMTAB);
	if (err && err != -ENOMEM && mini)
		err = add_table(t, mini, SHT_SYMTAB);
	if (err == -ENOMEM)
		return err;
	t->full = !err;
	broken |= err && err != -ENODATA;
	err = add_table(t, file, SHT_DYNSYM);
	if (err == -ENOMEM)
		return err;
	broken |= err && err != -ENODATA;
	if (broken && !t->count)
		return -EBADMSG;
	seal(t);
	return add_plt(t, file);
}

int symtab_new(const struct elffile *file, const struct elffile *debug, const struct elffile *mini,
	       struct symtab **out)
{
	struct symtab *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	err = add_tables(t, file, debug, mini);
	if (err) {
		symtab_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void symtab_free(struct symtab *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->count; i++)
		free(t->symbols[i].printed);
	for (i = 0; i < t->string_count; i++)
		free(t->strings[i]);
	free(t->symbols);
	free(t);
}

size_t symtab_count(const struct symtab *t)
{
	return t->count;
}

bool symtab_is_full(const struct symtab *t)
{
	return t->full;
}
