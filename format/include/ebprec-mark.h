/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec-mark - a program names moments and spans of its own, for recordings by ebprec
 *
 *	#include <ebprec-mark.h>
 *
 *	ebprec_mark("cache", "flush", "4 MiB");
 *
 *	uint64_t span = ebprec_span_begin("http", "request", url);
 *	...					maybe in another thread
 *	ebprec_span_end(span);
 *
 *	ebprec::span s("http", "request", url);	C++: until the end of the block
 *
 * GROUP and NAME name the kind of mark, the text describes this one.  Without a recorder, a mark is
 * a load and a branch that is not taken; a recorder counts itself in a variable of the program
 * (ebprec_mark_semaphore) and puts a breakpoint on a nop.  There is nothing to link, and nothing to
 * start: a recording finds the note that this header leaves in the program.  Strings are cut:
 * groups and names at 127 bytes, texts at 511.
 *
 * Linux on x86-64 and aarch64; elsewhere the functions do nothing.  C99, C++98 and later.
 */
#ifndef EBPREC_FORMAT_INCLUDE_EBPREC_MARK_H
#define EBPREC_FORMAT_INCLUDE_EBPREC_MARK_H

#include <stdint.h>

#if defined(__linux__) && defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))
#define EBPREC_MARK_WORKS 1
#else
#define EBPREC_MARK_WORKS 0
#endif

#if EBPREC_MARK_WORKS

#ifdef __cplusplus
extern "C" {
#endif
/* One each in a program or library; any of its files may define them. */
extern volatile unsigned short ebprec_mark_semaphore;
volatile unsigned short ebprec_mark_semaphore
	__attribute__((weak, visibility("hidden"), section(".probes"))) = 0;
extern uint64_t ebprec_mark_spans;
uint64_t ebprec_mark_spans __attribute__((weak, visibility("hidden"))) = 0;
#ifdef __cplusplus
}
#endif

enum ebprec_mark_kind { EBPREC_MARK_POINT, EBPREC_MARK_BEGIN, EBPREC_MARK_END, EBPREC_MARK_SPAN };

#ifdef __x86_64__
#define EBPREC_MARK_ARGS "8@%%rdi 8@%%rsi 8@%%rdx 8@%%rcx 8@%%r8 8@%%r9"
#else
#define EBPREC_MARK_ARGS "8@x0 8@x1 8@x2 8@x3 8@x4 8@x5"
#endif

/*
 * The probe: a nop, and a note of where it is, which variable counts its listeners and where its
 * arguments are, in the form of SystemTap's <sys/sdt.h>, so that perf, bpftrace and gdb know it, too.
 */
#define EBPREC_MARK_PROBE                                                        \
	"990:	nop\n"                                                             \
	"	.pushsection .note.stapsdt,\"\",\"note\"\n"                            \
	"	.balign 4\n"                                                           \
	"	.4byte 992f-991f, 994f-993f, 3\n"                                      \
	"991:	.asciz \"stapsdt\"\n"                                              \
	"992:	.balign 4\n"                                                       \
	"993:	.8byte 990b\n"                                                     \
	"	.8byte _.stapsdt.base\n"                                               \
	"	.8byte ebprec_mark_semaphore\n"                                        \
	"	.asciz \"ebprec\"\n"                                                   \
	"	.asciz \"mark\"\n"                                                     \
	"	.asciz \"" EBPREC_MARK_ARGS "\"\n"                               \
	"994:	.balign 4\n"                                                       \
	"	.popsection\n"                                                         \
	"	.ifndef _.stapsdt.base\n"                                              \
	"	.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	"	.weak _.stapsdt.base\n"                                                \
	"	.hidden _.stapsdt.base\n"                                              \
	"_.stapsdt.base: .space 1\n"                                             \
	"	.size _.stapsdt.base, 1\n"                                             \
	"	.popsection\n"                                                         \
	"	.endif\n"

/* The recorder's probe cannot wait for a page that is not in memory, and a literal's may not be
 * there yet. */
static __inline__ void ebprec_mark_touch(const char *text)
{
	const volatile char *at = text;

	while (*at)
		at++;
}

/* Not inlined: the arguments are then in registers that the note can name. */
static __attribute__((noinline, unused)) void ebprec_mark_fire(const char *group, const char *name,
							       const char *text, uint64_t id,
							       uint64_t duration_ns, uint64_t kind)
{
	ebprec_mark_touch(group);
	ebprec_mark_touch(name);
	ebprec_mark_touch(text);
	{
#ifdef __x86_64__
		register const char *a0 __asm__("rdi") = group;
		register const char *a1 __asm__("rsi") = name;
		register const char *a2 __asm__("rdx") = text;
		register uint64_t a3 __asm__("rcx") = id;
		register uint64_t a4 __asm__("r8") = duration_ns;
		register uint64_t a5 __asm__("r9") = kind;
#else
		register const char *a0 __asm__("x0") = group;
		register const char *a1 __asm__("x1") = name;
		register const char *a2 __asm__("x2") = text;
		register uint64_t a3 __asm__("x3") = id;
		register uint64_t a4 __asm__("x4") = duration_ns;
		register uint64_t a5 __asm__("x5") = kind;
#endif
		__asm__ volatile(EBPREC_MARK_PROBE
				 :
				 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
				 : "memory");
	}
}

/* Whether a recorder takes marks now: for texts that take work to make. */
static __inline__ int ebprec_mark_heard(void)
{
	return __builtin_expect(ebprec_mark_semaphore != 0, 0);
}

/* A moment. */
static __inline__ void ebprec_mark(const char *group, const char *name, const char *text)
{
	if (ebprec_mark_heard())
		ebprec_mark_fire(group, name, text, 0, 0, EBPREC_MARK_POINT);
}

/* Begins a span.  Returns the id that ends it, in any thread; 0: no recorder is listening. */
static __inline__ uint64_t ebprec_span_begin(const char *group, const char *name, const char *text)
{
	uint64_t id;

	if (!ebprec_mark_heard())
		return 0;
	/* Each library of a process has its own counter, so the counter's address is part of the
	 * id. */
	id = __atomic_add_fetch(&ebprec_mark_spans, 1, __ATOMIC_RELAXED) +
	     ((uint64_t)(uintptr_t)&ebprec_mark_spans << 16);
	ebprec_mark_fire(group, name, text, id, 0, EBPREC_MARK_BEGIN);
	return id;
}

/* Ends a span. */
static __inline__ void ebprec_span_end(uint64_t id)
{
	if (ebprec_mark_heard() && id)
		ebprec_mark_fire("", "", "", id, 0, EBPREC_MARK_END);
}

/* A span that ends here and took so long, by the program's own clock. */
static __inline__ void ebprec_span(const char *group, const char *name, const char *text,
				   uint64_t duration_ns)
{
	if (ebprec_mark_heard())
		ebprec_mark_fire(group, name, text, 0, duration_ns, EBPREC_MARK_SPAN);
}

#else /* elsewhere */

static __inline__ int ebprec_mark_heard(void)
{
	return 0;
}

static __inline__ void ebprec_mark(const char *group, const char *name, const char *text)
{
	(void)group, (void)name, (void)text;
}

static __inline__ uint64_t ebprec_span_begin(const char *group, const char *name, const char *text)
{
	(void)group, (void)name, (void)text;
	return 0;
}

static __inline__ void ebprec_span_end(uint64_t id)
{
	(void)id;
}

static __inline__ void ebprec_span(const char *group, const char *name, const char *text,
				   uint64_t duration_ns)
{
	(void)group, (void)name, (void)text, (void)duration_ns;
}

#endif

#ifdef __cplusplus
namespace ebprec
{

class span
{
	uint64_t id;
	span(const span &);
	span &operator=(const span &);

      public:
	span(const char *group, const char *name, const char *text = "")
	    : id(ebprec_span_begin(group, name, text))
	{
	}
	~span()
	{
		ebprec_span_end(id);
	}
};

} // namespace ebprec
#endif

#endif
