/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * file_search - the file that was mapped, if this machine still has it, and its separate symbols
 *
 * The I/O half of the resolver.  A file is handed out only when it is the one that was recorded.  A
 * build-id decides that in both directions, wherever the file lies; without one the size and time of
 * change that were recorded decide; without those the path is a guess, is marked as one, and of a
 * deleted file even the inode has to agree.
 *
 * Looked for, in this order: the path below symfs; by build-id in each debug folder, in
 * /usr/lib/debug and in perf's cache.
 */
#ifndef EBPREC_ANALYZE_SYM_LOCATE_FILE_SEARCH_H
#define EBPREC_ANALYZE_SYM_LOCATE_FILE_SEARCH_H

#include <stdbool.h>

#include "analyze/sym/elf/elf_file.h"
#include "analyze/sym/locate/name_reason.h"

/* An open file and where it was. */
struct located {
	int fd;           /* owned */
	const char *root; /* as in the roots; "" for the machine's own */
	char *path;       /* below root; owned (free()); NULL: no file (the vdso) */
	char *full_path;  /* complete, with root; owned; NULL: it is the path */
	enum name_trust trust;
};

void located_done(struct located *l); /* closes and frees */

/*
 * The name to show: below symfs as in the recorded machine, elsewhere with the folder; "": no file.
 */
const char *located_shown(const struct located *l, const struct name_roots *roots);

/* Whether a mapping of this name has no file behind it: "//anon", "[heap]", "/memfd:...". */
bool file_search_is_anonymous(const char *path);

/*
 * Whether an overlay's layer marks the file at this path as removed: a device 0:0, or where no user
 * may make one, a file beside it (".wh.NAME").
 */
bool file_search_is_whiteout(const struct name_roots *roots, const char *path);

/*
 * NAME_FOUND, or why there is none (then *out is untouched).  "[vdso]" gives a copy of the
 * recorded image, or of this process's own, if it is the same.
 */
enum name_reason file_search_open(const struct name_roots *roots, const struct resolver_file *f,
				  struct located *out);

/*
 * The separate symbols of a file: by its build-id, else by the debuglink of elf, which was mapped
 * as path.  id may be empty and elf NULL.  -ENOENT; -ESTALE: there is one, of another build.
 */
int file_search_debug(const struct name_roots *roots, const struct buildid *id,
		      const struct elf_file *elf, const char *path, struct located *out);

/*
 * Finds the file into which dwz moved parts of the debug file: by its build-id, else by path from
 * the file's folder.
 */
int file_search_alt(const struct name_roots *roots, const struct elf_file *debug,
		    const struct located *of, struct located *out);

#endif
