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
#define INTERPRETED_CODE_RUBY       "[ruby]"
#define INTERPRETED_CODE_PHP        "[php]"
#define INTERPRETED_CODE_PERL       "[perl]"

static inline bool interpreted_code_is_file(const char *path)
{
	static const char *const paths[] = { INTERPRETED_CODE_PYTHON, INTERPRETED_CODE_JAVASCRIPT,
					     INTERPRETED_CODE_JAVA,   INTERPRETED_CODE_RUBY,
					     INTERPRETED_CODE_PHP,    INTERPRETED_CODE_PERL };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!strcmp(path, paths[i]))
			return true;
	return false;
}

#endif
