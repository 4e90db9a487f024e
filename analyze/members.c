/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/members.h"

#include <errno.h>
#include <stdlib.h>

#include "format/cursor.h"

struct member {
	uint64_t id, value;
	uint64_t kept_value; /* without what was left out */
	const struct capture_attr *attr;
};

struct members {
	struct member *list; /* by id */
	size_t count;
};

bool members_any(const struct capture *c)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	for (size_t i = 0; i < count; i++)
		if (members_are_in(&attrs[i]))
			return true;
	return false;
}

static int by_id(const void *va, const void *vb)
{
	const struct member *a = va, *b = vb;

	return a->id < b->id ? -1 : a->id > b->id;
}

int members_new(const struct capture *c, struct members **out)
{
	size_t attr_count, count = 0;
	const struct capture_attr *attrs = capture_attrs(c, &attr_count);
	struct members *m = calloc(1, sizeof(*m));

	for (size_t i = 0; i < attr_count; i++)
		count += attrs[i].id_count;
	if (m)
		m->list = calloc(count + 1, sizeof(*m->list));
	if (!m || !m->list) {
		free(m);
		return -ENOMEM;
	}
	for (size_t i = 0; i < attr_count; i++)
		for (size_t k = 0; k < attrs[i].id_count; k++)
			m->list[m->count++] = (struct member){ .id = attrs[i].ids[k],
							       .attr = &attrs[i] };
	qsort(m->list, m->count, sizeof(*m->list), by_id);
	*out = m;
	return 0;
}

void members_free(struct members *m)
{
	if (!m)
		return;
	free(m->list);
	free(m);
}

static struct member *find(const struct members *m, uint64_t id)
{
	struct member key = { .id = id };

	return bsearch(&key, m->list, m->count, sizeof(*m->list), by_id);
}

int members_each(struct members *m, const struct perf_sample *sample, members_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; !err && i < sample->read_count; i++) {
		struct perf_sample copy = *sample;
		struct perfrec_count count = perfrec_count(sample, i);
		struct member *found = find(m, count.id);

		if (!found || found->value == count.value)
			continue;
		copy.id = count.id;
		copy.period = count.value - found->value;
		found->value = count.value;
		err = fn(ctx, &copy, found->attr);
	}
	return err;
}

void members_rebase(struct members *m, const struct perf_sample *sample, bool kept)
{
	for (size_t i = 0; i < sample->read_count; i++) {
		struct perfrec_count count = perfrec_count(sample, i);
		struct member *found = find(m, count.id);

		if (!found)
			continue;
		if (kept) {
			found->kept_value += count.value - found->value;
			/* The value is the first word of a count; the bytes are the caller's. */
			le64_store((uint8_t *)(uintptr_t)sample->read +
					   i * sample->read_words * sizeof(uint64_t),
				   found->kept_value);
		}
		found->value = count.value;
	}
}
