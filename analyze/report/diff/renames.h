/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * renames - files that are called otherwise in the second of two recordings
 *
 * Two builds of a program often have two file names, and then nothing of one is in the other.  A file is
 * taken for a later one under another name when it is gone, the other is new, functions of the same names
 * made up at least half of the samples of each, and one of these holds, too: threads of the same comm ran
 * both; the names differ by a version only; or four fifths of the samples of each are in functions of the
 * same names, main() left out, and no other pair of files agrees by half.  Without names of functions a
 * version is enough.  Where none of these holds, it is a hint for the user, to be confirmed with A=B; so are
 * two files of which one or both have no names of functions, and that the same comm ran, or that are both
 * programs of a tenth of the samples at least.
 */
#ifndef EBPREC_ANALYZE_REPORT_DIFF_RENAMES_H
#define EBPREC_ANALYZE_REPORT_DIFF_RENAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"
#include "analyze/report/diff/diff.h"
#include "analyze/report/key/sort_keys.h"
#include "format/base/hash_index.h"

enum rename_source {
	RENAME_ASKED, /* by the user */
	RENAME_COMM,  /* the same comm ran both */
	RENAME_VERSION,
	RENAME_FUNCTIONS,
	RENAME_HINT, /* it looks like one, but is not applied */
};

struct rename {
	uint32_t from, to; /* in the texts */
	enum rename_source source;
	/*
	 * Which part of the samples is in functions that both have; 0: asked for, or no function
	 * has a name.
	 */
	double alike;
};

struct rename_use; /* of a function by a comm */

/* Embedded by the owner; all zero but for texts is an empty one.  Read list freely. */
struct renames {
	struct string_table *texts; /* borrowed; of both sides */
	struct rename *list;
	size_t count, capacity;
	struct rename_use *uses;
	size_t use_count, use_capacity;
	struct hash_index index;
	uint64_t samples[DIFF_SIDES];
};

void renames_done(struct renames *n);

/* "A=B".  -EINVAL: it is not of that form; -ENOMEM. */
int renames_ask(struct renames *n, const char *text);
/* Samples whose innermost user frame was in a function of a file.  dso: its base name.  -ENOMEM, -EOVERFLOW. */
int renames_add(struct renames *n, int side, const char *dso, const char *symbol, const char *comm,
		uint64_t samples);
/* Whether a file or comm of that name was met on a side. */
bool renames_met(const struct renames *n, int side, uint32_t name);
/* Finds what was not asked for.  Sorts the uses.  -ENOMEM. */
int renames_find(struct renames *n);
/* Whether one name is matched with the other, so that both stand for the same file or comm. */
bool renames_match(const struct renames *n, const char *from, const char *to);

/*
 * Has what the table knows of before under the old names under the new ones.  Keys are texts of the
 * columns of keys (diff_text.h).  -ENOMEM, -EOVERFLOW.
 */
int renames_apply(const struct renames *n, const struct sort_keys *keys, struct diff_table *table);

#endif
