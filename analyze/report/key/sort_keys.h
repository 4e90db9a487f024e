/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sort_keys - the fields that distinguish costs in a report: --sort comm,dso,symbol
 *
 * Some keys are of the sample (whose it was: its group), others of each frame of its stack.  Names
 * are perf's, where perf has the key.
 */
#ifndef EBPREC_ANALYZE_REPORT_KEY_SORT_KEYS_H
#define EBPREC_ANALYZE_REPORT_KEY_SORT_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum sort_key {
	KEY_COMM,
	KEY_PID,
	KEY_TID,
	KEY_CPU,
	KEY_CGROUP,
	KEY_CONTAINER,
	KEY_SERVICE,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_CATEGORY,
	KEY_LINE,
	KEY_SOURCE_FILE,
	KEY_BUILD_ID,
	KEY_ORIGIN,
	SORT_KEY_COUNT,
};

/* Their names, for the help of --sort. */
#define SORT_KEY_NAMES \
	"comm, pid, tid, cpu, cgroup, container, service, dso, symbol, category, line, srcfile, build_id, origin"

struct json_writer;

struct sort_keys {
	enum sort_key list[SORT_KEY_COUNT];
	size_t count;
};

struct sort_key_info {
	const char *name, *alias; /* "symbol", "sym"; alias may be NULL */
	const char *heading;      /* "function": of its column, and in JSON */
	const char *help;
	unsigned fields; /* enum group_fields that it needs; 0: it is of a frame */
	bool is_number;  /* aligned to the right */
};

const struct sort_key_info *sort_key_info(enum sort_key key);
/* The member of a row's object: text, as it is shown. */
void sort_key_json(struct json_writer *j, enum sort_key key, const char *text);

/* The names of all keys. */
void sort_keys_names(const char *out[SORT_KEY_COUNT]);
/* Appends the keys of a comma-separated list, by name, alias or heading, each once.  -EINVAL: *bad is the word, *bad_bytes long. */
int sort_keys_parse(struct sort_keys *keys, const char *text, const char **bad, size_t *bad_bytes);
bool sort_keys_has(const struct sort_keys *keys, enum sort_key key);
/* Whether source lines are looked up, and each is a function of its own. */
bool sort_keys_want_lines(const struct sort_keys *keys);
/* Whether functions of one name and path, but of two files, are to be distinguished. */
bool sort_keys_want_sources(const struct sort_keys *keys);
unsigned sort_keys_fields(const struct sort_keys *keys); /* all enum group_fields needed */

#endif
