/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/lock_names.h"

/* The position of the addresses in a table's rows. */
struct map_walk {
	struct data_names *data;
	const struct string_table *names;
};

static uint64_t number_of(const struct metric_row *r, const char *field)
{
	uint32_t slot = metric_rows_number_slot(r->table, field);

	return slot == METRIC_ROWS_NONE ? 0 : r->slots[slot];
}

static int take_map(void *ctx, const struct metric_row *r)
{
	const struct map_walk *w = ctx;
	uint32_t name = metric_rows_text_slot(r->table, "map_name");
	struct data_map map = {
		.kind = number_of(r, "is_map"),
		.start = number_of(r, "is_map_start"),
		.off_bytes = number_of(r, "is_map_offset"),
		.file = name == METRIC_ROWS_NONE
				? ""
				: string_table_text(w->names, (uint32_t)r->slots[name]),
		.tid = (uint32_t)number_of(r, "is_map_tid"),
	};

	/* In the block of the thread, behind its stack; a robust lock ends so, too, but lies elsewhere. */
	if (number_of(r, "thread_ends") &&
	    (map.kind == DATA_MAP_ANONYMOUS || map.kind == DATA_MAP_THREAD_STACK))
		map.kind = DATA_MAP_THREAD_END;
	return map.kind == DATA_MAP_UNKNOWN
		       ? 0
		       : data_names_add_map(w->data, (uint32_t)number_of(r, "pid"),
					    number_of(r, "address"), &map);
}

/* All of the capture: what was seen of a mapping holds for rows of other times, too. */
static int read_maps(struct lock_names *l, const struct capture *c, struct string_table *names)
{
	struct map_walk w = { l->data, names };
	struct metric_rows rows;
	struct filter all;
	int err = metric_rows_open(c, &rows);

	if (err)
		return err;
	filter_init(&all);
	rows.skips_lost = true;
	err = metric_rows_walk(&rows, names, &all, take_map, &w);
	filter_done(&all);
	metric_rows_done(&rows);
	return err;
}

int lock_names_open(struct lock_names *l, const struct capture *c, const struct load_scan *scan,
		    const struct process_model *model, struct string_table *names,
		    const struct name_roots *roots)
{
	int err;

	*l = (struct lock_names){ .data = NULL };
	err = name_context_open(&l->context, c, scan, model, roots, true, 1);
	if (!err)
		err = data_names_new(model, l->context.resolver, &l->data);
	return err ? err : read_maps(l, c, names);
}

void lock_names_close(struct lock_names *l)
{
	data_names_free(l->data);
	name_context_done(&l->context);
	l->data = NULL;
}

static const char *name_address(void *arg, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	struct lock_names *l = arg;

	return data_names_at(l->data, pid, time_ns, address);
}

static const char *name_stack(void *arg, uint32_t pid, uint64_t time_ns, const uint64_t *code,
			      size_t count)
{
	struct lock_names *l = arg;

	return data_names_function(l->data, pid, time_ns, code, count);
}

void lock_names_use(struct lock_names *l, struct metric_rows *rows)
{
	rows->name_address = name_address;
	rows->name_stack = name_stack;
	rows->name_arg = l;
}
