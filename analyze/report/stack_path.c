/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/stack_path.h"

#include "format/base/vec.h"

static int append(struct stackpath *path, const struct stacks *s, uint32_t node,
		  const struct stackpath_rule *rule)
{
	uint32_t label;
	int err;

	for (; node >= STACKS_FIRST_NODE; node = s->nodes[node].parent) {
		label = rule->labels[s->nodes[node].frame];
		if (label == STACKPATH_NONE)
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

int stackpath_read(struct stackpath *path, const struct stacks *s, const struct stacks_entry *entry,
		   const struct stackpath_rule *rule)
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

void stackpath_done(struct stackpath *path)
{
	free(path->labels);
	*path = (struct stackpath){ 0 };
}
