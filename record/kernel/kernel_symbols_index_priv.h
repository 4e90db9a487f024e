/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ksyms_priv - what the files of the room `ksyms` share */
#ifndef EBPREC_RECORD_KERNEL_KERNEL_SYMBOLS_INDEX_PRIV_H
#define EBPREC_RECORD_KERNEL_KERNEL_SYMBOLS_INDEX_PRIV_H

#include <sys/types.h>

#include "record/kernel/kernel_symbols_index.h"
#include "record/base/packed.h"

#define KSYMS_CACHE_SLOTS   8192 /* addresses touched before; a kernel has some hundred hot ones */
#define KSYMS_TRACING_SLOTS 256  /* of ksyms_tracing_frames(): some tracepoints' few addresses */
#define KSYMS_NOTES         1024 /* of more, the symbols are read anew when they are hit */
#define KSYMS_DOUBTS_MANY   64   /* enough to read the real table at once */
#define KSYMS_DOUBTS        1024 /* with more, it is waited for */
#define KSYMS_LINE_BYTES    1024 /* a name has 511 bytes at most, that of a module 55 */

/* Names that ksyms_find() knows without a search; ksyms_well_known has them. */
enum { KSYMS_TEXT, KSYMS_STEXT, KSYMS_ETEXT, KSYMS_SINIT, KSYMS_EINIT, KSYMS_NAMES };
extern const char *const ksyms_well_known[KSYMS_NAMES];

struct sym {
	uint64_t addr;
	uint32_t off_bytes; /* of the line in the text */
	uint8_t touched, taken;
};

/* Code whose name is told by a record of its own. */
struct noted {
	uint64_t start;
	uint32_t size_bytes;
};

/* An address that what was kept does not know, unless a record that is still to come names it. */
struct doubt {
	uint64_t addr;
	bool aged; /* since the last take */
};

struct ksyms {
	struct packed *text; /* NULL: in a file of ours, */
	int fd;              /* which is this one, else -1 */
	off_t text_off;      /* and begins there */
	struct sym *sym;     /* by address, then as in the text */
	size_t count;
	uint64_t named[KSYMS_NAMES]; /* 0: there is none */
	bool fresh;                  /* something was touched since the last take */
	struct ksyms_source source;  /* to read it anew, when the text is not of today */
	struct noted note[KSYMS_NOTES];
	size_t note_count;
	struct doubt doubt[KSYMS_DOUBTS];
	size_t doubt_count;
	bool told;                     /* no more records are to come */
	struct ksyms_reading *reading; /* of the real table; NULL: none is under way */
	uint64_t cache[KSYMS_CACHE_SLOTS];
	uint64_t tracing[KSYMS_TRACING_SLOTS]; /* addresses; of tracing code the complement */
};

/* The line of symbol i, into line.  false: the file was damaged. */
bool ksyms_line(const struct ksyms *k, size_t i, char line[KSYMS_LINE_BYTES], struct ksym *out);

/* All of a table; errno of the read, or as ksyms_from_text(). */
int ksyms_read(const struct ksyms_source *s, struct ksyms **out);

/* ksyms_anew.c: begins to read the real table in a thread, unless that is under way; without a thread, here. */
void ksyms_anew_begin(struct ksyms *k);
/* False: it is under way; wait: until it is not.  Else *out is the caller's; NULL: it could not be read. */
bool ksyms_anew_take(struct ksyms *k, bool wait, struct ksyms **out);

/* ksyms_kept.c: what an earlier recording kept.  errno, -ESTALE when it is of another kernel. */
int ksyms_from_kept(const struct ksyms_source *s, struct ksyms **out);
/* Keeps it; what cannot be kept is read again next time. */
void ksyms_keep(const struct ksyms *k, const struct ksyms_source *s);

#endif
