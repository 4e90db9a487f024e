/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * hostile_jvm HOW SECONDS - a program that looks like a JVM to a recorder, and whose structs are wrong
 *
 * It runs one compiled method, Fake.spin of Fake.java.  HOW: good, nothing is wrong; hops, the map of segments leads from
 * one segment to the one before without an end; used, the block is not in use; pointers, all pointers lead to where there is no
 * memory, or the kernel's; lengths, counts and lengths are the largest ones; deep, the stack is full of the method's own
 * return addresses; still, the frame has no size.  Only SIGALRM ends it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define JAVA 17
#include "tests/lib/fixtures/jvm.c"

#define HEAP_BYTES  (1 << 18)
#define SHIFT       7
#define BLOCK_AT    (1 << 17) /* far from the beginning: behind more hops than one */
#define CODE_AT     128
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

static struct symbol spin = { 0, 4, "spin" }, fake = { 0, 4, "Fake" }, file = { 0, 9, "Fake.java" };

static struct {
	uint64_t head;
	struct symbol *name;
} klass = { 0, &fake };

static struct {
	uint64_t head;
	int count, zero;
	void *holder;
	uint16_t file, pad[3];
	void *entries[4];
} pool = { 0, 4, 0, &klass, 2, { 0 }, { NULL, &spin, &file, NULL } };

static struct {
	uint64_t head;
	void *pool;
	uint16_t name, code_bytes;
	uint32_t zero;
	uint8_t code[8];
} constants = { 0, &pool, 1, 8, 0, { 0 } };

static struct {
	uint64_t head;
	void *constants;
} method = { 0, &constants };

/* As vm_structs has it. */
struct block {
	uint64_t size_bytes, used;
	uint64_t head;
	const char *name;
	uint32_t blob_bytes, zero;
	char *code;
	int frame_words, complete;
	void *method;
};

static uint8_t segments[HEAP_BYTES >> SHIFT];

/* push %rbp; sub $16,%rsp; jmp to itself */
static const uint8_t instructions[] = { 0x55, 0x48, 0x83, 0xec, 0x10, 0xeb, 0xfe };

static void break_structs(const char *how, struct block *b)
{
	if (!strcmp(how, "hops"))
		memset(segments, 1, sizeof(segments));
	if (!strcmp(how, "used"))
		b->used = 2;
	if (!strcmp(how, "still"))
		b->frame_words = 0;
	if (!strcmp(how, "pointers")) {
		method.constants = (void *)NOWHERE;
		b->name = (const char *)8;
	}
	if (!strcmp(how, "lengths")) {
		spin.size_bytes = UINT16_MAX;
		pool.count = -1;
		constants.name = UINT16_MAX;
		b->size_bytes = 1ULL << 63;
		b->blob_bytes = UINT32_MAX;
		b->frame_words = INT32_MAX;
	}
}

int main(int argc, char **argv)
{
	static struct code_heap heap;
	static struct code_heap *list[] = { &heap };
	static struct code_heaps all = { 1, list };
	const char *how = argc > 1 ? argv[1] : "good";
	char *memory = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct block *b = (void *)(memory + BLOCK_AT);
	char *code = memory + BLOCK_AT + CODE_AT;
	uint64_t *stack;

	if (memory == MAP_FAILED)
		return 1;
	heap = (struct code_heap){ memory, memory + HEAP_BYTES, (char *)segments,
				   (char *)segments + sizeof(segments), SHIFT };
	for (size_t i = BLOCK_AT >> SHIFT; i < sizeof(segments); i++)
		segments[i] = (uint8_t)(i - (BLOCK_AT >> SHIFT));
	*b = (struct block){ .size_bytes = 4096,
			     .used = 1,
			     .name = "nmethod",
			     .blob_bytes = 4096,
			     .code = code,
			     .frame_words = 4,
			     .complete = 5,
			     .method = &method };
	memcpy(code, instructions, sizeof(instructions));
	break_structs(how, b);
	code_heaps = &all;
	alarm(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
	usleep(300000); /* until the mappings are known */
	if (!strcmp(how, "deep")) {
		stack = malloc(STACK_WORDS * sizeof(*stack));
		for (size_t i = 0; stack && i < STACK_WORDS; i++)
			stack[i] = (uint64_t)(code + sizeof(instructions));
		/* The first one calls nothing, but stands behind a call. */
		memcpy(code + sizeof(instructions) - 5 + 5, "\xe8\0\0\0\0", 5);
		for (size_t i = 0; stack && i < STACK_WORDS; i++)
			stack[i] += 5;
		__asm__ volatile("mov %0, %%rsp; jmp *%1" ::"r"(stack), "r"(code) : "memory");
	}
	((void (*)(void))(uintptr_t)code)();
	return 0;
}
