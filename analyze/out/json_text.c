/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/json_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32 /* deeper levels are not indented further */

static void new_line(FILE *to, size_t depth)
{
	fprintf(to, "\n%*s", (int)(2 * (depth < DEPTH_MAX ? depth : DEPTH_MAX)), "");
}

/* Bytes of the string that starts at text[0] == '"', with both quotes if it has them. */
static size_t string_bytes(const char *text, size_t left_bytes)
{
	size_t i;

	for (i = 1; i < left_bytes && text[i] != '"'; i++) {
		if (text[i] == '\\' && i + 1 < left_bytes)
			i++;
	}
	return i < left_bytes ? i + 1 : left_bytes;
}

static size_t skip_space(const char *text, size_t left_bytes)
{
	size_t i = 0;

	while (i < left_bytes && memchr(" \t\r\n", text[i], 4))
		i++;
	return i;
}

/* Prints the token at text[0] and returns its size. */
static size_t print_token(FILE *to, const char *text, size_t left_bytes, size_t *depth)
{
	size_t size = 1;

	switch (*text) {
	case '{':
	case '[':
		putc(*text, to);
		size += skip_space(text + 1, left_bytes - 1);
		if (size < left_bytes && (text[size] == '}' || text[size] == ']')) {
			putc(text[size++], to); /* empty: on one line */
			break;
		}
		new_line(to, ++*depth);
		break;
	case '}':
	case ']':
		new_line(to, *depth ? --*depth : 0);
		putc(*text, to);
		break;
	case ',':
		putc(',', to);
		new_line(to, *depth);
		break;
	case ':':
		fputs(": ", to);
		break;
	case '"':
		size = string_bytes(text, left_bytes);
		fwrite(text, 1, size, to);
		break;
	default:
		putc(*text, to);
	}
	return size;
}

int json_text_indent(const char *text, size_t size_bytes, char **out, size_t *out_bytes)
{
	size_t i, depth = 0, laid_bytes;
	char *laid = NULL;
	FILE *to = open_memstream(&laid, &laid_bytes);

	if (!to)
		return -ENOMEM;
	for (i = skip_space(text, size_bytes); i < size_bytes;) {
		i += print_token(to, text + i, size_bytes - i, &depth);
		i += skip_space(text + i, size_bytes - i);
	}
	if (fclose(to)) {
		free(laid);
		return -ENOMEM;
	}
	*out = laid;
	*out_bytes = laid_bytes;
	return 0;
}
