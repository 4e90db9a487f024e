/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/markdown.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/out/message.h"

/* The longest row of backticks in a text. */
static size_t count_backticks(const char *text)
{
	size_t most = 0, count;

	for (; *text; text += count + !!text[count]) {
		count = strspn(text, "`");
		most = count > most ? count : most;
	}
	return most;
}

static void put_backticks(FILE *to, size_t count)
{
	while (count--)
		putc('`', to);
}

/* Owned; NULL: no memory. */
static char *escape_line(const char *text, size_t size_bytes, unsigned columns)
{
	char *line = NULL;
	size_t size;
	FILE *to = open_memstream(&line, &size);

	if (!to)
		return NULL;
	message_escaped_within(to, text, size_bytes, columns);
	if (fclose(to)) {
		free(line);
		return NULL;
	}
	return line;
}

static void put_code(FILE *to, const char *text, unsigned columns, bool in_table)
{
	char *line = escape_line(*text ? text : "-", *text ? strlen(text) : 1, columns);
	size_t fence;
	bool padded;

	if (!line)
		return;
	fence = count_backticks(line) + 1;
	padded = *line == '`' || line[strlen(line) - 1] == '`';
	put_backticks(to, fence);
	fputs(padded ? " " : "", to);
	for (const char *c = line; *c; c++) {
		if (in_table && *c == '|')
			putc('\\', to);
		putc(*c, to);
	}
	fputs(padded ? " " : "", to);
	put_backticks(to, fence);
	free(line);
}

void markdown_code(FILE *to, const char *text, unsigned columns)
{
	put_code(to, text, columns, false);
}

void markdown_cell(FILE *to, const char *text, unsigned columns)
{
	put_code(to, text, columns, true);
}

/* The first lines, as they are shown; owned, NULL: no memory. */
static char *cut_lines(const char *text, size_t lines, unsigned columns, size_t *missing)
{
	char *shown = NULL, *line;
	size_t size, length;
	FILE *to = open_memstream(&shown, &size);

	if (!to)
		return NULL;
	for (*missing = 0; *text; text += length + !!text[length]) {
		length = strcspn(text, "\n");
		if (!lines) {
			++*missing;
			continue;
		}
		lines--;
		line = escape_line(text, length, columns);
		fprintf(to, "%s\n", line ? line : "");
		free(line);
	}
	if (fclose(to)) {
		free(shown);
		return NULL;
	}
	return shown;
}

void markdown_block(FILE *to, const char *text, size_t lines, unsigned columns)
{
	size_t missing, fence;
	char *shown = *text ? cut_lines(text, lines, columns, &missing) : NULL;

	if (!shown)
		return;
	fence = count_backticks(shown) + 1;
	fence = fence < 3 ? 3 : fence;
	put_backticks(to, fence);
	fprintf(to, "text\n%s", shown);
	put_backticks(to, fence);
	putc('\n', to);
	if (missing)
		fprintf(to, "\n%zu more lines.\n", missing);
	free(shown);
}
