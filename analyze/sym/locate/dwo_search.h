/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dwo_search - where the .dwo files of a program may be
 *
 * Folder and name come from the program, which a stranger may have written: they are used below the
 * roots only, and only regular files are opened, for reading.  The reader decides whether it is the
 * right one (die).  In this order: the path below symfs; the file name, and the relative path, in
 * the folder of the program; the path and the file name in each debug folder.
 */
#ifndef EBPREC_ANALYZE_SYM_LOCATE_DWO_SEARCH_H
#define EBPREC_ANALYZE_SYM_LOCATE_DWO_SEARCH_H

#include "analyze/sym/locate/file_search.h"

/* Both borrowed. */
struct dwo_search {
	const struct name_roots *roots;
	const struct located *program; /* or its debug file */
	const struct located
		*other; /* the program itself, when that was its debug file; may be NULL */
};

/* As addr2line_parts.open; ctx: a struct dwo_search. */
int dwo_search_open(const void *ctx, const char *folder, const char *name, unsigned i);
/* As addr2line_parts.open_package: FILE.dwp beside each of the two, then in debug folders. */
int dwo_search_open_package(const void *ctx, unsigned i);

#endif
