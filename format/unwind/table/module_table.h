/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * module_table - the unwind rules of one ELF file, by address
 *
 * Made once for each file, then read-only: any number of threads may call module_table_find() and
 * module_table_bias().  A row costs 4 bytes, in two columns: the low 16 bits of the address where it
 * begins and the id of its rule in a ruleset shared by all files.  The rows lie in pages, one for
 * each 64 KB of code; the first row of a page begins at its first byte and repeats the rule that
 * is carried in.  A lookup is one page and one binary search over the first column.  This is the
 * layout the BPF maps have, so the recorder copies the columns as they are.
 *
 * Addresses are those of the file as linked.  For a mapping in a process, subtract the bias that
 * module_table_bias() gives.
 *
 * Files are read by pread() into memory and never mapped: a file that another process truncates
 * while we read gives an error, not a signal.  All sizes in it are checked against the file and
 * against the limits below before memory is taken.  Little-endian 64-bit x86_64 and aarch64 only.
 * A file in which rbx is the base of a CFA is built with rbx tracked.  Where nothing covers the
 * first code of a program, it is the outermost frame.  Other code that no rule covers, of x86_64,
 * has the rules that are read from its instructions (uncovered_code.h).  A file without .eh_frame
 * gives an empty table: every address answers UNWIND_CFA_END. Relocatable files (.o, .ko) give
 * -ENOTSUP.
 */
#ifndef EBPREC_FORMAT_UNWIND_TABLE_MODULE_TABLE_H
#define EBPREC_FORMAT_UNWIND_TABLE_MODULE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/buf.h"
#include "format/base/buildid.h"
#include "format/unwind/eh_frame.h"
#include "format/base/err.h"
#include "format/unwind/table/rule_table.h"
#include "format/unwind/unwind.h"

enum {
	MODULE_TABLE_PAGE_BITS = 16,            /* 64 KB of code to a page */
	MODULE_TABLE_MAX_PAGES = 65536,         /* first to last row: 4 GB; more is -EOVERFLOW */
	MODULE_TABLE_MAX_SECTIONS = 65536,      /* more is -EOVERFLOW */
	MODULE_TABLE_MAX_SEGMENTS = 4096,       /* program headers; more is -EOVERFLOW */
	MODULE_TABLE_MAX_NAMES_BYTES = 1 << 20, /* section names; more is -EOVERFLOW */
	MODULE_TABLE_MAX_EXEC = 16,             /* executable segments that are remembered */
	MODULE_TABLE_START_BYTES = 128,         /* a program's first code is not longer */
	MODULE_TABLE_MAX_HOOKS = 2,             /* .init and .fini */
	MODULE_TABLE_PLT_HEAD_BYTES = 32,       /* aarch64: the first stub */
};

struct module_table;

struct module_table_page {
	uint32_t first_row;
	uint32_t n_rows; /* 1..65536 */
};

/* The contents of a table, to be copied.  All pointers are borrowed until module_table_free(). */
struct module_table_view {
	enum unwind_arch arch;
	uint64_t first_page; /* address >> MODULE_TABLE_PAGE_BITS of pages[0] */
	const struct module_table_page *pages;
	uint32_t n_pages;
	const uint16_t *pc_low;  /* [n_rows] */
	const uint16_t *rule_id; /* [n_rows] */
	uint32_t n_rows;         /* the carried-in ones are counted */
	bool tracks_bx;          /* rules of this file have the location of rbx */
	struct eh_frame_stats stats;
};

/*
 * Builds the table of an open ELF file into *out; free with module_table_free().  The fd stays the
 * caller's, also on failure, and its position is not used.  New rules go to *set, which must live
 * as long as the table. -EBADMSG, -ENODATA, -ENOTSUP, -EOVERFLOW as in err.h, -ENOMEM, or the errno
 * of pread().  err->offset_bytes is an offset in the file.
 */
int module_table_from_fd(int fd, struct rule_table *set, struct module_table **out,
			 struct parse_err *err);

/* The same for the bytes of a file, such as the vdso.  They are not needed afterwards. */
int module_table_from_bytes(const void *data, size_t size_bytes, struct rule_table *set,
			    struct module_table **out, struct parse_err *err);

void module_table_free(struct module_table *t); /* NULL is fine */

/* The rule at an address as linked.  Never NULL: UNWIND_CFA_END where nothing covers it. */
const struct unwind_rule *module_table_find(const struct module_table *t, uint64_t vaddr);

/*
 * The difference between addresses in a process and addresses as linked, for a mapping of this
 * file that begins at map_start and shows the file from map_off_bytes on.  -EINVAL when no
 * executable segment begins or lies there.
 */
int module_table_bias(const struct module_table *t, uint64_t map_start, uint64_t map_off_bytes,
		      uint64_t *bias);

/*
 * Frees the rows and pages, when they were copied elsewhere: module_table_bias() works as before,
 * module_table_find() returns UNWIND_CFA_END for every address.
 */
void module_table_drop_rows(struct module_table *t);

void module_table_view(const struct module_table *t, struct module_table_view *view);

/* ---- as bytes, for a cache ---- */

/* Raise it when the same file gives another table, or the layout in module_table_bytes.c changes. */
#define MODULE_TABLE_VERSION 5

/* The identity of the file that a table was made from. */
struct module_table_key {
	struct buildid build_id; /* of at least one byte */
	uint64_t size_bytes;
};

/*
 * Appends the table, with the rules that it uses, to *out.  -EINVAL without rows or build-id;
 * -ENOMEM: *out is as it was.
 */
int module_table_to_bytes(const struct module_table *t, const struct module_table_key *key,
			  struct buf *out);

/*
 * Makes a table of such bytes, which may come from anyone: everything that module_table_find() and
 * readers of a view rely on is checked, the contents of rules are not.  New rules go to *set as in
 * module_table_from_fd().  -EBADMSG: broken, -ENODATA: cut, -ESTALE: of another file or version,
 * -ENOMEM.
 */
int module_table_from_cache(const void *data, size_t size_bytes, const struct module_table_key *key,
			    struct rule_table *set, struct module_table **out);

#endif
