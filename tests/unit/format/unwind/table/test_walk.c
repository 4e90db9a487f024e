/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Walks of copies of our own stack, with libgcc's unwinder as the witness; and of made-up ones. */
#include <execinfo.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cmocka.h>

#include "format/unwind/table/walk.h"
#include "tests/lib/table_of_file.h"

#define FRAMES     256
#define FILES      32
#define COPY_BYTES 65536

struct mapped {
	uint64_t start, end, bias;
	struct module_table *table;
};

/* This process: the executable mappings of files, and their tables. */
struct self {
	struct rule_table *rules;
	struct mapped maps[FILES];
	size_t count;
	uint64_t stack_end;
	bool no_tables;
	enum unwind_why lacks;
};

static int self_setup(void **state)
{
	struct self *s = calloc(1, sizeof(*s));
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4352], perm[5], path[4097];
	uint64_t start, end, off;

	assert_non_null(s);
	assert_non_null(f);
	assert_int_equal(rule_table_new(&s->rules), 0);
	while (fgets(line, sizeof(line), f)) {
		struct mapped *m = &s->maps[s->count];

		path[0] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %4096s", &start,
			   &end, perm, &off, path) < 4)
			continue;
		if (!strcmp(path, "[stack]"))
			s->stack_end = end;
		if (perm[2] != 'x' || path[0] != '/' || s->count == FILES)
			continue;
		*m = (struct mapped){ .start = start, .end = end };
		if (!table_of_file(path, s->rules, &m->table, NULL) &&
		    !module_table_bias(m->table, start, off, &m->bias))
			s->count++;
	}
	fclose(f);
	assert_true(s->count >= 2); /* the test and libc */
	*state = s;
	return 0;
}

static int self_teardown(void **state)
{
	struct self *s = *state;

	for (size_t i = 0; i < s->count; i++)
		module_table_free(s->maps[i].table);
	rule_table_free(s->rules);
	free(s);
	return 0;
}

static void lookup(void *ctx, uint64_t pc, struct walk_stack_code *out)
{
	const struct self *s = ctx;

	for (size_t i = 0; i < s->count; i++) {
		if (pc < s->maps[i].start || pc >= s->maps[i].end)
			continue;
		out->executable = true;
		out->lacks = s->lacks;
		out->table = s->no_tables ? NULL : s->maps[i].table;
		out->bias = s->maps[i].bias;
	}
}

struct walked {
	uint64_t frames[FRAMES];
	size_t count;
	struct stack_result info;
};

/* Copies copy_bytes of our stack, walks the copy, and asks libgcc the same. */
static __attribute__((noinline)) void walk_here(struct self *s, size_t copy_bytes, size_t frame_max,
						struct walked *out, void **witness,
						int *witness_count)
{
	static uint8_t copy_of_stack[COPY_BYTES];
	struct walk_stack walk = {
		.arch = UNWIND_HERE, .lookup = lookup, .ctx = s, .frame_max = frame_max
	};
	struct unwind_copy copy;
	struct unwind_regs regs;
	uint64_t base, pc, sp, fp;
	struct iovec to = { .iov_base = copy_of_stack }, from;

	*witness_count = backtrace(witness, FRAMES);
#ifdef __x86_64__
	__asm__ volatile("lea 0(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2"
			 : "=&r"(pc), "=&r"(sp), "=&r"(fp));
#else
	__asm__ volatile("adr %0, .; mov %1, sp; mov %2, x29" : "=&r"(pc), "=&r"(sp), "=&r"(fp));
#endif
	base = sp - 128;
	if (copy_bytes > s->stack_end - base)
		copy_bytes = s->stack_end - base;
	/* By the kernel: sanitizers would stop us from reading what is no variable of ours. */
	to.iov_len = copy_bytes;
	from = (struct iovec){ .iov_base = (void *)base, .iov_len = copy_bytes };
	assert_int_equal(process_vm_readv(getpid(), &to, 1, &from, 1, 0), (ssize_t)copy_bytes);
	unwind_copy_init(&copy, copy_of_stack, copy_bytes, base, NULL, 0);
	unwind_regs_leaf(&regs, pc, sp, fp, 0);
	out->count = walk_stack_run(&walk, &regs, &copy.mem, out->frames, &out->info);
}

static __attribute__((noinline)) int deeper(int depth, struct self *s, size_t copy_bytes,
					    size_t frame_max, struct walked *out, void **witness,
					    int *witness_count)
{
	volatile char pad[64];

	pad[depth % 64] = (char)depth;
	if (depth)
		return deeper(depth - 1, s, copy_bytes, frame_max, out, witness, witness_count) +
		       pad[depth % 64];
	walk_here(s, copy_bytes, frame_max, out, witness, witness_count);
	return pad[0];
}

/* A sanitizer's backtrace() sees itself too: how many frames the witness has inside of ours. */
static int inner_witnesses(const struct walked *w, void *const *witness)
{
	int skip = 0;

	while (skip < 2 && w->frames[1] != (uint64_t)witness[skip + 1])
		skip++;
	return skip;
}

static void complete_stack_is_what_libgcc_sees(void **state)
{
	void *witness[FRAMES];
	struct walked w;
	int n, skip;

	deeper(20, *state, COPY_BYTES, FRAMES, &w, witness, &n);
	assert_true(n > 22);
	assert_int_equal(w.info.why, UNWIND_COMPLETE);
	assert_int_equal(w.info.how, STACK_RESULT_CFI);
	assert_int_equal(w.info.flags, 0);
	skip = inner_witnesses(&w, witness);
	assert_int_equal(w.count, (size_t)(n - skip));
	for (int i = 1; i < n - skip; i++)
		assert_int_equal(w.frames[i], (uint64_t)witness[i + skip]);
}

static void cut_copy_gives_what_it_holds(void **state)
{
	void *witness[FRAMES];
	struct walked w;
	int n, skip;

	deeper(20, *state, 2048, FRAMES, &w, witness, &n);
	assert_int_equal(w.info.why, UNWIND_READ_FAULT);
	assert_true(w.count > 3 && w.count < (size_t)n);
	skip = inner_witnesses(&w, witness);
	for (size_t i = 1; i < w.count; i++)
		assert_int_equal(w.frames[i], (uint64_t)witness[i + (size_t)skip]);
}

static void frame_limit_holds_and_is_reported(void **state)
{
	void *witness[FRAMES];
	struct walked w;
	int n;

	deeper(20, *state, COPY_BYTES, 7, &w, witness, &n);
	assert_int_equal(w.count, 7);
	assert_int_equal(w.info.why, UNWIND_MAX_FRAMES);
	assert_int_equal(w.info.flags, STACK_RESULT_CUT);
}

/* A made-up stack at 0x1000 of words, and code everywhere from 0x400000 on. */
struct made_up {
	const uint64_t *words;
	size_t word_count;
	uint64_t fp;
	enum unwind_why lacks;
};

static void code_from_4m(void *ctx, uint64_t pc, struct walk_stack_code *out)
{
	const struct made_up *m = ctx;

	out->executable = pc >= 0x400000 && pc < 0x500000;
	out->lacks = m->lacks;
}

static struct walked walk_made_up(uint64_t pc, struct made_up m)
{
	struct walk_stack walk = {
		.arch = UNWIND_X86_64, .lookup = code_from_4m, .ctx = &m, .frame_max = FRAMES
	};
	struct unwind_copy copy;
	struct unwind_regs regs;
	struct walked w;

	unwind_copy_init(&copy, m.words, m.word_count * sizeof(*m.words), 0x10000, NULL, 0);
	unwind_regs_leaf(&regs, pc, 0x10000, m.fp, 0);
	w.count = walk_stack_run(&walk, &regs, &copy.mem, w.frames, &w.info);
	return w;
}

static void code_without_tables_goes_by_frame_pointer(void **state)
{
	const uint64_t words[] = { 0x10020, 0x400100, 0, 0, 8, 0x400200 };
	struct walked w = walk_made_up(0x400000, (struct made_up){ words, 6, 0x10000, UNWIND_OK });

	assert_int_equal(w.count, 3);
	assert_int_equal(w.frames[1], 0x400100);
	assert_int_equal(w.frames[2], 0x400200);
	assert_int_equal(w.info.how, STACK_RESULT_FP);
	assert_int_equal(w.info.why, UNWIND_NO_CFI);
}

static void chain_of_frame_pointers_ends_with_0(void **state)
{
	const uint64_t words[] = { 0x10010, 0x400100, 0, 0x400200 };
	struct walked w = walk_made_up(0x400000, (struct made_up){ words, 4, 0x10000, UNWIND_OK });

	assert_int_equal(w.count, 3);
	assert_int_equal(w.info.how, STACK_RESULT_FP);
	assert_int_equal(w.info.why, UNWIND_COMPLETE);
	/* Without a chain it gives nothing. */
	w = walk_made_up(0x400000, (struct made_up){ words, 4, 0, UNWIND_OK });
	assert_int_equal(w.count, 1);
	assert_int_equal(w.info.why, UNWIND_NO_CFI);
	/* Nor where there will be a table. */
	w = walk_made_up(0x400000, (struct made_up){ words, 4, 0x10000, UNWIND_NO_TABLE });
	assert_int_equal(w.info.why, UNWIND_NO_TABLE);
	w = walk_made_up(0x400000, (struct made_up){ words, 4, 0x10000, UNWIND_NO_ROOM });
	assert_int_equal(w.info.why, UNWIND_NO_ROOM);
}

static void file_that_could_not_be_opened_is_reported(void **state)
{
	const uint64_t words[] = { 0x10010, 0x400100, 0, 0x400200 };
	struct walked w = walk_made_up(0x400000, (struct made_up){ words, 4, 0, UNWIND_NO_FILE });

	assert_int_equal(w.count, 1);
	assert_int_equal(w.info.why, UNWIND_NO_FILE);
	/* Its frame pointers are as good as any. */
	w = walk_made_up(0x400000, (struct made_up){ words, 4, 0x10000, UNWIND_NO_FILE });
	assert_int_equal(w.count, 3);
	assert_int_equal(w.info.why, UNWIND_COMPLETE);
}

static void unmapped_leaf_stays_and_has_the_reason(void **state)
{
	const uint64_t words[] = { 0x10020, 0x400100 };
	struct walked w = walk_made_up(0x200000, (struct made_up){ words, 2, 0x10000, UNWIND_OK });

	assert_int_equal(w.count, 1);
	assert_int_equal(w.frames[0], 0x200000);
	assert_int_equal(w.info.how, STACK_RESULT_PC);
	assert_int_equal(w.info.why, UNWIND_NO_MAPPING);
}

static void frame_pointer_to_no_code_is_not_believed(void **state)
{
	const uint64_t words[] = { 0x10020, 0x7000000 };
	struct walked w = walk_made_up(0x400000, (struct made_up){ words, 2, 0x10000, UNWIND_OK });

	assert_int_equal(w.count, 1);
	assert_int_equal(w.info.how, STACK_RESULT_PC);
	assert_int_equal(w.info.why, UNWIND_NO_CFI);
}

static void frame_pointer_in_a_circle_ends(void **state)
{
	const uint64_t words[] = { 0x10000, 0x400100 };
	struct walked w = walk_made_up(0x400000, (struct made_up){ words, 2, 0x10000, UNWIND_OK });

	assert_int_equal(w.count, 2);
	assert_int_equal(w.info.why, UNWIND_NO_CFI);
}

static void table_to_come_is_the_reason(void **state)
{
	const uint64_t words[] = { 0, 0 };
	struct walked w = walk_made_up(0x400000, (struct made_up){ words, 2, 0, UNWIND_NO_TABLE });

	assert_int_equal(w.count, 1);
	assert_int_equal(w.info.why, UNWIND_NO_TABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(complete_stack_is_what_libgcc_sees),
		cmocka_unit_test(cut_copy_gives_what_it_holds),
		cmocka_unit_test(frame_limit_holds_and_is_reported),
		cmocka_unit_test(code_without_tables_goes_by_frame_pointer),
		cmocka_unit_test(chain_of_frame_pointers_ends_with_0),
		cmocka_unit_test(file_that_could_not_be_opened_is_reported),
		cmocka_unit_test(unmapped_leaf_stays_and_has_the_reason),
		cmocka_unit_test(frame_pointer_to_no_code_is_not_believed),
		cmocka_unit_test(frame_pointer_in_a_circle_ends),
		cmocka_unit_test(table_to_come_is_the_reason),
	};

	return cmocka_run_group_tests(tests, self_setup, self_teardown);
}
