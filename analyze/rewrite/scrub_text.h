/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * scrubtext - finds in a text what says who and where, and puts pseudonyms in its place
 *
 * What is known by its shape (paths below /home, ids of containers, network addresses) is found at
 * once.  Names of hosts, users and containers are learnt first, from all texts of a capture, and
 * then found as words anywhere.  A text keeps its size.
 */
#ifndef EBPREC_ANALYZE_REWRITE_SCRUB_TEXT_H
#define EBPREC_ANALYZE_REWRITE_SCRUB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/rewrite/pseudonym.h"

enum scrubtext_form {
	SCRUBTEXT_PATH, /* all of it is one path */
	SCRUBTEXT_FREE, /* a path ends at white space and the like */
	SCRUBTEXT_JSON, /* the same, and keys stay as they are */
};

struct scrubtext; /* opaque */

/* wanted: by kind, of HOME, USER, CONTAINER and NETWORK.  p is borrowed.  -ENOMEM. */
int scrubtext_new(struct pseudonyms *p, const bool wanted[PSEUDONYM_KINDS], struct scrubtext **out);
void scrubtext_free(struct scrubtext *s); /* NULL is fine */

/* A word to be found from now on.  -ENOMEM. */
int scrubtext_word(struct scrubtext *s, enum pseudonym_kind kind, const char *word,
		   size_t size_bytes);
/* Adds the users and containers that the text names.  -ENOMEM. */
int scrubtext_learn(struct scrubtext *s, const char *text, size_t size_bytes);
void scrubtext_apply(struct scrubtext *s, enum scrubtext_form form, char *text, size_t size_bytes);

#endif
