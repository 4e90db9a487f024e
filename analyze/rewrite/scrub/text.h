/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * text - finds names of persons and machines in a text, and puts pseudonyms in their place
 *
 * A word that is known by its form (paths below /home, ids of containers, network addresses) is
 * found at once.  Names of hosts, users and containers are learnt first, from all texts of a
 * capture, and then found as words anywhere.  A text keeps its size.
 */
#ifndef EBPREC_ANALYZE_REWRITE_SCRUB_TEXT_H
#define EBPREC_ANALYZE_REWRITE_SCRUB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/rewrite/scrub/pseudonym.h"

enum scrub_text_form {
	SCRUB_TEXT_PATH, /* all of it is one path */
	SCRUB_TEXT_FREE, /* a path ends at white space and the like */
	SCRUB_TEXT_JSON, /* the same, and keys stay as they are */
};

struct scrub_text; /* opaque */

/* wanted: by kind, of HOME, USER, CONTAINER and NETWORK.  p is borrowed.  -ENOMEM. */
int scrub_text_new(struct pseudonyms *p, const bool wanted[PSEUDONYM_KINDS],
		   struct scrub_text **out);
void scrub_text_free(struct scrub_text *s); /* NULL is fine */

#define SCRUB_TEXT_WORDS_MAX      16384 /* each is looked for in each text */
#define SCRUB_TEXT_WORD_BYTES_MAX 255   /* of names, but for those that the user gave */

/* A word to be found from now on.  -ENOMEM; -EOVERFLOW: there are too many, or it is too long. */
int scrub_text_word(struct scrub_text *s, enum pseudonym_kind kind, const char *word,
		    size_t size_bytes);
/* Adds the users and containers that the text names.  As scrub_text_word(). */
int scrub_text_learn(struct scrub_text *s, const char *text, size_t size_bytes);
/* Whether a word may begin or end between the bytes before and at of the text. */
bool scrub_text_is_border(const char *text, size_t size_bytes, size_t at);
/* Where the path, or another word of a text, ends that begins at its start. */
size_t scrub_text_path_bytes(const char *text, size_t size_bytes);
void scrub_text_apply(struct scrub_text *s, enum scrub_text_form form, char *text,
		      size_t size_bytes);

#endif
