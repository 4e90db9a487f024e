/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * texts - the strings of a page, as ESCAPE_TEXT prints them (format/text/escape.h)
 *
 * They are collected in any order; page_texts_write() numbers them by their bytes, so that the page does
 * not depend on the order, and only then their numbers are known.
 */
#ifndef EBPREC_ANALYZE_PAGE_TABLE_TEXTS_H
#define EBPREC_ANALYZE_PAGE_TABLE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"
#include "analyze/page/table/columns.h"

/* Borrowed: pairs of a name and the one that it gets. */
struct page_renames {
	const char *const *list;
	size_t count;
};

/* Embedded by the owner; page_texts_done(). */
struct page_texts {
	struct string_table *table;
	uint32_t *numbers;           /* by number in the table; NULL before page_texts_write() */
	struct page_renames renames; /* of the capture whose names are added */
};

/* -ENOMEM. */
int page_texts_init(struct page_texts *t);
void page_texts_done(struct page_texts *t);
/* A foreign text, to be escaped.  *out: for page_texts_number().  -ENOMEM, -EOVERFLOW. */
int page_texts_add(struct page_texts *t, const char *text, uint32_t *out);
/*
 * The name of a program, a file or a function as a rename has it, alone or in brackets ("[libc.so.6]"); *room: to be
 * freed when the name is not needed any more.  NULL: no memory.
 */
const char *page_texts_rename(const struct page_renames *renames, const char *name, char **room);
/* The same, as a text. */
int page_texts_add_name(struct page_texts *t, const char *name, uint32_t *out);
/* The table "strings".  -ENOMEM. */
int page_texts_write(struct page_texts *t, struct page_columns *p);
static inline uint32_t page_texts_number(const struct page_texts *t, uint32_t text)
{
	return t->numbers[text];
}

#endif
