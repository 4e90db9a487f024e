/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * columns - the tables of a page: each column LEB128 varints by their bytes, each table a zlib stream in base64
 *
 * All first bytes of a column come first, then all second ones, and so on: the low bits of a number are random, the high
 * ones are not, and zlib packs each better where the others are not between.  docs/PAGE.md is the specification.
 *
 * A table is begun, its columns are begun and filled one after the other, and it is ended: then its bytes are
 * compressed.  When memory runs out the tables turn bad and stay so; page_columns_ok() is looked at once.
 */
#ifndef EBPREC_ANALYZE_PAGE_TABLE_COLUMNS_H
#define EBPREC_ANALYZE_PAGE_TABLE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/outbuf.h"

struct page_column {
	const char *name; /* borrowed, constant */
	const char *kind; /* "u", "z", "d", "text" */
	size_t bytes;
};

#define PAGE_TABLE_COLUMNS    12
#define PAGE_VARINT_BYTES_MAX 10

struct page_table {
	const char *name;
	uint64_t rows;
	struct page_column columns[PAGE_TABLE_COLUMNS];
	size_t column_count;
	size_t raw_bytes;    /* of all columns */
	struct outbuf block; /* compressed, in base64 */
};

/* Embedded by the owner; all zero is empty.  Read tables freely. */
struct page_columns {
	struct page_table *tables;
	size_t table_count, table_capacity;
	struct outbuf raw;  /* of the table that is being filled */
	struct outbuf last; /* its last column, as it was filled */
	size_t column_from; /* where its last column begins */
	int64_t before;     /* the last number of page_columns_put_difference() */
	bool bad;
};

void page_columns_begin_table(struct page_columns *p, const char *name, uint64_t rows);
/* Unsigned numbers follow, by page_columns_put(). */
void page_columns_begin(struct page_columns *p, const char *name);
/* Signed ones, by page_columns_put_signed(). */
void page_columns_begin_signed(struct page_columns *p, const char *name);
/* Differences of each to the one before, by page_columns_put_difference(). */
void page_columns_begin_differences(struct page_columns *p, const char *name);
/* Texts, by page_columns_put_text(). */
void page_columns_begin_text(struct page_columns *p, const char *name);
static inline void page_columns_put(struct page_columns *p, uint64_t value)
{
	struct outbuf *raw = &p->raw;
	uint8_t *at = raw->room_bytes - raw->size_bytes < PAGE_VARINT_BYTES_MAX
			      ? outbuf_reserve(raw, PAGE_VARINT_BYTES_MAX)
			      : raw->data + raw->size_bytes;
	size_t n = 0;

	if (!at)
		return;
	for (; value >= 0x80; value >>= 7)
		at[n++] = (uint8_t)(value | 0x80);
	at[n++] = (uint8_t)value;
	raw->size_bytes += n;
}
void page_columns_put_signed(struct page_columns *p, int64_t value);
void page_columns_put_difference(struct page_columns *p, int64_t value);
/* Holds no NUL; one is put behind it. */
void page_columns_put_text(struct page_columns *p, const char *text, size_t size_bytes);
void page_columns_end_table(struct page_columns *p);
/* The same for rows of single samples: large tables are packed in less time, by runs of equal bytes alone. */
void page_columns_end_sample_table(struct page_columns *p);

bool page_columns_ok(const struct page_columns *p);
void page_columns_done(struct page_columns *p);

#endif
