/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/process_contexts.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/lower_bound.h"
#include "format/base/vec.h"
#include "format/payload/context_record.h"

static int by_process_and_time(const struct process_context *a, const struct process_context *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->since_ns < b->since_ns ? -1 : a->since_ns > b->since_ns;
}

/* The later one of two of the same moment holds. */
static int by_all(const void *va, const void *vb)
{
	const struct process_context *a = va, *b = vb;
	int cmp = by_process_and_time(a, b);

	return cmp ? cmp : a->order < b->order ? -1 : a->order > b->order;
}

static int add(struct process_contexts *p, struct string_table *names,
	       const struct context_record *r)
{
	struct process_context next = { .since_ns = r->since_ns, .pid = r->pid, .order = p->count };
	const char *name;
	size_t name_bytes;
	int err = vec_reserve(&p->list, &p->capacity, p->count + 1);

	if (!err && context_record_service(r->message, r->size_bytes, &name, &name_bytes))
		err = string_table_add(names, name, name_bytes, &next.service);
	if (!err)
		p->list[p->count++] = next;
	return err;
}

static int add_object(struct process_contexts *p, struct string_table *names,
		      const struct capture *c, const struct capture_object *o)
{
	struct context_record r;
	struct cursor entries;
	size_t size_bytes;
	uint8_t *data;
	int err = capture_object_read(c, o, &data, &size_bytes);

	if (err)
		return err == -ENOMEM ? err : 0;
	entries = cursor_of(data, size_bytes);
	while (!err && context_record_next(&entries, &r) > 0)
		err = add(p, names, &r);
	free(data);
	return err;
}

int process_contexts_read(const struct capture *c, struct string_table *names,
			  struct process_contexts *out)
{
	struct process_contexts p = { 0 };
	size_t count;
	const struct capture_object *objects = capture_objects(c, &count);
	int err = 0;

	for (size_t i = 0; !err && i < count; i++)
		if (objects[i].kind == EBX_CONTEXTS)
			err = add_object(&p, names, c, &objects[i]);
	if (err) {
		process_contexts_done(&p);
		return err;
	}
	if (p.count)
		qsort(p.list, p.count, sizeof(*p.list), by_all);
	*out = p;
	return 0;
}

void process_contexts_done(struct process_contexts *p)
{
	free(p->list);
	*p = (struct process_contexts){ 0 };
}

uint32_t process_contexts_at(const struct process_contexts *p, uint32_t pid, uint64_t time_ns)
{
	const struct process_context key = { .pid = pid, .since_ns = time_ns };
	size_t low = lower_bound(i, 0, p->count, by_process_and_time(&p->list[i], &key) <= 0);

	return low && p->list[low - 1].pid == pid ? p->list[low - 1].service : 0;
}
