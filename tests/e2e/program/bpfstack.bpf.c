/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Programs whose stack is known, one a CASE: functions that take so many bytes and call each other. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define noinline __attribute__((noinline))
#define TAKE(bytes)                \
	char taken[bytes] = { 1 }; \
	asm volatile("" : : "r"(taken) : "memory") /* the compiler keeps all of it */

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} programs SEC(".maps");

/* Calls of static functions within .text have no relocation. */
static noinline int deepest(void)
{
	TAKE(200); /* 224 */
	return taken[1];
}

static noinline int deeper(void)
{
	TAKE(100); /* 128 */
	return deepest() + taken[1];
}

noinline int deep(void)
{
	TAKE(64);
	return deeper() + taken[1];
}

static long called_back(__u64 at, void *of)
{
	TAKE(300); /* 320 */
	return taken[at & 1] + *(char *)of;
}

static noinline int ends_in_another(void *ctx)
{
	bpf_tail_call(ctx, &programs, 0);
	return 0;
}

#define CALLS(name, other)                       \
	static noinline int name(int n)          \
	{                                        \
		volatile int got = other(n + 1); \
		return got + 1;                  \
	}
static noinline int frame9(int n)
{
	volatile int got = n;
	return got;
}
CALLS(frame8, frame9)
CALLS(frame7, frame8)
CALLS(frame6, frame7)
CALLS(frame5, frame6)
CALLS(frame4, frame5)
CALLS(frame3, frame4)
CALLS(frame2, frame3)

noinline int itself(int n)
{
	volatile int got = n ? itself(n - 1) : 1;
	return got + n;
}

SEC("raw_tp/sched_process_fork")
int program(void *ctx)
{
#if CASE == 1 /* 96 + 64 + 128 + 224 = 512 */
	TAKE(96);
	return deep() + taken[1];
#elif CASE == 2 /* 128 + 64 + 128 + 224 = 544 */
	TAKE(104);
	return deep() + taken[1];
#elif CASE == 3 /* 224 + 320 = 544 */
	char taken[200] = {};

	return bpf_loop(2, called_back, taken, 0);
#elif CASE == 4 /* 8 * 32 = 256 */
	return frame3(1);
#elif CASE == 5 /* 9 * 32 = 288 */
	return frame2(1);
#elif CASE == 6 /* 224 + 32 */
	TAKE(224);
	return ends_in_another(ctx) + taken[1];
#elif CASE == 7 /* 256 + 32 */
	TAKE(250);
	return ends_in_another(ctx) + taken[1];
#elif CASE == 8
	return itself(1);
#endif
}

char gpl[] SEC("license") = "GPL";
