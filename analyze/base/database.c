/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/database.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

int database_bind(sqlite3_stmt *s, const char *types, va_list values)
{
	int code = SQLITE_OK;

	for (int i = 0; code == SQLITE_OK && types[i]; i++) {
		if (types[i] == 'i')
			code = sqlite3_bind_int64(s, i + 1, va_arg(values, int64_t));
		else
			code = sqlite3_bind_text(s, i + 1, va_arg(values, const char *), -1,
						 SQLITE_STATIC);
	}
	return code;
}

int database_problem(sqlite3 *db, int code, char *problem, size_t problem_bytes)
{
	snprintf(problem, problem_bytes, "%s", sqlite3_errmsg(db));
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
	case SQLITE_IOERR: /* full disks, too, where it cannot make its files larger */
	case SQLITE_CANTOPEN:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EAGAIN;
	default:
		return -EIO;
	}
}
