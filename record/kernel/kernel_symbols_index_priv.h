/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* kernel_symbols_index_priv - what the files of the room `ksyms` share */
#ifndef EBPREC_RECORD_KERNEL_KERNEL_SYMBOLS_INDEX_PRIV_H
#define EBPREC_RECORD_KERNEL_KERNEL_SYMBOLS_INDEX_PRIV_H

#include <sys/types.h>

#include "record/kernel/kernel_symbols_index.h"
#include "record/base/packed.h"

#define KERNEL_SYMBOLS_INDEX_CACHE_SLOTS \
	8192 /* addresses touched before; a kernel has some hundred hot ones */
#define KERNEL_SYMBOLS_INDEX_TRACING_SLOTS \
	4096 /* of kernel_symbols_index_tracing_frames(): the first frames of all stacks of switches */
#define KERNEL_SYMBOLS_INDEX_NOTES       1024 /* of more, the symbols are read anew when they are hit */
#define KERNEL_SYMBOLS_INDEX_DOUBTS_MANY 64   /* enough to read the real table at once */
#define KERNEL_SYMBOLS_INDEX_DOUBTS      1024 /* with more, it is waited for */
#define KERNEL_SYMBOLS_INDEX_LINE_BYTES  1024 /* a name has 511 bytes at most, that of a module 55 */

/* Names that kernel_symbols_index_find() knows without a search; kernel_symbols_index_well_known has them. */
enum {
	KERNEL_SYMBOLS_INDEX_TEXT,
	KERNEL_SYMBOLS_INDEX_STEXT,
	KERNEL_SYMBOLS_INDEX_ETEXT,
	KERNEL_SYMBOLS_INDEX_SINIT,
	KERNEL_SYMBOLS_INDEX_EINIT,
	KERNEL_SYMBOLS_INDEX_NAMES
};
extern const char *const kernel_symbols_index_well_known[KERNEL_SYMBOLS_INDEX_NAMES];

struct sym {
	uint64_t addr;
	uint32_t off_bytes; /* of the line in the text */
	uint8_t touched, taken;
};

/* Code that has a record with its name (KSYMBOL). */
struct noted {
	uint64_t start;
	uint32_t size_bytes;
};

/* An address that the cached table does not name; a record that is still to come may. */
struct doubt {
	uint64_t addr;
	bool aged; /* since the last take */
};

struct kernel_symbols_index {
	struct packed *text; /* NULL: in a file of ours, */
	int fd;              /* which is this one, else -1 */
	off_t text_off;      /* and begins there */
	struct sym *sym;     /* by address, then as in the text */
	size_t count;
	uint64_t named[KERNEL_SYMBOLS_INDEX_NAMES]; /* 0: there is none */
	bool fresh;                                 /* something was touched since the last take */
	struct kernel_symbols_index_source
		source; /* to read it anew, when the text is not of today */
	struct noted note[KERNEL_SYMBOLS_INDEX_NOTES];
	size_t note_count;
	struct doubt doubt[KERNEL_SYMBOLS_INDEX_DOUBTS];
	size_t doubt_count;
	bool no_more_records;
	struct kernel_symbols_index_reading
		*reading; /* of the real table; NULL: none is under way */
	uint64_t cache[KERNEL_SYMBOLS_INDEX_CACHE_SLOTS];
	uint64_t tracing
		[KERNEL_SYMBOLS_INDEX_TRACING_SLOTS]; /* addresses; of tracing code the complement */
};

/* The line of symbol i, into line.  false: the file was damaged. */
bool kernel_symbols_index_line(const struct kernel_symbols_index *k, size_t i,
			       char line[KERNEL_SYMBOLS_INDEX_LINE_BYTES], struct ksym *out);

/* All of a table; errno of the read, or as kernel_symbols_index_from_text(). */
int kernel_symbols_index_read(const struct kernel_symbols_index_source *s,
			      struct kernel_symbols_index **out);

/* kernel_symbols_reload.c: begins to read the real table in a thread, unless that is under way; without a thread, here. */
void kernel_symbols_index_anew_begin(struct kernel_symbols_index *k);
/* False: it is under way; wait: until it is not.  Else *out is the caller's; NULL: it could not be read. */
bool kernel_symbols_index_anew_take(struct kernel_symbols_index *k, bool wait,
				    struct kernel_symbols_index **out);

/*
 * kernel_symbols_cache.c: the symbols that an earlier recording cached.  errno, -ESTALE when it is
 * of another kernel.
 */
int kernel_symbols_index_from_cache(const struct kernel_symbols_index_source *s,
				    struct kernel_symbols_index **out);
/* Writes the cache; without it the next recording reads the table again. */
void kernel_symbols_index_keep(const struct kernel_symbols_index *k,
			       const struct kernel_symbols_index_source *s);

#endif
