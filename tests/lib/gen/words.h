/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* words - the words of a line that describes a record to a generator */
#ifndef EBPREC_TESTS_GEN_WORDS_H
#define EBPREC_TESTS_GEN_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The next word of the line, NULL at its end. */
static inline char *word(char **rest)
{
	char *w = strsep(rest, " \t");

	while (w && !*w)
		w = strsep(rest, " \t");
	return w;
}

/* The next word as a number of C; 0: it is none. */
static inline uint64_t number(char **rest)
{
	const char *w = word(rest);

	return w ? strtoull(w, NULL, 0) : 0;
}

/* The options of both generators. */
struct words_opts {
	bool plain, null; /* null: lines end with a NUL, so that names may hold line ends */
	const char *host, *output;
};

/* [--plain] [--null] [--host NAME] FILE; false: it is something else. */
static inline bool words_parse(int argc, char **argv, struct words_opts *out)
{
	int i = 1;

	*out = (struct words_opts){ .host = "machine" };
	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--plain"))
			out->plain = true;
		else if (!strcmp(argv[i], "--null"))
			out->null = true;
		else if (!strcmp(argv[i], "--host") && i + 1 < argc)
			out->host = argv[++i];
		else
			return false;
	}
	out->output = i + 1 == argc ? argv[i] : NULL;
	return out->output;
}

#endif
