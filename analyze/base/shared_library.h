/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* shared_library - functions of a library that is loaded when a command wants it, so that ebprec runs without it */
#ifndef EBPREC_ANALYZE_BASE_SHARED_LIBRARY_H
#define EBPREC_ANALYZE_BASE_SHARED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct shared_symbol {
	const char *name;
	size_t offset; /* of the pointer to the function, in the struct of all */
};

/*
 * Fills the pointers of pointers' struct.  is_global: libraries that are loaded later find its symbols.  -ENOENT: there is no
 * such library, or it lacks a function; -ENOTSUP: a static program loads none.  *handle: dlclose(); NULL on failure.
 */
int shared_library_open(const char *file, bool is_global, const struct shared_symbol *symbols,
			size_t count, void *pointers, void **handle);

#endif
