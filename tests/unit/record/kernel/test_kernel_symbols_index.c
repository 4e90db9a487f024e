/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/kernel/kernel_symbols_index.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char table[] = "ffffffff81000000 T _text\n"
			    "ffffffff81000000 T _stext\n"
			    "ffffffff81000100 t first\n"
			    "ffffffff81000200 D not_code\n"
			    "ffffffff81000300 W second\n"
			    "ffffffff81000300 T second_alias\n"
			    "ffffffff81000400 T third\n"
			    "ffffffff81001000 T _etext\n"
			    "ffffffffc0200000 t of_module\t[ext4]\n"
			    "ffffffffc0100000 t bpf_prog_0123_main\t[bpf]\n";

static struct kernel_symbols_index *load(const char *text)
{
	struct kernel_symbols_index *k = NULL;

	assert_int_equal(kernel_symbols_index_from_text(strdup(text), &k), 0);
	return k;
}

static char *take(struct kernel_symbols_index *k)
{
	struct outbuf out = { 0 };

	kernel_symbols_index_take(k, &out);
	outbuf_add(&out, "", 1);
	return (char *)out.data;
}

/* The lines taken after touching these addresses (0 ends them). */
static char *taken(struct kernel_symbols_index *k, const uint64_t *addr)
{
	for (; *addr; addr++)
		kernel_symbols_index_touch(k, *addr);
	kernel_symbols_index_end_records(k);
	return take(k);
}

/* The symbols that a recording gets, flush by flush, of those that have to be read first. */
static char *take_in_time(struct kernel_symbols_index *k)
{
	char *got = take(k);

	for (int i = 0; i < 10000 && !*got; i++) {
		free(got);
		usleep(1000);
		got = take(k);
	}
	return got;
}

static void ksyms_keeps_what_was_hit_with_its_aliases_and_its_end(void **state)
{
	static const struct {
		uint64_t addr;
		const char *want;
	} cases[] = {
		{ 0xffffffff81000150, "ffffffff81000100 t first\n"
				      "ffffffff81000300 W second\n" },
		{ 0xffffffff81000300, "ffffffff81000300 W second\n"
				      "ffffffff81000300 T second_alias\n"
				      "ffffffff81000400 T third\n" },
		{ 0xffffffff81000fff, "ffffffff81000400 T third\n"
				      "ffffffff81001000 T _etext\n" },
		{ 0xffffffffc0100010, "ffffffffc0100000 t bpf_prog_0123_main\t[bpf]\n"
				      "ffffffffc0200000 t of_module\t[ext4]\n" },
		{ 0xffffffffffffffff, "ffffffffc0200000 t of_module\t[ext4]\n" },
		{ 0x1000, "ffffffff81000000 T _text\n" },
	};
	struct kernel_symbols_index *k;
	char *got;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		k = load(table);
		got = taken(k, (const uint64_t[]){ cases[i].addr, 0 });
		assert_string_equal(got, cases[i].want);
		free(got);
		kernel_symbols_index_free(k);
	}
}

static void ksyms_gives_each_line_once(void **state)
{
	struct kernel_symbols_index *k = load(table);
	char *first = taken(k, (const uint64_t[]){ 0xffffffff81000150, 0xffffffff81000151, 0 });
	char *again = taken(k, (const uint64_t[]){ 0xffffffff81000150, 0xffffffff81000160, 0 });
	char *more = taken(k, (const uint64_t[]){ 0xffffffff81000310, 0 });

	assert_string_equal(first, "ffffffff81000100 t first\nffffffff81000300 W second\n");
	assert_string_equal(again, "");
	assert_string_equal(more, "ffffffff81000300 T second_alias\nffffffff81000400 T third\n");
	free(first);
	free(again);
	free(more);
	kernel_symbols_index_free(k);
}

static void ksyms_finds_names_and_addresses(void **state)
{
	struct kernel_symbols_index *k = load(table);
	char name[64];
	uint64_t addr;

	assert_true(kernel_symbols_index_find(k, "_etext", &addr));
	assert_int_equal(addr, 0xffffffff81001000);
	assert_false(kernel_symbols_index_find(k, "_etex", &addr));
	assert_false(kernel_symbols_index_find(k, "of_module", &addr));
	assert_true(kernel_symbols_index_bpf_name(k, 0xffffffffc0100000, name, sizeof(name)));
	assert_string_equal(name, "bpf_prog_0123_main");
	assert_false(kernel_symbols_index_bpf_name(k, 0xffffffffc0100001, name, sizeof(name)));
	assert_false(kernel_symbols_index_bpf_name(k, 0xffffffffc0200000, name, sizeof(name)));
	assert_false(kernel_symbols_index_bpf_name(k, 0xffffffffc0100000, name, 5));
	kernel_symbols_index_free(k);
}

/* The first frames of a program's stack at a tracepoint, and others that must not be taken for these. */
static void ksyms_knows_the_way_from_a_tracepoint_to_a_program(void **state)
{
	enum { PROG = 0x10, TRACE, RUN, ITER, WORK, ALIAS, OTHER };
	static const uint64_t at[] = {
		[PROG] = 0xffffffffc0100010,  [TRACE] = 0xffffffff81000110,
		[RUN] = 0xffffffff81000210,   [ITER] = 0xffffffff81000310,
		[WORK] = 0xffffffff81000410,  [ALIAS] = 0xffffffff81000510,
		[OTHER] = 0xffffffffc0200010,
	};
	static const struct {
		uint8_t frames[10];
		size_t count, want;
	} cases[] = {
		{ { PROG, RUN, WORK }, 3, 2 },
		{ { PROG, RUN, TRACE, ITER, WORK, OTHER }, 6, 4 },
		{ { PROG, PROG, RUN, WORK, TRACE, WORK }, 6, 5 }, /* one tracepoint in another */
		{ { PROG, ALIAS, WORK }, 3, 2 },
		{ { PROG, RUN }, 2, 2 },
		{ { PROG, WORK, WORK }, 3, 0 },
		{ { WORK, TRACE, WORK }, 3, 0 }, /* not from a program */
		{ { TRACE, RUN, WORK }, 3, 0 },
		{ { PROG, WORK, WORK, WORK, WORK, WORK, WORK, WORK, RUN, WORK }, 10, 0 },
		{ { PROG }, 1, 0 },
		{ { 0 }, 0, 0 },
	};
	struct kernel_symbols_index *k = load(
		"ffffffff81000000 T _stext\n"
		"ffffffff81000100 t __bpf_trace_sys_exit\n"
		"ffffffff81000200 T bpf_trace_run2\n"
		"ffffffff81000300 T __traceiter_sys_exit\n"
		"ffffffff81000400 T do_work\n"
		"ffffffff81000500 T bpf_trace_run\n" /* no number: another function */
		"ffffffff81000500 t bpf_trace_run12\n"
		"ffffffff81001000 T _etext\n"
		"ffffffffc0100000 t bpf_prog_0123_main\t[bpf]\n"
		"ffffffffc0200000 t of_module\t[ext4]\n");
	uint64_t frames[10];
	size_t i, n, again;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (n = 0; n < cases[i].count; n++)
			frames[n] = at[cases[i].frames[n]];
		for (again = 0; again < 2; again++)
			assert_int_equal(
				kernel_symbols_index_tracing_frames(k, frames, cases[i].count),
				cases[i].want);
	}
	kernel_symbols_index_free(k);
}

/* A text of many blocks (packed.h); and a line that no kernel writes. */
static void ksyms_finds_the_names_of_a_long_text(void **state)
{
	enum { COUNT = 20000, EACH = 97 };
	char *text = malloc(COUNT * 64 + 2048), *p = text, *got, want[160];
	struct kernel_symbols_index *k = NULL;
	int i;

	assert_non_null(text);
	for (i = 0; i < COUNT; i++) {
		p += sprintf(p, "ffffffff%08x t function_number_%d\n", 0x81000000U + i * 16, i);
		if (i == COUNT / 2)
			p += sprintf(p, "ffffffff%08x t %01500d\n", 0x81000000U + i * 16 + 8, 7);
	}
	assert_int_equal(kernel_symbols_index_from_text(text, &k), 0);
	for (i = 0; i < COUNT - 1; i += EACH) {
		got = taken(k, (const uint64_t[]){ 0xffffffff81000000 + i * 16 + 9, 0 });
		snprintf(want, sizeof(want),
			 "ffffffff%08x t function_number_%d\nffffffff%08x t function_number_%d\n",
			 0x81000000U + i * 16, i, 0x81000000U + (i + 1) * 16, i + 1);
		assert_string_equal(got, want);
		free(got);
	}
	kernel_symbols_index_free(k);
}

static void ksyms_steps_over_lines_that_are_none(void **state)
{
	struct kernel_symbols_index *k = load("\n"
					      "xyz\n"
					      "1000\n"
					      "1000 T\n"
					      "1000 T \n"
					      "10000000000000000 T too_large\n"
					      "1000  T blank\n"
					      "2000 T good\n"
					      "3000 T cut");
	char *got = taken(k, (const uint64_t[]){ 0x1800, 0x2800, 0 });

	assert_string_equal(got, "2000 T good\n3000 T cut");
	free(got);
	kernel_symbols_index_free(k);
}

static void ksyms_refuses_hidden_and_empty_tables(void **state)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{ "", -ENODATA },
		{ "hello\n", -ENODATA },
		{ "ffffffff81000200 D only_data\n", -ENODATA },
		{ "0000000000000000 T _text\n0000000000000000 T schedule\n", -EACCES },
	};
	struct kernel_symbols_index *k = NULL;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(kernel_symbols_index_from_text(strdup(cases[i].text), &k),
				 cases[i].err);
		assert_null(k);
	}
}

/* ---- the cache ---- */

#define BOOT    "01234567-89ab-cdef-0123-456789abcdef\n"
#define MODULES "ext4 1032192 1 - Live 0xffffffffc0200000\n"

static const char machine[] = "ffffffff81000000 T _stext\n"
			      "ffffffff81000000 T _text\n"
			      "ffffffff81000100 t first\n"
			      "ffffffff81000300 W second\n"
			      "ffffffff81001000 T _etext\n"
			      "ffffffff83700000 T _sinittext\n"
			      "ffffffff83700100 T start_kernel\n"
			      "ffffffff83700200 T _einittext\n"
			      "ffffffffc0200000 t one\t[ext4]\n"
			      "ffffffffc0200100 t two\t[ext4]\n"
			      "ffffffffc0300000 t ftrace_trampoline\t[__builtin__ftrace]\n"
			      "ffffffffc0400000 t bpf_trampoline_77\t[bpf]\n";

struct cached {
	char folder[64], kallsyms[96], modules[96], boot_id[96], file[96];
	struct kernel_symbols_index_source source;
};

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int cached_setup(void **state)
{
	struct cached *e = calloc(1, sizeof(*e));

	*state = e;
	strcpy(e->folder, "/tmp/ebprec-ksyms-XXXXXX");
	if (!mkdtemp(e->folder))
		return 1;
	snprintf(e->kallsyms, sizeof(e->kallsyms), "%s/symbols", e->folder);
	snprintf(e->modules, sizeof(e->modules), "%s/modules", e->folder);
	snprintf(e->boot_id, sizeof(e->boot_id), "%s/boot", e->folder);
	snprintf(e->file, sizeof(e->file), "%s/kallsyms", e->folder);
	e->source = (struct kernel_symbols_index_source){ e->folder, e->kallsyms, e->modules,
							  e->boot_id };
	put(e->kallsyms, machine);
	put(e->modules, MODULES);
	put(e->boot_id, BOOT);
	return 0;
}

static int cached_teardown(void **state)
{
	struct cached *e = *state;

	unlink(e->kallsyms);
	unlink(e->modules);
	unlink(e->boot_id);
	unlink(e->file);
	rmdir(e->folder);
	free(e);
	return 0;
}

static struct kernel_symbols_index *load_cached(const struct cached *e)
{
	struct kernel_symbols_index *k = NULL;

	assert_int_equal(kernel_symbols_index_load_from(&e->source, &k), 0);
	return k;
}

/* Loads, and returns whether the real table was read: its end changes, which no key can see. */
static bool reads_anew(const struct cached *e)
{
	struct kernel_symbols_index *k = load_cached(e);
	char *got = taken(k, (const uint64_t[]){ 0xffffffff81000110, 0 });
	bool anew = strstr(got, "news") != NULL;

	free(got);
	kernel_symbols_index_free(k);
	return anew;
}

/* A page of symbols in front, and behind it one that is new: the cache does not have it. */
static void change_behind_the_first_page(const struct cached *e)
{
	FILE *f = fopen(e->kallsyms, "w");
	int i;

	assert_non_null(f);
	for (i = 0; i < 200; i++)
		fprintf(f, "ffffffff80%06x t early_%d\n", i * 16, i);
	if (!access(e->file, F_OK))
		fputs("ffffffff81000100 t news\n", f);
	fputs(machine, f);
	fclose(f);
}

static void ksyms_of_the_cache_answer_as_those_that_are_read(void **state)
{
	static const uint64_t addrs[] = { 0xffffffff81000150, 0xffffffff81000300,
					  0xffffffffc0200010, 0 };
	struct kernel_symbols_index *k = load_cached(*state), *again = load_cached(*state);
	char *want = taken(k, addrs), *got = taken(again, addrs);
	uint64_t a, b;

	assert_non_null(strstr(want, "first"));
	assert_string_equal(got, want);
	assert_true(kernel_symbols_index_find(k, "_etext", &a) &&
		    kernel_symbols_index_find(again, "_etext", &b));
	assert_int_equal(a, b);
	assert_true(kernel_symbols_index_find(again, "second", &b)); /* not one of the well-known */
	assert_int_equal(b, 0xffffffff81000300);
	assert_false(kernel_symbols_index_find(again, "__schedule", &b));
	free(want);
	free(got);
	kernel_symbols_index_free(k);
	kernel_symbols_index_free(again);
}

static void ksyms_are_cached_as_long_as_the_kernel_is_the_same(void **state)
{
	static const char other_boot[] = "ffffffff-89ab-cdef-0123-456789abcdef\n";
	static const struct {
		const char *modules, *boot;
		bool anew;
	} cases[] = {
		{ MODULES, BOOT, false },
		{ "ext4 1032192 7 - Live 0xffffffffc0200000\n", BOOT, false }, /* used more */
		{ "ext4 1032192 1 - Live 0xffffffffc0210000\n", BOOT, true },
		{ "ext4 1032192 1 - Unloading 0xffffffffc0200000\n", BOOT, true },
		{ MODULES "nfs 4096 1 - Live 0xffffffffc0500000\n", BOOT, true },
		{ "", BOOT, true },
		{ MODULES, other_boot, true },
		{ MODULES, "", true },
		{ MODULES, "01234567", true },
	};
	struct cached *e = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unlink(e->file);
		change_behind_the_first_page(e);
		put(e->modules, MODULES);
		put(e->boot_id, BOOT);
		assert_false(reads_anew(e));
		assert_int_equal(access(e->file, F_OK), 0);
		change_behind_the_first_page(e);
		put(e->modules, cases[i].modules);
		put(e->boot_id, cases[i].boot);
		assert_int_equal(reads_anew(e), cases[i].anew);
	}
}

static void ksyms_are_not_cached_where_the_kernel_hides_them_now(void **state)
{
	struct cached *e = *state;
	struct kernel_symbols_index *k = load_cached(e);

	kernel_symbols_index_free(k);
	k = NULL;
	put(e->kallsyms, "0000000000000000 T _stext\n0000000000000000 T _text\n");
	assert_int_equal(kernel_symbols_index_load_from(&e->source, &k), -EACCES);
}

/* Symbols that come and go are not cached: an address where it may be makes us read the real table. */
static void ksyms_of_an_uncertain_place_are_read_anew(void **state)
{
	static const struct {
		uint64_t addr;
		const char *want;
	} cases[] = {
		{ 0xffffffffc0300010, "ftrace_trampoline" },
		{ 0xffffffffc0400010, "bpf_trampoline_77" },
		{ 0xffffffffc0200110, "two" }, /* where it ends is not known */
	};
	struct cached *e = *state;
	struct kernel_symbols_index *k;
	char *got;
	size_t i;

	kernel_symbols_index_free(load_cached(e));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		k = load_cached(e);
		got = taken(k, (const uint64_t[]){ 0xffffffff81000110, cases[i].addr, 0 });
		assert_non_null(strstr(got, "t first\n"));
		assert_non_null(strstr(got, cases[i].want));
		free(got);
		kernel_symbols_index_free(k);
	}
}

/* The idle thread's stack ends in code of the start: that is no reason to read all of it. */
static void ksyms_of_the_kernels_start_are_certain(void **state)
{
	struct cached *e = *state;
	struct kernel_symbols_index *k;
	char *got;

	kernel_symbols_index_free(load_cached(e));
	k = load_cached(e);
	put(e->kallsyms, "");
	got = taken(k, (const uint64_t[]){ 0xffffffff83700123, 0 });
	assert_string_equal(got, "ffffffff83700100 T start_kernel\n"
				 "ffffffff83700200 T _einittext\n");
	free(got);
	kernel_symbols_index_free(k);
}

static void ksyms_of_code_that_is_named_elsewhere_are_not_needed(void **state)
{
	struct kernel_symbols_index *k;
	char *got;

	kernel_symbols_index_free(load_cached(*state));
	k = load_cached(*state);
	kernel_symbols_index_note(k, 0xffffffffc0400000, 0x100, false);
	got = taken(k, (const uint64_t[]){ 0xffffffffc0400010, 0 });
	assert_string_equal(got, "");
	free(got);
	kernel_symbols_index_note(k, 0xffffffffc0400000, 0x100, true);
	got = taken(k, (const uint64_t[]){ 0xffffffffc0400010, 0 });
	assert_non_null(strstr(got, "bpf_trampoline_77"));
	free(got);
	kernel_symbols_index_free(k);
}

/* A program's first samples come before the record that names its code: that is no reason to read all of it. */
static void ksyms_of_code_that_is_named_later_are_not_needed(void **state)
{
	struct cached *e = *state;
	struct kernel_symbols_index *k;
	char *got;

	kernel_symbols_index_free(load_cached(e));
	k = load_cached(e);
	change_behind_the_first_page(e);
	kernel_symbols_index_touch(k, 0xffffffffc0400010);
	kernel_symbols_index_touch(k, 0xffffffffc0400020);
	kernel_symbols_index_note(k, 0xffffffffc0400000, 0x100, false);
	kernel_symbols_index_touch(k, 0xffffffffc0400030);
	got = taken(k, (const uint64_t[]){ 0xffffffff81000110, 0 });
	assert_null(strstr(got, "trampoline"));
	assert_null(strstr(got, "news")); /* the real table has it there */
	free(got);
	kernel_symbols_index_free(k);
}

static void ksyms_that_no_record_names_wait_for_the_second_take(void **state)
{
	struct kernel_symbols_index *k;
	char *got;

	kernel_symbols_index_free(load_cached(*state));
	k = load_cached(*state);
	kernel_symbols_index_touch(k, 0xffffffffc0400010);
	got = take(k);
	assert_string_equal(got, "");
	free(got);
	got = take_in_time(k);
	assert_non_null(strstr(got, "bpf_trampoline_77"));
	free(got);
	kernel_symbols_index_free(k);
}

static void ksyms_of_very_many_uncertain_places_are_there_in_the_end(void **state)
{
	struct kernel_symbols_index *k;
	char *got;

	kernel_symbols_index_free(load_cached(*state));
	k = load_cached(*state);
	for (uint64_t i = 0; i < 5000; i++)
		kernel_symbols_index_touch(k, 0xffffffffc0300010 + i * 4);
	got = take_in_time(k);
	assert_non_null(strstr(got, "ftrace_trampoline"));
	free(got);
	kernel_symbols_index_free(k);
}

/* The caller would stand still here if it read the table itself: no process writes into the pipe. */
static void ksyms_are_read_anew_while_others_go_on(void **state)
{
	struct cached *e = *state;
	struct kernel_symbols_index *k;
	char *got;

	kernel_symbols_index_free(load_cached(e));
	k = load_cached(e);
	unlink(e->kallsyms);
	assert_int_equal(mkfifo(e->kallsyms, 0600), 0);
	alarm(60);
	kernel_symbols_index_touch(k, 0xffffffff81000110);
	for (uint64_t i = 0; i < 1000; i++)
		kernel_symbols_index_touch(k, 0xffffffffc0300010 + i);
	got = take(k);
	assert_string_equal(got, "ffffffff81000100 t first\n"
				 "ffffffff81000300 W second\n");
	free(got);
	for (int i = 0; i < 3; i++) {
		got = take(k);
		assert_string_equal(got, "");
		free(got);
	}
	put(e->kallsyms, machine);
	got = taken(k, (const uint64_t[]){ 0 });
	assert_string_equal(got, "ffffffffc0300000 t ftrace_trampoline\t[__builtin__ftrace]\n"
				 "ffffffffc0400000 t bpf_trampoline_77\t[bpf]\n");
	free(got);
	kernel_symbols_index_free(k);
	alarm(0);
}

/* The recording ended before it was needed. */
static void ksyms_may_go_while_they_are_read_anew(void **state)
{
	struct kernel_symbols_index *k;
	char *got;

	kernel_symbols_index_free(load_cached(*state));
	k = load_cached(*state);
	kernel_symbols_index_touch(k, 0xffffffffc0400010);
	for (int i = 0; i < 2; i++) {
		got = take(k);
		free(got);
	}
	kernel_symbols_index_free(k);
}

/* Cut or changed anywhere: the cache is read completely, or not at all. */
static void ksyms_of_a_damaged_cache_are_read_anew(void **state)
{
	struct cached *e = *state;
	uint8_t bytes[8192];
	size_t size, i;
	FILE *f;
	char *got;
	struct kernel_symbols_index *k;

	change_behind_the_first_page(e);
	kernel_symbols_index_free(load_cached(e));
	f = fopen(e->file, "r");
	assert_non_null(f);
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_true(size > 2000);
	for (i = 0; i < 2000; i += 7) {
		f = fopen(e->file, "w");
		bytes[i] ^= 0x10;
		fwrite(bytes, 1, i % 2 ? i : size, f);
		bytes[i] ^= 0x10;
		fclose(f);
		k = load_cached(e);
		got = taken(k, (const uint64_t[]){ 0xffffffff81000110, 0 });
		assert_string_equal(got, "ffffffff81000100 t first\n"
					 "ffffffff81000300 W second\n");
		free(got);
		kernel_symbols_index_free(k);
	}
}

#define CACHED(test) cmocka_unit_test_setup_teardown(test, cached_setup, cached_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ksyms_keeps_what_was_hit_with_its_aliases_and_its_end),
		cmocka_unit_test(ksyms_gives_each_line_once),
		cmocka_unit_test(ksyms_finds_names_and_addresses),
		cmocka_unit_test(ksyms_knows_the_way_from_a_tracepoint_to_a_program),
		cmocka_unit_test(ksyms_finds_the_names_of_a_long_text),
		cmocka_unit_test(ksyms_steps_over_lines_that_are_none),
		cmocka_unit_test(ksyms_refuses_hidden_and_empty_tables),
		CACHED(ksyms_of_the_cache_answer_as_those_that_are_read),
		CACHED(ksyms_are_cached_as_long_as_the_kernel_is_the_same),
		CACHED(ksyms_are_not_cached_where_the_kernel_hides_them_now),
		CACHED(ksyms_of_an_uncertain_place_are_read_anew),
		CACHED(ksyms_of_the_kernels_start_are_certain),
		CACHED(ksyms_of_code_that_is_named_elsewhere_are_not_needed),
		CACHED(ksyms_of_code_that_is_named_later_are_not_needed),
		CACHED(ksyms_that_no_record_names_wait_for_the_second_take),
		CACHED(ksyms_of_very_many_uncertain_places_are_there_in_the_end),
		CACHED(ksyms_are_read_anew_while_others_go_on),
		CACHED(ksyms_may_go_while_they_are_read_anew),
		CACHED(ksyms_of_a_damaged_cache_are_read_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
