/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/names/interrupted.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The kind of a location, by its callees. */
enum {
	BY_SIGNAL = 1, /* the trampoline of a signal */
	BY_CALL = 2,   /* something else */
};

bool interrupted_is_trampoline(const char *name)
{
	static const char *const names[] = {
		"__restore_rt",                                       /* glibc, musl */
		"__restore",          "__kernel_rt_sigreturn",        /* vdso */
		"__kernel_sigreturn", "runtime.sigreturn__sigaction", /* Go */
		"runtime.sigreturn",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* NULL: no memory.  *any: whether there is one. */
static bool *find_trampolines(const struct function_table *n, const struct string_table *names,
			      bool *any)
{
	bool *is = calloc(n->function_count + 1, sizeof(*is));

	for (size_t i = 0; is && i < n->function_count; i++) {
		const struct function *f = &n->functions[i];

		is[i] = f->reason == NAME_FOUND &&
			interrupted_is_trampoline(string_table_text(names, f->name));
		*any |= is[i];
	}
	return is;
}

static void see_callers(const struct stack_table *stacks, const struct function_table *n,
			const bool *is_trampoline, uint8_t *seen)
{
	for (size_t i = STACK_TABLE_FIRST_NODE; i < stacks->node_count; i++) {
		const struct stack_table_node *node = &stacks->nodes[i];

		if (node->parent >= STACK_TABLE_FIRST_NODE)
			seen[stacks->nodes[node->parent].frame] |=
				is_trampoline[n->by_place[node->frame]] ? BY_SIGNAL : BY_CALL;
	}
}

int interrupted_find(struct stack_counter *s, const struct function_table *n,
		     const struct string_table *names, bool *changed)
{
	size_t count = stack_counter_places(s)->count;
	bool any = false, *is_trampoline = find_trampolines(n, names, &any);
	uint8_t *seen = any ? calloc(count + 1, sizeof(*seen)) : NULL;
	int err = !is_trampoline || (any && !seen) ? -ENOMEM : 0;

	if (seen) {
		see_callers(stack_counter_stacks(s), n, is_trampoline, seen);
		for (size_t i = 0; i < count; i++)
			if (seen[i] == BY_SIGNAL && stack_counter_make_exact(s, i))
				*changed = true;
	}
	free(seen);
	free(is_trampoline);
	return err;
}
