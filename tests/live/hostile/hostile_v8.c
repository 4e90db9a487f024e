/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * hostile_v8 SECONDS - what a stranger can do to a recorder that reads V8's functions
 *
 * It has V8's facts, and a stack of signals without an end: each interrupted code without a file, and below that code all words
 * look like the first word of V8's compiled code, but for the last of what is checked.  Only SIGPROF ends it, after
 * SECONDS of CPU time.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define NODE 24
#define SLOT (-16)
#define SMI  31
int run(void);
#include "tests/lib/fixtures/v8.c"

#define BYTES   (1 << 16)
#define CODE_AT 0xf000

/* As the kernel has it: the C library's has no restorer. */
struct kernel_sigaction {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static void on_signal(int number)
{
	(void)number;
}

static void *restorer(void)
{
	struct kernel_sigaction a;

	(void)signal(SIGUSR1, on_signal);
	return syscall(SYS_rt_sigaction, SIGUSR1, NULL, &a, 8) ? NULL : a.restorer;
}

static void *map(int prot)
{
	void *at = mmap(NULL, BYTES, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	return at;
}

int main(int argc, char **argv)
{
	static uint64_t of_code[16], of_stream[16];
	struct itimerval limit = { 0 };
	uint8_t *code = map(PROT_READ | PROT_WRITE | PROT_EXEC);
	uint64_t *words = (uint64_t *)(void *)code, *stack = map(PROT_READ | PROT_WRITE);

	((uint16_t *)of_code)[v8dbg_class_Map__instance_type__uint16_t / 2] =
		(uint16_t)v8dbg_type_Code__CODE_TYPE;
	of_stream[0] = (uint64_t)of_code + 1;
	((uint16_t *)of_stream)[v8dbg_class_Map__instance_type__uint16_t / 2] =
		(uint16_t)v8dbg_type_InstructionStream__INSTRUCTION_STREAM_TYPE;
	for (size_t i = 0; i < CODE_AT / sizeof(*words); i++)
		words[i] = (uint64_t)of_stream + 1;
	memcpy(code + CODE_AT, "\xeb\xfe", 2); /* jmp to itself */

	/* {the caller's frame pointer, return address}, and behind it the ucontext_t of the signal: rbp, rsp, rip. */
	stack += 256;
	stack[0] = (uint64_t)stack;
	stack[1] = (uint64_t)restorer();
	stack[2 + 120 / 8] = stack[2 + 160 / 8] = (uint64_t)stack;
	stack[2 + 168 / 8] = (uint64_t)(code + CODE_AT);
	limit.it_value.tv_sec = argc > 1 ? atoi(argv[1]) : 1;
	setitimer(ITIMER_PROF, &limit, NULL);
	usleep(300000); /* until the mappings are known */
	__asm__ volatile("mov %0, %%rbp; mov %0, %%rsp; jmp *%1" ::"r"(stack), "r"(code + CODE_AT)
			 : "memory");
	return 0;
}
