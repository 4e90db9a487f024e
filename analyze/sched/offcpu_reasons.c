/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/offcpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "analyze/sched/wait_reason.h"

static enum wait_reason reason_of(const struct offcpu *o, const struct stacks *s,
				  const struct stacks_key *key, const struct naming *n,
				  const struct strings *names)
{
	const struct offcpu_end *end = &o->ends[key->end];
	struct waitreason w;

	waitreason_begin(&w, (enum wait_kind)end->kind);
	for (uint32_t node = key->kernel; node >= STACKS_FIRST_NODE; node = s->nodes[node].parent)
		waitreason_function(&w,
				    strings_text(names, n->functions[s->nodes[node].frame].name));
	return waitreason_end(&w, end->syscall);
}

/* The frame "[futex]", once for each reason. */
static int reason_frames(struct naming *n, struct strings *names, uint32_t out[WAITREASON_COUNT])
{
	char text[32];
	int err = 0;

	for (int r = 0; !err && r < WAITREASON_COUNT; r++) {
		snprintf(text, sizeof(text), "[%s]", waitreason_text((enum wait_reason)r));
		err = naming_add_label(n, names, text, "[off-cpu]", &out[r]);
	}
	return err;
}

/* The nodes of from in to; *map: the number of each. */
static int copy_nodes(const struct stacks *from, struct stacks *to, uint32_t **map)
{
	uint32_t *m = calloc(from->node_count + 1, sizeof(*m));
	int err = m ? 0 : -ENOMEM;

	if (m)
		m[STACKS_KERNEL_ROOT] = STACKS_KERNEL_ROOT;
	for (size_t i = STACKS_FIRST_NODE; !err && i < from->node_count; i++)
		err = stacks_child(to, m[from->nodes[i].parent], from->nodes[i].frame, &m[i]);
	if (err) {
		free(m);
		return err;
	}
	*map = m;
	return 0;
}

/*
 * Frames of one context of a waker, innermost first, below *node.  Of an interrupt: up to its entry,
 * for what it interrupted has nothing to do with it.
 */
static int put_waker_frames(const struct stacks *from, uint32_t at, struct stacks *to,
			    const struct naming *n, const struct strings *names, uint32_t *node)
{
	const char *name;
	int err = 0;

	for (; !err && at >= STACKS_FIRST_NODE; at = from->nodes[at].parent) {
		err = stacks_child(to, *node, from->nodes[at].frame, node);
		name = strings_text(names, n->functions[from->nodes[at].frame].name);
		if (!strncmp(name, "asm_", 4))
			break;
	}
	return err;
}

/* "[woken by]", the waker's stack upside down, and its name. */
static int put_waker(const struct offcpu_end *waker, const struct stacks *from, struct stacks *to,
		     struct naming *n, struct strings *names, uint32_t *node)
{
	char name[80];
	uint32_t frame;
	int err;

	err = naming_add_label(n, names, "[woken by]", "[off-cpu]", &frame);
	if (!err)
		err = stacks_child(to, *node, frame, node);
	if (!err)
		err = put_waker_frames(from, waker->kernel, to, n, names, node);
	if (!err && !waker->kind)
		err = put_waker_frames(from, waker->user, to, n, names, node);
	if (err)
		return err;
	snprintf(name, sizeof(name), "[%s]",
		 waker->kind                 ? "interrupt"
		 : waker->comm == MODEL_NONE ? "unknown thread"
					     : strings_text(names, waker->comm));
	err = naming_add_label(n, names, name, "[off-cpu]", &frame);
	return err ? err : stacks_child(to, *node, frame, node);
}

/* One stack, with its reason and waker, into to. */
static int put_wait(const struct offcpu *o, const struct stacks *from, const struct stacks_entry *e,
		    const uint32_t *map, const uint32_t *reasons, struct stacks *to,
		    struct naming *n, struct strings *names)
{
	const struct offcpu_end *end = &o->ends[e->key.end];
	struct stacks_key key = e->key;
	int err = 0;

	key.end = end->walk_end;
	key.user = map[e->key.user];
	key.kernel = map[e->key.kernel];
	/* What runs says by its frames what it does. */
	if (end->kind != WAIT_ON_CPU ||
	    (e->key.user < STACKS_FIRST_NODE && e->key.kernel < STACKS_FIRST_NODE))
		err = stacks_child(to, key.kernel, reasons[reason_of(o, from, &e->key, n, names)],
				   &key.kernel);
	if (!err && end->waker != OFFCPU_NO_WAKER)
		err = put_waker(&o->ends[end->waker], from, to, n, names, &key.kernel);
	return err ? err : stacks_count(to, &key, e->sample_count, e->period_sum);
}

int offcpu_add_reasons(struct offcpu *o, struct stacks *s, struct naming *n, struct strings *names)
{
	uint32_t reasons[WAITREASON_COUNT], *map = NULL;
	struct stacks fresh;
	int err;

	for (size_t i = 0; i < s->entry_count; i++) {
		o->ends[s->entries[i].key.end].user = s->entries[i].key.user;
		o->ends[s->entries[i].key.end].kernel = s->entries[i].key.kernel;
	}
	err = stacks_init(&fresh, NULL);
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
		stacks_done(&fresh);
		return err;
	}
	for (size_t i = 0; i < fresh.entry_count; i++)
		fresh.entries[i].period_sum = bounded_add(fresh.entries[i].period_sum, 500) / 1000;
	stacks_done(s);
	*s = fresh;
	return 0;
}
