/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * row_keys - what stands in the key columns of a report, for each function and each group
 *
 * Functions that agree in all asked columns are one label, and so are groups: a report by file
 * has a label a file.  Everything is text, so that rows compare and print alike.
 */
#ifndef EBPREC_ANALYZE_REPORT_KEY_ROW_KEYS_H
#define EBPREC_ANALYZE_REPORT_KEY_ROW_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/process/service.h"
#include "analyze/fold/groups.h"
#include "format/base/hash_index.h"
#include "analyze/names/function_table.h"
#include "analyze/report/key/sort_keys.h"
#include "analyze/report/key/name_sources.h"
#include "analyze/base/string_table.h"

#define ROW_KEYS_NO_LABEL UINT32_MAX

/* Texts by key, in the strings; 0 for keys that were not asked for, or are of the other kind. */
struct row_keys_label {
	uint32_t texts[SORT_KEY_COUNT];
	bool is_kernel;
};

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct row_keys {
	struct row_keys_label *labels;
	size_t count, capacity;
	struct hash_index index;
	uint32_t *by_function; /* ROW_KEYS_NO_LABEL: the frame is left out */
	uint32_t *by_group;    /* NULL: no key is of groups; all have the label no_group */
	uint32_t no_group;     /* a label without texts */
	uint32_t hidden;       /* the label of stacks all of whose frames are left out */
};

struct row_keys_source {
	const struct function_table *naming;
	struct string_table *names;
	const struct container_names *containers; /* NULL: only their ids are shown */
	const struct service_rules *services;     /* of names of services; NULL: none */
	const struct group *groups;               /* their cgroups are named */
	size_t group_count;
	const struct name_sources *sources; /* of the functions, where a key asks for them */
	bool hide_system;                   /* frames of the system's files get no label */
	const uint32_t *categories; /* by function, in the strings, 0: none; NULL: not asked for */
};

/* -ENOMEM, -EOVERFLOW.  *out: row_keys_done(). */
int row_keys_make(const struct sort_keys *keys, const struct row_keys_source *source,
		  struct row_keys *out);
void row_keys_done(struct row_keys *t);
/* The label that has of another one only the text of that key. */
int row_keys_part(struct row_keys *t, uint32_t label, enum sort_key key, uint32_t *out);

#endif
