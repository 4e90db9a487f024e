/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/group_read.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/hash_index.h"
#include "format/base/vec.h"
#include "format/base/cursor.h"

struct counted {
	uint64_t value;
	uint64_t rebased_value; /* without what was left out */
};

struct member {
	uint64_t id;
	struct counted counted; /* where threads are not distinguished */
	const struct capture_attr *attr;
	bool by_thread;
};

/* A member's count for a thread. */
struct of_thread {
	struct counted counted;
	uint32_t member, tid;
};

struct group_read {
	struct member *list; /* by id */
	size_t count;
	struct of_thread *threads;
	size_t thread_count, thread_capacity;
	struct hash_index thread_index;
};

bool group_read_any(const struct capture *c)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	for (size_t i = 0; i < count; i++)
		if (group_read_are_in(&attrs[i]))
			return true;
	return false;
}

/* An event that threads inherit counts in each of them under the id that it has in the first. */
static bool is_by_thread(const struct perf_event_attr *attr)
{
	return attr->inherit && attr->sample_type & PERF_SAMPLE_TID;
}

static int by_id(const void *va, const void *vb)
{
	const struct member *a = va, *b = vb;

	return a->id < b->id ? -1 : a->id > b->id;
}

int group_read_new(const struct capture *c, struct group_read **out)
{
	size_t attr_count, count = 0;
	const struct capture_attr *attrs = capture_attrs(c, &attr_count);
	struct group_read *m = calloc(1, sizeof(*m));

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
			m->list[m->count++] =
				(struct member){ .id = attrs[i].ids[k],
						 .attr = &attrs[i],
						 .by_thread = is_by_thread(&attrs[i].attr) };
	qsort(m->list, m->count, sizeof(*m->list), by_id);
	*out = m;
	return 0;
}

void group_read_free(struct group_read *m)
{
	if (!m)
		return;
	free(m->list);
	free(m->threads);
	hash_index_done(&m->thread_index);
	free(m);
}

static struct member *find(const struct group_read *m, uint64_t id)
{
	struct member key = { .id = id };

	return bsearch(&key, m->list, m->count, sizeof(*m->list), by_id);
}

/* The member's count so far, of the thread where it distinguishes them.  NULL: no memory. */
static struct counted *counted_of(struct group_read *m, struct member *member, uint32_t tid)
{
	uint32_t number = (uint32_t)(member - m->list), pos, id;
	uint64_t hash;

	if (!member->by_thread)
		return &member->counted;
	if (hash_index_reserve(&m->thread_index))
		return NULL;
	hash = hash_index_pair(&m->thread_index, number, tid);
	pos = hash_index_start(&m->thread_index, hash);
	while ((id = hash_index_match(&m->thread_index, hash, &pos)) != HASH_INDEX_NONE)
		if (m->threads[id].member == number && m->threads[id].tid == tid)
			return &m->threads[id].counted;
	if (m->thread_count >= UINT32_MAX - 1 ||
	    vec_reserve(&m->threads, &m->thread_capacity, m->thread_count + 1))
		return NULL;
	m->threads[m->thread_count] = (struct of_thread){ .member = number, .tid = tid };
	hash_index_put(&m->thread_index, hash, pos, (uint32_t)m->thread_count);
	return &m->threads[m->thread_count++].counted;
}

int group_read_each(struct group_read *m, const struct perf_sample *sample, group_read_fn fn,
		    void *ctx)
{
	int err = 0;

	for (size_t i = 0; !err && i < sample->read_count; i++) {
		struct perf_sample copy = *sample;
		struct perfrec_count count = perfrec_count(sample, i);
		struct member *found = find(m, count.id);
		struct counted *counted = found ? counted_of(m, found, sample->tid) : NULL;

		if (found && !counted)
			return -ENOMEM;
		if (!found || counted->value == count.value)
			continue;
		copy.id = count.id;
		copy.period = count.value - counted->value;
		counted->value = count.value;
		err = fn(ctx, &copy, found->attr);
	}
	return err;
}

int group_read_rebase(struct group_read *m, const struct perf_sample *sample, bool stays)
{
	for (size_t i = 0; i < sample->read_count; i++) {
		struct perfrec_count count = perfrec_count(sample, i);
		struct member *found = find(m, count.id);
		struct counted *counted = found ? counted_of(m, found, sample->tid) : NULL;

		if (found && !counted)
			return -ENOMEM;
		if (!found)
			continue;
		if (stays) {
			counted->rebased_value += count.value - counted->value;
			/* The value is the first word of a count; the bytes are the caller's. */
			le64_store((uint8_t *)(uintptr_t)sample->read +
					   i * sample->read_words * sizeof(uint64_t),
				   counted->rebased_value);
		}
		counted->value = count.value;
	}
	return 0;
}
