/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * draw - any bytes as choices, and commands of ebprec that are run in this process
 *
 * A target that draws what it builds gets to what a reader does with well-formed parts that do not fit one
 * another; random changes of a file hardly ever do.  When the bytes are used up, all choices are the first.
 *
 * The output of a command is thrown away, but for JSON, which has to be JSON with any capture.
 */
#ifndef EBPREC_TESTS_FUZZ_DRAW_H
#define EBPREC_TESTS_FUZZ_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"

#define DRAW_DEPTH_MAX 64 /* arrays and objects within one another */

/* 0 to count - 1. */
static inline uint32_t draw_below(struct cursor *in, uint32_t count)
{
	return (count > 256 ? cursor_u16(in) : cursor_u8(in)) % count;
}

#define DRAW_OF(in, list) ((list)[draw_below(in, sizeof(list) / sizeof((list)[0]))])

/* True once in so many. */
static inline bool draw_rarely(struct cursor *in, uint8_t one_of)
{
	return cursor_u8(in) % one_of == one_of - 1;
}

/* Mostly a small one, so that numbers are equal; else one of those where arithmetic goes wrong, or any. */
static inline uint64_t draw_number(struct cursor *in)
{
	static const uint64_t edges[] = { UINT64_MAX, UINT64_MAX - 1, INT64_MAX,  1ULL << 63,
					  UINT32_MAX, 1ULL << 32,     0x7fffffff, 0x80000000,
					  0xffff,     0x10000,        1000000000, 0xfffffffe };
	uint8_t how = cursor_u8(in);

	if (how < 200)
		return how % 12;
	if (how < 240)
		return DRAW_OF(in, edges);
	return how < 248 ? cursor_u32(in) : cursor_u64(in);
}

/* ---- JSON ---- */

static inline bool draw_json_string(struct cursor *c)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	uint8_t byte;

	while (cursor_left(c)) {
		byte = cursor_u8(c);
		if (byte == '"')
			return true;
		if (byte < ' ')
			return false;
		if (byte != '\\')
			continue;
		byte = cursor_u8(c);
		if (byte == 'u') {
			for (int i = 0; i < 4; i++) {
				byte = cursor_u8(c);
				if (!byte || !strchr(hex, byte))
					return false;
			}
		} else if (!byte || !strchr("\"\\/bfnrt", byte)) {
			return false;
		}
	}
	return false;
}

static inline void draw_json_blanks(struct cursor *c)
{
	while (cursor_left(c) && strchr(" \t\r\n", c->data[c->off_bytes]) && c->data[c->off_bytes])
		cursor_skip(c, 1);
}

/* The next byte that is none of a blank's, which stays; 0: there is none. */
static inline uint8_t draw_json_next(struct cursor *c)
{
	draw_json_blanks(c);
	return cursor_left(c) ? c->data[c->off_bytes] : 0;
}

static inline bool draw_json_number(struct cursor *c)
{
	char text[64] = "", *end;
	size_t bytes = 0;

	while (cursor_left(c) && bytes < sizeof(text) - 1 &&
	       strchr("+-.0123456789eE", c->data[c->off_bytes]) && c->data[c->off_bytes])
		text[bytes++] = (char)cursor_u8(c);
	(void)strtod(text, &end);
	return bytes && !*end && text[0] != '+' && text[0] != '.';
}

static inline bool draw_json_word(struct cursor *c, const char *word)
{
	const uint8_t *p = cursor_bytes(c, strlen(word));

	return p && !memcmp(p, word, strlen(word));
}

static inline bool draw_json_value(struct cursor *c, unsigned depth);

/* The text between brackets: values, or "name": value. */
static inline bool draw_json_list(struct cursor *c, unsigned depth, bool names)
{
	uint8_t end = names ? '}' : ']';

	cursor_skip(c, 1);
	if (draw_json_next(c) == end) {
		cursor_skip(c, 1);
		return true;
	}
	for (;;) {
		if (names) {
			if (draw_json_next(c) != '"')
				return false;
			cursor_skip(c, 1);
			if (!draw_json_string(c) || draw_json_next(c) != ':')
				return false;
			cursor_skip(c, 1);
		}
		if (!draw_json_value(c, depth + 1))
			return false;
		if (draw_json_next(c) == end) {
			cursor_skip(c, 1);
			return true;
		}
		if (draw_json_next(c) != ',')
			return false;
		cursor_skip(c, 1);
	}
}

static inline bool draw_json_value(struct cursor *c, unsigned depth)
{
	if (depth > DRAW_DEPTH_MAX)
		return false;
	switch (draw_json_next(c)) {
	case '{':
		return draw_json_list(c, depth, true);
	case '[':
		return draw_json_list(c, depth, false);
	case '"':
		cursor_skip(c, 1);
		return draw_json_string(c);
	case 't':
		return draw_json_word(c, "true");
	case 'f':
		return draw_json_word(c, "false");
	case 'n':
		return draw_json_word(c, "null");
	default:
		return draw_json_number(c);
	}
}

/* Documents, one behind the other. */
static inline bool draw_is_json(const char *text, size_t bytes)
{
	struct cursor c = cursor_of(text, bytes);

	while (draw_json_next(&c)) {
		if (!draw_json_value(&c, 0))
			return false;
	}
	return true;
}

/* ---- commands ---- */

typedef int (*draw_command_fn)(int argc, char **argv);

/* Ends the program when the exit status is none, or when what should be JSON is not. */
static inline void draw_run(draw_command_fn run, const char *const *words, bool json)
{
	FILE *out = stdout, *err = stderr, *nowhere = fopen("/dev/null", "we"), *to;
	char *argv[16] = { NULL }, *text = NULL;
	size_t bytes = 0;
	int argc = 0, status;

	for (; words[argc] && argc < 15; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc];
	to = json ? open_memstream(&text, &bytes) : nowhere;
	if (!nowhere || !to)
		abort();
	setenv("EBPREC_SANDBOX", "0", 1); /* this process goes on */
	stdout = to;
	stderr = nowhere;
	status = run(argc, argv);
	stdout = out;
	stderr = err;
	fclose(nowhere);
	if (json)
		fclose(to);
	if (status < 0 || status > 2) {
		fprintf(stderr, "%s: exit status %d\n", words[0], status);
		abort();
	}
	if (json && !status && !draw_is_json(text, bytes)) {
		fprintf(stderr, "%s: no JSON: %.*s\n", words[0], (int)bytes, text);
		abort();
	}
	free(text);
}

#endif
