/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/text/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct opts {
	bool all, sched;
	unsigned verbose, freq, level;
	uint64_t duration_ns, ring_bytes;
	const char *output;
	struct option_list pids;
	struct option_pair between;
	const char *json;
	const char *level_name, *order;
};

static const struct option table[] = {
	{ OPT_FLAG, 'a', "all", NULL, offsetof(struct opts, all), 0, 0, "the machine" },
	{ OPT_FLAG, 0, "sched", NULL, offsetof(struct opts, sched), 0, 0, "context switches" },
	{ OPT_COUNT, 'v', "verbose", NULL, offsetof(struct opts, verbose), 0, 0, "print more" },
	{ OPT_UINT, 'F', "frequency", "HZ", offsetof(struct opts, freq), 1, 9999,
	  "samples a second on each CPU, a line that is so long that it does not fit" },
	{ OPT_UINT, 'z', "level", "N", offsetof(struct opts, level), 3, 0, "zstd level" },
	{ OPT_SECONDS, 'd', "duration", "SECONDS", offsetof(struct opts, duration_ns), 0, 0,
	  "stop after" },
	{ OPT_SIZE, 'm', "ring", "MIB", offsetof(struct opts, ring_bytes), 0, 0, "ring size" },
	{ OPT_STRING, 'o', "output", "FILE", offsetof(struct opts, output), 0, 0, "the capture" },
	{ OPT_LIST, 'p', "pid", "PID", offsetof(struct opts, pids), 0, 0, "only these" },
	{ OPT_FORM, 'j', "json", "FORM", offsetof(struct opts, json), 0, 0, "as JSON" },
	{ OPT_PAIR, 0, "between", "A B", offsetof(struct opts, between), 0, 0, "from A to B" },
	{ OPT_FLAG, 0, "a-name-so-long-it-gets-a-line", NULL, offsetof(struct opts, all), 0, 0,
	  "text" },
	{ OPT_UINT, 'Z', "pack", "[N]", offsetof(struct opts, level), 3, 9, "pack" },
	{ OPT_STRING, 'g', "order", "[up|down]", offsetof(struct opts, order), 0, 0, "order" },
	{ OPT_SAME, 'O', "out", "output", 0, 0, 0, NULL },
	{ OPT_SAME, 0, "everything", "all", 0, 0, 0, NULL },
	{ OPT_SAME, 'q', "squeeze", "level", offsetof(struct opts, level_name), 0, 0, NULL },
	{ OPT_IDLE, 'n', "numbers", NULL, 0, 0, 0, NULL },
	{ OPT_OTHER, 't', "tid", "TID", 0, 0, 0, "--pid PID has all its threads" },
	{ 0 },
};

#define MAX_WORDS 16

struct run {
	struct opts opts;
	struct option_error error;
	char *argv[MAX_WORDS];
	int argc, first, rc;
};

/* words: split at single spaces; the first is argv[1].  The text lives in buf. */
static void run(struct run *r, char *buf, const char *words, bool permute)
{
	char *save, *word;

	memset(r, 0, sizeof(*r));
	r->opts.sched = true;
	r->first = -1;
	r->argv[r->argc++] = (char *)"test";
	strcpy(buf, words);
	for (word = strtok_r(buf, " ", &save); word; word = strtok_r(NULL, " ", &save))
		r->argv[r->argc++] = word;
	r->rc = options_parse(table, &r->opts, r->argc, r->argv, permute, &r->first, &r->error);
}

/* The words that are left, joined by spaces. */
static void left(const struct run *r, char *out)
{
	*out = '\0';
	for (int i = r->first; i < r->argc; i++) {
		strcat(out, r->argv[i]);
		strcat(out, i + 1 < r->argc ? " " : "");
	}
}

static void options_pair_takes_two_words(void **state)
{
	static const char *const lacking[] = { "--between", "--between a", "--between=a" };
	char buf[256];
	struct run r;

	run(&r, buf, "one --between a -b two --between=c d -a three", true);
	assert_int_equal(r.rc, 0);
	assert_string_equal(r.opts.between.first, "c");
	assert_string_equal(r.opts.between.second, "d");
	assert_true(r.opts.all);
	left(&r, buf + 128);
	assert_string_equal(buf + 128, "one two three");
	for (size_t i = 0; i < sizeof(lacking) / sizeof(lacking[0]); i++) {
		run(&r, buf, lacking[i], true);
		assert_int_equal(r.rc, -EINVAL);
		assert_non_null(strstr(r.error.text, "between"));
	}
}

static void options_form_may_be_left_out(void **state)
{
	char buf[256];
	struct run r;

	run(&r, buf, "-a", true);
	assert_null(r.opts.json);
	run(&r, buf, "--json word", true);
	assert_int_equal(r.rc, 0);
	assert_string_equal(r.opts.json, "");
	left(&r, buf + 128);
	assert_string_equal(buf + 128, "word");
	run(&r, buf, "-aj -o x", true);
	assert_int_equal(r.rc, 0);
	assert_true(r.opts.all);
	assert_string_equal(r.opts.json, "");
	assert_string_equal(r.opts.output, "x");
	run(&r, buf, "--json=denet", true);
	assert_int_equal(r.rc, 0);
	assert_string_equal(r.opts.json, "denet");
	run(&r, buf, "--no-json", true);
	assert_int_equal(r.rc, -EINVAL);
}

static void options_text_that_may_be_left_out_is_one_of_its_words(void **state)
{
	static const struct {
		const char *words, *order, *left;
	} cases[] = {
		{ "-g", "", "" },
		{ "-g x.data", "", "x.data" },
		{ "-ga", "", "" },
		{ "-g -a up", "", "up" },
		{ "--order", "", "" },
		{ "--order x.data", "", "x.data" },
		{ "-g up x.data", "up", "x.data" },
		{ "-g up,0.5 x.data", "up,0.5", "x.data" },
		{ "-g 0.5,down", "0.5,down", "" },
		{ "-gdown", "down", "" },
		{ "-g dwon", "dwon", "" },
		{ "--order=x", "x", "" },
	};
	char buf[256], words[256];
	struct run r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run(&r, buf, cases[i].words, true);
		assert_int_equal(r.rc, 0);
		assert_string_equal(r.opts.order, cases[i].order);
		left(&r, words);
		assert_string_equal(words, cases[i].left);
	}
}

static void options_values_arrive(void **state)
{
	char buf[256];
	struct run r;

	run(&r, buf,
	    "-a --no-sched -vv -v -F997 --level=19 -d 2.5 -m 8 --output x.data -p 1 --pid=2",
	    false);
	assert_int_equal(r.rc, 0);
	assert_true(r.opts.all);
	assert_false(r.opts.sched);
	assert_int_equal(r.opts.verbose, 3);
	assert_int_equal(r.opts.freq, 997);
	assert_int_equal(r.opts.level, 19);
	assert_int_equal(r.opts.duration_ns, 2500000000);
	assert_int_equal(r.opts.ring_bytes, 8 << 20);
	assert_string_equal(r.opts.output, "x.data");
	assert_int_equal(r.opts.pids.count, 2);
	assert_string_equal(r.opts.pids.values[0], "1");
	assert_string_equal(r.opts.pids.values[1], "2");
	assert_int_equal(r.first, r.argc);
}

static void options_defaults_stay_when_nothing_is_given(void **state)
{
	char buf[8];
	struct run r;

	run(&r, buf, "", false);
	assert_int_equal(r.rc, 0);
	assert_true(r.opts.sched);
	assert_int_equal(r.first, 1);
}

static void options_forms_of_numbers(void **state)
{
	static const struct {
		const char *words;
		size_t offset;
		uint64_t want;
	} cases[] = {
		{ "-d 10", offsetof(struct opts, duration_ns), 10000000000 },
		{ "-d 0.000000001", offsetof(struct opts, duration_ns), 1 },
		{ "-d 1.0000000019", offsetof(struct opts, duration_ns), 1000000001 },
		{ "-d 18446744073", offsetof(struct opts, duration_ns), 18446744073000000000U },
		{ "-m 512K", offsetof(struct opts, ring_bytes), 512 << 10 },
		{ "-m 3m", offsetof(struct opts, ring_bytes), 3 << 20 },
		{ "-m2G", offsetof(struct opts, ring_bytes), 2ULL << 30 },
		{ "--ring=17179869183G", offsetof(struct opts, ring_bytes), 17179869183ULL << 30 },
	};
	char buf[64];
	struct run r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t got;

		run(&r, buf, cases[i].words, false);
		assert_int_equal(r.rc, 0);
		memcpy(&got, (char *)&r.opts + cases[i].offset, sizeof(got));
		assert_int_equal(got, cases[i].want);
	}
}

static void options_words_and_their_order(void **state)
{
	static const struct {
		const char *words;
		bool permute;
		const char *left;
		unsigned verbose;
	} cases[] = {
		{ "-v sleep -v 5", false, "sleep -v 5", 1 },
		{ "-v sleep -v 5", true, "sleep 5", 2 },
		{ "a b -F 9 c -v d", true, "a b c d", 1 },
		{ "a -- -v b", true, "a -v b", 0 },
		{ "-v -- -v b", false, "-v b", 1 },
		{ "-v -- --", false, "--", 1 },
		{ "a --", true, "a", 0 },
		{ "-", false, "-", 0 },
		{ "-v - -v", true, "-", 2 },
		{ "-o - -o -v -v", false, "", 1 },
	};
	char buf[64], words[64];
	struct run r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run(&r, buf, cases[i].words, cases[i].permute);
		assert_int_equal(r.rc, 0);
		left(&r, words);
		assert_string_equal(words, cases[i].left);
		assert_int_equal(r.opts.verbose, cases[i].verbose);
	}
}

static void options_errors_name_what_is_wrong(void **state)
{
	static const struct {
		const char *words, *text;
	} cases[] = {
		{ "--freqency 9", "unknown option '--freqency', did you mean '--frequency'?" },
		{ "--freq=9", "unknown option '--freq', did you mean '--frequency'?" },
		{ "--hlep", "unknown option '--hlep', did you mean '--help'?" },
		{ "--zzzzzz", "unknown option '--zzzzzz'" },
		{ "--seconds 3", "unknown option '--seconds', try '--duration SECONDS'" },
		{ "--save=x", "unknown option '--save', try '--output FILE'" },
		{ "--process", "unknown option '--process', try '--pid PID'" },
		{ "--threads", "unknown option '--threads'" }, /* it would be one that is refused */
		{ "--limit", "unknown option '--limit'" },     /* nothing here does that */
		{ "--no-shced", "unknown option '--no-shced', did you mean '--no-sched'?" },
		{ "--no-verbose", "unknown option '--no-verbose', did you mean '--verbose'?" },
		{ "--no-help", "unknown option '--no-help'" },
		{ "---", "unknown option '---'" },
		{ "-vx", "unknown option '-x'" },
		{ "-v\033", "unknown option '-?'" },
		{ "--\033[2Jq", "unknown option '--?[2Jq'" },
		{ "-t 7",
		  "option '--tid' of perf is not known here: --pid PID has all its threads" },
		{ "--tid=7",
		  "option '--tid' of perf is not known here: --pid PID has all its threads" },
		{ "--no-tid", "unknown option '--no-tid'" },
		{ "--tidy", "unknown option '--tidy', did you mean '--pid'?" },
		{ "--numbers=3", "option '--numbers' takes no value" },
		{ "-O", "option '-O' needs a value (FILE)" },
		{ "--out", "option '--out' needs a value (FILE)" },
		{ "-F", "option '-F' needs a value (HZ)" },
		{ "--output", "option '--output' needs a value (FILE)" },
		{ "--all=1", "option '--all' takes no value" },
		{ "--no-all=", "option '--no-all' takes no value" },
		{ "-F 0", "option '--frequency' needs a number from 1 to 9999, not '0'" },
		{ "-F 10000", "option '--frequency' needs a number from 1 to 9999, not '10000'" },
		{ "-F 9x", "option '--frequency' needs a number from 1 to 9999, not '9x'" },
		{ "-F -9", "option '--frequency' needs a number from 1 to 9999, not '-9'" },
		{ "--frequency=", "option '--frequency' needs a number from 1 to 9999, not ''" },
		{ "-z 2", "option '--level' needs a number from 3 on, not '2'" },
		{ "-z 4294967296", "option '--level' needs a number from 3 on, not '4294967296'" },
		{ "-z 99999999999999999999",
		  "option '--level' needs a number from 3 on, not '99999999999999999999'" },
		{ "--squeeze 2", "option '--squeeze' needs a number from 3 on, not '2'" },
		{ "-q 2", "option '--squeeze' needs a number from 3 on, not '2'" },
		{ "-Z 2", "option '--pack' needs a number from 3 to 9, not '2'" },
		{ "-Z4x", "option '--pack' needs a number from 3 to 9, not '4x'" },
		{ "--pack=", "option '--pack' needs a number from 3 to 9, not ''" },
		{ "-d .", "option '--duration' needs a time such as 2.5, 300ms or 10m, not '.'" },
		{ "-d 0", "option '--duration' needs a time such as 2.5, 300ms or 10m, not '0'" },
		{ "-d 0.0s",
		  "option '--duration' needs a time such as 2.5, 300ms or 10m, not '0.0s'" },
		{ "-m 0", "option '--ring' needs a size such as 64M or 2G, not '0'" },
		{ "-d 1.5x",
		  "option '--duration' needs a time such as 2.5, 300ms or 10m, not '1.5x'" },
		{ "-d -1s",
		  "option '--duration' needs a time such as 2.5, 300ms or 10m, not '-1s'" },
		{ "-d 18446744074",
		  "option '--duration' needs a time such as 2.5, 300ms or 10m, not "
		  "'18446744074'" },
		{ "-m G", "option '--ring' needs a size such as 64M or 2G, not 'G'" },
		{ "-m 1T", "option '--ring' needs a size such as 64M or 2G, not '1T'" },
		{ "-m 17179869184G",
		  "option '--ring' needs a size such as 64M or 2G, not '17179869184G'" },
	};
	char buf[128];
	struct run r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run(&r, buf, cases[i].words, true);
		assert_string_equal(r.error.text, cases[i].text);
		assert_int_equal(r.rc, -EINVAL);
		assert_int_equal(r.first, -1);
	}
}

static void options_of_perf_are_taken(void **state)
{
	char buf[64];
	struct run r;

	run(&r, buf, "-vnO here --numbers --everything", true);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.opts.verbose, 1);
	assert_string_equal(r.opts.output, "here");
	assert_true(r.opts.all);
	run(&r, buf, "--everything --no-everything --out=there word", true);
	assert_int_equal(r.rc, 0);
	assert_string_equal(r.opts.output, "there");
	assert_false(r.opts.all);
	assert_int_equal(r.argc - r.first, 1);
	assert_null(r.opts.level_name);
}

/* So that an error about a value names the option that the user typed. */
static void name_that_was_used_last_is_in_the_error(void **state)
{
	static const struct {
		const char *words, *name;
		unsigned level;
	} cases[] = {
		{ "--squeeze=5", "squeeze", 5 },
		{ "-q5", "squeeze", 5 },
		{ "--level 5", "level", 5 },
		{ "-z 6", "level", 6 },
		{ "--level 6 --squeeze 5", "squeeze", 5 },
		{ "-q 5 -z 6", "level", 6 },
		{ "-q 5 -Z 6 --out squeeze", "squeeze", 6 },
	};
	char buf[64];
	struct run r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run(&r, buf, cases[i].words, true);
		assert_int_equal(r.rc, 0);
		assert_string_equal(r.opts.level_name, cases[i].name);
		assert_int_equal(r.opts.level, cases[i].level);
	}
}

static void options_value_may_be_left_out(void **state)
{
	static const struct {
		const char *words;
		unsigned level, left;
	} cases[] = {
		{ "-Z 5 word", 5, 1 }, { "-Z5 word", 5, 1 },      { "-Z", 0, 0 },
		{ "-Z word", 0, 1 },   { "--pack", 0, 0 },        { "--pack=5", 5, 0 },
		{ "--pack -a", 0, 0 }, { "--pack 4 word", 4, 1 }, { "-Zv 5", 0, 1 },
		{ "-vZ 5", 5, 0 },     { "-Z 5x", 0, 1 },
	};
	char buf[64];
	struct run r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run(&r, buf, cases[i].words, false);
		assert_int_equal(r.rc, 0);
		assert_int_equal(r.opts.level, cases[i].level);
		assert_int_equal(r.argc - r.first, cases[i].left);
	}
}

static void options_list_has_an_end(void **state)
{
	char *argv[OPTION_LIST_MAX + 3];
	struct option_error error;
	struct opts opts = { 0 };
	int first = -1, i;

	for (i = 0; i < OPTION_LIST_MAX + 2; i++)
		argv[i] = (char *)"-p7";
	argv[i] = NULL;
	assert_int_equal(
		options_parse(table, &opts, OPTION_LIST_MAX + 1, argv, false, &first, &error), 0);
	assert_int_equal(opts.pids.count, OPTION_LIST_MAX);
	opts.pids.count = 0;
	assert_int_equal(
		options_parse(table, &opts, OPTION_LIST_MAX + 2, argv, false, &first, &error),
		-EINVAL);
	assert_string_equal(error.text, "option '--pid' was given more than 64 times");
}

static void options_long_words_are_cut_not_overrun(void **state)
{
	static char word[5000] = "--";
	char *argv[] = { (char *)"test", word, NULL };
	struct option_error error;
	struct opts opts = { 0 };
	int first;

	memset(word + 2, 'x', sizeof(word) - 3);
	assert_int_equal(options_parse(table, &opts, 2, argv, false, &first, &error), -EINVAL);
	assert_true(strlen(error.text) < sizeof(error.text));
}

static void options_help_is_asked_for(void **state)
{
	static const char *const cases[] = { "-h", "--help", "-vh", "word --help" };
	char buf[32];
	struct run r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run(&r, buf, cases[i], true);
		assert_int_equal(r.rc, -ECANCELED);
	}
}

static void options_help_text_is_aligned(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	options_print(table, to);
	fclose(to);
	assert_string_equal(
		text,
		"  -a, --all               the machine\n"
		"      --sched             context switches\n"
		"  -v, --verbose           print more\n"
		"  -F, --frequency HZ      samples a second on each CPU, a line that is so long\n"
		"                          that it does not fit\n"
		"  -z, --level N           zstd level\n"
		"  -d, --duration SECONDS  stop after\n"
		"  -m, --ring MIB          ring size\n"
		"  -o, --output FILE       the capture\n"
		"  -p, --pid PID           only these\n"
		"  -j, --json[=FORM]       as JSON\n"
		"      --between A B       from A to B\n"
		"      --a-name-so-long-it-gets-a-line\n"
		"                          text\n"
		"  -Z, --pack [N]          pack\n"
		"  -g, --order [up|down]   order\n"
		"  -h, --help              show this help\n");
	free(text);
}

static void options_nearest_name(void **state)
{
	static const char *const names[] = { "report", "record", "recover", "info",
					     "export", "mark",   "block",   "locks" };
	static const struct {
		const char *word, *want;
	} cases[] = {
		{ "reprot", "report" }, { "recrod", "record" },
		{ "rec", "record" },    { "recove", "recover" },
		{ "inf", "info" },      { "infos", "info" },
		{ "marc", "mark" },     { "exprot", "export" },
		{ "rep", "report" },    { "mk", NULL },
		{ "lock", "locks" }, /* as near as "block", and its beginning */
		{ "", NULL },           { "x", NULL },
		{ "foo", NULL }, /* of "info" two letters of three */
		{ "annotate", NULL },   { "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = options_nearest(cases[i].word, names, 8);

		if (cases[i].want) {
			assert_non_null(got);
			assert_string_equal(got, cases[i].want);
		} else {
			assert_null(got);
		}
	}
	assert_null(options_nearest("info", names, 0));
}

static void lines_are_the_table_for_programs(void **state)
{
	static const struct option few[] = {
		{ OPT_FLAG, 'q', "quiet", NULL, 0, 0, 0, "print nothing" },
		{ OPT_FLAG, 0, "idle", NULL, 0, 0, 0, "count it; --no-idle: leave\nit out" },
		{ OPT_LIST, 'c', "comm", "NAME,...", 0, 0, 0, "only these" },
		{ OPT_FORM, 0, "json", "FORM", 0, 0, 0, "as JSON" },
		{ OPT_COUNT, 'v', "verbose", NULL, 0, 0, 0, "print more" },
		{ 0 },
	};
	char *words[] = { (char *)"x", (char *)"--help=lines", NULL }, *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	options_print_lines(few, true, to);
	fclose(to);
	assert_string_equal(text, "-q\t--quiet\t\tflag\tprint nothing\n"
				  "\t--idle\t\tswitch\tcount it; --no-idle: leave it out\n"
				  "-c\t--comm\tNAME,...\tvalue\tonly these\n"
				  "\t--json\tFORM\tform\tas JSON\n"
				  "-v\t--verbose\t\tflag\tprint more\n"
				  "-h\t--help\t\tflag\tshow this help\n");
	free(text);
	assert_true(options_wants_lines(2, words));
	assert_false(options_wants_lines(1, words));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_text_that_may_be_left_out_is_one_of_its_words),
		cmocka_unit_test(options_values_arrive),
		cmocka_unit_test(options_pair_takes_two_words),
		cmocka_unit_test(options_form_may_be_left_out),
		cmocka_unit_test(options_defaults_stay_when_nothing_is_given),
		cmocka_unit_test(options_forms_of_numbers),
		cmocka_unit_test(options_words_and_their_order),
		cmocka_unit_test(options_errors_name_what_is_wrong),
		cmocka_unit_test(options_of_perf_are_taken),
		cmocka_unit_test(name_that_was_used_last_is_in_the_error),
		cmocka_unit_test(options_value_may_be_left_out),
		cmocka_unit_test(options_list_has_an_end),
		cmocka_unit_test(options_long_words_are_cut_not_overrun),
		cmocka_unit_test(options_help_is_asked_for),
		cmocka_unit_test(options_help_text_is_aligned),
		cmocka_unit_test(options_nearest_name),
		cmocka_unit_test(lines_are_the_table_for_programs),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
