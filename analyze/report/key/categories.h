/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * categories - what kind of work a function does: by rules of file and name
 *
 * A rule is a line "FILE FUNCTION CATEGORY": two patterns as of the shell, over the file's base name
 * and the function's name, and one word.  The first rule that matches decides; the user's rules come
 * before the built-in ones.  '#' starts a comment.  Code that no rule knows has no category: what is
 * spent in it is its caller's.
 */
#ifndef EBPREC_ANALYZE_REPORT_KEY_CATEGORIES_H
#define EBPREC_ANALYZE_REPORT_KEY_CATEGORIES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/names/function_table.h"
#include "format/base/err.h"

struct categories; /* opaque */

/* -ENOMEM; -EBADMSG: err's offset is the number of the line. */
int categories_new(const char *user_rules, struct categories **out, struct parse_err *err);
void categories_free(struct categories *c); /* NULL is fine */

/* The category of each function, in names; 0: none.  Owned (free()).  -ENOMEM. */
int categories_run(const struct categories *c, const struct function_table *n,
		   struct string_table *names, uint32_t **out);

#endif
