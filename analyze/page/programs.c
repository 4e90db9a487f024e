/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/programs.h"

#include <errno.h>
#include <stdlib.h>

/* The group of each comm, by group of r.  These are nearly as many as samples: a comm is looked up once. */
static int map_groups(const struct report *r, struct groups *comms, uint32_t **out)
{
	size_t count, name_count = string_table_count(r->names);
	const struct group *list = groups_list(r->groups, &count);
	uint32_t *map = calloc(count + 1, sizeof(*map));
	uint32_t *known = calloc(name_count + 1, sizeof(*known)); /* by comm: its group, and 1 */
	int err = map && known ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++) {
		bool is_name = list[i].comm < name_count;

		if (is_name && known[list[i].comm]) {
			map[i] = known[list[i].comm] - 1;
			continue;
		}
		err = groups_add(comms, &list[i], &map[i]);
		if (!err && is_name)
			known[list[i].comm] = map[i] + 1;
	}
	free(known);
	if (err)
		free(map);
	else
		*out = map;
	return err;
}

static int add_entries(const struct report *r, const uint32_t *map, struct stack_table *to)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->stacks.entry_count; i++) {
		const struct stack_table_entry *e = &r->stacks.entries[i];
		struct stack_table_key key = e->key;

		key.group = map[key.group];
		err = stack_table_count(to, &key, e->sample_count, e->period_sum);
	}
	return err;
}

int page_programs_make(const struct report *r, struct report *out)
{
	struct stack_table stacks = { 0 };
	struct groups *comms = NULL;
	uint32_t *map = NULL;
	int err = groups_new(GROUP_COMM, 1, &comms);

	if (!err)
		err = stack_table_init(&stacks, NULL);
	if (!err)
		err = map_groups(r, comms, &map);
	if (!err)
		err = add_entries(r, map, &stacks);
	free(map);
	if (err) {
		stack_table_done(&stacks);
		groups_free(comms);
		return err;
	}
	free(stacks.nodes); /* its own two roots */
	stacks.nodes = r->stacks.nodes;
	stacks.node_count = r->stacks.node_count;
	*out = *r;
	out->stacks = stacks;
	out->groups = comms;
	return 0;
}

void page_programs_done(struct report *programs)
{
	programs->stacks.nodes = NULL; /* the other report's */
	stack_table_done(&programs->stacks);
	groups_free(programs->groups);
}
