/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* file_search_priv - what the files of this folder share */
#ifndef EBPREC_ANALYZE_SYM_LOCATE_FILE_SEARCH_PRIV_H
#define EBPREC_ANALYZE_SYM_LOCATE_FILE_SEARCH_PRIV_H

#include "analyze/sym/locate/file_search.h"

/* Whether the ids are equal but for padding. */
bool file_search_same_id(const struct buildid *a, const struct buildid *b);
/* Whether the open file lacks the checksum that f was recorded with; false also when there was none. */
bool file_search_other_sum(const struct resolver_file *f, int fd);
/* By build-id in all places that are named after ids: the program itself, or its debug file. */
int file_search_by_id(const struct name_roots *roots, const struct buildid *id, bool debug,
		      struct located *out);
/* The same from the fetcher, when there is one.  -ENOENT, -ESTALE: it came with another id. */
int file_search_fetch(const struct name_roots *roots, const struct buildid *id, bool debug,
		      struct located *out);
/* Takes the fd over.  -ENOMEM. */
int file_search_fill(struct located *out, int fd, const char *root, const char *path,
		     enum name_trust trust);

/*
 * The build-id, also of a file that has it in a section alone: what dwz makes has no program headers.  fd
 * is borrowed.  As buildid_from_fd().
 */
int file_search_build_id(int fd, struct buildid *out);

#endif
