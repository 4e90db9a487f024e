/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * file_table - the files that were mapped, each once
 *
 * Two mappings are of one file when all that the kernel reported about it is equal: path, build-id,
 * device, inode.  Whether two different entries are the same file after all (a container's copy
 * with the same build-id) is for the resolver to decide.
 */
#ifndef EBPREC_ANALYZE_PROCESS_FILE_TABLE_H
#define EBPREC_ANALYZE_PROCESS_FILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/hash_index.h"
#include "analyze/base/string_table.h"
#include "format/base/file_id.h"

/* A file, a kernel module, or a piece of code that the kernel made and named. */
struct process_model_file {
	const char *path; /* or "[kernel.kallsyms]_text", "//anon", a symbol's name ...; borrowed */
	struct file_id id;
	uint32_t jit_pid; /* not 0: code that this process made; its offsets are addresses */
	bool is_ksymbol;  /* path is the symbol: a BPF program, a trampoline */
};

/* Embedded by the owner; all zero is an empty one.  Read list freely. */
struct file_table {
	struct process_model_file *list;
	size_t count;
	uint32_t *paths;    /* in the strings; parallel to list */
	uint32_t *nameless; /* parallel: the next file of its path without a build-id */
	size_t list_capacity, paths_capacity, nameless_capacity;
	struct hash_index index;
	struct hash_index by_path; /* the last file of a path without a build-id */
};

/* file is complete but for its path.  -ENOMEM, -EOVERFLOW. */
int file_table_add(struct file_table *t, struct string_table *names,
		   const struct process_model_file *file, const char *path, uint32_t *out);
/* Gives the id to the files of that path (a number in the strings) that have none. */
void file_table_add_build_id(struct file_table *t, uint32_t path, const struct buildid *id);
/*
 * Leaves only these, in this order; numbers[old number] becomes the new number.  -ENOMEM: then the
 * table is as it was.
 */
int file_table_choose(struct file_table *t, struct string_table *names, const uint32_t *order,
		      size_t count, uint32_t *numbers);
void file_table_done(struct file_table *t);

#endif
