/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/fold/stack_counter.h"
#include "tests/unit/sidefacts.h"

/* /bin/a at 0x1000 in 10 and at 0x5000 in 11, comms "ten" and "eleven"; a BPF program. */
struct fixture {
	struct string_table *names;
	struct process_model *m;
	struct stack_counter *s;
};

static void comm(struct process_model *m, uint32_t pid, const char *name)
{
	struct perfrec_side side = {
		.type = PERF_RECORD_COMM,
		.comm = { .pid = pid, .tid = pid, .comm = name },
	};

	assert_int_equal(process_model_add(m, &side), 0);
}

static struct fixture setup(void)
{
	struct fixture f;

	assert_int_equal(string_table_new(&f.names), 0);
	assert_int_equal(process_model_new(f.names, &f.m), 0);
	comm(f.m, 10, "ten");
	comm(f.m, 11, "eleven");
	sidefacts_map(f.m, 10, 0x1000, 0x2000, "/bin/a");
	sidefacts_map(f.m, 11, 0x5000, 0x6000, "/bin/a");
	sidefacts_bpf(f.m);
	assert_int_equal(process_model_seal(f.m), 0);
	assert_int_equal(stack_counter_new(f.m, NULL, NULL, false, &f.s), 0);
	return f;
}

static void teardown(struct fixture *f)
{
	stack_counter_free(f->s);
	process_model_free(f->m);
	string_table_free(f->names);
}

static void take_at(struct stack_counter *s, uint32_t pid, uint8_t cpumode, uint64_t ip,
		    const uint64_t *chain, size_t count)
{
	struct perf_sample sample = {
		.pid = pid,
		.tid = pid,
		.time_ns = 5,
		.cpumode = cpumode,
		.ip = ip,
		.period = 10,
		.chain = (const uint8_t *)chain,
		.chain_count = count,
	};
	struct process_model_where where;

	stack_counter_where(s, &sample, &where);
	assert_int_equal(stack_counter_put(s, &sample, &where, NULL), 0);
	assert_int_equal(stack_counter_flush(s), 0);
}

static void take(struct stack_counter *s, uint32_t pid, uint8_t cpumode, const uint64_t *chain,
		 size_t count)
{
	take_at(s, pid, cpumode, 0x1234, chain, count);
}

#define TAKE(s, pid, ...)                                                      \
	take(s, pid, PERF_RECORD_MISC_USER, (const uint64_t[]){ __VA_ARGS__ }, \
	     sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

static void print_path(const struct stack_counter *s, const struct stack_table *st, uint32_t node,
		       char *out)
{
	static const char *const kinds[] = { "file", "k", "bpf", "unmapped", "guest", "hv" };
	const struct location *p;
	char frame[64];

	if (node < STACK_TABLE_FIRST_NODE)
		return;
	print_path(s, st, st->nodes[node].parent, out);
	p = &stack_counter_places(s)->list[st->nodes[node].frame];
	snprintf(frame, sizeof(frame), " %s:%llx%s", kinds[p->kind], (unsigned long long)p->offset,
		 p->is_return ? "r" : "");
	strcat(out, frame);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* All stacks as sorted text: "comm user... | kernel... =count". */
static const char *dump(const struct fixture *f, const struct stack_counter *s)
{
	static char text[600000], lines[4000][1500];
	const struct stack_table *st = stack_counter_stacks(s);

	for (size_t i = 0; i < st->entry_count; i++) {
		const struct stack_table_entry *e = &st->entries[i];

		assert_true(i < 4000);
		if (e->key.group & STACK_COUNTER_TID_GROUP)
			snprintf(lines[i], sizeof(lines[i]), ":%u",
				 e->key.group & ~STACK_COUNTER_TID_GROUP);
		else
			snprintf(lines[i], sizeof(lines[i]), "%s",
				 string_table_text(f->names, e->key.group));
		print_path(s, st, e->key.user, lines[i]);
		strcat(lines[i], " |");
		print_path(s, st, e->key.kernel, lines[i]);
		sprintf(lines[i] + strlen(lines[i]), " =%llu", (unsigned long long)e->sample_count);
	}
	qsort(lines, st->entry_count, sizeof(lines[0]), by_text);
	text[0] = '\0';
	for (size_t i = 0; i < st->entry_count; i++) {
		assert_true(strlen(text) + 1510 < sizeof(text));
		strcat(strcat(text, lines[i]), "\n");
	}
	return text;
}

static void leaf_is_exact_and_callers_are_returns(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_KERNEL, 0xf001, 0xf002, PERF_CONTEXT_USER, 0x1001, 0x1002,
	     0x1003);
	assert_string_equal(dump(&f, f.s), "ten file:3r file:2r file:1 | k:f002r k:f001 =1\n");
	teardown(&f);
}

static void processes_share_the_places_of_a_file(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1010);
	TAKE(f.s, 11, PERF_CONTEXT_USER, 0x5010);
	assert_int_equal(stack_counter_places(f.s)->count, 1);
	assert_string_equal(dump(&f, f.s), "eleven file:10 | =1\nten file:10 | =1\n");
	teardown(&f);
}

static void call_that_ends_its_mapping_belongs_to_it(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x2000, 0x2000);
	assert_string_equal(dump(&f, f.s), "ten file:1000r unmapped:0 | =1\n");
	teardown(&f);
}

static void unmapped_addresses_are_one_place(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1010, 0x9999);
	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1010, 0x8888);
	assert_string_equal(dump(&f, f.s), "ten unmapped:0 file:10 | =2\n");
	teardown(&f);
}

static void sample_without_chain_keeps_its_ip(void **state)
{
	struct fixture f = setup();

	take(f.s, 10, PERF_RECORD_MISC_USER, NULL, 0);
	take(f.s, 10, PERF_RECORD_MISC_KERNEL, NULL, 0);
	assert_string_equal(dump(&f, f.s), "ten file:234 | =1\nten | k:1234 =1\n");
	assert_int_equal(stack_counter_counts(f.s)->without_chain, 2);
	teardown(&f);
}

static void chain_of_markers_alone_keeps_the_ip(void **state)
{
	static const uint64_t markers[] = { PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER };
	struct fixture f = setup();

	take(f.s, 10, PERF_RECORD_MISC_USER, markers, 2);
	assert_string_equal(dump(&f, f.s), "ten file:234 | =1\n");
	take_at(f.s, 10, PERF_RECORD_MISC_USER, 0x1300, markers,
		2); /* the same chain, not the same stack */
	assert_string_equal(dump(&f, f.s), "ten file:234 | =1\nten file:300 | =1\n");
	assert_int_equal(stack_counter_counts(f.s)->without_chain, 2);
	teardown(&f);
}

static void chain_without_markers_has_the_mode_of_its_record(void **state)
{
	struct fixture f = setup();
	const uint64_t chain[] = { 0xf001, 0xf002 };

	take(f.s, 10, PERF_RECORD_MISC_KERNEL, chain, 2);
	assert_string_equal(dump(&f, f.s), "ten | k:f002r k:f001 =1\n");
	teardown(&f);
}

static void bpf_program_is_one_place(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_KERNEL, 0xffff0010, 0xf002);
	TAKE(f.s, 10, PERF_CONTEXT_KERNEL, 0xffff0020, 0xf002);
	assert_string_equal(dump(&f, f.s), "ten | k:f002r bpf:0 =2\n");
	teardown(&f);
}

static void unknown_task_is_counted_by_its_tid(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 77, PERF_CONTEXT_USER, 0x1010);
	assert_string_equal(dump(&f, f.s), ":77 unmapped:0 | =1\n");
	teardown(&f);
}

static void deferred_cookie_is_no_frame(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_KERNEL, 0xf001, (uint64_t)-640, 0x4711);
	TAKE(f.s, 10, PERF_CONTEXT_KERNEL, 0xf001, (uint64_t)-640); /* the cookie is truncated */
	assert_string_equal(dump(&f, f.s), "ten | k:f001 =2\n");
	assert_int_equal(stack_counter_counts(f.s)->deferred, 2);
	teardown(&f);
}

static void unknown_marker_is_stepped_over(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_KERNEL, 0xf001, (uint64_t)-3000, 0xf002, UINT64_MAX);
	assert_string_equal(dump(&f, f.s), "ten | k:f002 k:f001 =1\n");
	assert_int_equal(stack_counter_counts(f.s)->unknown_contexts, 2);
	teardown(&f);
}

static void guest_and_hypervisor_frames_stay_apart(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_GUEST_KERNEL, 0x1010, PERF_CONTEXT_HV, 0x1010, PERF_CONTEXT_USER,
	     0x1010);
	assert_string_equal(dump(&f, f.s), "ten file:10 | hv:0 guest:0 =1\n");
	teardown(&f);
}

static void kernel_frames_behind_user_frames_stay_in_order(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1010, PERF_CONTEXT_KERNEL, 0xf001);
	TAKE(f.s, 10, PERF_CONTEXT_KERNEL, 0xf001);
	assert_string_equal(dump(&f, f.s), "ten k:f001 file:10 | =1\nten | k:f001 =1\n");
	teardown(&f);
}

static void too_many_contexts_are_counted(void **state)
{
	struct fixture f = setup();
	uint64_t chain[40];

	for (unsigned i = 0; i < 40; i += 2) {
		chain[i] = i % 4 ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
		chain[i + 1] = 0x1010;
	}
	take(f.s, 10, PERF_RECORD_MISC_USER, chain, 40);
	assert_int_equal(stack_counter_counts(f.s)->samples, 1);
	assert_int_equal(stack_counter_counts(f.s)->frames_left_out, 12);
	teardown(&f);
}

/* The callers of the last stack are remembered, but not those of the other tree, nor as a leaf. */
static void last_stack_of_the_other_tree_is_not_followed(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1010, PERF_CONTEXT_KERNEL, 0xf001, 0xf002, 0xf003);
	TAKE(f.s, 10, PERF_CONTEXT_KERNEL, 0xf009, 0xf002, 0xf003);
	TAKE(f.s, 10, PERF_CONTEXT_KERNEL, 0xf003);
	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1010, PERF_CONTEXT_KERNEL, 0xf002, 0xf003);
	assert_string_equal(dump(&f, f.s), "ten k:f003r k:f002 file:10 | =1\n"
					   "ten k:f003r k:f002r k:f001 file:10 | =1\n"
					   "ten | k:f003 =1\n"
					   "ten | k:f003r k:f002r k:f009 =1\n");
	teardown(&f);
}

/* Long stacks of three processes that begin alike: one sampler, and one for each sample alone. */
static void stacks_before_change_nothing(void **state)
{
	static const uint32_t pids[] = { 10, 11, 77 };
	uint64_t chain[70] = { PERF_CONTEXT_USER };
	struct fixture f = setup();
	struct stack_counter *sum, *alone;
	char *want;

	assert_int_equal(stack_counter_new(f.m, NULL, NULL, true, &sum), 0);
	srand(3);
	for (unsigned i = 0; i < 300; i++) {
		size_t changed = (size_t)(rand() % 69), count = 2 + (size_t)(rand() % 68);

		for (size_t k = 70 - changed; k < 70; k++) /* innermost first: the end stays */
			chain[70 - k] = 0x1000 + (uint64_t)(rand() % 0x40);
		take(f.s, pids[i % 3], PERF_RECORD_MISC_USER, chain, count);
		assert_int_equal(stack_counter_new(f.m, NULL, NULL, true, &alone), 0);
		take(alone, pids[i % 3], PERF_RECORD_MISC_USER, chain, count);
		assert_int_equal(stack_counter_join(sum, alone), 0);
	}
	assert_int_equal(stack_counter_settle(sum), 0);
	want = strdup(dump(&f, sum));
	assert_non_null(want);
	assert_string_equal(dump(&f, f.s), want);
	free(want);
	stack_counter_free(sum);
	teardown(&f);
}

/* A leaf and a caller at one address, deeper and shallower chains: a look-up of complete stacks must not mix them. */
static void repeated_prefixes_give_the_same_as_fresh_ones(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1001, 0x1002, 0x1003);
	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1002, 0x1003);
	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1003);
	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1000, 0x1001, 0x1002, 0x1003);
	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1001, 0x1002, 0x1003);
	assert_string_equal(dump(&f, f.s), "ten file:3 | =1\n"
					   "ten file:3r file:2 | =1\n"
					   "ten file:3r file:2r file:1 | =2\n"
					   "ten file:3r file:2r file:1r file:0 | =1\n");
	teardown(&f);
}

static void random_sample(struct stack_counter *s)
{
	uint64_t chain[60];
	size_t n = 0, depth = (size_t)rand() % 20;

	if (rand() % 2) {
		chain[n++] = PERF_CONTEXT_KERNEL;
		for (unsigned i = 0, k = 1 + (unsigned)rand() % 3; i < k; i++)
			chain[n++] = 0xf000 + (uint64_t)(rand() % 2);
	}
	chain[n++] = PERF_CONTEXT_USER;
	for (size_t i = 0; i < depth; i++)
		chain[n++] = 0x1000 + (i + 4 < depth ? depth - i : (uint64_t)rand() % 2);
	take(s, 10 + (uint32_t)rand() % 3, PERF_RECORD_MISC_USER, chain, n);
}

static void merged_samplers_count_as_one_would(void **state)
{
	enum { PARTS = 5, SAMPLES = 2000 };
	struct fixture f = setup();
	struct stack_counter *parts[PARTS];
	char *one;

	srand(7);
	for (unsigned i = 0; i < SAMPLES; i++)
		random_sample(f.s);
	one = strdup(dump(&f, f.s));
	srand(7);
	for (unsigned i = 0; i < PARTS; i++)
		assert_int_equal(stack_counter_new(f.m, NULL, NULL, i % 2, &parts[i]), 0);
	for (unsigned i = 0; i < SAMPLES; i++)
		random_sample(parts[i * PARTS / SAMPLES]);
	for (unsigned i = 1; i < PARTS; i++)
		assert_int_equal(stack_counter_join(parts[0], parts[i]), 0);
	assert_int_equal(stack_counter_finish(parts[0]), 0);
	assert_int_equal(stack_counter_settle(parts[0]), 0);
	assert_string_equal(dump(&f, parts[0]), one);
	assert_int_equal(stack_counter_counts(parts[0])->samples, SAMPLES);
	stack_counter_free(parts[0]);
	free(one);
	teardown(&f);
}

/* ---- stacks that a hash without a key would take for one ---- */

#define PUBLIC_WORD 0x9e3779b97f4a7c15ULL

/* The sum that the second and fourth word of a chain were once hashed by is the same for both chains. */
static void chains_forged_for_a_public_hash_are_two_stacks(void **state)
{
	struct fixture f = setup();

	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1001, 0x1002, 0x1003);
	TAKE(f.s, 10, PERF_CONTEXT_USER, 0x1002, 0x1002, 0x1003 - PUBLIC_WORD);
	assert_string_equal(dump(&f, f.s), "ten file:3r file:2r file:1 | =1\n"
					   "ten unmapped:0 file:2r file:2 | =1\n");
	teardown(&f);
}

static void map_of(struct process_model *m, uint64_t start, const char *path,
		   uint64_t file_off_bytes)
{
	struct perfrec_side side = {
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.mmap = { .pid = 10,
			  .start = start,
			  .size_bytes = 0x1000,
			  .file_off_bytes = file_off_bytes,
			  .path = path },
	};

	assert_int_equal(process_model_add(m, &side), 0);
}

/* An offset that makes a factor of a hash with public constants 0, whatever the file is. */
static void offsets_forged_for_a_public_hash_are_two_places(void **state)
{
	struct fixture f = { 0 };
	const struct stack_table *st;
	struct stack_counter *s;

	assert_int_equal(string_table_new(&f.names), 0);
	assert_int_equal(process_model_new(f.names, &f.m), 0);
	comm(f.m, 10, "ten");
	map_of(f.m, 0x10000, "/bin/a", PUBLIC_WORD - 0x10);
	map_of(f.m, 0x20000, "/bin/b", PUBLIC_WORD - 0x10);
	assert_int_equal(process_model_seal(f.m), 0);
	assert_int_equal(stack_counter_new(f.m, NULL, NULL, false, &s), 0);
	f.s = s;
	TAKE(s, 10, PERF_CONTEXT_USER, 0x10010);
	TAKE(s, 10, PERF_CONTEXT_USER, 0x20010);
	st = stack_counter_stacks(s);
	assert_int_equal(st->entry_count, 2);
	assert_int_equal(st->node_count, STACK_TABLE_FIRST_NODE + 2);
	teardown(&f);
}

static void models_hash_stacks_by_keys_of_their_own(void **state)
{
	struct fixture a = setup(), b = setup();

	TAKE(a.s, 10, PERF_CONTEXT_USER, 0x1001);
	TAKE(b.s, 10, PERF_CONTEXT_USER, 0x1001);
	assert_int_not_equal(stack_counter_stacks(a.s)->hashes[0],
			     stack_counter_stacks(b.s)->hashes[0]);
	assert_int_not_equal(stack_counter_stacks(a.s)->paths[STACK_TABLE_FIRST_NODE],
			     stack_counter_stacks(b.s)->paths[STACK_TABLE_FIRST_NODE]);
	assert_string_equal(dump(&a, a.s), "ten file:1 | =1\n");
	assert_string_equal(dump(&b, b.s), "ten file:1 | =1\n");
	teardown(&a);
	teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaf_is_exact_and_callers_are_returns),
		cmocka_unit_test(processes_share_the_places_of_a_file),
		cmocka_unit_test(call_that_ends_its_mapping_belongs_to_it),
		cmocka_unit_test(unmapped_addresses_are_one_place),
		cmocka_unit_test(sample_without_chain_keeps_its_ip),
		cmocka_unit_test(chain_of_markers_alone_keeps_the_ip),
		cmocka_unit_test(chain_without_markers_has_the_mode_of_its_record),
		cmocka_unit_test(bpf_program_is_one_place),
		cmocka_unit_test(unknown_task_is_counted_by_its_tid),
		cmocka_unit_test(deferred_cookie_is_no_frame),
		cmocka_unit_test(unknown_marker_is_stepped_over),
		cmocka_unit_test(guest_and_hypervisor_frames_stay_apart),
		cmocka_unit_test(kernel_frames_behind_user_frames_stay_in_order),
		cmocka_unit_test(last_stack_of_the_other_tree_is_not_followed),
		cmocka_unit_test(stacks_before_change_nothing),
		cmocka_unit_test(too_many_contexts_are_counted),
		cmocka_unit_test(repeated_prefixes_give_the_same_as_fresh_ones),
		cmocka_unit_test(merged_samplers_count_as_one_would),
		cmocka_unit_test(chains_forged_for_a_public_hash_are_two_stacks),
		cmocka_unit_test(offsets_forged_for_a_public_hash_are_two_places),
		cmocka_unit_test(models_hash_stacks_by_keys_of_their_own),
	};

	return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
