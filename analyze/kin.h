/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * kin - which processes have to be known, so that some are known rightly
 *
 * What a process has mapped and what it is called comes from its own records and from those of
 * whoever forked it, and so on up.  A kin is told of which id depends on which, and of those that are
 * asked for; kin_close() finds all that these depend on.  Ids are numbers of processes and of
 * threads, as records have them: a number that was used twice is one here, which asks for too much
 * and never for too little.
 */
#ifndef EBPREC_ANALYZE_KIN_H
#define EBPREC_ANALYZE_KIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/hashidx.h"

struct kin_member {
	uint32_t id;
	uint32_t first; /* of its links, + 1 */
	bool wanted;
};

struct kin_link {
	uint32_t to;   /* a member */
	uint32_t next; /* of the same member, + 1 */
};

/* Embedded by the owner; all zero is an empty one. */
struct kin {
	struct kin_member *members;
	struct kin_link *links;
	uint32_t *found; /* wanted members in the order they were found */
	size_t member_count, member_capacity, link_count, link_capacity;
	size_t found_count, found_capacity;
	struct hashidx index;
};

/* What is known of id depends on what is known of other.  -ENOMEM, -EOVERFLOW. */
int kin_link(struct kin *k, uint32_t id, uint32_t other);
/* id is asked for.  -ENOMEM, -EOVERFLOW. */
int kin_want(struct kin *k, uint32_t id);
/* Wants what the wanted depend on.  -ENOMEM. */
int kin_close(struct kin *k);
bool kin_is_wanted(const struct kin *k, uint32_t id);
void kin_done(struct kin *k);

#endif
