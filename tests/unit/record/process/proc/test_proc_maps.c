/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/proc/proc_maps.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/mman.h>

/* The fields of a line, as text; "broken", "end". */
static const char *line_text(const char *line, char out[8192])
{
	struct proc_map m;
	const char *text = line;
	int more;

	memset(&m, 0xff, sizeof(m)); /* nothing of what was there stays */
	more = proc_maps_next(&text, &m);
	if (more <= 0)
		return more ? "broken" : "end";
	assert_true(!m.id.inode_generation && !m.id.build_id.size_bytes);
	snprintf(out, 8192, "%llx+%llx @%llx %c%c%c%c %x:%x %llu '%s'", (unsigned long long)m.start,
		 (unsigned long long)(m.end - m.start), (unsigned long long)m.file_off_bytes,
		 m.prot & PROT_READ ? 'r' : '-', m.prot & PROT_WRITE ? 'w' : '-',
		 m.prot & PROT_EXEC ? 'x' : '-', m.flags == MAP_SHARED ? 's' : 'p', m.id.dev_major,
		 m.id.dev_minor, (unsigned long long)m.id.inode, m.path);
	return out;
}

struct line {
	const char *text, *want;
};

static void check(const struct line *lines, size_t count)
{
	char out[8192];
	size_t i;

	for (i = 0; i < count; i++)
		assert_string_equal(line_text(lines[i].text, out), lines[i].want);
}

#define CHECK(lines) check(lines, sizeof(lines) / sizeof((lines)[0]))

static void procmaps_reads_lines_of_the_kernel(void **state)
{
	static const struct line lines[] = {
		{ "55cd8f4a2000-55cd8f4a4000 r-xp 00002000 fe:00 247101                 /usr/bin/cat\n",
		  "55cd8f4a2000+2000 @2000 r-xp fe:0 247101 '/usr/bin/cat'" },
		{ "7fb734094000-7fb734096000 r-xp 00000000 00:00 0                      [vdso]\n",
		  "7fb734094000+2000 @0 r-xp 0:0 0 '[vdso]'" },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0              [vsyscall]\n",
		  "ffffffffff600000+1000 @0 --xp 0:0 0 '[vsyscall]'" },
		{ "1000-2000 rwxs 00000000 00:01 7 /dev/zero (deleted)\n",
		  "1000+1000 @0 rwxs 0:1 7 '/dev/zero (deleted)'" },
		{ "1000-2000 rw-p 00000000 00:00 0 \n", "1000+1000 @0 rw-p 0:0 0 ''" },
		{ "1000-2000 rw-p 00000000 00:00 0\n", "1000+1000 @0 rw-p 0:0 0 ''" },
		{ "1000-2000 rw-p 00000000 00:00 0", "1000+1000 @0 rw-p 0:0 0 ''" },
		{ "1000-2000 r-xp 00000000 103:2ff 9 /a b\\012c\n",
		  "1000+1000 @0 r-xp 103:2ff 9 '/a b\nc'" },
		{ "1000-2000 r-xp 00000000 00:1 9 /back\\slash\\01\n",
		  "1000+1000 @0 r-xp 0:1 9 '/back\\slash\\01'" },
		{ "", "end" },
	};

	CHECK(lines);
}

static void procmaps_refuses_what_is_no_line(void **state)
{
	static const struct line lines[] = {
		{ "\n", "broken" },
		{ "1000-2000\n", "broken" },
		{ "1000 2000 r-xp 0 0:0 0\n", "broken" },
		{ "2000-1000 r-xp 00000000 00:00 0 /x\n", "broken" },
		{ "1000-1000 r-xp 00000000 00:00 0 /x\n", "broken" },
		{ "-2000 r-xp 00000000 00:00 0 /x\n", "broken" },
		{ "1000-10000000000000000 r-xp 00000000 00:00 0 /x\n", "broken" },
		{ "1000-2000 rxwp 00000000 00:00 0 /x\n", "broken" },
		{ "1000-2000 r-xq 00000000 00:00 0 /x\n", "broken" },
		{ "1000-2000 r-x\n", "broken" },
		{ "1000-2000 r-xp zz 00:00 0 /x\n", "broken" },
		{ "1000-2000 r-xp 00000000 0000 0 /x\n", "broken" },
		{ "1000-2000 r-xp 00000000 100000000:00 0 /x\n", "broken" },
		{ "1000-2000 r-xp 00000000 00:00 99999999999999999999 /x\n", "broken" },
		{ "1000-2000 r-xp 00000000 00:00 1f /x\n", "broken" },
		{ "1000-2000 r-xp 00000000 00:00 \n", "broken" },
	};

	CHECK(lines);
}

static void procmaps_goes_on_behind_a_broken_line(void **state)
{
	const char *text = "what?\n1000-2000 r-xp 00000000 00:00 0 /x\n";
	struct proc_map m;

	assert_int_equal(proc_maps_next(&text, &m), -EBADMSG);
	assert_int_equal(proc_maps_next(&text, &m), 1);
	assert_string_equal(m.path, "/x");
	assert_int_equal(proc_maps_next(&text, &m), 0);
}

static void procmaps_cuts_a_path_that_is_too_long(void **state)
{
	char line[8192] = "1000-2000 r-xp 00000000 00:00 0 /";
	const char *text = line;
	struct proc_map m;

	memset(line + strlen(line), 'x', 6000);
	assert_int_equal(proc_maps_next(&text, &m), 1);
	assert_int_equal(strlen(m.path), PROC_MAPS_PATH_MAX - 1);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(procmaps_reads_lines_of_the_kernel),
		cmocka_unit_test(procmaps_refuses_what_is_no_line),
		cmocka_unit_test(procmaps_goes_on_behind_a_broken_line),
		cmocka_unit_test(procmaps_cuts_a_path_that_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
