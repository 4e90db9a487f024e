/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * source_text - the text of a source file that debug information names
 *
 * Looked for, in this order: in each source folder of the roots, by its entire path and then
 * without the first folders of it, one after the other; by its path below symfs; from the fetcher.
 * The path is a stranger's: roots_open_source() opens it.
 */
#ifndef EBPREC_ANALYZE_SYM_LOCATE_SOURCE_TEXT_H
#define EBPREC_ANALYZE_SYM_LOCATE_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/sym/locate/name_reason.h"

struct source_text {
	char *bytes; /* owned; a NUL behind them */
	size_t size_bytes;
	uint64_t mtime_ns; /* of its last change; 0: it came from a server */
	size_t *starts;    /* of each line; owned */
	size_t line_count;
};

/*
 * id: of the program.  -ENOENT, -EACCES; -ENOEXEC: it has no name of source code, or is too large or no text;
 * -ENOTDIR: its path is relative, and no folder of the roots has it; -ENOMEM.
 */
int source_text_read(const struct name_roots *roots, const struct buildid *id, const char *path,
		     struct source_text *out);
void source_text_done(struct source_text *t);

/* A line, from 1 on, without its end; NULL: there is none of that number. */
const char *source_text_line(const struct source_text *t, uint32_t line, size_t *size_bytes);

#endif
