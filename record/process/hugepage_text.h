/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * hugepage_text - code of a file that its program laid into memory of its own
 *
 * Large programs want their code on large pages (node --use-largepages): they put
 * anonymous memory into the place of a mapping and the same code into that.  The code there is
 * still the file's, with its symbols and its unwind tables, but the kernel calls it "//anon".  So a
 * large executable mapping without a file that lies among those of one file is compared with it,
 * and is recorded as the file's where both are the same.
 *
 * Compared are pages that are spread over it, of which a few may differ: programs patch themselves.  The
 * mapping is often there before the code is in it, so it is looked at again for some seconds.
 */
#ifndef EBPREC_RECORD_PROCESS_HUGEPAGE_TEXT_H
#define EBPREC_RECORD_PROCESS_HUGEPAGE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/base/mapping.h"
#include "record/privsep/io_timeout.h"

#define HUGEPAGE_TEXT_MIN_BYTES \
	(2u << 20)                        /* a large page; JIT compilers mostly take less at once */
#define HUGEPAGE_TEXT_WAITING  32         /* mappings that are looked at again, */
#define HUGEPAGE_TEXT_AGAIN_NS 4000000ULL /* after this time, then twice that, and so on, */
#define HUGEPAGE_TEXT_TURNS    10         /* so often */

/* That had no code of the file yet. */
struct hugepage_text_waiting {
	struct mapping map; /* its path is a literal */
	uint64_t due_ns;
	unsigned turns;
};

/* A mapping that was found after the caller had stopped waiting for it. */
struct hugepage_text_found {
	struct mapping map; /* its path is owned */
};

/* All zero, but for io. */
struct hugepage_text {
	struct io_timeout *io; /* borrowed: files and memory of strangers are read there */
	struct hugepage_text_waiting waiting[HUGEPAGE_TEXT_WAITING];
	unsigned waiting_count;
	struct hugepage_text_found found[HUGEPAGE_TEXT_WAITING];
	unsigned found_count;
	char *path; /* of the mapping that was given out last */
};

void hugepage_text_done(struct hugepage_text *t);

/*
 * True: what is mapped is code of a file, and *m is now a mapping of that file, its path valid until the
 * next call.  False: it is not, or not yet.  maps: the text of /proc/PID/maps, NULL: to be read.
 */
bool hugepage_text_look(struct hugepage_text *t, struct mapping *m, const char *maps,
			uint64_t now_ns);
/* The same of one that waits, or was late; false: none of them is due, or was found. */
bool hugepage_text_again(struct hugepage_text *t, struct mapping *m, uint64_t now_ns);

#endif
