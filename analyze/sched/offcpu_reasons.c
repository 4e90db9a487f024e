/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/offcpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "analyze/sched/wait_reason.h"

static enum wait_reason reason_of(const struct offcpu *o, const struct stack_table *s,
				  const struct stack_table_key *key, const struct function_table *n,
				  const struct string_table *names)
{
	const struct offcpu_end *end = &o->ends[key->end];
	struct wait_reasons w;

	wait_reason_begin(&w, (enum wait_kind)end->kind);
	for (uint32_t node = key->kernel; node >= STACK_TABLE_FIRST_NODE;
	     node = s->nodes[node].parent)
		wait_reason_function(
			&w, string_table_text(names, n->functions[s->nodes[node].frame].name));
	return wait_reason_end(&w, o->abi, end->syscall);
}

/* The innermost kernel frame of a wait that is not of the scheduler: the reason stands for those. */
static uint32_t below_scheduler(const struct stack_table *s, uint32_t node,
				const struct function_table *n, const struct string_table *names)
{
	while (node >= STACK_TABLE_FIRST_NODE &&
	       wait_reason_is_scheduler(
		       string_table_text(names, n->functions[s->nodes[node].frame].name)))
		node = s->nodes[node].parent;
	return node;
}

/* The frame "[futex]", once for each reason. */
static int reason_frames(struct function_table *n, struct string_table *names,
			 uint32_t out[WAIT_REASON_COUNT])
{
	char text[32];
	int err = 0;

	for (int r = 0; !err && r < WAIT_REASON_COUNT; r++) {
		snprintf(text, sizeof(text), "[%s]", wait_reason_text((enum wait_reason)r));
		err = function_table_add_label(n, names, text, "[off-cpu]", &out[r]);
	}
	return err;
}

/* The nodes of from in to; *map: the number of each. */
static int copy_nodes(const struct stack_table *from, struct stack_table *to, uint32_t **map)
{
	uint32_t *m = calloc(from->node_count + 1, sizeof(*m));
	int err = m ? 0 : -ENOMEM;

	if (m)
		m[STACK_TABLE_KERNEL_ROOT] = STACK_TABLE_KERNEL_ROOT;
	for (size_t i = STACK_TABLE_FIRST_NODE; !err && i < from->node_count; i++)
		err = stack_table_child(to, m[from->nodes[i].parent], from->nodes[i].frame, &m[i]);
	if (err) {
		free(m);
		return err;
	}
	*map = m;
	return 0;
}

/*
 * Frames of one context of a waker, innermost first, below *node.  For an interrupt: up to its
 * entry, as the code that it interrupted has nothing to do with it.
 */
static int put_waker_frames(const struct stack_table *from, uint32_t at, struct stack_table *to,
			    const struct function_table *n, const struct string_table *names,
			    uint32_t *node)
{
	const char *name;
	int err = 0;

	for (; !err && at >= STACK_TABLE_FIRST_NODE; at = from->nodes[at].parent) {
		err = stack_table_child(to, *node, from->nodes[at].frame, node);
		name = string_table_text(names, n->functions[from->nodes[at].frame].name);
		if (!strncmp(name, "asm_", 4))
			break;
	}
	return err;
}

/* "[woken by]", the waker's stack upside down, and its name. */
static int put_waker(const struct offcpu_end *waker, const struct stack_table *from,
		     struct stack_table *to, struct function_table *n, struct string_table *names,
		     uint32_t *node)
{
	char name[80];
	uint32_t frame;
	int err;

	err = function_table_add_label(n, names, "[woken by]", "[off-cpu]", &frame);
	if (!err)
		err = stack_table_child(to, *node, frame, node);
	if (!err)
		err = put_waker_frames(from, waker->kernel, to, n, names, node);
	if (!err && !waker->kind)
		err = put_waker_frames(from, waker->user, to, n, names, node);
	if (err)
		return err;
	snprintf(name, sizeof(name), "[%s]",
		 waker->kind                         ? "interrupt"
		 : waker->comm == PROCESS_MODEL_NONE ? "unknown thread"
						     : string_table_text(names, waker->comm));
	err = function_table_add_label(n, names, name, "[off-cpu]", &frame);
	return err ? err : stack_table_child(to, *node, frame, node);
}

/* One stack, with its reason and waker, into to. */
static int put_wait(const struct offcpu *o, const struct stack_table *from,
		    const struct stack_table_entry *e, const uint32_t *map, const uint32_t *reasons,
		    struct stack_table *to, struct function_table *n, struct string_table *names)
{
	const struct offcpu_end *end = &o->ends[e->key.end];
	struct stack_table_key key = e->key;
	int err = 0;

	key.end = o->with_rows || o->each ? e->key.end : end->walk_end;
	key.user = map[e->key.user];
	key.kernel = map[e->key.kernel];
	/* The frames of a running thread are its reason. */
	if (end->kind != WAIT_ON_CPU)
		key.kernel = map[below_scheduler(from, e->key.kernel, n, names)];
	if (end->kind != WAIT_ON_CPU ||
	    (e->key.user < STACK_TABLE_FIRST_NODE && e->key.kernel < STACK_TABLE_FIRST_NODE))
		err = stack_table_child(to, key.kernel,
					reasons[reason_of(o, from, &e->key, n, names)],
					&key.kernel);
	if (!err && o->each && end->waker != OFFCPU_NO_WAKER) {
		err = stack_table_count(to, &key, e->sample_count, e->period_sum);
		key.end += (uint32_t)o->end_count;
	}
	if (!err && !o->with_rows && end->waker != OFFCPU_NO_WAKER)
		err = put_waker(&o->ends[end->waker], from, to, n, names, &key.kernel);
	return err ? err : stack_table_count(to, &key, e->sample_count, e->period_sum);
}

int offcpu_add_reasons(struct offcpu *o, struct stack_table *s, struct function_table *n,
		       struct string_table *names)
{
	uint32_t reasons[WAIT_REASON_COUNT], *map = NULL;
	struct stack_table fresh;
	int err;

	for (size_t i = 0; i < s->entry_count; i++) {
		o->ends[s->entries[i].key.end].user = s->entries[i].key.user;
		o->ends[s->entries[i].key.end].kernel = s->entries[i].key.kernel;
	}
	if (o->each && o->end_count > UINT32_MAX / 2)
		return -EOVERFLOW;
	err = stack_table_init(&fresh, NULL);
	if (err)
		return err;
	err = reason_frames(n, names, reasons);
	if (!err)
		err = copy_nodes(s, &fresh, &map);
	for (size_t i = 0; !err && i < s->entry_count; i++)
		if (!o->ends[s->entries[i].key.end].is_waker)
			err = put_wait(o, s, &s->entries[i], map, reasons, &fresh, n, names);
	free(map);
	if (err) {
		stack_table_done(&fresh);
		return err;
	}
	for (size_t i = 0; i < fresh.entry_count && !o->exact; i++)
		fresh.entries[i].period_sum = saturate_add(fresh.entries[i].period_sum, 500) / 1000;
	stack_table_done(s);
	*s = fresh;
	return 0;
}
