/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * probes N - USDT probes with known arguments, each N times
 *
 *	tests:args	an argument of each kind: registers of all sizes, constants, memory, an index,
 *			and two that no tracer can read: a vector register and a symbol
 *	tests:twice	written out in two places, whose argument is the number of the place
 *	tests:counted	only run into while its semaphore shows a listener
 */
#include <stdint.h>
#include <stdlib.h>

/* As sys/sdt.h writes it. */
#define NOTE(probe, semaphore, args)                                            \
	"990:	nop\n"                                                            \
	".pushsection .note.stapsdt,\"\",\"note\"\n"                            \
	".balign 4\n"                                                           \
	".4byte 992f-991f, 994f-993f, 3\n"                                      \
	"991: .asciz \"stapsdt\"\n"                                             \
	"992: .balign 4\n"                                                      \
	"993: .8byte 990b, _.stapsdt.base, " semaphore "\n"                     \
	".asciz \"tests\"\n"                                                    \
	".asciz \"" probe "\"\n"                                                \
	".asciz \"" args "\"\n"                                                 \
	"994: .balign 4\n"                                                      \
	".popsection\n"                                                         \
	".ifndef _.stapsdt.base\n"                                              \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n"                                                \
	".hidden _.stapsdt.base\n"                                              \
	"_.stapsdt.base: .space 1\n"                                            \
	".popsection\n"                                                         \
	".endif\n"

struct known {
	uint64_t large;
	int32_t below;
	uint16_t list[6];
};

volatile uint16_t tests_counted __attribute__((section(".probes")));

static void arguments(void)
{
	/* On the stack: memory that no code has touched yet cannot be read. */
	struct known known = { 123456789012345, -42, { 1, 2, 4242, 4, 5, 6 } };

	__asm__ volatile("movq $-5, %%r8\n"
			 "movabsq $0x11223344556677f0, %%r9\n" NOTE(
				 "args", "0",
				 "8@%%r8 -8@%%r8 -4@%%r9d 1@%%r9b -1@%%r9b -2@$-7 4@$-1 8@(%%rdi) "
				 "-4@8(%%rdi) 2@12(%%rdi,%%rsi,2) 8f@%%xmm0 8@nowhere(%%rip)")
			 :
			 : "D"(&known), "S"(2L), "m"(known)
			 : "r8", "r9", "memory");
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

	for (long i = 0; i < count; i++) {
		arguments();
		__asm__ volatile(NOTE("twice", "0", "4@$1"));
		__asm__ volatile(NOTE("twice", "0", "4@$2"));
		if (tests_counted)
			__asm__ volatile(NOTE("counted", "tests_counted", "-4@%%eax") : : "a"(7));
	}
	return 0;
}
