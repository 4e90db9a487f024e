/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/runtime/splice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BASE 0x7f0000000000ULL
#define EVAL (BASE + 0x1000) /* of 0x100 bytes; its other part is at 0x3000, of 0x10 */
#define COLD (BASE + 0x3000)

static const struct runtime_desc desc = {
	.kind = RUNTIME_PYTHON,
	.eval = { { 0x1000, 0x100 }, { 0x3000, 0x10 } },
};

/* Frames as text: N native, E the loop at its middle, C its other part, > its last byte's return address; digits are Python's. */
static __u64 native_of(char c)
{
	switch (c) {
	case 'E':
		return EVAL + 0x50;
	case 'C':
		return COLD + 8;
	case '>':
		return EVAL + 0x100;
	default:
		return BASE + 0x2000;
	}
}

/* "1 2|3|": code 1 called by 2, which is where the loop was entered; "-|": an entry without frames; Perl's ? and !: MAYBE, JOINS. */
static size_t put_words(const char *text, enum runtime_why why, __u64 *words)
{
	size_t n = RUNTIME_HEAD_WORDS;

	for (; *text; text++) {
		if (*text == '|')
			words[n - 1] |= RUNTIME_FRAME_ENTRY;
		else if (*text == '?' || *text == '!')
			words[n - 1] |= *text == '?' ? RUNTIME_FRAME_MAYBE : RUNTIME_FRAME_JOINS;
		else
			words[n++] = *text == '-' ? RUNTIME_FRAME_NOTHING
						  : (__u64)(*text - '0') << RUNTIME_INSTR_BITS;
	}
	words[0] = RUNTIME_WORD_HEAD(n - RUNTIME_HEAD_WORDS, why, 1);
	words[1] = BASE;
	return n;
}

static void text_of(const __u64 *frames, size_t count, char *out)
{
	for (size_t i = 0; i < count; i++) {
		if (frames[i] >= SPLICE_BASE)
			*out++ = (char)('0' +
					(frames[i] - SPLICE_BASE) / (1u << RUNTIME_INSTR_BITS));
		else
			*out++ = frames[i] >= COLD           ? 'C'
				 : frames[i] == EVAL + 0x100 ? '>'
				 : frames[i] < BASE + 0x2000 ? 'E'
							     : 'N';
	}
	*out = '\0';
}

static const struct {
	const char *what, *native, *words;
	bool is_broken; /* the native stack is not complete */
	enum runtime_why why, expected_why;
	const char *expected;
} cases[] = {
	{ "frames stand before their entry of the loop", "NENN", "123|", false, 0, 0, "N123ENN" },
	{ "a leaf in the loop has its frames before it", "EN", "12|", false, 0, 0, "12EN" },
	{ "each entry has its own frames", "NENENN", "1|23|", false, 0, 0, "N1EN23ENN" },
	{ "the other part of the loop is the loop", "NCNEN", "1|2|", false, 0, 0, "N1CN2EN" },
	{ "a call at the end of the loop returns behind it", "N>N", "1|", false, 0, 0, "N1>N" },
	{ "the innermost entry may have no frame yet", "ENEN", "12|", false, 0, 0, "EN12EN" },
	{ "an entry without frames takes none of the next one", "NENEN", "-|1|", false, 0, 0,
	  "NEN1EN" },
	{ "stacks that differ by two entries are left alone", "ENENEN", "1|", false, 0,
	  RUNTIME_NO_MATCH, "ENENEN" },
	{ "more entries of the program than of the loop are left alone", "NEN", "1|2|", false, 0,
	  RUNTIME_NO_MATCH, "NEN" },
	{ "a broken native stack is followed by the frames that are left", "NENN", "1|2|34|", true,
	  0, 0, "N1ENN234" },
	{ "a native stack that breaks before the loop is followed by all frames", "NN", "1|2|",
	  true, 0, 0, "NN12" },
	{ "frames that are cut are joined from the innermost on", "NENEN", "1|23", false,
	  RUNTIME_TOO_DEEP, RUNTIME_TOO_DEEP, "N1EN23EN" },
	{ "frames that end at memory which cannot be read are left out", "NEN", "1", false,
	  RUNTIME_UNREADABLE, RUNTIME_UNREADABLE, "NEN" },
	{ "frames that end before the program's outermost one are left alone", "NEN", "12", false,
	  0, RUNTIME_NO_MATCH, "NEN" },
	{ "a thread that is not the interpreter's lacks nothing", "NN", "", true, RUNTIME_NO_THREAD,
	  0, "NN" },
	{ "a thread in the loop lacks its frames", "NEN", "", false, RUNTIME_NO_THREAD,
	  RUNTIME_NO_THREAD, "NEN" },
	{ "a loop that has no frame yet lacks it", "NEN", "", false, 0, RUNTIME_NO_THREAD, "NEN" },
	{ "of several interpreters, one that has frames for each entry is the thread's", "NEN",
	  "12|", false, RUNTIME_SEVERAL, 0, "N12EN" },
	{ "of several interpreters, the innermost entry may be another one's", "ENEN", "12|", false,
	  RUNTIME_SEVERAL, RUNTIME_SEVERAL, "EN12EN" },
	{ "of several interpreters, frames are not joined to a broken stack", "NEN", "12|", true,
	  RUNTIME_SEVERAL, RUNTIME_SEVERAL, "NEN" },
	{ "of several interpreters, frames that are cut are not joined", "NENEN", "1|23", false,
	  RUNTIME_SEVERAL, RUNTIME_SEVERAL, "NENEN" },
	{ "of several interpreters, two have frames", "NEN", "", false, RUNTIME_SEVERAL,
	  RUNTIME_SEVERAL, "NEN" },
	{ "of several interpreters, none is entered", "NN", "", false, RUNTIME_SEVERAL, 0, "NN" },
	{ "no frames and no entry", "NN", "", false, 0, 0, "NN" },
};

static void stacks_are_joined_entry_by_entry(void **state)
{
	__u64 user[32], words[32], out[SPLICE_FRAMES_MAX];
	char text[64];
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct splice_stack s = { .user = user, .words = words };
		enum runtime_why why;

		s.user_count = strlen(cases[i].native);
		for (size_t k = 0; k < s.user_count; k++)
			user[k] = native_of(cases[i].native[k]);
		s.is_complete = !cases[i].is_broken;
		s.word_count = put_words(cases[i].words, cases[i].why, words);
		why = splice_frames(&s, &desc, out, &count);
		text_of(out, count, text);
		if (strcmp(text, cases[i].expected) != 0 || why != cases[i].expected_why)
			fail_msg("%s: %s, %d; not %s, %d", cases[i].what, text, why,
				 cases[i].expected, cases[i].expected_why);
	}
}

/* Code of Ruby's and PHP's compilers has no native frame of the loop, and stores no instruction in its frame. */
static void frames_are_not_joined_where_code_may_be_compiled(void **state)
{
	static const enum runtime_kind kinds[] = { RUNTIME_RUBY, RUNTIME_PHP };
	__u64 user[] = { native_of('N'), native_of('N') }, words[32], out[SPLICE_FRAMES_MAX];
	struct splice_stack s = { .user = user, .user_count = 2, .words = words };
	struct runtime_desc compiled = desc;
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		compiled.kind = kinds[i];
		s.word_count = put_words("12|", RUNTIME_COMPLETE, words);
		assert_int_equal(splice_frames(&s, &compiled, out, &count), RUNTIME_COMPILED);
		assert_int_equal(count, 2);
		s.word_count = put_words("1", RUNTIME_UNKNOWN, words);
		assert_int_equal(splice_frames(&s, &compiled, out, &count), RUNTIME_COMPILED);
		s.word_count = put_words("", RUNTIME_NO_THREAD, words);
		assert_int_equal(splice_frames(&s, &compiled, out, &count), RUNTIME_COMPLETE);
		/* The loop is there: what breaks off is behind it. */
		user[0] = native_of('E');
		s.word_count = put_words("12|", RUNTIME_COMPLETE, words);
		assert_int_equal(splice_frames(&s, &compiled, out, &count), RUNTIME_COMPLETE);
		assert_int_equal(count, 4);
		user[0] = native_of('N');
		/* The table of the file is not there yet. */
		s.ends_in_file = true;
		assert_int_equal(splice_frames(&s, &compiled, out, &count), RUNTIME_COMPLETE);
		assert_int_equal(count, 4);
		s.ends_in_file = false;
	}
}

/* As of Ruby, whose loop E is called by C: one entry, before whose innermost part the frames stand. */
static void a_loop_and_the_function_that_calls_it_are_one_entry(void **state)
{
	static const struct {
		const char *native, *words, *expected;
		enum runtime_why why;
	} rows[] = {
		{ "NECNECN", "1|23|", "N1ECN23ECN", RUNTIME_COMPLETE },
		{ "NCNECN", "1|23|", "N1CN23ECN", RUNTIME_COMPLETE },
		{ "CECN", "12|", "C12ECN", RUNTIME_COMPLETE }, /* not entered yet */
		{ "NECN", "1|2|", "NECN", RUNTIME_NO_MATCH },
	};
	struct runtime_desc nested = desc;
	__u64 user[32], words[32], out[SPLICE_FRAMES_MAX];
	char text[64];
	size_t count;

	(void)state;
	nested.is_nested = 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct splice_stack s = { .user = user, .words = words, .is_complete = true };

		s.user_count = strlen(rows[i].native);
		for (size_t k = 0; k < s.user_count; k++)
			user[k] = native_of(rows[i].native[k]);
		s.word_count = put_words(rows[i].words, 0, words);
		assert_int_equal(splice_frames(&s, &nested, out, &count), rows[i].why);
		text_of(out, count, text);
		assert_string_equal(text, rows[i].expected);
	}
}

/* As of Perl: E is the loop, C is perl_run(), which calls it for the main program, whose frame is 9. */
static void entries_of_perl_are_those_of_its_main_program_and_of_calls_from_c(void **state)
{
	static const struct {
		const char *native, *words, *expected;
		enum runtime_why why, given;
	} rows[] = {
		{ "NENCN", "129|", "N129ENCN", 0, 0 },
		{ "NECN", "129|", "N129ECN", 0, 0 },
		/* A call from C. */
		{ "NENNENCN", "1|29|", "N1ENN29ENCN", 0, 0 },
		/* An eval that runs on in a loop of its own. */
		{ "NENENNENCN", "1|29|", "N1ENENN29ENCN", 0, 0 },
		/* The main program is compiled, or has ended. */
		{ "NENNN", "12|9|", "N12ENNN", 0, 0 },
		{ "NNCN", "9|", "NNCN", 0, 0 },
		{ "NNN", "1|2|9|", "NNN", 0, 0 },
		/* C code has not entered the loop yet, or has left it. */
		{ "NNENCN", "1|29|", "NN29ENCN", 0, 0 },
		{ "NENNENCN", "29|", "NENN29ENCN", 0, 0 },
		/* The block of a sort (?) between two comparisons, and one that calls a sub last (!). */
		{ "NNENCN", "1?|29|", "NN29ENCN", 0, 0 },
		{ "NENNENCN", "1?|29|", "N1ENN29ENCN", 0, 0 },
		{ "NENNENCN", "1!|2?|39|", "N12ENN39ENCN", 0, 0 },
		{ "NENNENNENCN", "1!|2?|39|", "N1ENN2ENN39ENCN", 0, 0 },
		{ "NENCN", "1!|2?|39|", "NENCN", RUNTIME_NO_MATCH, 0 },
		/* Which of two is not in the loop is not known. */
		{ "NENNENCN", "1|2?|3|49|", "NENNENCN", RUNTIME_NO_MATCH, 0 },
		{ "NENCN", "1|2|9|", "NENCN", RUNTIME_NO_MATCH, 0 },
		/* An interpreter that is being made. */
		{ "NNCN", "", "NNCN", 0, RUNTIME_UNKNOWN },
		{ "NENCN", "", "NENCN", RUNTIME_UNKNOWN, RUNTIME_UNKNOWN },
		/* Frames that are cut. */
		{ "NENNENCN", "1|23", "N1ENN23ENCN", RUNTIME_TOO_DEEP, RUNTIME_TOO_DEEP },
		{ "NENNENCN", "1?|23", "NENNENCN", RUNTIME_NO_MATCH, RUNTIME_TOO_DEEP },
	};
	struct runtime_desc perl = desc;
	__u64 user[32], words[32], out[SPLICE_FRAMES_MAX];
	char text[64];
	size_t count;

	(void)state;
	perl.kind = RUNTIME_PERL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct splice_stack s = { .user = user, .words = words, .is_complete = true };
		enum runtime_why why;

		s.user_count = strlen(rows[i].native);
		for (size_t k = 0; k < s.user_count; k++)
			user[k] = native_of(rows[i].native[k]);
		s.word_count = put_words(rows[i].words, rows[i].given, words);
		why = splice_frames(&s, &perl, out, &count);
		text_of(out, count, text);
		if (why != rows[i].why || strcmp(text, rows[i].expected) != 0)
			fail_msg("%s, %s: %s, %d", rows[i].native, rows[i].words, text, why);
	}
}

static void the_loop_behind_its_frames_is_an_address_to_return_to(void **state)
{
	__u64 user[] = { EVAL, BASE + 0x2000 }, words[8], out[SPLICE_FRAMES_MAX];
	struct splice_stack s = {
		.user = user, .user_count = 2, .is_complete = true, .words = words
	};
	size_t count;

	(void)state;
	s.word_count = put_words("1|", RUNTIME_COMPLETE, words);
	assert_int_equal(splice_frames(&s, &desc, out, &count), RUNTIME_COMPLETE);
	assert_int_equal(count, 3);
	assert_true(out[1] == EVAL + 1); /* the byte before is the one that was interrupted */
}

static void the_longest_stacks_fit(void **state)
{
	static __u64 user[CPU_SAMPLE_MAX], words[RUNTIME_HEAD_WORDS + RUNTIME_SAMPLE_MAX],
		out[SPLICE_FRAMES_MAX];
	struct splice_stack s = { .user = user,
				  .user_count = CPU_SAMPLE_MAX,
				  .words = words,
				  .word_count = RUNTIME_HEAD_WORDS + RUNTIME_SAMPLE_MAX };
	size_t count;

	(void)state;
	for (size_t i = 0; i < CPU_SAMPLE_MAX; i++)
		user[i] = EVAL + 8;
	for (size_t i = RUNTIME_HEAD_WORDS; i < RUNTIME_HEAD_WORDS + RUNTIME_SAMPLE_MAX; i++)
		words[i] = (__u64)i << RUNTIME_INSTR_BITS | RUNTIME_FRAME_ENTRY;
	words[0] = RUNTIME_WORD_HEAD(RUNTIME_SAMPLE_MAX, RUNTIME_TOO_DEEP, 1);
	words[1] = BASE;
	assert_int_equal(splice_frames(&s, &desc, out, &count), RUNTIME_TOO_DEEP);
	assert_int_equal(count, SPLICE_FRAMES_MAX);
}

static void a_function_takes_the_place_of_its_frame_or_follows_it(void **state)
{
	const __u64 user[] = { 0x7f0000012345, 0x7f0000023456, 0x401234, 0x402345 };
	const __u64 of = 1ULL << RUNTIME_INSTR_BITS, index = 1ULL << RUNTIME_FRAME_BITS;
	__u32 sum = RUNTIME_SUM(RUNTIME_SUM(RUNTIME_SUM(0, user[0]), user[1]), user[2]);
	__u64 words[] = {
		RUNTIME_WORD_HEAD(4, RUNTIME_COMPLETE, 1) | (__u64)sum << 32,
		BASE,
		7 * of | 1, /* the thread is in 7, which 8 called */
		8 * of | 1 | RUNTIME_FRAME_BEHIND,
		9 * of | 1 | index,
		10 * of | 13 | 2 * index | RUNTIME_FRAME_BEHIND, /* interpreted */
	};
	const struct splice_stack s = {
		.user = user, .user_count = 4, .is_complete = true, .words = words, .word_count = 6
	};
	const __u64 expected[] = { SPLICE_BASE + 7 * of + 1,   SPLICE_BASE + 8 * of + 1,
				   SPLICE_BASE + 9 * of + 1,   user[2],
				   SPLICE_BASE + 10 * of + 13, user[3] };
	__u64 out[SPLICE_FRAMES_MAX];
	size_t count;

	(void)state;
	assert_int_equal(splice_functions(&s, out, &count), RUNTIME_COMPLETE);
	assert_int_equal(count, 6);
	assert_memory_equal(out, expected, sizeof(expected));
	/* One that is not there. */
	words[5] += 9 * index;
	assert_int_equal(splice_functions(&s, out, &count), RUNTIME_NO_MATCH);
	assert_int_equal(count, 4);
	assert_memory_equal(out, user, sizeof(user));
}

static void methods_take_the_place_of_their_frame_where_all_frames_are_the_same(void **state)
{
	const __u64 user[] = { 0x7f0000012345, 0x7f0000023456, 0x401234, 0x7f0000034567 };
	const __u64 of = 1ULL << RUNTIME_INSTR_BITS, index = 1ULL << RUNTIME_FRAME_BITS;
	__u32 sum = RUNTIME_SUM(RUNTIME_SUM(RUNTIME_SUM(0, user[0]), user[1]), user[3]);
	__u64 words[] = {
		RUNTIME_WORD_HEAD(4, RUNTIME_COMPLETE, 1) | (__u64)sum << 32,
		BASE,
		7 * of | 1,          /* a compiled method, without a line */
		8 * of | 12 | index, /* inlined in 9 */
		9 * of | 2 | index,
		10 * of | 5 | 3 * index,
	};
	const struct splice_stack s = {
		.user = user, .user_count = 4, .is_complete = true, .words = words, .word_count = 6
	};
	const __u64 expected[] = { SPLICE_BASE + (7 * of | 1), SPLICE_BASE + (8 * of | 12),
				   SPLICE_BASE + (9 * of | 2), user[2],
				   SPLICE_BASE + (10 * of | 5) };
	__u64 out[SPLICE_FRAMES_MAX], other[4];
	struct splice_stack found_anew = s;
	size_t count;

	(void)state;
	assert_int_equal(splice_functions(&s, out, &count), RUNTIME_COMPLETE);
	assert_int_equal(count, 5);
	assert_memory_equal(out, expected, sizeof(expected));
	/* Found anew: one frame with a method is another one, or is missing; one without a method does not matter. */
	memcpy(other, user, sizeof(user));
	found_anew.user = other;
	other[2]++;
	assert_int_equal(splice_functions(&found_anew, out, &count), RUNTIME_COMPLETE);
	other[1]++;
	assert_int_equal(splice_functions(&found_anew, out, &count), RUNTIME_NO_MATCH);
	assert_int_equal(count, 4);
	assert_memory_equal(out, other, sizeof(other));
	found_anew = s;
	found_anew.user_count = 3;
	assert_int_equal(splice_functions(&found_anew, out, &count), RUNTIME_NO_MATCH);
	assert_int_equal(count, 3);
	/* Words out of order are no stack. */
	words[2] += 2 * index;
	words[0] = RUNTIME_WORD_HEAD(4, RUNTIME_COMPLETE, 1) |
		   (__u64)RUNTIME_SUM(RUNTIME_SUM(RUNTIME_SUM(0, user[2]), user[1]), user[3]) << 32;
	assert_int_equal(splice_functions(&s, out, &count), RUNTIME_NO_MATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_joined_entry_by_entry),
		cmocka_unit_test(frames_are_not_joined_where_code_may_be_compiled),
		cmocka_unit_test(a_loop_and_the_function_that_calls_it_are_one_entry),
		cmocka_unit_test(entries_of_perl_are_those_of_its_main_program_and_of_calls_from_c),
		cmocka_unit_test(the_loop_behind_its_frames_is_an_address_to_return_to),
		cmocka_unit_test(the_longest_stacks_fit),
		cmocka_unit_test(a_function_takes_the_place_of_its_frame_or_follows_it),
		cmocka_unit_test(
			methods_take_the_place_of_their_frame_where_all_frames_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
