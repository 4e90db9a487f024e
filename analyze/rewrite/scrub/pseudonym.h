/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pseudonym - another word in the place of a secret one
 *
 * Equal words get equal pseudonyms under one key, so what belongs together in two captures still
 * does.  Without the key one can neither go back nor try words out.  A pseudonym has as many bytes
 * as its word, because it takes its place in records of all kinds: so the length stays known, and
 * very short words may share one.
 */
#ifndef EBPREC_ANALYZE_REWRITE_SCRUB_PSEUDONYM_H
#define EBPREC_ANALYZE_REWRITE_SCRUB_PSEUDONYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pseudonym_kind {
	PSEUDONYM_HOME, /* part of a path below /home, which is /anon then */
	PSEUDONYM_HOST,
	PSEUDONYM_USER,
	PSEUDONYM_CONTAINER, /* id or name */
	PSEUDONYM_NETWORK,   /* address */
	PSEUDONYM_COMM,
	PSEUDONYM_SYMBOL,
	PSEUDONYM_MACHINE, /* release of its kernel */
	PSEUDONYM_WORD,    /* that the user named */
	PSEUDONYM_KINDS,
};

const char *pseudonym_kind_name(enum pseudonym_kind kind);

#define PSEUDONYM_KEY_BYTES 16

/* SipHash-2-4 (Aumasson and Bernstein, 2012). */
uint64_t pseudonym_hash(const uint8_t key[PSEUDONYM_KEY_BYTES], const void *data,
			size_t size_bytes);

struct pseudonyms; /* opaque: also remembers what was replaced */

/* erase: "xxxx" for all words.  -ENOMEM. */
int pseudonyms_new(const uint8_t key[PSEUDONYM_KEY_BYTES], bool erase, struct pseudonyms **out);
void pseudonyms_free(struct pseudonyms *p); /* NULL is fine */

/* Replaces the word in place. */
void pseudonyms_put(struct pseudonyms *p, enum pseudonym_kind kind, char *word, size_t size_bytes);

/* -ENOMEM when there was no memory to remember all; then the output is not complete. */
int pseudonyms_error(const struct pseudonyms *p);

struct pseudonym {
	enum pseudonym_kind kind;
	const char *word, *instead; /* borrowed until pseudonyms_free() */
	uint64_t times;
};

/* Those replaced, by kind in the order of first appearance; false: no such index. */
bool pseudonyms_get(const struct pseudonyms *p, size_t index, struct pseudonym *out);

#endif
