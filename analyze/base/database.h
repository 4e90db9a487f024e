/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* database - values and errors of SQLite's statements */
#ifndef EBPREC_ANALYZE_BASE_DATABASE_H
#define EBPREC_ANALYZE_BASE_DATABASE_H

#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>

/*
 * Gives a statement its values, one for each letter of types: i an int64_t; t a text, or NULL, which is not copied.
 * SQLite's code.
 */
int database_bind(sqlite3_stmt *s, const char *types, va_list values);

/*
 * Copies SQLite's message into problem, since a rollback would replace it.  -EAGAIN: it may be better later, as a full
 * disk or a lock; -ENOMEM; -EIO.
 */
int database_problem(sqlite3 *db, int code, char *problem, size_t problem_bytes);

#endif
