/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * symtab_read - the symbols of one table of an ELF file
 *
 * A table is read piece by piece.  Where it is known which addresses will be asked for, only
 * symbols for these are stored, and of the strings only their names: a program with 200 000 symbols
 * then takes as much room as there are addresses of it.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/symtab/symtab_priv.h"
#include "format/base/lower_bound.h"
#include "format/base/vec.h"
#include "format/base/cursor.h"

#define PIECE_BYTES  (96u << 10) /* a multiple of both sizes of an entry */
#define WINDOW_BYTES (64u << 10)
#define NO_SYMBOL    0xff /* as a type */

/* One table on its way in. */
struct symtab_source {
	const struct elf_file *file;
	const struct elf_file_section *table, *names;
	const char *strings; /* NULL: read later, those of the stored symbols */
	bool is64;
};

struct raw_symbol {
	uint64_t value, size_bytes;
	uint32_t name_off;
	uint16_t section;
	uint8_t info, other;
};

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

static bool has_mapping_symbols(const struct elf_file *e)
{
	return elf_file_machine(e) == EM_ARM || elf_file_machine(e) == EM_AARCH64;
}

/* $a, $d, $t, $x: where ARM code changes its kind.  They name nothing. */
static bool is_mapping_symbol(const struct elf_file *e, const char *name)
{
	return has_mapping_symbols(e) && name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (name[2] == '\0' || name[2] == '.');
}

/* Variables of a thread have no address of their own. */
static bool is_variable(const struct elf_file_section *s, const struct raw_symbol *r)
{
	return !(s->flags & (SHF_EXECINSTR | SHF_TLS)) && (r->info & 15) == STT_OBJECT &&
	       r->size_bytes;
}

/* The section the symbol lies in, NULL when it is none of ours. */
static const struct elf_file_section *section_of(const struct elf_file *e,
						 const struct raw_symbol *r, bool variables)
{
	const struct elf_file_section *sections;
	uint8_t type = r->info & 15;
	size_t count;

	sections = elf_file_sections(e, &count);
	if (r->section == SHN_UNDEF || r->section >= SHN_LORESERVE || r->section >= count)
		return NULL;
	sections += r->section;
	if (!(sections->flags & SHF_ALLOC) || r->value < sections->addr ||
	    r->value - sections->addr >= sections->size_bytes)
		return NULL;
	if (variables)
		return is_variable(sections, r) ? sections : NULL;
	if (!(sections->flags & SHF_EXECINSTR))
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

/* ---- keeping ---- */

uint64_t symtab_add_clamped(uint64_t a, uint64_t b, uint64_t max)
{
	return a > max || b > max - a ? max : a + b;
}

int symtab_reserve(struct symtab *t, size_t more)
{
	size_t room = t->count + more;
	struct symbol *symbols;

	if (more > UINT32_MAX - t->count)
		return -EOVERFLOW;
	if (t->symbols && room <= t->room)
		return 0;
	if (t->wanted && room < t->room + t->room / 2)
		room = t->room + t->room / 2;
	symbols = reallocarray(t->symbols, room + 1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	t->symbols = symbols;
	t->room = room;
	return 0;
}

/* The number of the first wanted address at or behind vaddr; wanted_count: none. */
static size_t first_wanted(const struct symtab *t, uint64_t vaddr)
{
	return lower_bound(i, 0, t->wanted_count, t->wanted[i] < vaddr);
}

bool symtab_wants(const struct symtab *t, uint64_t start, uint64_t end)
{
	size_t i = first_wanted(t, start);

	return !t->wanted || (i < t->wanted_count && t->wanted[i] < end);
}

static void drop(struct symbol *s)
{
	if (s->owns_name)
		free((char *)(uintptr_t)s->name);
	s->type = NO_SYMBOL;
	s->owns_name = false;
	s->name = NULL;
}

/* One that begins right behind a wanted address is found by its first byte (resolve: returned_to()). */
static int keep_next(struct symtab *t, const struct symbol *s)
{
	int err = symtab_reserve(t, 1);

	if (err)
		return err;
	t->symbols[t->count] = *s;
	if (!s->sized)
		t->symbols[t->count].end = s->start + 1;
	t->symbols[t->count++].sized = true;
	return 0;
}

/*
 * Keeps what matters for the wanted addresses.  A symbol with a size does when it covers one.  One without
 * covers a wanted address only when none begins between the two, and only the nearest one can end it.
 */
static int keep_symbol(struct symtab *t, const struct symbol *s)
{
	size_t i = first_wanted(t, s->start);
	int err;

	if (i && t->wanted[i - 1] == s->start - 1) {
		err = keep_next(t, s);
		if (err)
			return err;
	}
	if (i == t->wanted_count)
		return 0;
	if (s->sized && t->wanted[i] < s->end) {
		err = symtab_reserve(t, 1);
		if (!err)
			t->symbols[t->count++] = *s;
		return err;
	}
	if (t->nearest[i].type == NO_SYMBOL || t->nearest[i].start <= s->start) {
		drop(&t->nearest[i]);
		t->nearest[i] = *s;
	}
	return 0;
}

int symtab_take_bounds(struct symtab *t, uint64_t start, uint64_t end)
{
	int err = vec_reserve(&t->bounds, &t->bound_room, t->bound_count + 2);

	if (err)
		return err;
	t->bounds[t->bound_count++] = start;
	t->bounds[t->bound_count++] = end;
	return 0;
}

int symtab_take(struct symtab *t, const struct symbol *s)
{
	int err;

	if (t->only_bounds)
		return symtab_take_bounds(t, s->start, s->end);
	if (t->wanted)
		return keep_symbol(t, s);
	/* For a table of known size there is space for all. */
	err = t->count == t->room ? symtab_reserve(t, t->count / 2 + 1024) : 0;
	if (!err)
		t->symbols[t->count++] = *s;
	return err;
}

static int add_symbol(struct symtab *t, const struct symtab_source *src, const struct raw_symbol *r)
{
	const struct elf_file_section *s;
	struct symbol symbol;
	uint64_t limit;

	if (!r->name_off || r->name_off >= src->names->size_bytes)
		return 0;
	s = section_of(src->file, r, t->variables);
	if (!s)
		return 0;
	limit = symtab_add_clamped(s->addr, s->size_bytes, UINT64_MAX);
	symbol = (struct symbol){
		.start = r->value,
		.end = r->size_bytes ? symtab_add_clamped(r->value, r->size_bytes, limit) : limit,
		.name_off = r->name_off,
		.order = (uint32_t)t->seen_count,
		.bind = r->info >> 4,
		.type = r->info & 15,
		.sized = r->size_bytes,
	};
	if (src->strings) {
		/* Ends at the NUL behind the table at the latest. */
		symbol.name = src->strings + r->name_off;
		if (!*symbol.name || is_mapping_symbol(src->file, symbol.name))
			return 0;
	}
	t->seen_count++;
	return symtab_take(t, &symbol);
}

static int read_symbols(struct symtab *t, const struct symtab_source *src)
{
	size_t entry_bytes = src->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t off, size = src->table->size_bytes - src->table->size_bytes % entry_bytes;
	uint8_t *piece;
	int err = 0;

	if (size / entry_bytes > UINT32_MAX - t->seen_count)
		return -EOVERFLOW;
	if (!t->wanted && !t->only_bounds)
		err = symtab_reserve(t, (size_t)(size / entry_bytes));
	piece = err ? NULL : malloc(PIECE_BYTES);
	if (!piece)
		return err ? err : -ENOMEM;
	for (off = 0; !err && off < size; off += PIECE_BYTES) {
		size_t bytes = size - off < PIECE_BYTES ? (size_t)(size - off) : PIECE_BYTES;
		struct cursor c = cursor_of(piece, bytes);

		err = elf_file_read_part(src->file, src->table, off, piece, bytes);
		while (!err && cursor_left(&c)) {
			struct raw_symbol r = raw_decode(&c, src->is64);

			err = add_symbol(t, src, &r);
		}
	}
	free(piece);
	return err;
}

/* ---- names of the stored symbols ---- */

struct window {
	uint8_t *data;
	uint64_t off;
	size_t have_bytes, room_bytes;
};

/* The text at off, which ends with the table at the latest; NULL and *err: cannot be read. */
static const char *text_at(struct window *w, const struct symtab_source *src, uint64_t off,
			   int *err)
{
	uint64_t left = src->names->size_bytes - off;
	uint8_t *more;

	for (size_t want = WINDOW_BYTES;; want *= 4) {
		if (off >= w->off && off - w->off < w->have_bytes) {
			const uint8_t *at = w->data + (off - w->off);

			if (memchr(at, 0, w->have_bytes - (size_t)(off - w->off)) ||
			    w->off + w->have_bytes == src->names->size_bytes)
				return (const char *)at;
		}
		if (want > left)
			want = (size_t)left;
		if (want > w->room_bytes) {
			more = realloc(w->data, want + 1);
			if (!more) {
				*err = -ENOMEM;
				return NULL;
			}
			w->data = more;
			w->room_bytes = want;
		}
		w->off = off;
		w->have_bytes = want;
		*err = elf_file_read_part(src->file, src->names, off, w->data, want);
		if (*err) {
			w->have_bytes = 0;
			return NULL;
		}
		/* NOLINTNEXTLINE: want fits, and want > 0 */
		w->data[want] = '\0';
	}
}

static int by_name_off(const void *pa, const void *pb)
{
	const struct symbol *const *a = pa, *const *b = pb;

	return (*a)->name_off < (*b)->name_off ? -1 : (*a)->name_off > (*b)->name_off;
}

/* Those that this table brought; *out is owned. */
static int list_nameless(struct symtab *t, size_t first, struct symbol ***out, size_t *count)
{
	struct symbol **list;
	size_t n = 0;

	list = reallocarray(NULL, t->count - first + t->wanted_count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = first; i < t->count; i++)
		list[n++] = &t->symbols[i];
	for (size_t i = 0; i < t->wanted_count; i++)
		if (t->nearest[i].type != NO_SYMBOL && !t->nearest[i].owns_name)
			list[n++] = &t->nearest[i];
	qsort(list, n, sizeof(*list), by_name_off);
	*out = list;
	*count = n;
	return 0;
}

int symtab_copy_names(struct symtab *t, const struct symtab_source *source, size_t first)
{
	struct window w = { .data = NULL };
	struct symbol **list = NULL;
	size_t count, n = 0;
	int err;

	err = list_nameless(t, first, &list, &count);
	for (; !err && n < count; n++) {
		struct symbol *s = list[n];
		const char *text = s->name;

		if (!text)
			text = text_at(&w, source, s->name_off, &err);
		if (!err && !*text)
			err = -EAGAIN;
		if (!err) {
			s->name = strdup(text);
			s->owns_name = s->name;
			err = s->name ? 0 : -ENOMEM;
		}
		if (err) {
			s->name = NULL;
			break;
		}
	}
	if (err && err != -ENOMEM)
		err = -EAGAIN;
	free(w.data);
	free(list);
	return err;
}

/* ---- one table ---- */

void symtab_take_back(struct symtab *t, size_t first)
{
	t->count = first;
	for (size_t i = 0; t->nearest && i < t->wanted_count; i++)
		if (!t->nearest[i].owns_name)
			drop(&t->nearest[i]);
}

int symtab_read_table(struct symtab *t, const struct elf_file *e, uint32_t type)
{
	const struct elf_file_section *sections, *table = elf_file_by_type(e, type);
	struct symtab_source src = { .file = e, .table = table, .is64 = elf_file_is64(e) };
	size_t count, first = t->count;
	uint8_t *strings = NULL;
	int err;

	if (!table || !table->size_bytes)
		return -ENODATA;
	sections = elf_file_sections(e, &count);
	if (table->entry_bytes != (src.is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)) ||
	    table->link >= count)
		return -EBADMSG;
	src.names = &sections[table->link];
	err = elf_file_check(e, table);
	if (!err)
		err = elf_file_check(e, src.names);
	if (!err && !t->only_bounds && (!t->wanted || t->all_strings || has_mapping_symbols(e)))
		err = elf_file_read(e, src.names, &strings);
	if (err)
		return err;
	src.strings = (const char *)strings;
	err = read_symbols(t, &src);
	if (err)
		symtab_take_back(t, first);
	if (!err && t->wanted)
		err = symtab_copy_names(t, &src, first);
	if (!err && strings && !t->wanted) {
		t->strings[t->string_count++] = strings;
		strings = NULL;
	}
	free(strings);
	return err;
}

int symtab_take_nearest(struct symtab *t)
{
	int err = symtab_reserve(t, t->wanted_count);

	for (size_t i = 0; !err && i < t->wanted_count; i++) {
		if (t->nearest[i].type == NO_SYMBOL)
			continue;
		t->symbols[t->count++] = t->nearest[i];
		t->nearest[i] = (struct symbol){ .type = NO_SYMBOL };
	}
	return err;
}

void symtab_drop_nearest(struct symtab *t)
{
	for (size_t i = 0; t->nearest && i < t->wanted_count; i++)
		drop(&t->nearest[i]);
	free(t->nearest);
	t->nearest = NULL;
}
