/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* interpreted_code - the files that do not exist, in which a capture has all interpreted code (FORMAT.md 4.8) */
#ifndef EBPREC_FORMAT_BASE_INTERPRETED_CODE_H
#define EBPREC_FORMAT_BASE_INTERPRETED_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define INTERPRETED_CODE_PYTHON     "[python]"
#define INTERPRETED_CODE_JAVASCRIPT "[javascript]"
#define INTERPRETED_CODE_JAVA       "[java]"

static inline bool interpreted_code_is_file(const char *path)
{
	return !strcmp(path, INTERPRETED_CODE_PYTHON) ||
	       !strcmp(path, INTERPRETED_CODE_JAVASCRIPT) || !strcmp(path, INTERPRETED_CODE_JAVA);
}

#endif
