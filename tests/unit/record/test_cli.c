/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/cli.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/metric/catalogue.h"

#define MAX_HZ 100000

static enum cli_result parse(const char *words, struct record_opts *o, struct option_error *error)
{
	static char copy[512]; /* what was parsed points into it */
	static char *argv[32];
	char *save = NULL, *word;
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", words);
	argv[0] = "ebprec-record";
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	error->text[0] = '\0';
	return cli_parse(argc, argv, MAX_HZ, o, error);
}

static void opts_without_words_record_the_machine(void **state)
{
	struct option_error error;
	struct record_opts o;

	assert_int_equal(parse("", &o, &error), CLI_RUN);
	assert_true(o.system_wide && o.sched && o.mark && o.kallsyms);
	assert_int_equal(o.freq_hz, 99);
	assert_int_equal(o.event, RECORD_AUTO);
	assert_int_equal(o.level, 3);
	assert_int_equal(o.ring_bytes, 0);
	assert_string_equal(o.output, "ebprec.data");
	assert_null(o.command);
}

static void opts_choose_the_processes_to_record(void **state)
{
	static const struct {
		const char *words;
		bool system_wide;
		unsigned pid_count;
		const char *command;
	} cases[] = {
		{ "-a", true, 0, NULL },
		{ "-a sleep 5", true, 0, "sleep" },
		{ "-a -- sleep 5", true, 0, "sleep" },
		{ "sleep 5", false, 0, "sleep" },
		{ "-- sleep -a", false, 0, "sleep" },
		{ "sleep -a", false, 0, "sleep" },
		{ "-p 1", false, 1, NULL },
		{ "-p 1,22,333", false, 3, NULL },
		{ "-p 1 --pid=22", false, 2, NULL },
		{ "-p1 sleep 5", false, 1, "sleep" },
		{ "-ag -F99 sleep", true, 0, "sleep" },
		{ "-agz sleep 5", true, 0, "sleep" },
		{ "-z -agTN --namespaces sleep", true, 0, "sleep" },
	};
	struct option_error error;
	struct record_opts o;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (parse(cases[i].words, &o, &error) != CLI_RUN)
			fail_msg("'%s': %s", cases[i].words, error.text);
		assert_int_equal(o.system_wide, cases[i].system_wide);
		assert_int_equal(o.pid_count, cases[i].pid_count);
		if (cases[i].command)
			assert_string_equal(o.command[0], cases[i].command);
		else
			assert_null(o.command);
	}
}

static void opts_read_values(void **state)
{
	struct option_error error;
	struct record_opts o;
	uint32_t all;

	assert_int_equal(parse("-F 997 -e cycles -d 2.5 -z 19 -m 64 -o x -qv", &o, &error),
			 CLI_RUN);
	assert_int_equal(o.freq_hz, 997);
	assert_int_equal(o.event, RECORD_CYCLES);
	assert_int_equal(o.duration_ns, 2500000000);
	assert_int_equal(o.level, 19);
	assert_int_equal(o.ring_bytes, 64 << 20);
	assert_string_equal(o.output, "x");
	assert_true(o.quiet && o.verbose == 1);
	assert_int_equal(parse("-F max -m 512K -e cpu-clock --call-graph fp", &o, &error), CLI_RUN);
	assert_int_equal(o.freq_hz, MAX_HZ);
	assert_int_equal(o.ring_bytes, 512 << 10);
	assert_int_equal(o.event, RECORD_CPU_CLOCK);
	assert_int_equal(parse("--call-graph dwarf", &o, &error), CLI_RUN);
	assert_int_equal(o.stacks, CPU_STACKS_CFI);
	assert_int_equal(parse("--call-graph dwarf,8192 --switch-output 10s", &o, &error), CLI_RUN);
	assert_int_equal(o.stacks, CPU_STACKS_COPY);
	assert_int_equal(o.copy_bytes, 8192);
	assert_true(o.turn.ns == 10000000000ULL);
	assert_int_equal(parse("--without sched --without kallsyms --with cpu,mark", &o, &error),
			 CLI_RUN);
	assert_true(!o.sched && !o.kallsyms && o.mark && !o.metrics);
	assert_int_equal(parse("--with all --without locks", &o, &error), CLI_RUN);
	assert_true(o.metrics);
	all = o.metrics;
	assert_int_equal(parse("--with locks", &o, &error), CLI_RUN);
	assert_true(o.metrics && !(o.metrics & all));
	assert_int_equal(parse("--ring 90s", &o, &error), CLI_RUN);
	assert_true(o.keep.ns == 90000000000ULL && !o.keep.bytes);
	assert_int_equal(parse("--ring 64M", &o, &error), CLI_RUN);
	assert_true(!o.keep.ns && o.keep.bytes == 64 << 20);
	assert_int_equal(parse("--rotate 10m,3 --max-size 2G", &o, &error), CLI_RUN);
	assert_true(o.turn.ns == 600000000000ULL && !o.turn.bytes && o.keep_files == 3);
	assert_int_equal(o.max_file_bytes, 2ULL << 30);
	assert_int_equal(parse("--ring 1.5s --interval 250ms -d .3s", &o, &error), CLI_RUN);
	assert_int_equal(o.keep.ns, 1500000000);
	assert_int_equal(o.interval_ns, 250000000);
	assert_int_equal(o.duration_ns, 300000000);
	assert_int_equal(parse("--ring 512k", &o, &error), CLI_RUN);
	assert_int_equal(o.keep.bytes, 512 << 10);
	assert_int_equal(parse("--max-size 2000000B", &o, &error), CLI_RUN);
	assert_int_equal(o.max_file_bytes, 2000000);
	assert_int_equal(parse("--rotate 100M", &o, &error), CLI_RUN);
	assert_true(!o.turn.ns && o.turn.bytes == 100 << 20 && !o.keep_files);
}

static void options_behind_an_instrument_are_its_own(void **state)
{
	struct option_error error;
	struct record_opts o;
	unsigned heap = 0, kmem = 0;

	(void)state;
	assert_int_equal(
		parse("-p 1 --with heap:lib=/a/b.so,sample-bytes=7,lib=c --with runq,kmem:sample-bytes=9 "
		      "--heap-lib d,e --with net:each --with pmu:cycles,page-faults --sample-bytes 5",
		      &o, &error),
		CLI_RUN);
	assert_int_equal(o.heap_lib_count, 3);
	assert_memory_equal(o.heap_libs[0].name, "/a/b.so", o.heap_libs[0].bytes);
	assert_int_equal(o.heap_libs[0].bytes, 7);
	assert_memory_equal(o.heap_libs[1].name, "c", o.heap_libs[1].bytes);
	assert_int_equal(o.heap_libs[2].bytes, strlen("d,e"));
	assert_true(o.each);
	assert_string_equal(o.pmu, "cycles,page-faults");
	assert_int_equal(o.sample_bytes, 5);
	for (size_t i = 0; i < catalogue_count; i++) {
		heap = !strcmp(metriclist[i].name, "heap") ? o.own_sample_bytes[i] : heap;
		kmem = !strcmp(metriclist[i].name, "kmem") ? o.own_sample_bytes[i] : kmem;
		if (!strcmp(metriclist[i].name, "runq"))
			assert_true(o.metrics & 1u << i);
	}
	assert_int_equal(heap, 7);
	assert_int_equal(kmem, 9);
	/* A word behind the colon is no instrument's name. */
	assert_int_equal(parse("--with pmu:block --without block", &o, &error), CLI_RUN);
}

static const struct {
	const char *words, *want;
} wrong[] = {
	{ "--with heap:library=x -p 1",
	  "'--with heap' takes lib=FILE,sample-bytes=N, not 'library=x'" },
	{ "--with heap:lib -p 1", "not 'lib'" },
	{ "--with heap:lib= -p 1", "not 'lib='" },
	{ "--with heap:lib=x, -p 1", "not ''" },
	{ "--with kmem:sample-bytes=0", "not 'sample-bytes=0'" },
	{ "--with kmem:sample-bytes=1073741825", "takes sample-bytes=N" },
	{ "--with kmem:sample-bytes=1x", "not 'sample-bytes=1x'" },
	{ "--with net:each=1", "takes each, not 'each=1'" },
	{ "--with net:", "takes each, not ''" },
	{ "--with pmu:", "takes EVENT,..., not ''" },
	{ "--with block:each", "'--with block' takes no options, not 'each'" },
	{ "--with sched:x", "'sched' takes no options" },
	{ "--with all:x", "'all' takes no options" },
	{ "--without net:each", "'--without': 'net' takes no options" },
	{ "--with heap:lib=x --without heap", "'--with heap' and '--without heap'" },
	{ "--outptu x", "'--output'" },
	{ "-x", "-x" },
	{ "-F", "" },
	{ "-F 0", "'0'" },
	{ "-F -1", "'-1'" },
	{ "-F 99x", "'99x'" },
	{ "-F 99999999999999999999", "'99999999999999999999'" },
	{ "-F 100001", "perf_event_max_sample_rate" },
	{ "-e cycle", "did you mean 'cycles'" },
	{ "-e sched:sched_switch", "--mark tp:SYSTEM:EVENT" },
	{ "-e cycles:u", "did you mean 'cycles'" },
	{ "-p x", "'x'" },
	{ "-p 0", "'0'" },
	{ "-p 1,", "'1,'" },
	{ "-p 1,,2", "'1,,2'" },
	{ "-p 2147483648", "'2147483648'" },
	{ "-p 1 -a", "exclude each other" },
	{ "-t 7", "'--tid' of perf" },
	{ "-C 0-3", "'ebprec report -C'" },
	{ "-c 1000", "see -F" },
	{ "-s", "--with pmu" },
	{ "--call-graph dwarf,100", "512 to" },
	{ "--call-graph dwarf,", "512 to" },
	{ "--call-graph lbr", "branches are not recorded" },
	{ "-e cache-misses", "'--with pmu:EVENT'" },
	{ "-z 0", "" },
	{ "-z 20", "" },
	{ "-m x", "" },
	{ "-d x", "" },
	{ "--without shced", "did you mean 'sched'" },
	{ "--without cpu", "-F 1" },
	{ "--with mark --without mark", "'--with mark' and '--without mark'" },
	{ "--without block,locks --with syscalls,locks", "'--without locks'" },
	{ "--with everything", "--list" },
	{ "--with sched,everything", "--list" },
	{ "--slower 10", "unit" },
	{ "--slower ms", "unit" },
	{ "--slower -1ms", "unit" },
	{ "--interval 0.05", "0.1" },
	{ "--mark foo", "'foo'" },
	{ "--mark tp:a:b --without mark", "--without mark" },
	{ "--mark tp:a:b --no-bpf", "--no-bpf" },
	{ "-o - --ring 5s", "'--output -' and '--ring'" },
	{ "-o - --rotate 5s", "'--output -' and '--rotate'" },
	{ "--ring 5s --trigger runq:5ms --no-bpf", "needs context switches" },
	{ "--ring 5s --trigger runq:5ms --without sched", "needs context switches" },
	{ "--ring 5s --trigger runq:5ms --trigger runq:6ms", "can be given once" },
	{ "-o - --bundle", "'--output -' and '--bundle'" },
	{ "--ring 60", "'60'" },
	{ "--ring 511K", "'--ring' needs at least 512K" },
	{ "--rotate 1K", "'--rotate' needs at least 512K" },
	{ "--max-size 10k", "'--max-size' needs at least 512K: the beginning and the end of a" },
	{ "--ring 0.0s", "'0.0s'" },
	{ "--ring 0s", "'0s'" },
	{ "--ring 60sx", "'60sx'" },
	{ "--ring 1001000000h", "'1001000000h'" },
	{ "--ring -1s", "'-1s'" },
	{ "--rotate 10", "'--rotate' needs a time such as 10m or a size such as 100M, not '10'" },
	{ "--switch-output 10", "'--switch-output' needs a time such as 10m or a size such as" },
	{ "--switch-output 1K", "'--switch-output' needs at least 512K" },
	{ "--switch-output 10m,x", "'--switch-output' keeps a number of files, not 'x'" },
	{ "--ring 1s --switch-output 1s", "'--ring' and '--switch-output' exclude" },
	{ "-o - --switch-output 5s", "'--output -' and '--switch-output'" },
	{ "--switch-output 5s --rotate 1K", "'--rotate' needs at least 512K" },
	{ "--level 20", "'--level' needs a number from 1 to 19" },
	{ "--rotate 10m,", "''" },
	{ "--rotate 10m,0", "'0'" },
	{ "--rotate 10m,x", "'x'" },
	{ "--rotate 10m;2", "'10m;2'" },
	{ "--max-size x", "'x'" },
	{ "--trigger mark:x", "goes with '--ring'" },
	{ "--ring 1s --trigger now", "'now'" },
	{ "--ring 1s --no-bpf --trigger mark:x", "needs marks" },
	{ "--ring 1s --rotate 1s", "exclude each other" },
	{ "--ring 1s --max-size 1M", "'--max-size' exclude" },
	{ "--ring 1s --bundle", "exclude each other" },
	{ "--", "COMMAND is missing after '--'" },
	{ "-a -F 99 --", "COMMAND is missing after '--'" },
	{ "-p 1 --", "COMMAND is missing after '--'" },
};

static void opts_name_in_one_line_what_is_wrong(void **state)
{
	struct option_error error;
	struct record_opts o;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (parse(wrong[i].words, &o, &error) != CLI_WRONG)
			fail_msg("taken: '%s'", wrong[i].words);
		if (!error.text[0] || strchr(error.text, '\n') ||
		    !strstr(error.text, wrong[i].want))
			fail_msg("'%s': got '%s', not '%s'", wrong[i].words, error.text,
				 wrong[i].want);
	}
}

static void opts_take_no_more_processes_than_there_is_room_for(void **state)
{
	struct option_error error;
	struct record_opts o;
	char list[4 * RECORD_PIDS_MAX + 8] = "1";
	char *argv[] = { "ebprec-record", "-p", list, NULL };
	int i;

	for (i = 1; i < RECORD_PIDS_MAX; i++)
		strcat(list, ",1");
	assert_int_equal(cli_parse(3, argv, MAX_HZ, &o, &error), CLI_RUN);
	assert_int_equal(o.pid_count, RECORD_PIDS_MAX);
	strcat(list, ",1");
	assert_int_equal(cli_parse(3, argv, MAX_HZ, &o, &error), CLI_WRONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opts_without_words_record_the_machine),
		cmocka_unit_test(opts_choose_the_processes_to_record),
		cmocka_unit_test(opts_read_values),
		cmocka_unit_test(options_behind_an_instrument_are_its_own),
		cmocka_unit_test(opts_name_in_one_line_what_is_wrong),
		cmocka_unit_test(opts_take_no_more_processes_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
