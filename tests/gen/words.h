/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* words - the words of a line that tells a generator what to write */
#ifndef EBPREC_TESTS_GEN_WORDS_H
#define EBPREC_TESTS_GEN_WORDS_H

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

#endif
