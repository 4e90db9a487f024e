/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* symtab_priv - what the files of the room `symtab` share */
#ifndef EBPREC_ANALYZE_SYM_SYMTAB_SYMTAB_PRIV_H
#define EBPREC_ANALYZE_SYM_SYMTAB_SYMTAB_PRIV_H

#include "analyze/sym/symtab/symtab.h"

#define SYMTAB_STRINGS_MAX 4

struct symbol {
	uint64_t start, end; /* [start, end), empty for an alias that another one hides */
	union {
		uint64_t reach;    /* sealed: the largest end of this and all symbols before */
		uint64_t name_off; /* while name is NULL: where it is in its string table */
	};
	const char *name;   /* as in the file, in one of symtab.strings */
	char *printed;      /* owned; made at the first use */
	uint32_t order;     /* as read: .symtab or Go's, then .dynsym, then the PLT */
	uint8_t bind, type; /* STB_*, STT_* */
	bool plt;
	bool sized;     /* end is final; else the latest that it may be */
	bool owns_name; /* name is a copy */
};

struct symtab {
	struct symbol *symbols; /* by start, then order */
	size_t count, room;
	size_t seen_count;                    /* with those that were not stored */
	uint8_t *strings[SYMTAB_STRINGS_MAX]; /* string tables, each with a NUL behind */
	size_t string_count;
	bool full, go;
	bool variables;     /* in place of functions */
	size_t last_before; /* the last result of count_before() */
	/* Where only some addresses will be asked for; all NULL else. */
	uint64_t *wanted; /* sorted, no two equal */
	size_t wanted_count;
	/*
	 * By wanted address: the last symbol that begins at or before it, but behind the wanted one
	 * before.  It ends what has no size, and covers the address when it has none itself.
	 */
	struct symbol *nearest; /* type 0xff: none */
	bool all_strings;       /* names must be known when a symbol is read */
	/* Where nothing but these is wanted: where symbols begin and end, in any order. */
	bool only_bounds;
	uint64_t *bounds;
	size_t bound_count, bound_room;
};

/* Room for so many more symbols.  -ENOMEM, -EOVERFLOW. */
int symtab_reserve(struct symtab *t, size_t more);
bool symtab_wants(const struct symtab *t, uint64_t start, uint64_t end);
uint64_t symtab_add_clamped(uint64_t a, uint64_t b, uint64_t max);

/* Takes a symbol that was read: keeps it, or what is wanted of it.  -ENOMEM, -EOVERFLOW. */
int symtab_take(struct symtab *t, const struct symbol *s);
int symtab_take_bounds(struct symtab *t, uint64_t start, uint64_t end);
struct symtab_source; /* where names are read that were not */
/*
 * Gives each symbol from first on, and each nearest one, a name of its own; source is asked for those that
 * have none.  A symbol without a text is none, but may have hidden another one: then (-EAGAIN) all
 * has to be read again, with the strings.
 */
int symtab_copy_names(struct symtab *t, const struct symtab_source *source, size_t first);
/* Forgets the symbols from first on, whose names were not copied yet: their file was cut meanwhile. */
void symtab_take_back(struct symtab *t, size_t first);

/*
 * Joins the functions of Go's .gopclntab.  -ENODATA: the file has none; -ENOMEM; others: it is broken, or
 * of another version, and none were joined.
 */
int symtab_read_go(struct symtab *t, const struct elf_file *e);
/*
 * Joins the first table of a type with its strings.  -ENODATA: the file has no such table; -EBADMSG,
 * -ENOMEM, -EOVERFLOW; -EAGAIN: cannot be decided without all_strings.
 */
int symtab_read_table(struct symtab *t, const struct elf_file *e, uint32_t type);
/* Turns what is nearest into symbols, when all tables were read.  -ENOMEM. */
int symtab_take_nearest(struct symtab *t);
void symtab_drop_nearest(struct symtab *t);

#endif
