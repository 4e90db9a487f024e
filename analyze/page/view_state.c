/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/view_state.h"

#include <stdbool.h>
#include <string.h>

#define KEYS                                                                                    \
	"time, comms, pids, tids, cpus, during, symbol, dso, parent, measure, rows, baseline, " \
	"side, axis, group, order, root, place, sort, theme, search, hide, fold, lines, around, zoom"

/* Those that take some words only; the others of KEYS take any text. */
static const struct {
	const char *key, *values;
} words_of[] = {
	{ "rows", "program, cpu, container" },
	{ "side", "after, before, both" },
	{ "group", "comm, none, process, thread, container" },
	{ "order", "down, up" },
	{ "root", "top, bottom" },
	{ "place", "name, weight, time" },
	{ "sort", "self, total, name" },
	{ "theme", "auto, light, dark" },
	{ "fold", "no, yes" },
};

static bool is_in(const char *list, const char *word, size_t bytes)
{
	size_t one;

	for (; *list; list += one + strspn(list + one, ", ")) {
		one = strcspn(list, ",");
		if (one == bytes && !memcmp(list, word, bytes))
			return true;
	}
	return false;
}

const char *view_state_unknown(const char *state, size_t *bytes, const char **may)
{
	size_t length, key;

	state += *state == '#';
	for (; *state; state += length + (state[length] == '&')) {
		length = strcspn(state, "&");
		key = strcspn(state, "=&");
		*bytes = key;
		*may = KEYS;
		if (key == length || !is_in(KEYS, state, key))
			return state;
		for (size_t i = 0; i < sizeof(words_of) / sizeof(words_of[0]); i++) {
			if (!is_in(words_of[i].key, state, key))
				continue;
			*bytes = length;
			*may = words_of[i].values;
			if (!is_in(*may, state + key + 1, length - key - 1))
				return state;
		}
	}
	return NULL;
}
