/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 character at p, 1 to 4, or 0 when it is none (also overlong, surrogates). */
static size_t utf8_length(const uint8_t *p, size_t left_bytes)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t i, length = *p < 0x80       ? 1
			   : *p >> 5 == 6  ? 2
			   : *p >> 4 == 14 ? 3
			   : *p >> 3 == 30 ? 4
					   : 0;
	uint32_t code;

	if (length < 2)
		return length;
	if (left_bytes < length)
		return 0;
	code = *p & (0x7fU >> length);
	for (i = 1; i < length; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

/* C0, DEL, and C1 (which some terminals obey). */
static bool is_control(const uint8_t *p, size_t length)
{
	return *p < 0x20 || *p == 0x7f || (length == 2 && *p == 0xc2 && p[1] < 0xa0);
}

void say_escaped(FILE *to, const char *text, size_t size_bytes)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + size_bytes, *plain = p;
	size_t length, i;

	for (; p < end; p += length) {
		length = utf8_length(p, (size_t)(end - p));
		if (length && !is_control(p, length))
			continue; /* written with what follows */
		fwrite(plain, 1, (size_t)(p - plain), to);
		plain = p + (length ? length : 1);
		length = length ? length : 1;
		for (i = 0; i < length; i++)
			fprintf(to, "\\x%02x", p[i]);
	}
	fwrite(plain, 1, (size_t)(end - plain), to);
}

/* The character at p, as it is shown: how many bytes it has, and how many columns. */
static size_t shown(const uint8_t *p, size_t left_bytes, unsigned *columns)
{
	size_t length = utf8_length(p, left_bytes);

	if (length && !is_control(p, length)) {
		*columns = 1;
		return length;
	}
	length = length ? length : 1;
	*columns = 4 * (unsigned)length;
	return length;
}

unsigned say_columns(const char *text, size_t size_bytes)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + size_bytes;
	unsigned columns, sum = 0;

	while (p < end) {
		p += shown(p, (size_t)(end - p), &columns);
		sum += columns;
	}
	return sum;
}

void say_escaped_within(FILE *to, const char *text, size_t size_bytes, unsigned columns)
{
	size_t length, kept = 0;
	unsigned wide;

	if (!columns || say_columns(text, size_bytes) <= columns) {
		say_escaped(to, text, size_bytes);
		return;
	}
	for (columns -= columns < 2 ? columns : 2; kept < size_bytes; kept += length) {
		length = shown((const uint8_t *)text + kept, size_bytes - kept, &wide);
		if (wide > columns)
			break;
		columns -= wide;
	}
	say_escaped(to, text, kept);
	fputs("..", to);
}

void say_json(FILE *to, const char *text, size_t size_bytes)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + size_bytes;
	size_t length;

	putc('"', to);
	for (; p < end; p += length) {
		length = utf8_length(p, (size_t)(end - p));
		if (!length) {
			fputs("\\ufffd", to);
			length = 1;
		} else if (is_control(p, length)) {
			fprintf(to, "\\u%04x", length == 2 ? p[1] : p[0]);
		} else {
			if (*p == '"' || *p == '\\')
				putc('\\', to);
			fwrite(p, 1, length, to);
		}
	}
	putc('"', to);
}

/* One line, in one piece: other processes write to the same terminal. */
static void say_line(const char *fmt, va_list ap)
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
		say_escaped(to, text, (size_t)length);
		putc('\n', to);
		fclose(to);
		if (line)
			fputs(line, stderr);
		free(line);
	}
	if (length >= 0)
		free(text);
}

int say_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line(fmt, ap);
	va_end(ap);
	return SAY_FAILED;
}

void say_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line(fmt, ap);
	va_end(ap);
}

/* What a person can do about it. */
static const char *open_remedy(int code)
{
	switch (code) {
	case -ENOENT:
		return " (record one with 'ebprec record', or name a capture with -i)";
	case -EACCES:
	case -EPERM:
		return " (ask its owner, or run as root)";
	case -EISDIR:
		return " (name the file in it)";
	default:
		return "";
	}
}

int say_cannot_open(const char *path, int code, const struct parse_err *err)
{
	const char *what = err ? err->what : NULL;
	const char *kind = code == -EBADMSG   ? "not a capture, nor perf.data"
			   : code == -ENOTSUP ? "not supported"
			   : code == -ENODATA ? "cut short"
					      : NULL;

	if (!kind)
		return say_error("cannot open '%s': %s%s", path, strerror(-code),
				 open_remedy(code));
	if (!what)
		return say_error("cannot open '%s': %s", path, kind);
	return say_error("cannot open '%s': %s: %s at byte %" PRIu64, path, kind, what,
			 err->offset_bytes);
}

int say_cannot_write(const char *path, int code)
{
	const char *remedy = code == -ENOSPC   ? " (make room, or write elsewhere with -o)"
			     : code == -EEXIST ? " (remove it first, or name another with -o)"
			     : code == -EACCES || code == -EROFS || code == -EPERM
				     ? " (write elsewhere with -o)"
				     : "";

	return say_error("cannot write '%s': %s%s", path, strerror(-code), remedy);
}
