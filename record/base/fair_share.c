/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/fair_share.h"

#include <errno.h>

#define USER_TIMES 3 /* of what is left free */

static bool is_limited(uint32_t user)
{
	return user && user != UINT32_MAX;
}

static uint64_t taken_by(const struct u64map *m, uint32_t id)
{
	const uint32_t *taken = u64map_get(m, id, 0);

	return taken ? *taken : 0;
}

void fair_share_done(struct fair_share *s)
{
	u64map_done(&s->of_process);
	u64map_done(&s->of_user);
	s->taken = 0;
}

/* The most x for which had + x <= times * (left_free - x). */
static uint64_t most(uint64_t had, uint64_t left_free, uint64_t times)
{
	return times * left_free > had ? (times * left_free - had) / (times + 1) : 0;
}

uint64_t fair_share_left(const struct fair_share *s, uint64_t all, uint32_t pid, uint32_t user)
{
	uint64_t left_free = all > s->taken ? all - s->taken : 0;
	uint64_t of_process = most(taken_by(&s->of_process, pid), left_free, 1);
	uint64_t of_user = is_limited(user)
				   ? most(taken_by(&s->of_user, user), left_free, USER_TIMES)
				   : left_free;

	return of_process < of_user ? of_process : of_user;
}

static int add(struct u64map *m, uint32_t id, uint64_t amount)
{
	return u64map_put(m, id, 0, (uint32_t)(taken_by(m, id) + amount));
}

static void subtract(struct u64map *m, uint32_t id, uint64_t amount)
{
	uint32_t *taken = u64map_get(m, id, 0);

	if (!taken)
		return;
	if (*taken > amount)
		*taken -= (uint32_t)amount;
	else
		u64map_remove(m, id, 0);
}

int fair_share_take(struct fair_share *s, uint64_t all, uint32_t pid, uint32_t user,
		    uint64_t amount)
{
	int err;

	if (amount > fair_share_left(s, all, pid, user))
		return -ENOSPC;
	err = add(&s->of_process, pid, amount);
	if (err)
		return err;
	err = is_limited(user) ? add(&s->of_user, user, amount) : 0;
	if (err)
		subtract(&s->of_process, pid, amount);
	else
		s->taken += amount;
	return err;
}

void fair_share_give(struct fair_share *s, uint32_t pid, uint32_t user, uint64_t amount)
{
	subtract(&s->of_process, pid, amount);
	if (is_limited(user))
		subtract(&s->of_user, user, amount);
	s->taken -= amount < s->taken ? amount : s->taken;
}
