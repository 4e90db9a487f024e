/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mappings - address ranges, in as many versions as time has brought
 *
 * A version is a root: a number.  Putting a range into a version gives a new version and leaves
 * the old one valid; both share what did not change.  So a fork costs nothing (the child starts
 * with its parent's root), and a mapping that is later covered by another one is still there for
 * samples from before.  Root 0 is the empty version.
 *
 * Copying every node on the way down would leave garbage behind for versions that no caller will
 * ask about.  Therefore edits carry a token: nodes made under the same token are changed in place.
 * A caller that keeps a root for later must not edit with its token again.
 *
 * Weight-balanced (Hirai and Yamamoto's <3, 2>), so a hostile file cannot make it deep.
 * Ranges of a version never overlap: the later one cuts or hides the earlier ones.
 */
#ifndef EBPREC_ANALYZE_PROCESS_MAPPINGS_H
#define EBPREC_ANALYZE_PROCESS_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mappings_range {
	uint64_t start, end; /* [start, end) */
	uint32_t value;      /* the caller's; it stays when a range is cut */
};

struct mappings_node;

/* Embedded by the owner; all zero is an empty one. */
struct mappings {
	struct mappings_node *nodes;
	size_t count, capacity;
	bool failed; /* an allocation failed during this edit */
};

void mappings_done(struct mappings *t);

/*
 * Both give the new version in *out.  token: any number but 0.  -EINVAL: start >= end; -ENOMEM:
 * then no root made with this token is valid any more.
 */
int mappings_put(struct mappings *t, uint32_t root, const struct mappings_range *range,
		 uint32_t token, uint32_t *out);
int mappings_cut(struct mappings *t, uint32_t root, uint64_t start, uint64_t end, uint32_t token,
		 uint32_t *out);

/* The range that covers addr, or NULL.  Valid until the next edit. */
const struct mappings_range *mappings_find(const struct mappings *t, uint32_t root, uint64_t addr);
/* A range that shares an address with [start, end), or NULL. */
const struct mappings_range *mappings_overlap(const struct mappings *t, uint32_t root,
					      uint64_t start, uint64_t end);
/* The lowest range that ends behind addr, or NULL. */
const struct mappings_range *mappings_after(const struct mappings *t, uint32_t root, uint64_t addr);
/* The longest way from the root to a leaf: for tests. */
uint32_t mappings_depth(const struct mappings *t, uint32_t root);

#endif
