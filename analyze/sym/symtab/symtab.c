/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* symtab - which function covers this address of an ELF file? */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/radix_sort.h"
#include "format/base/insertion_sort.h"
#include "analyze/sym/symtab/demangle.h"
#include "analyze/sym/symtab/plt.h"
#include "analyze/sym/symtab/symtab_priv.h"
#include "format/base/cursor.h"
#include "format/base/lower_bound.h"

/* How many symbols a look-up passes on its way out to one that covers it: nesting is shallow. */
#define NESTING_MAX 1024
#define MANY        1000 /* symbols, of which sorting by digits is faster */

/* ---- order ---- */

static int by_start(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* As by_start(), for many: they are in the order in which they were read, which stays where starts are equal. */
static bool sort_many(struct symtab *t)
{
	void *symbols = t->symbols;

	if (radix_sort_records(&symbols, t->count, sizeof(*t->symbols),
			       offsetof(struct symbol, start)))
		return false;
	t->symbols = symbols;
	t->room = t->count;
	return true;
}

/*
 * Sorts, and gives the symbols without a size their end.  When several are at one address only the
 * last gets one, the others stay empty: so does perf.
 */
static void seal(struct symtab *t)
{
	uint64_t reach = 0;
	size_t i;

	if (t->count > 1 && (t->count < MANY || !sort_many(t)))
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

static bool is_count_before(const struct symtab *t, uint64_t vaddr, size_t n)
{
	return n <= t->count && (!n || t->symbols[n - 1].start <= vaddr) &&
	       (n == t->count || t->symbols[n].start > vaddr);
}

/* The number of symbols that begin at or before vaddr: mostly that of the address before. */
static size_t count_before(struct symtab *t, uint64_t vaddr)
{
	if (!is_count_before(t, vaddr, t->last_before))
		t->last_before = lower_bound(i, 0, t->count, t->symbols[i].start <= vaddr);
	return t->last_before;
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

const char *symtab_find(struct symtab *t, uint64_t vaddr, bool demangled, uint64_t *start)
{
	struct symbol *s = find(t, vaddr);

	if (!s)
		return NULL;
	if (start)
		*start = s->start;
	return demangled || s->plt ? printed(s) : s->name;
}

bool symtab_extent(struct symtab *t, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	const struct symbol *s = find(t, vaddr);

	if (!s)
		return false;
	*start = s->start;
	*end = s->end;
	return true;
}

/* ---- PLT ---- */

/* The stubs of a file, and where their names are. */
struct stubs {
	const struct elf_file *file;
	struct plt_entry *entries; /* owned */
	size_t count;
	const struct elf_file_section *table; /* .dynsym; size 0: none that can be read */
	uint8_t *data, *strings;              /* owned; NULL: not read */
	uint64_t string_bytes;
};

/* The name of a .dynsym entry, NULL when there is none. */
static const char *dynsym_name(const struct stubs *s, uint32_t index)
{
	size_t entry_bytes = elf_file_is64(s->file) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint32_t off;

	if (!s->strings || !index || index >= s->table->size_bytes / entry_bytes)
		return NULL;
	off = le32_load(s->data + index * entry_bytes); /* st_name comes first in both classes */
	return off && off < s->string_bytes ? (const char *)s->strings + off : NULL;
}

static int add_stub(struct symtab *t, const struct plt_entry *p, const char *name)
{
	const char *copy = t->wanted ? strdup(name) : name;

	if (!copy)
		return -ENOMEM;
	t->symbols[t->count++] = (struct symbol){
		.start = p->vaddr,
		.end = symtab_add_clamped(p->vaddr, p->size_bytes, UINT64_MAX),
		.name = copy,
		.order = (uint32_t)t->seen_count++,
		.bind = STB_GLOBAL,
		.type = STT_FUNC,
		.plt = true,
		.sized = true,
		.owns_name = t->wanted,
	};
	return 0;
}

/* Names of stubs to choosers (IFUNC) are looked up, so the table must be sealed before. */
static int add_stubs(struct symtab *t, const struct stubs *stubs)
{
	size_t i, sealed_count = t->count;
	int err = symtab_reserve(t, stubs->count);

	for (i = 0; !err && i < stubs->count; i++) {
		const struct plt_entry *p = &stubs->entries[i];
		const char *name = dynsym_name(stubs, p->symbol);

		if (!name && p->resolver) {
			struct symtab sealed = *t;
			struct symbol *s;

			sealed.count = sealed_count;
			s = find(&sealed, p->resolver);
			name = s ? s->name : NULL;
		}
		if (name && *name)
			err = add_stub(t, p, name);
	}
	return err;
}

/* Leaves out stubs that no wanted address is in. */
static void pick_stubs(const struct symtab *t, struct stubs *stubs)
{
	size_t i, n = 0;

	for (i = 0; i < stubs->count; i++) {
		const struct plt_entry *p = &stubs->entries[i];

		if (symtab_wants(t, p->vaddr,
				 symtab_add_clamped(p->vaddr, p->size_bytes, UINT64_MAX)))
			stubs->entries[n++] = *p;
	}
	stubs->count = n;
}

/* Whether anything will be asked for where stubs may be; else there is no need to read what they call. */
static bool wants_stubs(const struct symtab *t, const struct elf_file *e)
{
	for (size_t i = 0; i < PLT_SECTIONS; i++) {
		const struct elf_file_section *s = plt_section(e, i);

		if (s && symtab_wants(t, s->addr,
				      symtab_add_clamped(s->addr, s->size_bytes, UINT64_MAX)))
			return true;
	}
	return false;
}

static int read_stubs(const struct symtab *t, const struct elf_file *e, struct stubs *out)
{
	const struct elf_file_section *sections, *table = elf_file_by_type(e, SHT_DYNSYM);
	struct stubs stubs = { .file = e, .table = table };
	size_t count;
	int err = wants_stubs(t, e) ? plt_read(e, &stubs.entries, &stubs.count) : 0;

	if (err)
		return err;
	pick_stubs(t, &stubs);
	sections = elf_file_sections(e, &count);
	/* Without these only choosers can be named. */
	if (stubs.count && table && table->link < count && !elf_file_read(e, table, &stubs.data) &&
	    !elf_file_read(e, &sections[table->link], &stubs.strings))
		stubs.string_bytes = sections[table->link].size_bytes;
	*out = stubs;
	return 0;
}

static void stubs_done(struct stubs *s)
{
	free(s->entries);
	free(s->data);
	free(s->strings);
}

static int add_plt(struct symtab *t, struct stubs *stubs)
{
	int err;

	if (!stubs->count)
		return 0;
	err = add_stubs(t, stubs);
	if (!t->wanted && stubs->strings) {
		t->strings[t->string_count++] = stubs->strings;
		stubs->strings = NULL;
	}
	seal(t);
	return err;
}

/* ---- all of it ---- */

/* Stubs to choosers bear the names of these, which must be found for them. */
static int want_choosers(struct symtab *t, const struct stubs *stubs)
{
	uint64_t *wanted = reallocarray(t->wanted, t->wanted_count + stubs->count + 1,
					sizeof(*wanted));

	if (!wanted)
		return -ENOMEM;
	t->wanted = wanted;
	for (size_t i = 0; i < stubs->count; i++)
		if (stubs->entries[i].resolver)
			wanted[t->wanted_count++] = stubs->entries[i].resolver;
	t->wanted_count = insertion_sort_unique(wanted, t->wanted_count);
	t->nearest = reallocarray(NULL, t->wanted_count + 1, sizeof(*t->nearest));
	if (!t->nearest)
		return -ENOMEM;
	for (size_t i = 0; i < t->wanted_count; i++)
		t->nearest[i] = (struct symbol){ .type = UINT8_MAX };
	return 0;
}

/* -EAGAIN and -ENOMEM end it; of the others, what can be read is taken. */
static bool is_final(int err)
{
	return err == -ENOMEM || err == -EAGAIN;
}

static int add_tables(struct symtab *t, const struct elf_file *file, const struct elf_file *debug,
		      const struct elf_file *mini)
{
	int err, broken = 0;

	err = debug ? symtab_read_table(t, debug, SHT_SYMTAB) : -ENODATA;
	if (err && !is_final(err))
		err = symtab_read_table(t, file, SHT_SYMTAB);
	if (err && !is_final(err) && mini)
		err = symtab_read_table(t, mini, SHT_SYMTAB);
	if (is_final(err))
		return err;
	t->full = !err;
	broken |= err && err != -ENODATA;
	err = t->full || t->variables ? 0 : symtab_read_go(t, file);
	if (is_final(err))
		return err;
	err = symtab_read_table(t, file, SHT_DYNSYM);
	if (is_final(err))
		return err;
	broken |= err && err != -ENODATA;
	if (broken && !t->seen_count)
		return -EBADMSG;
	err = t->wanted ? symtab_take_nearest(t) : 0;
	if (!err)
		seal(t);
	return err;
}

static int build(struct symtab *t, const struct elf_file *file, const struct elf_file *debug,
		 const struct elf_file *mini)
{
	struct stubs stubs;
	int err = read_stubs(t, file, &stubs);

	if (err)
		return err;
	if (t->wanted)
		err = want_choosers(t, &stubs);
	if (!err)
		err = add_tables(t, file, debug, mini);
	if (!err)
		err = add_plt(t, &stubs);
	symtab_drop_nearest(t);
	stubs_done(&stubs);
	return err;
}

static int new_with(const struct elf_file *file, const struct elf_file *debug,
		    const struct elf_file *mini, const struct symtab_wanted *wanted,
		    bool all_strings, struct symtab **out)
{
	struct symtab *t = calloc(1, sizeof(*t));
	int err = t ? 0 : -ENOMEM;

	if (!err && wanted) {
		t->all_strings = all_strings;
		t->wanted_count = wanted->count;
		t->wanted = reallocarray(NULL, wanted->count + 1, sizeof(*t->wanted));
		if (!t->wanted)
			err = -ENOMEM;
		else if (wanted->count)
			memcpy(t->wanted, wanted->vaddrs, wanted->count * sizeof(*t->wanted));
		if (!err)
			addrsort(t->wanted, t->wanted_count);
	}
	if (!err)
		err = build(t, file, debug, mini);
	if (err) {
		symtab_free(t);
		return err;
	}
	*out = t;
	return 0;
}

int symtab_new(const struct elf_file *file, const struct elf_file *debug,
	       const struct elf_file *mini, const struct symtab_wanted *wanted, struct symtab **out)
{
	int err = new_with(file, debug, mini, wanted, false, out);

	return err == -EAGAIN ? new_with(file, debug, mini, wanted, true, out) : err;
}

int symtab_new_variables(const struct elf_file *file, const struct elf_file *debug,
			 struct symtab **out)
{
	struct symtab *t = calloc(1, sizeof(*t));
	int err = t ? 0 : -ENOMEM;

	if (!err) {
		t->variables = true;
		err = add_tables(t, file, debug, NULL);
	}
	if (err) {
		symtab_free(t);
		return err;
	}
	*out = t;
	return 0;
}

/* In order, each once.  Symbols are in none, and may be half a million. */
static int sort_bounds(struct symtab *t)
{
	struct radix_item *items = reallocarray(NULL, t->bound_count + 1, sizeof(*items));
	size_t n = 0;
	int err = items ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < t->bound_count; i++)
		items[i] = (struct radix_item){ .key = t->bounds[i] };
	if (!err)
		err = radix_sort(&items, t->bound_count);
	for (size_t i = 0; !err && i < t->bound_count; i++)
		if (!n || t->bounds[n - 1] != items[i].key)
			t->bounds[n++] = items[i].key;
	free(items);
	t->bound_count = n;
	return err;
}

/* The stubs' too: add_plt() makes symbols of them. */
static int read_bounds(struct symtab *t, const struct elf_file *file, const struct elf_file *debug,
		       const struct elf_file *mini)
{
	struct plt_entry *entries = NULL;
	size_t count;
	int err = plt_read(file, &entries, &count);

	for (size_t i = 0; !err && i < count; i++)
		err = symtab_take_bounds(
			t, entries[i].vaddr,
			symtab_add_clamped(entries[i].vaddr, entries[i].size_bytes, UINT64_MAX));
	free(entries);
	if (!err)
		err = add_tables(t, file, debug, mini);
	return err ? err : sort_bounds(t);
}

int symtab_bounds(const struct elf_file *file, const struct elf_file *debug,
		  const struct elf_file *mini, uint64_t **out, size_t *count)
{
	struct symtab t = { .only_bounds = true };
	int err = read_bounds(&t, file, debug, mini);

	if (err) {
		free(t.bounds);
		return err;
	}
	*out = t.bounds;
	*count = t.bound_count;
	return 0;
}

void symtab_free(struct symtab *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->count; i++) {
		free(t->symbols[i].printed);
		if (t->symbols[i].owns_name)
			free((char *)(uintptr_t)t->symbols[i].name);
	}
	for (i = 0; i < t->string_count; i++)
		free(t->strings[i]);
	free(t->symbols);
	free(t->wanted);
	free(t);
}

size_t symtab_count(const struct symtab *t)
{
	return t->seen_count;
}

bool symtab_is_go(const struct symtab *t)
{
	return t->go;
}

bool symtab_is_full(const struct symtab *t)
{
	return t->full;
}
