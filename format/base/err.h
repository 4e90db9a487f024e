/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * err - where in a file the bytes were wrong, and in which way
 *
 * Parsers return 0 or a negative errno.  The numbers mean the same everywhere:
 *	-EBADMSG	the bytes break the format
 *	-ENODATA	the bytes end too early
 *	-ENOTSUP	understood, but not supported
 *	-EOVERFLOW	larger than a limit of ours
 * A parser that takes a struct parse_err fills it when it fails, and never prints.
 */
#ifndef EBPREC_FORMAT_BASE_ERR_H
#define EBPREC_FORMAT_BASE_ERR_H

#include <stdint.h>

struct parse_err {
	uint64_t offset_bytes; /* from the start of what was parsed */
	const char *what;      /* static string, never freed; NULL when the parser gave no reason */
};

/* Fills *err (NULL is fine) and returns code, so that a parser can write `return parse_fail(...)`. */
static inline int parse_fail(struct parse_err *err, int code, uint64_t offset_bytes,
			     const char *what)
{
	if (err) {
		err->offset_bytes = offset_bytes;
		err->what = what;
	}
	return code;
}

#endif
