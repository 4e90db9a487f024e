/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/final_events.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/instrument/event_stack.h"

enum { KEY_MOST = 64 };

void final_events_ending(const struct metric_object *o)
{
	uint32_t *ending = metric_object_variable(o, "metric_ending", sizeof(*ending));

	if (ending)
		__atomic_store_n(ending, 1, __ATOMIC_SEQ_CST);
}

static int emit_one(const struct metric_tables *tabs, const struct metric_event *ev,
		    const struct instrument_ctx *c)
{
	struct event_stack_writer stack;
	struct table_row r = {
		.time_ns = ev->h.time_ns,
		.pid = ev->pid,
		.tid = ev->tid,
		.cpu = ev->h.cpu,
		.stack = &stack,
	};
	const struct metric_format *fmt;
	const struct metric_field *f;

	if (ev->table >= tabs->count || tabs->tab[ev->table].key_bytes ||
	    ev->stack.kernel_count > CPU_KERNEL_MAX || ev->stack.user_count > CPU_USER_MAX)
		return -EBADMSG;
	fmt = &tabs->tab[ev->table].fmt;
	f = metric_format_find(fmt, "held_bytes");
	if (!f || ev->row_bytes + METRIC_ROW_OFF != fmt->row_bytes ||
	    f->off_bytes < METRIC_ROW_OFF || f->size_bytes != sizeof(r.weight))
		return -EBADMSG;
	memcpy(&r.weight, ev->row + (f->off_bytes - METRIC_ROW_OFF), sizeof(r.weight));
	if (!r.weight)
		return 0;
	event_stack_read(&ev->stack, c->kallsyms, &stack);
	return metric_tables_row(tabs, ev->table, ev->row, &r, c->emit);
}

static int emit_map(const struct bpf_map *map, const struct metric_tables *tabs,
		    const struct instrument_ctx *c, struct metric_event *ev)
{
	uint8_t key[KEY_MOST], *from = NULL;
	int fd = bpf_map__fd(map), err = 0;

	if (bpf_map__value_size(map) != sizeof(*ev) || bpf_map__key_size(map) > sizeof(key))
		return -EBADMSG;
	while (!err && !bpf_map_get_next_key(fd, from, key)) {
		from = key;
		if (!bpf_map_lookup_elem(fd, key, ev))
			err = emit_one(tabs, ev, c);
	}
	return err;
}

int final_events_emit(const struct metric_object *o, const struct metric_tables *tabs,
		      const struct instrument_ctx *c)
{
	struct metric_event *ev = malloc(sizeof(*ev));
	struct bpf_map *map;
	int err = ev ? 0 : -ENOMEM;

	bpf_object__for_each_map(map, o->obj)
	{
		if (!err && !strncmp(bpf_map__name(map), "final_", 6))
			err = emit_map(map, tabs, c, ev);
	}
	free(ev);
	return err;
}
