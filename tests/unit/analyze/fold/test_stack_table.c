/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analyze/fold/stack_table.h"
#include "format/base/vec.h"
#include "tests/unit/random.h"

static uint32_t child(struct stack_table *s, uint32_t parent, uint32_t frame)
{
	uint32_t out = UINT32_MAX;

	assert_int_equal(stack_table_child(s, parent, frame, &out), 0);
	return out;
}

static uint64_t count_of(const struct stack_table *s, uint32_t group, uint32_t user,
			 uint32_t kernel)
{
	for (size_t i = 0; i < s->entry_count; i++)
		if (s->entries[i].key.group == group && s->entries[i].key.user == user &&
		    s->entries[i].key.kernel == kernel)
			return s->entries[i].sample_count;
	return 0;
}

static void equal_paths_are_one_node(void **state)
{
	struct stack_table s;
	uint32_t a, b;

	assert_int_equal(stack_table_init(&s, NULL), 0);
	a = child(&s, child(&s, STACK_TABLE_USER_ROOT, 5), 6);
	b = child(&s, child(&s, STACK_TABLE_USER_ROOT, 5), 6);
	assert_int_equal(a, b);
	assert_int_equal(s.node_count, STACK_TABLE_FIRST_NODE + 2);
	stack_table_done(&s);
}

static void trees_are_apart(void **state)
{
	struct stack_table s;

	assert_int_equal(stack_table_init(&s, NULL), 0);
	assert_int_not_equal(child(&s, STACK_TABLE_USER_ROOT, 5),
			     child(&s, STACK_TABLE_KERNEL_ROOT, 5));
	stack_table_done(&s);
}

static int count(struct stack_table *s, uint32_t group, uint32_t user, uint32_t kernel,
		 uint64_t samples, uint64_t period)
{
	struct stack_table_key key = { .group = group, .user = user, .kernel = kernel };

	return stack_table_count(s, &key, samples, period);
}

static void equal_stacks_are_summed(void **state)
{
	struct stack_table s;
	uint32_t user;

	assert_int_equal(stack_table_init(&s, NULL), 0);
	user = child(&s, STACK_TABLE_USER_ROOT, 1);
	assert_int_equal(count(&s, 9, user, STACK_TABLE_KERNEL_ROOT, 1, 100), 0);
	assert_int_equal(count(&s, 9, user, STACK_TABLE_KERNEL_ROOT, 2, 50), 0);
	assert_int_equal(count(&s, 8, user, STACK_TABLE_KERNEL_ROOT, 4, 0), 0);
	assert_int_equal(s.entry_count, 2);
	assert_int_equal(count_of(&s, 9, user, STACK_TABLE_KERNEL_ROOT), 3);
	assert_int_equal(s.entries[0].period_sum, 150);
	stack_table_done(&s);
}

static void merging_gives_frames_their_new_numbers(void **state)
{
	struct stack_table a, b;
	const uint32_t frames[] = { 70, 71, 71 }; /* 1 and 2 get the same name */
	uint32_t root, leaf;

	assert_int_equal(stack_table_init(&a, NULL), 0);
	assert_int_equal(stack_table_init(&b, NULL), 0);
	root = child(&a, STACK_TABLE_USER_ROOT, 0);
	count(&a, 1, child(&a, root, 1), STACK_TABLE_KERNEL_ROOT, 3, 30);
	count(&a, 1, child(&a, root, 2), STACK_TABLE_KERNEL_ROOT, 4, 40);
	assert_int_equal(stack_table_merge(&b, &a, frames, NULL, NULL), 0);
	leaf = child(&b, child(&b, STACK_TABLE_USER_ROOT, 70), 71);
	assert_int_equal(b.entry_count, 1);
	assert_int_equal(count_of(&b, 1, leaf, STACK_TABLE_KERNEL_ROOT), 7);
	assert_int_equal(b.entries[0].period_sum, 70);
	stack_table_done(&a);
	stack_table_done(&b);
}

static void merging_nothing_changes_nothing(void **state)
{
	struct stack_table a, b;

	assert_int_equal(stack_table_init(&a, NULL), 0);
	assert_int_equal(stack_table_init(&b, NULL), 0);
	assert_int_equal(stack_table_merge(&b, &a, NULL, NULL, NULL), 0);
	assert_int_equal(b.entry_count, 0);
	assert_int_equal(b.node_count, STACK_TABLE_FIRST_NODE);
	stack_table_done(&a);
	stack_table_done(&b);
}

/* A parent's number is lower than its child's, also after merging: walks rely on it. */
static void parents_come_first(void **state)
{
	struct stack_table a, b;
	uint32_t frames[16];

	srand(1);
	assert_int_equal(stack_table_init(&a, NULL), 0);
	assert_int_equal(stack_table_init(&b, NULL), 0);
	for (unsigned i = 0; i < 16; i++)
		frames[i] = 15 - i;
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t node = STACK_TABLE_USER_ROOT;

		for (unsigned d = 0; d < 6; d++)
			node = child(i % 3 ? &a : &b, node, (uint32_t)rand() % 16);
	}
	assert_int_equal(stack_table_merge(&b, &a, frames, NULL, NULL), 0);
	for (size_t i = STACK_TABLE_FIRST_NODE; i < b.node_count; i++)
		assert_true(b.nodes[i].parent < i);
	stack_table_done(&a);
	stack_table_done(&b);
}

static void entries_are_found_by_the_complete_hash(void **state)
{
	const struct stack_table_key key = { .group = 3, .user = 2 };
	uint32_t first, again, other;
	struct stack_table s;
	uint64_t hash;

	assert_int_equal(stack_table_init(&s, NULL), 0);
	hash = stack_table_hash(&s, 7, STACK_TABLE_KERNEL_ROOT, 3, 0);
	assert_int_equal(stack_table_find_entry(&s, hash), HASH_INDEX_NONE);
	assert_int_equal(stack_table_add_entry(&s, hash, &key, &first), 0);
	assert_int_equal(stack_table_add_entry(&s, hash, &key, &again), 0);
	/* The index knows the upper half only. */
	assert_int_equal(stack_table_find_entry(&s, hash ^ 1), HASH_INDEX_NONE);
	assert_int_equal(stack_table_add_entry(&s, hash ^ 1, &key, &other), 0);
	assert_int_equal(again, first);
	assert_int_not_equal(other, first);
	assert_int_equal(stack_table_find_entry(&s, hash), first);
	assert_int_equal(stack_table_find_entry(&s, hash ^ 1), other);
	assert_int_equal(s.entry_count, 2);
	assert_int_equal(s.entries[first].sample_count, 0);
	for (uint64_t i = 0; i < 5000; i++)
		assert_int_equal(stack_table_add_entry(&s, hash_fold(i, 1), &key, &again), 0);
	assert_int_equal(stack_table_find_entry(&s, hash), first);
	assert_int_equal(s.entry_count, 5002);
	stack_table_finish(&s);
	assert_null(s.hashes);
	stack_table_done(&s);
}

/* Each difference of two stacks makes their hashes different. */
static void hashes_differ_where_stacks_do(void **state)
{
	const struct stack_table s = { .key = { 3, 4 } };
	const uint64_t hash = stack_table_hash(&s, 10, 20, 1, 2);

	assert_int_not_equal(hash, stack_table_hash(&s, 11, 20, 1, 2));
	assert_int_not_equal(hash, stack_table_hash(&s, 10, 21, 1, 2));
	assert_int_not_equal(hash, stack_table_hash(&s, 20, 10, 1, 2));
	assert_int_not_equal(hash, stack_table_hash(&s, 10, 20, 3, 2));
	assert_int_not_equal(hash, stack_table_hash(&s, 10, 20, 2, 1));
	assert_int_not_equal(hash, stack_table_hash(&s, 10, 20, 1, 0));
}

/* A stack of up to 6 of 12 frames, of one of 3 groups, found by hashes. */
static void add_random(struct stack_table *s, uint64_t *seed)
{
	struct stack_table_key key = { .group = (uint32_t)(next_random(seed) % 3) };
	uint64_t path = stack_table_root_path(s, STACK_TABLE_USER_ROOT);
	uint32_t entry;

	for (uint64_t depth = (next_random(seed) % 7); depth; depth--) {
		uint32_t frame = (uint32_t)(next_random(seed) % 12);

		path = stack_table_path(s, path, frame);
		assert_int_equal(stack_table_child_by_path(s, key.user, path, frame, &key.user), 0);
	}
	key.kernel = STACK_TABLE_KERNEL_ROOT;
	assert_int_equal(
		stack_table_add_entry(
			s,
			stack_table_hash(s, path, stack_table_root_path(s, STACK_TABLE_KERNEL_ROOT),
					 key.group, 0),
			&key, &entry),
		0);
	s->entries[entry].sample_count++;
	s->entries[entry].period_sum += 10;
}

/* Each entry of b has, in a, the same frames and the same counts. */
static void assert_same(const struct stack_table *a, const struct stack_table *b)
{
	assert_int_equal(a->node_count, b->node_count);
	assert_int_equal(a->entry_count, b->entry_count);
	for (size_t i = 0; i < b->entry_count; i++) {
		uint32_t at = stack_table_find_entry(a, b->hashes[i]), node, other;

		assert_int_not_equal(at, HASH_INDEX_NONE);
		assert_int_equal(a->entries[at].sample_count, b->entries[i].sample_count);
		assert_int_equal(a->entries[at].period_sum, b->entries[i].period_sum);
		assert_int_equal(a->entries[at].key.group, b->entries[i].key.group);
		node = a->entries[at].key.user;
		other = b->entries[i].key.user;
		for (; other >= STACK_TABLE_FIRST_NODE;
		     node = a->nodes[node].parent, other = b->nodes[other].parent)
			assert_int_equal(a->nodes[node].frame, b->nodes[other].frame);
		assert_int_equal(node, STACK_TABLE_USER_ROOT);
	}
}

static void joined_tables_answer_as_one_would(void **state)
{
	uint64_t seed = 5;
	struct stack_table one, parts[3];

	assert_int_equal(stack_table_init(&one, NULL), 0);
	for (unsigned p = 0; p < 3; p++) {
		uint64_t again = seed;

		assert_int_equal(stack_table_init(&parts[p], &one.key), 0);
		for (unsigned i = 0; i < 20000; i++) {
			add_random(&parts[p], &seed);
			add_random(&one, &again);
		}
	}
	for (unsigned p = 1; p < 3; p++) {
		hash_index_done(
			&parts[p].node_index); /* what is joined need find nothing any more */
		hash_index_done(&parts[p].entry_index);
		assert_int_equal(stack_table_join(&parts[0], &parts[p]), 0);
	}
	assert_same(&parts[0], &one);
	assert_same(&one, &parts[0]);
	for (unsigned p = 0; p < 3; p++)
		stack_table_done(&parts[p]);
	stack_table_done(&one);
}

static void add_sample(struct stack_table *s, uint32_t entry, uint64_t time_ns)
{
	assert_int_equal(vec_reserve(&s->samples, &s->sample_capacity, s->sample_count + 1), 0);
	s->samples[s->sample_count++] =
		(struct stack_table_sample){ .time_ns = time_ns, .period = 1, .entry = entry };
}

static bool is_of_group(const void *group, const struct stack_table_entry *e)
{
	return e->key.group == *(const uint32_t *)group;
}

/* Two entries of group 1 whose frames 5 and 6 get one name, and one of group 2 between them. */
static void samples_follow_entries_that_become_one_and_go(void **state)
{
	const uint32_t frames[] = { 0, 0, 0, 0, 0, 9, 9 }, group = 1;
	struct stack_table from, to;

	assert_int_equal(stack_table_init(&from, NULL), 0);
	assert_int_equal(stack_table_init(&to, NULL), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(count(&from, i == 1 ? 2 : 1,
				       child(&from, STACK_TABLE_USER_ROOT, i ? 5 : 6),
				       STACK_TABLE_KERNEL_ROOT, 1, 1),
				 0);
		add_sample(&from, i, 100 + i);
	}
	/* Numbers of entries in to begin elsewhere. */
	assert_int_equal(
		count(&to, 2, child(&to, STACK_TABLE_USER_ROOT, 4), STACK_TABLE_KERNEL_ROOT, 1, 1),
		0);
	add_sample(&to, 0, 50);
	assert_int_equal(stack_table_merge(&to, &from, frames, NULL, NULL), 0);
	assert_int_equal(to.sample_count, 4);
	assert_int_equal(to.samples[1].entry, to.samples[3].entry);
	assert_int_not_equal(to.samples[2].entry, to.samples[0].entry);
	assert_int_equal(to.entries[to.samples[3].entry].sample_count, 2);
	assert_int_equal(stack_table_keep(&to, is_of_group, &group), 0);
	assert_int_equal(to.entry_count, 1);
	assert_int_equal(to.sample_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(to.samples[i].entry, 0);
		assert_int_equal(to.samples[i].time_ns, 100 + 2 * i);
	}
	stack_table_done(&from);
	stack_table_done(&to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_paths_are_one_node),
		cmocka_unit_test(entries_are_found_by_the_complete_hash),
		cmocka_unit_test(hashes_differ_where_stacks_do),
		cmocka_unit_test(trees_are_apart),
		cmocka_unit_test(equal_stacks_are_summed),
		cmocka_unit_test(merging_gives_frames_their_new_numbers),
		cmocka_unit_test(merging_nothing_changes_nothing),
		cmocka_unit_test(parents_come_first),
		cmocka_unit_test(joined_tables_answer_as_one_would),
		cmocka_unit_test(samples_follow_entries_that_become_one_and_go),
	};

	return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}
