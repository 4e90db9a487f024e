/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fair_share - a bounded space, of which no process and no user gets all
 *
 * A process may have as much as it leaves free, a user other than root three times as much as is left free: one
 * alone gets half of the space, and three quarters.  So the next one always finds something, and each that takes all it
 * may leaves less: the threshold of Choudhury and Hahne ("Dynamic queue length thresholds for shared-memory
 * packet switches", IEEE/ACM Transactions on Networking 6(2), 1998).
 *
 * A process is known by its id alone: one that gets the id of an earlier one has that one's share, too.  Amounts are in
 * the caller's unit, all of them below 2^32.
 */
#ifndef EBPREC_RECORD_BASE_FAIR_SHARE_H
#define EBPREC_RECORD_BASE_FAIR_SHARE_H

#include <stdint.h>

#include "record/base/u64map.h"

/* A zeroed struct is an empty space. */
struct fair_share {
	uint64_t taken; /* of all together */
	struct u64map of_process, of_user;
};

void fair_share_done(struct fair_share *s);
/* The most that this process may still take of `all`.  user: its id; UINT32_MAX: not known, and not limited, as root (0). */
uint64_t fair_share_left(const struct fair_share *s, uint64_t all, uint32_t pid, uint32_t user);
/* -ENOSPC: it may not, and nothing was taken; -ENOMEM. */
int fair_share_take(struct fair_share *s, uint64_t all, uint32_t pid, uint32_t user,
		    uint64_t amount);
/* Gives back what was taken with the same ids. */
void fair_share_give(struct fair_share *s, uint32_t pid, uint32_t user, uint64_t amount);

#endif
