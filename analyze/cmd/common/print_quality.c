/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * The last lines of every report, on stderr: how far its stacks can be trusted, and how to improve
 * them.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/cmd/common/print_quality.h"
#include "analyze/out/message.h"
#include "analyze/report/quality_text.h"

typedef void (*write_fn)(const struct report *r, const char *path, FILE *to);

/* Prints the output of write() line by line. */
static void print_lines(write_fn write, const struct report *r, const char *path)
{
	char *text = NULL, *line, *next;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	write(r, path, to);
	fclose(to);
	for (line = text; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		message_note("%s", line);
	}
	free(text);
}

void print_quality_periods(const struct report *r, const char *path)
{
	print_lines(quality_text_write_periods, r, path);
}

void print_quality_losses(const struct report *r, const char *path)
{
	print_lines(quality_text_write_losses, r, path);
}

void print_quality(const struct report *r, const char *path)
{
	print_lines(quality_text_write, r, path);
}
