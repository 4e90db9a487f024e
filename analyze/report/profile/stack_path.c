/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/profile/stack_path.h"

#include "format/base/vec.h"

static int append(struct stack_path *path, const struct stack_table *s, uint32_t node,
		  const struct stack_path_rule *rule)
{
	uint32_t label;
	int err;

	for (; node >= STACK_TABLE_FIRST_NODE; node = s->nodes[node].parent) {
		label = rule->labels[s->nodes[node].frame];
		if (label == STACK_PATH_NONE)
			continue;
		if (rule->fold_recursion && path->count && path->labels[path->count - 1] == label)
			continue;
		err = vec_reserve(&path->labels, &path->capacity, path->count + 1);
		if (err)
			return err;
		path->labels[path->count++] = label;
	}
	return 0;
}

int stack_path_read(struct stack_path *path, const struct stack_table *s,
		    const struct stack_table_entry *entry, const struct stack_path_rule *rule)
{
	int err;

	path->count = 0;
	err = append(path, s, entry->key.kernel, rule);
	if (!err)
		err = append(path, s, entry->key.user, rule);
	if (!err && !path->count) {
		err = vec_reserve(&path->labels, &path->capacity, 1);
		if (!err)
			path->labels[path->count++] = rule->empty;
	}
	return err;
}

void stack_path_done(struct stack_path *path)
{
	free(path->labels);
	*path = (struct stack_path){ 0 };
}
