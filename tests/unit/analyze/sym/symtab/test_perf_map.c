/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* perfmap: names of code made at run time, by lines that may be anything */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/sym/symtab/perf_map.h"

static const char *find(const char *text, uint64_t addr)
{
	static char found[64];
	struct perf_map *m;
	const char *name;

	if (perf_map_new(text, strlen(text), &m))
		return "no map";
	name = perf_map_find(m, addr);
	snprintf(found, sizeof(found), "%s", name ? name : "none");
	perf_map_free(m);
	return found;
}

static void perfmap_names_what_a_line_covers(void **state)
{
	static const char text[] = "1000 20 first\n0x2000 0x10 JS:*f /a b.js:1:2\nFFFF000 A up\r\n";

	assert_string_equal(find(text, 0xfff), "none");
	assert_string_equal(find(text, 0x1000), "first");
	assert_string_equal(find(text, 0x101f), "first");
	assert_string_equal(find(text, 0x1020), "none");
	assert_string_equal(find(text, 0x200f), "JS:*f /a b.js:1:2");
	assert_string_equal(find(text, 0xffff009), "up");
	assert_string_equal(find(text, UINT64_MAX), "none");
}

static void perfmap_later_lines_are_right(void **state)
{
	static const char text[] = "1000 100 all\n1040 20 part\n1000 10 new\n";

	assert_string_equal(find(text, 0x1000), "new");
	assert_string_equal(find(text, 0x1010), "all");
	assert_string_equal(find(text, 0x1040), "part");
	assert_string_equal(find(text, 0x1060), "all");
	/* The same the other way round: the large one was made last. */
	assert_string_equal(find("1040 20 part\n1000 100 all\n", 0x1040), "all");
}

static void perfmap_passes_over_what_is_no_line(void **state)
{
	static const char *const broken[] = {
		"",
		"\n",
		"text\n",
		"1000\n",
		"1000 20\n",
		"1000 20 \n",
		"1000 0 empty\n",
		"ffffffffffffffff 2 round\n",
		"12345678901234567 1 x\n",
		"1000 20 cut",
		"-1 20 x\n",
		"1000  20 x\n",
		"0x 1 x\n",
	};
	char text[256];
	size_t i;

	for (i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		if (strcmp(find(broken[i], 0x1000), "no map") != 0)
			fail_msg("'%s' gives '%s'", broken[i], find(broken[i], 0x1000));
		snprintf(text, sizeof(text), "1000 20 good\n%s", broken[i]);
		assert_string_equal(find(text, 0x1010), "good");
	}
}

static void perfmap_stops_at_a_nul(void **state)
{
	static const char text[] = "1000 10 a\n\0002000 10 b\n";
	struct perf_map *m;

	assert_int_equal(perf_map_new(text, sizeof(text) - 1, &m), 0);
	assert_string_equal(perf_map_find(m, 0x1000), "a");
	assert_null(perf_map_find(m, 0x2000));
	perf_map_free(m);
	perf_map_free(NULL);
}

/* Against a table that each line is painted into. */
static void perfmap_agrees_with_painting(void **state)
{
	uint32_t painted[512] = { 0 }, seed = 1, i, at;
	char *text = malloc(1 << 16), want[16];
	size_t used = 0;
	struct perf_map *m;

	for (i = 1; i <= 200; i++) {
		uint32_t start, size;

		seed = seed * 1103515245 + 12345;
		start = seed >> 16 & 0xff;
		size = (seed >> 8 & 0x3f) + 1;
		used += (size_t)sprintf(text + used, "%x %x f%u\n", start, size, i);
		for (at = start; at < start + size; at++)
			painted[at] = i;
	}
	assert_int_equal(perf_map_new(text, used, &m), 0);
	for (at = 0; at < 512; at++) {
		const char *name = perf_map_find(m, at);

		snprintf(want, sizeof(want), "f%u", painted[at]);
		if (!name != !painted[at] || (name && strcmp(name, want) != 0))
			fail_msg("%x: '%s', not '%s'", at, name ? name : "none", want);
	}
	perf_map_free(m);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfmap_names_what_a_line_covers),
		cmocka_unit_test(perfmap_later_lines_are_right),
		cmocka_unit_test(perfmap_passes_over_what_is_no_line),
		cmocka_unit_test(perfmap_stops_at_a_nul),
		cmocka_unit_test(perfmap_agrees_with_painting),
	};

	return cmocka_run_group_tests_name("perfmap", tests, NULL, NULL);
}
