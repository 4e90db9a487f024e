/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * escape - which characters of a foreign text are printed, and what stands for the others
 *
 * Names of threads, files, functions, marks, groups and hosts are chosen by programs that are not
 * trusted.  A name must not move the cursor, colour what follows, end a line, or show its letters
 * in another order than they have.  So a character is printed as it is, unless it is
 *	a control: U+0000-U+001F, U+007F-U+009F
 *	a control of writing direction: U+061C, U+200E, U+200F, U+202A-U+202E, U+2066-U+2069
 *	a line or paragraph separator: U+2028, U+2029
 *	no UTF-8 (RFC 3629: overlong, surrogate, truncated and stray bytes).
 * One function decides, for every form; what is printed instead depends on the form.  A text of
 * ordinary characters comes out byte for byte.
 */
#ifndef EBPREC_FORMAT_TEXT_ESCAPE_H
#define EBPREC_FORMAT_TEXT_ESCAPE_H

#include <stddef.h>

enum escape_form {
	ESCAPE_TEXT,   /* each byte as \xNN */
	ESCAPE_FOLDED, /* the same, and ';' becomes ':' */
	ESCAPE_CSV,    /* within quotes: as TEXT, and '"' is doubled */
	/*
	 * Within quotes: characters as \uNNNN, so that a reader gets the same text; a byte that is no
	 * UTF-8 becomes the four characters \xNN, as in TEXT.
	 */
	ESCAPE_JSON,
};

#define ESCAPE_BYTES_MAX 20 /* what stands for one character */

/* How many bytes from text on are printed as they are. */
size_t escape_plain(enum escape_form form, const char *text, size_t size_bytes);
/*
 * Writes what is printed for the character at text, into out (no NUL) and *out_bytes.  Returns how
 * many bytes of text that was for: 1 to 4.  size_bytes is not 0.
 */
size_t escape_next(enum escape_form form, const char *text, size_t size_bytes,
		   char out[ESCAPE_BYTES_MAX], size_t *out_bytes);
/*
 * Writes all of text into out, with a NUL; characters that do not fit are left out, never a part of
 * one.  Returns the bytes without the NUL. room_bytes is not 0; 4 * size_bytes + 1 is enough for
 * TEXT and FOLDED.
 */
size_t escape_into(enum escape_form form, const char *text, size_t size_bytes, char *out,
		   size_t room_bytes);
/* The same in memory of its own (free()); NULL: there is none. */
char *escape_copy(enum escape_form form, const char *text, size_t size_bytes);
/* How many columns the text takes in TEXT; a character is one. */
size_t escape_columns(const char *text, size_t size_bytes);

#endif
