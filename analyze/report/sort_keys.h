/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sortkeys - by what a report tells costs apart: --sort comm,dso,symbol
 *
 * Some keys are of the sample (whose it was: its group), others of each frame of its stack.  Names
 * are perf's, where perf has the key.
 */
#ifndef EBPREC_ANALYZE_REPORT_SORT_KEYS_H
#define EBPREC_ANALYZE_REPORT_SORT_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum sortkey {
	KEY_COMM,
	KEY_PID,
	KEY_TID,
	KEY_CPU,
	KEY_CGROUP,
	KEY_CONTAINER,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_CATEGORY,
	KEY_LINE,
	KEY_BUILD_ID,
	KEY_ORIGIN,
	SORTKEY_COUNT,
};

struct sortkeys {
	enum sortkey list[SORTKEY_COUNT];
	size_t count;
};

struct sortkey_info {
	const char *name, *alias; /* "symbol", "sym"; alias may be NULL */
	const char *heading;      /* "function": of its column, and in JSON */
	const char *help;
	unsigned fields; /* enum group_fields that it needs; 0: it is of a frame */
	bool is_number;  /* aligned to the right */
};

const struct sortkey_info *sortkey_info(enum sortkey key);

/* The names of all keys. */
void sortkeys_names(const char *out[SORTKEY_COUNT]);
/* Appends the keys of a comma-separated list, each once.  -EINVAL: *bad is the word, *bad_bytes long. */
int sortkeys_parse(struct sortkeys *keys, const char *text, const char **bad, size_t *bad_bytes);
bool sortkeys_has(const struct sortkeys *keys, enum sortkey key);
/* Whether functions of one name and path, but of two files, are to be told apart. */
bool sortkeys_want_sources(const struct sortkeys *keys);
unsigned sortkeys_fields(const struct sortkeys *keys); /* all enum group_fields needed */

#endif
