/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/rewrite/scrub/left.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"

const char *scrub_left_kind_name(enum scrub_left_kind kind)
{
	static const char *const names[SCRUB_LEFT_KINDS] = {
		[SCRUB_LEFT_COMM] = "comm",           [SCRUB_LEFT_HIDDEN_COMM] = "comm",
		[SCRUB_LEFT_FILE] = "file",           [SCRUB_LEFT_CGROUP] = "cgroup",
		[SCRUB_LEFT_CONTAINER] = "container", [SCRUB_LEFT_ARGUMENT] = "argument",
		[SCRUB_LEFT_EVENT] = "event",         [SCRUB_LEFT_TEXT] = "text of events",
		[SCRUB_LEFT_HOST] = "host",           [SCRUB_LEFT_MOUNT] = "mount",
	};

	return names[kind];
}

void scrub_left_done(struct scrub_left *l)
{
	for (int kind = 0; kind < SCRUB_LEFT_KINDS; kind++) {
		string_table_free(l->texts[kind]);
		free(l->times[kind]);
	}
	*l = (struct scrub_left){ 0 };
}

int scrub_left_add(struct scrub_left *l, enum scrub_left_kind kind, const char *text,
		   size_t size_bytes)
{
	size_t old = l->capacity[kind];
	uint32_t number;
	int err = 0;

	if (kind == SCRUB_LEFT_NONE || !size_bytes)
		return 0;
	if (!l->texts[kind])
		err = string_table_new(&l->texts[kind]);
	if (!err)
		err = string_table_add(l->texts[kind], text, strnlen(text, size_bytes), &number);
	if (!err)
		err = vec_reserve(&l->times[kind], &l->capacity[kind], (size_t)number + 1);
	if (err)
		return err;
	memset(l->times[kind] + old, 0, (l->capacity[kind] - old) * sizeof(*l->times[kind]));
	l->times[kind][number]++;
	return 0;
}

bool scrub_left_get(const struct scrub_left *l, enum scrub_left_kind kind, size_t index,
		    struct scrub_left_text *out)
{
	uint32_t number = (uint32_t)index + 1; /* 0 is the empty text */

	if (!l->texts[kind] || index + 1 >= string_table_count(l->texts[kind]))
		return false;
	*out = (struct scrub_left_text){ string_table_text(l->texts[kind], number),
					 string_table_bytes(l->texts[kind], number),
					 l->times[kind][number] };
	return true;
}
