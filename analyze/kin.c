/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/kin.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/vec.h"

static uint32_t find(const struct kin *k, uint32_t id, uint64_t hash, uint32_t *pos)
{
	uint32_t number;

	while ((number = hashidx_match(&k->index, hash, pos)) != HASHIDX_NONE)
		if (k->members[number].id == id)
			return number;
	return HASHIDX_NONE;
}

static int member_of(struct kin *k, uint32_t id, uint32_t *out)
{
	uint64_t hash = hash_pair(id, 0);
	uint32_t pos, number;
	int err;

	err = hashidx_reserve(&k->index);
	if (err)
		return err;
	pos = hashidx_start(&k->index, hash);
	number = find(k, id, hash, &pos);
	if (number == HASHIDX_NONE) {
		if (k->member_count >= UINT32_MAX - 1)
			return -EOVERFLOW;
		err = vec_reserve(&k->members, &k->member_capacity, k->member_count + 1);
		if (err)
			return err;
		number = (uint32_t)k->member_count++;
		k->members[number] = (struct kin_member){ .id = id };
		hashidx_put(&k->index, hash, pos, number);
	}
	*out = number;
	return 0;
}

int kin_link(struct kin *k, uint32_t id, uint32_t other)
{
	uint32_t from, to;
	int err;

	if (id == other)
		return 0;
	err = member_of(k, id, &from);
	if (!err)
		err = member_of(k, other, &to);
	if (!err && k->link_count >= UINT32_MAX - 1)
		err = -EOVERFLOW;
	if (!err)
		err = vec_reserve(&k->links, &k->link_capacity, k->link_count + 1);
	if (err)
		return err;
	k->links[k->link_count++] = (struct kin_link){ to, k->members[from].first };
	k->members[from].first = (uint32_t)k->link_count;
	return 0;
}

static int want_member(struct kin *k, uint32_t number)
{
	int err;

	if (k->members[number].wanted)
		return 0;
	err = vec_reserve(&k->found, &k->found_capacity, k->found_count + 1);
	if (err)
		return err;
	k->members[number].wanted = true;
	k->found[k->found_count++] = number;
	return 0;
}

int kin_want(struct kin *k, uint32_t id)
{
	uint32_t number;
	int err = member_of(k, id, &number);

	return err ? err : want_member(k, number);
}

int kin_close(struct kin *k)
{
	int err = 0;

	for (size_t i = 0; !err && i < k->found_count; i++) {
		uint32_t link = k->members[k->found[i]].first;

		for (; !err && link; link = k->links[link - 1].next)
			err = want_member(k, k->links[link - 1].to);
	}
	return err;
}

bool kin_is_wanted(const struct kin *k, uint32_t id)
{
	uint64_t hash = hash_pair(id, 0);
	uint32_t pos = hashidx_start(&k->index, hash), number = find(k, id, hash, &pos);

	return number != HASHIDX_NONE && k->members[number].wanted;
}

void kin_done(struct kin *k)
{
	free(k->members);
	free(k->links);
	free(k->found);
	hashidx_done(&k->index);
	*k = (struct kin){ 0 };
}
