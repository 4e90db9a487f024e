/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stack_table - how often was each stack seen?
 *
 * A stack is a path in a tree: each node is a frame below its caller, so stacks that begin alike
 * share their beginning.  Frames are numbers that have a meaning to the caller alone.  Two trees,
 * one for user frames and one for kernel frames: the same kernel path is reached from everywhere,
 * and is stored once.  The counted key is (group, user node, kernel node, end), where the group and
 * the end are again numbers of the caller's.
 *
 * Stacks are distinguished by 64 bits of a hash alone where the caller brings the hash
 * (stack_table_find_path(), stack_table_find_entry()): comparing all frames would read memory that
 * no cache holds.  The hash has a random key (hash.h), so that no author of a capture can make two
 * stacks equal; by chance, two of a million stacks are in one of 30 million captures.
 *
 * Memory is bounded by the number of distinct stacks.  Node numbers depend on the order of
 * adding; sums do not, so tables filled by several threads and joined are the same in every order.
 */
#ifndef EBPREC_ANALYZE_FOLD_STACK_TABLE_H
#define EBPREC_ANALYZE_FOLD_STACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/hash_index.h"

enum { STACK_TABLE_USER_ROOT = 0, STACK_TABLE_KERNEL_ROOT = 1, STACK_TABLE_FIRST_NODE = 2 };

/* A parent's number is always lower than its child's; the two roots are their own parents. */
struct stack_table_node {
	uint32_t parent;
	uint32_t frame;
};

struct stack_table_key {
	uint32_t group;
	uint32_t user, kernel; /* nodes of the innermost frames; a root: no frames of that kind */
	uint32_t end;          /* why the user part ends where it does */
};

struct stack_table_entry {
	struct stack_table_key key;
	uint64_t sample_count;
	uint64_t period_sum;
};

/* One sample of an entry, where the caller that counts keeps them. */
struct stack_table_sample {
	uint64_t time_ns, period;
	uint32_t entry;
	int32_t cpu; /* -1: not known */
};

/* Read nodes, entries and samples freely; fill by the functions. */
struct stack_table {
	struct stack_table_node *nodes;
	uint64_t *paths; /* hash of each node's path; NULL once finished */
	size_t node_count, node_capacity, path_capacity;
	struct stack_table_entry *entries;
	uint64_t *
		hashes; /* of each entry, where they are found by stack_table_hash(); NULL once finished */
	size_t entry_count, entry_capacity, hash_capacity;
	struct stack_table_sample *samples; /* in no order */
	size_t sample_count, sample_capacity;
	struct hash_index node_index, entry_index;
	struct hash_key key; /* of paths and stack_table_hash() */
};

/* key: that of the tables this one is joined with; NULL: a random one.  -ENOMEM; no random key. */
int stack_table_init(struct stack_table *s, const struct hash_key *key);
void stack_table_done(struct stack_table *s);

/* The node of frame called from parent.  -ENOMEM; -EOVERFLOW: four billion nodes. */
int stack_table_child(struct stack_table *s, uint32_t parent, uint32_t frame, uint32_t *out);

/*
 * Nodes are found by a hash of their entire path, so the slot of a stack is known before any of its
 * nodes is.  A caller with many stacks can fetch them all, look at them all, and then walk down by
 * nodes that are in the cache by then.  Such a caller may also hash paths by the meaning of its
 * frames, and number only the frames of new nodes; then all paths of the table are its own.
 */
static inline uint64_t stack_table_root_path(const struct stack_table *s, uint32_t root)
{
	return hash_pair(&s->key, root, 0);
}

static inline uint64_t stack_table_path(const struct stack_table *s, uint64_t caller_path,
					uint32_t frame)
{
	return hash_pair(&s->key, caller_path, frame);
}

static inline void stack_table_fetch(const struct stack_table *s, uint64_t path)
{
	hash_index_fetch(&s->node_index, path);
}

static inline void stack_table_look(const struct stack_table *s, uint64_t path)
{
	uint32_t id = hash_index_guess(&s->node_index, path);

	if (id != HASH_INDEX_NONE)
		__builtin_prefetch(&s->nodes[id]);
}

static inline void stack_table_look_path(const struct stack_table *s, uint64_t path)
{
	uint32_t id = hash_index_guess(&s->node_index, path);

	if (id != HASH_INDEX_NONE)
		__builtin_prefetch(&s->paths[id]);
}

/* The node of a path; HASH_INDEX_NONE: there is none. */
static inline uint32_t stack_table_find_path(const struct stack_table *s, uint64_t path)
{
	uint32_t pos = hash_index_start(&s->node_index, path), id;

	while ((id = hash_index_match(&s->node_index, path, &pos)) != HASH_INDEX_NONE)
		if (s->paths[id] == path)
			break;
	return id;
}

/* stack_table_child() of which the path is known. */
int stack_table_child_by_path(struct stack_table *s, uint32_t parent, uint64_t path, uint32_t frame,
			      uint32_t *out);

/* Adds to the stack's counts. */
int stack_table_count(struct stack_table *s, const struct stack_table_key *key,
		      uint64_t sample_count, uint64_t period);

/*
 * A caller that has the paths of a stack needs no nodes to find it: all entries of a table are
 * found by these hashes, or all by stack_table_count().
 */
static inline uint64_t stack_table_hash(const struct stack_table *s, uint64_t user_path,
					uint64_t kernel_path, uint32_t group, uint32_t end)
{
	return hash_pair(&s->key, hash_mix(&s->key, user_path, kernel_path),
			 (uint64_t)end << 32 | group);
}

static inline void stack_table_fetch_entry(const struct stack_table *s, uint64_t hash)
{
	hash_index_fetch(&s->entry_index, hash);
}

static inline void stack_table_look_entry(const struct stack_table *s, uint64_t hash)
{
	uint32_t id = hash_index_guess(&s->entry_index, hash);

	if (id == HASH_INDEX_NONE)
		return;
	__builtin_prefetch(&s->hashes[id]);
	__builtin_prefetch(&s->entries[id].sample_count, 1);
}

/* The number of the entry; HASH_INDEX_NONE: there is none. */
static inline uint32_t stack_table_find_entry(const struct stack_table *s, uint64_t hash)
{
	uint32_t pos = hash_index_start(&s->entry_index, hash), id;

	while ((id = hash_index_match(&s->entry_index, hash, &pos)) != HASH_INDEX_NONE)
		if (s->hashes[id] == hash)
			break;
	return id;
}

/* The number of the entry of this hash, which is made if need be, with nothing counted.  -ENOMEM, -EOVERFLOW. */
int stack_table_add_entry(struct stack_table *s, uint64_t hash, const struct stack_table_key *key,
			  uint32_t *out);

/* Gives back what only adding needs: from here on, s is only read or merged from. */
void stack_table_finish(struct stack_table *s);

/* Makes each frame f of a finished table frames[f]; different frames must stay different. */
void stack_table_renumber(struct stack_table *s, const uint32_t *frames);

/*
 * Adds all of from to s as it is.  Frames mean the same in both, and both are found by paths and by
 * stack_table_hash() that mean the same, with the same key.  Neither may be finished.  Its samples are s's then.
 */
int stack_table_join(struct stack_table *s, const struct stack_table *from);

/*
 * Adds all of from to s, each frame f of from as frames[f], and below it as its callees more[first[f]] up to
 * more[first[f + 1]] (first NULL: none).  So addresses become names: stacks that get equal frames become one.
 */
int stack_table_merge(struct stack_table *s, const struct stack_table *from, const uint32_t *frames,
		      const uint32_t *more, const uint32_t *first);

/*
 * Keeps of the entries and their samples those for which takes() is true; the entries get other numbers.
 * -ENOMEM: all are as before.
 */
int stack_table_keep(struct stack_table *s,
		     bool (*takes)(const void *arg, const struct stack_table_entry *entry),
		     const void *arg);

/* Adds to weights[f] how many samples had frame f, once for each time it was in their stack.  -ENOMEM. */
int stack_table_weigh_frames(const struct stack_table *s, uint64_t *weights);

#endif
