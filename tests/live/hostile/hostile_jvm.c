/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * hostile_jvm HOW SECONDS - a program that looks like a JVM to a recorder, and whose structs are wrong
 *
 * Its compiled method Fake.run has Fake.inner inlined, which calls Fake.spin, all of Fake.java.  HOW: good, nothing is wrong; hops,
 * the map of segments leads from one segment to the one before without an end; used, the blocks are not in use; pointers, all
 * pointers lead to where there is no memory, or the kernel's; lengths, counts and lengths are the largest ones; deep, the stack is
 * full of one method's own return addresses; still, frames have no size; scopes, that of Fake.inner has a method that is not there;
 * loop, it is inlined in itself; other, in a method that is not the compiled one; again, after a half of the time there is another
 * compilation of Fake.run at the same place, with Fake.later inlined.  Only SIGALRM ends it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define JAVA 17
#include "tests/lib/fixtures/jvm.c"

#define HEAP_BYTES  (1 << 18)
#define SHIFT       7
#define BLOCK_AT    (1 << 17)         /* far from the beginning: behind more hops than one */
#define RUN_AT      (BLOCK_AT + 4096) /* the block of Fake.run */
#define BLOB_BYTES  4000
#define CODE_AT     128
#define TABLES_AT   256
#define STACK_WORDS 65536
#define NOWHERE     0xffff888000000040ULL

struct code_heap {
	char *low, *high, *map_low, *map_high;
	int shift;
};

struct code_heaps {
	int count;
	struct code_heap **list;
};

struct symbol {
	uint32_t hash;
	uint16_t size_bytes;
	char body[10];
};

static struct symbol names[] = {
	{ 0, 4, "spin" }, { 0, 3, "run" }, { 0, 5, "inner" }, { 0, 5, "later" }
};
static struct symbol fake = { 0, 4, "Fake" }, file = { 0, 9, "Fake.java" };
enum { SPIN, RUN, INNER, LATER, METHODS };

static struct {
	uint64_t head;
	struct symbol *name;
} klass = { 0, &fake };

static struct {
	uint64_t head;
	int count, zero;
	void *holder;
	uint16_t file, pad[3];
	void *entries[6]; /* none at 0 */
} pool = { 0,
	   6,
	   0,
	   &klass,
	   5,
	   { 0 },
	   { NULL, &names[SPIN], &names[RUN], &names[INNER], &names[LATER], &file } };

struct constants {
	uint64_t head;
	void *pool;
	uint16_t name, code_bytes;
	uint32_t words;
	uint16_t flags, pad[3];
	uint8_t code[8];
	uint8_t lines
		[8]; /* of bytecodes 0 and 3: each method has lines 10 and 13 and 20 more than the one before */
};

#define CONSTANTS(i)                                                \
	{                                                           \
		0, &pool, (i) + 1, 8, 6, 1, { 0 }, { 0 },           \
		{                                                   \
			0xff, 0, (10 + 20 * (i)) * 2, 3 << 3 | 3, 0 \
		}                                                   \
	}
static struct constants constants[] = { CONSTANTS(SPIN), CONSTANTS(RUN), CONSTANTS(INNER),
					CONSTANTS(LATER) };

static struct {
	uint64_t head;
	void *constants;
} methods[] = { { 0, &constants[SPIN] },
		{ 0, &constants[RUN] },
		{ 0, &constants[INNER] },
		{ 0, &constants[LATER] } };

/* As vm_structs has it; offsets of tables count from head. */
struct block {
	uint64_t size_bytes, used;
	uint64_t head;
	const char *name;
	uint32_t blob_bytes, zero;
	char *code;
	int frame_words, complete;
	void *method;
	int id, pad;
	uint8_t *scopes;
	int descs, descs_end, metadata;
};

/* The tables of Fake.run lie behind its code. */
struct tables {
	struct {
		int pc, scope, objects, flags;
	} descs[3];
	void *metadata[2];
	uint8_t scopes[16];
};

#define RUN_RETURN 10 /* where Fake.spin returns to */

static uint8_t segments[HEAP_BYTES >> SHIFT];

/* push %rbp; sub $16,%rsp; jmp to itself; the other one calls Fake.spin, 4096 bytes before it. */
static const uint8_t spin_code[] = { 0x55, 0x48, 0x83, 0xec, 0x10, 0xeb, 0xfe };
static const uint8_t run_code[] = { 0x55, 0x48, 0x83, 0xec, 0x10, 0xe8, 0xf6, 0xef, 0xff, 0xff };

/* Fake.inner, at its bytecode 3, in Fake.run, at 5. */
static const struct tables good_tables = {
	.descs = { { -1, 0, 0, 0 }, { RUN_RETURN, 4, 0, 0 }, { INT32_MAX, 0, 0, 0 } },
	.metadata = { &methods[RUN], &methods[INNER] },
	.scopes = { 0, 0, 1, 6, 1, 2, 4 },
};

static void break_tables(const char *how, struct tables *t)
{
	if (!strcmp(how, "scopes"))
		t->scopes[5] = 9;
	if (!strcmp(how, "loop"))
		t->scopes[4] = 4;
	if (!strcmp(how, "other"))
		t->scopes[2] = 2;
}

static void break_structs(const char *how, struct block *b)
{
	if (!strcmp(how, "used"))
		b->used = 2;
	if (!strcmp(how, "still"))
		b->frame_words = 0;
	if (!strcmp(how, "pointers"))
		b->name = (const char *)8;
	if (!strcmp(how, "lengths")) {
		b->size_bytes = 1ULL << 63;
		b->blob_bytes = UINT32_MAX;
		b->frame_words = INT32_MAX;
	}
}

static void break_methods(const char *how)
{
	if (!strcmp(how, "hops"))
		memset(segments, 1, sizeof(segments));
	for (size_t i = 0; i < METHODS; i++) {
		if (!strcmp(how, "pointers"))
			methods[i].constants = (void *)NOWHERE;
		if (!strcmp(how, "lengths")) {
			names[i].size_bytes = UINT16_MAX;
			constants[i].name = UINT16_MAX;
			constants[i].words = UINT32_MAX;
		}
	}
	if (!strcmp(how, "lengths"))
		pool.count = -1;
}

static struct block *make_block(char *memory, size_t at, const uint8_t *code, size_t code_bytes,
				void *method)
{
	struct block *b = (void *)(memory + at);

	for (size_t i = at >> SHIFT; i < sizeof(segments); i++)
		segments[i] = (uint8_t)(i - (at >> SHIFT));
	*b = (struct block){ .size_bytes = 4096,
			     .used = 1,
			     .name = "nmethod",
			     .blob_bytes = BLOB_BYTES,
			     .code = memory + at + CODE_AT,
			     .frame_words = 4,
			     .complete = 5,
			     .method = method,
			     .id = 7 };
	memcpy(b->code, code, code_bytes);
	return b;
}

static struct tables *make_tables(struct block *b)
{
	struct tables *t = (void *)((char *)b + TABLES_AT);
	char *head = (char *)&b->head;

	*t = good_tables;
	b->scopes = t->scopes;
	b->descs = (int)((char *)t->descs - head);
	b->descs_end = (int)((char *)t->metadata - head);
	b->metadata = b->descs_end;
	return t;
}

static struct {
	struct block *run;
	struct tables *tables;
	useconds_t after_us;
} next;

static void *compile_again(void *unused)
{
	usleep(next.after_us);
	next.tables->metadata[1] = &methods[LATER];
	next.run->id++;
	return unused;
}

/* The first return address calls nothing, but stands behind a call. */
static void run_deep(char *code)
{
	uint64_t *stack = malloc(STACK_WORDS * sizeof(*stack));

	if (!stack)
		return;
	memcpy(code + sizeof(spin_code), "\xe8\0\0\0\0", 5);
	for (size_t i = 0; i < STACK_WORDS; i++)
		stack[i] = (uint64_t)(code + sizeof(spin_code) + 5);
	__asm__ volatile("mov %0, %%rsp; jmp *%1" ::"r"(stack), "r"(code) : "memory");
}

int main(int argc, char **argv)
{
	static struct code_heap heap;
	static struct code_heap *list[] = { &heap };
	static struct code_heaps all = { 1, list };
	const char *how = argc > 1 ? argv[1] : "good";
	unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	char *memory = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct block *spin, *run;
	struct tables *tables;
	pthread_t thread;

	if (memory == MAP_FAILED)
		return 1;
	heap = (struct code_heap){ memory, memory + HEAP_BYTES, (char *)segments,
				   (char *)segments + sizeof(segments), SHIFT };
	spin = make_block(memory, BLOCK_AT, spin_code, sizeof(spin_code), &methods[SPIN]);
	run = make_block(memory, RUN_AT, run_code, sizeof(run_code), &methods[RUN]);
	tables = make_tables(run);
	break_tables(how, tables);
	break_structs(how, spin);
	break_structs(how, run);
	break_methods(how);
	code_heaps = &all;
	alarm(seconds);
	usleep(300000); /* until the mappings are known */
	next.run = run;
	next.tables = tables;
	next.after_us = (useconds_t)(500000 * seconds);
	if (!strcmp(how, "again") && pthread_create(&thread, NULL, compile_again, NULL))
		return 1;
	if (!strcmp(how, "deep"))
		run_deep(spin->code);
	((void (*)(void))(uintptr_t)run->code)();
	return 0;
}
