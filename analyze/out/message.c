/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/message.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/text/escape.h"

static void put(FILE *to, enum escape_form form, const char *text, size_t size_bytes)
{
	char instead[ESCAPE_BYTES_MAX];
	size_t at = 0, part;

	while (at < size_bytes) {
		part = escape_plain(form, text + at, size_bytes - at);
		fwrite(text + at, 1, part, to);
		at += part;
		if (at == size_bytes)
			break;
		at += escape_next(form, text + at, size_bytes - at, instead, &part);
		fwrite(instead, 1, part, to);
	}
}

void message_escaped(FILE *to, const char *text, size_t size_bytes)
{
	put(to, ESCAPE_TEXT, text, size_bytes);
}

unsigned message_columns(const char *text, size_t size_bytes)
{
	size_t columns = escape_columns(text, size_bytes);

	return columns < UINT_MAX ? (unsigned)columns : UINT_MAX;
}

void message_escaped_within(FILE *to, const char *text, size_t size_bytes, unsigned columns)
{
	size_t length, wide, shown = 0;
	char instead[ESCAPE_BYTES_MAX];

	if (!columns || message_columns(text, size_bytes) <= columns) {
		message_escaped(to, text, size_bytes);
		return;
	}
	for (columns -= columns < 2 ? columns : 2; shown < size_bytes; shown += length) {
		length = escape_next(ESCAPE_TEXT, text + shown, size_bytes - shown, instead, &wide);
		wide = escape_columns(text + shown, length);
		if (wide > columns)
			break;
		columns -= (unsigned)wide;
	}
	message_escaped(to, text, shown);
	fputs("..", to);
}

void message_padded(FILE *to, const char *text, unsigned columns)
{
	unsigned used = message_columns(text, strlen(text));

	message_escaped(to, text, strlen(text));
	for (; used < columns; used++)
		putc(' ', to);
}

/* Spreadsheets take such a cell for a formula; the last four are the wide forms of the first. */
static bool begins_formula(const char *text, size_t size_bytes)
{
	static const char *const wide[] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
					    "\xef\xbc\xa0" };

	for (size_t i = 0; size_bytes >= 3 && i < sizeof(wide) / sizeof(wide[0]); i++)
		if (!memcmp(text, wide[i], 3))
			return true;
	return size_bytes && memchr("=+-@", *text, 4);
}

void message_csv(FILE *to, const char *text, size_t size_bytes)
{
	bool formula = begins_formula(text, size_bytes);
	bool quoted = formula || memchr(text, ',', size_bytes) || memchr(text, '"', size_bytes);

	fputs(quoted ? "\"" : "", to);
	fputs(formula ? "'" : "", to);
	put(to, ESCAPE_CSV, text, size_bytes);
	fputs(quoted ? "\"" : "", to);
}

/* One line, in one piece: other processes write to the same terminal. */
static void message_line(const char *fmt, va_list ap)
{
	char *text = NULL, *line = NULL;
	size_t line_bytes;
	FILE *to;
	int length;

	fflush(stdout);
	length = vasprintf(&text, fmt, ap);
	to = length < 0 ? NULL : open_memstream(&line, &line_bytes);
	if (to) {
		fputs("ebprec: ", to);
		message_escaped(to, text, (size_t)length);
		putc('\n', to);
		fclose(to);
		if (line)
			fputs(line, stderr);
		free(line);
	}
	if (length >= 0)
		free(text);
}

int message_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_line(fmt, ap);
	va_end(ap);
	return MESSAGE_FAILED;
}

void message_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_line(fmt, ap);
	va_end(ap);
}

static const char record_or_name[] = " (record one with 'ebprec record', or name another)";

/* The advice where a file is not there: the first two names are those of commands whose caller named none. */
static const char *missing_remedy(const char *path)
{
	if (!strcmp(path, "ebprec.data.old"))
		return " (a second 'ebprec record' here leaves it; or name two captures, BEFORE and AFTER)";
	if (!strpbrk(path, "./") && !access("ebprec.data", F_OK))
		return " (this word names the capture; without it 'ebprec.data' is read)";
	if (strcmp(path, "ebprec.data") != 0)
		return record_or_name;
	if (!access("perf.data", F_OK))
		return " (perf.data is here: name it with -i perf.data)";
	return " (record one with 'ebprec record', or name a capture with -i)";
}

/* The advice to the user. */
static const char *open_remedy(const char *path, int code)
{
	switch (code) {
	case -ENOENT:
		return missing_remedy(path);
	case -EACCES:
	case -EPERM:
		return " (ask its owner, or run as root)";
	case -EISDIR:
		return " (name the file in it)";
	default:
		return "";
	}
}

/* The same for a file that was opened; what has its own. */
static const char *read_remedy(int code, const struct parse_err *err)
{
	size_t length = strlen(err->what);

	if (length && err->what[length - 1] == ')')
		return "";
	return code == -EBADMSG                         ? record_or_name
	       : code == -ENODATA && !err->offset_bytes ? " (record again)"
							: "";
}

int message_cannot_open(const char *path, int code, const struct parse_err *err)
{
	const char *what = err ? err->what : NULL;
	const char *kind = code == -EBADMSG   ? "not a capture, nor perf.data"
			   : code == -ENOTSUP ? "not supported"
			   : code == -ENODATA ? "cut short"
					      : NULL;

	if (!kind)
		return message_error("cannot open '%s': %s%s", path, strerror(-code),
				     open_remedy(path, code));
	if (!what)
		return message_error("cannot open '%s': %s", path, kind);
	if (!err->offset_bytes)
		return message_error("cannot open '%s': %s: %s%s", path, kind, what,
				     read_remedy(code, err));
	return message_error("cannot open '%s': %s: %s at byte %" PRIu64 "%s", path, kind, what,
			     err->offset_bytes, read_remedy(code, err));
}

int message_cannot_write(const char *path, int code)
{
	const char *remedy = code == -ENOSPC   ? " (make room, or write elsewhere with -o)"
			     : code == -EEXIST ? " (remove it first, or name another with -o)"
			     : code == -ENOENT ? " (make its folder first, or name another file)"
			     : code == -ENOTDIR || code == -EISDIR ? " (name another file)"
			     : code == -EACCES || code == -EROFS || code == -EPERM
				     ? " (write elsewhere with -o)"
				     : "";

	return message_error("cannot write '%s': %s%s", path, strerror(-code), remedy);
}
