/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * left - the names that a scrubbed capture has, for its user to read through
 *
 * Texts are added as they are written, pseudonyms among them.  Names of functions, META objects and the contents of
 * embedded files are not: they are no names of this machine's programs and files, or too many to read.
 */
#ifndef EBPREC_ANALYZE_REWRITE_SCRUB_LEFT_H
#define EBPREC_ANALYZE_REWRITE_SCRUB_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"

enum scrub_left_kind {
	SCRUB_LEFT_NONE, /* not added */
	SCRUB_LEFT_COMM,
	SCRUB_LEFT_HIDDEN_COMM, /* all of it is a pseudonym; listed as a comm */
	SCRUB_LEFT_FILE,
	SCRUB_LEFT_CGROUP,
	SCRUB_LEFT_CONTAINER,
	SCRUB_LEFT_ARGUMENT,
	SCRUB_LEFT_EVENT,
	SCRUB_LEFT_TEXT, /* a field of an event: of a mark, a tracepoint */
	SCRUB_LEFT_HOST,
	SCRUB_LEFT_MOUNT, /* a line of mountinfo */
	SCRUB_LEFT_KINDS,
};

const char *scrub_left_kind_name(enum scrub_left_kind kind);

/* Embedded by the owner; all zero is an empty one. */
struct scrub_left {
	struct string_table *texts[SCRUB_LEFT_KINDS]; /* NULL: none */
	uint64_t *times[SCRUB_LEFT_KINDS];            /* by number of the text */
	size_t capacity[SCRUB_LEFT_KINDS];
};

void scrub_left_done(struct scrub_left *l);
/* An empty text is none.  -ENOMEM, -EOVERFLOW. */
int scrub_left_add(struct scrub_left *l, enum scrub_left_kind kind, const char *text,
		   size_t size_bytes);

struct scrub_left_text {
	const char *text; /* borrowed */
	size_t size_bytes;
	uint64_t times;
};

/* Those of a kind in the order of first appearance, from index 0 on; false: no such index. */
bool scrub_left_get(const struct scrub_left *l, enum scrub_left_kind kind, size_t index,
		    struct scrub_left_text *out);

#endif
