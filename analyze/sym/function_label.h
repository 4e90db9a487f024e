/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * function_label - what a function without a symbol is called: "cc1+0x5a3f20"
 *
 * The file's name and the address where the function begins, as in the program headers and as objdump shows
 * it: the same in every capture of that build.
 */
#ifndef EBPREC_ANALYZE_SYM_FUNCTION_LABEL_H
#define EBPREC_ANALYZE_SYM_FUNCTION_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/base/arena.h"
#include "format/base/hash_index.h"

/* "/usr/lib/libc.so.6 (deleted)": where "libc.so.6" starts and how long it is. */
const char *function_label_base(const char *path, size_t *size_bytes);

/* Whether the functions of a file stand between a program and the kernel. */
bool function_label_is_c_library(const char *path);

struct function_label {
	uint32_t file;
	uint64_t start;
	const char *text;
};

/* Embedded by the owner; all zero is an empty one. */
struct function_labels {
	struct function_label *list;
	size_t count, room;
	struct hash_index by_start;
	struct arena texts;
};

/*
 * The label of the function of this file, by this path of it, that begins at start: equal ones give the
 * same pointer, which is valid until function_labels_done().  NULL: no memory.
 */
const char *function_labels_get(struct function_labels *l, uint32_t file, const char *path,
				uint64_t start);
void function_labels_done(struct function_labels *l);

#endif
