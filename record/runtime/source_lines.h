/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * source_lines - in which line of its script a place of the text is
 *
 * V8 knows a function by its place in the text of the script, in units of UTF-16.  The script is read from its file, below the
 * root of the process, when one of its functions is seen for the first time.  A file that has another length
 * than the text that runs is another text, and gives no lines: it was changed since, or translated.
 *
 * The paths are a stranger's: files are opened by threads (io_timeout.h), regular ones alone that the process's user may read,
 * of SOURCE_FILE_BYTES at most.  The oldest tables are dropped for new ones.
 */
#ifndef EBPREC_RECORD_RUNTIME_SOURCE_LINES_H
#define EBPREC_RECORD_RUNTIME_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "record/privsep/io_timeout.h"

#define SOURCE_FILE_BYTES  (8u << 20)
#define SOURCE_FILES_MAX   512u
#define SOURCE_STARTS_MAX  (4u << 20) /* lines, of all files together */
#define SOURCE_FILE_STARTS (1u << 20) /* of one */

struct source_starts {
	uint32_t *starts; /* owned: the units before each line */
	size_t line_count, room;
	uint32_t unit_count;
};

struct source_file {
	uint32_t pid;
	char *name; /* owned; as the script is called */
	struct source_starts text;
};

/* All zero but io: empty. */
struct source_lines {
	struct io_timeout *io;                       /* borrowed; NULL: no file is read */
	struct source_file *files[SOURCE_FILES_MAX]; /* the oldest first */
	size_t count, start_count;
	size_t reading; /* files that are being read: their lines will be known in a moment */
};

void source_lines_done(struct source_lines *l);
/* Reads the script of that name, a path or a URL file://, if it is not known.  user: of the process. */
void source_lines_see(struct source_lines *l, uint32_t pid, uint32_t user, const char *name);
/*
 * The line of a place in a text of unit_count units, from 1 on, and *column, the same; 0: it is not known, or not yet.
 */
uint32_t source_lines_find(const struct source_lines *l, uint32_t pid, const char *name,
			   uint32_t unit_count, uint32_t place, uint32_t *column);

/* Pure: the lines of a text of UTF-8, with an empty *out.  -E2BIG: there are more than SOURCE_FILE_STARTS; -ENOMEM. */
int source_lines_read(const uint8_t *bytes, size_t size_bytes, struct source_starts *out);
/* Pure: the path that a script's name has, owned; NULL: none. */
char *source_path(const char *name);

#endif
