/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/input/perf_features.h"
#include "tests/lib/gen/captures.h"

static struct maker maker;

/* A capture whose only section is this one. */
static struct capture *with_section(struct bytes *b, unsigned bit, const void *data,
				    size_t size_bytes)
{
	const struct writer_feature f = { bit, data, size_bytes };
	struct writer_attr attrs[REC_ATTRS];
	const struct writer_opts opts = {
		.attrs = attrs,
		.attr_count = REC_ATTRS,
		.features = &f,
		.feature_count = bit != PERFFILE_BUILD_ID,
		.level = 1,
	};
	struct capture *c;

	rec_attrs(attrs);
	maker.fd = memfd_create("feature", MFD_CLOEXEC);
	assert_int_equal(writer_new(maker.fd, &opts, &maker.w), 0);
	assert_int_equal(writer_finish(maker.w, &f, bit == PERFFILE_BUILD_ID), 0);
	*b = maker_bytes(&maker);
	maker_end(&maker);
	assert_int_equal(capture_from_bytes(b->data, b->size, &c, NULL), 0);
	return c;
}

static void feature_command_line_joins_the_words(void **state)
{
	static const struct {
		const char *data;
		size_t size_bytes;
		int rc;
		const char *want;
	} cases[] = {
		{ "\2\0\0\0\4\0\0\0ls\0\0\4\0\0\0-la", 20, 0, "ls -la" },
		{ "\1\0\0\0\0\0\0\0", 8, 0, "" },
		{ "\0\0\0\0", 4, 0, "" },
		/* Words without a NUL end where their room ends. */
		{ "\1\0\0\0\4\0\0\0abcd", 12, 0, "abcd" },
		/* Broken: fewer words than announced, a word longer than the section, too many words. */
		{ "\2\0\0\0\4\0\0\0ls\0\0", 12, -EBADMSG, NULL },
		{ "\1\0\0\0\5\0\0\0abcd", 12, -EBADMSG, NULL },
		{ "\1\0\0\0\377\377\377\377abcd", 12, -EBADMSG, NULL },
		{ "\377\377\377\377\0\0\0\0", 8, -EBADMSG, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes b;
		struct capture *c = with_section(&b, PERFFILE_CMDLINE, cases[i].data,
						 cases[i].size_bytes);
		char *text = NULL;

		assert_int_equal(feature_command_line(c, &text), cases[i].rc);
		if (cases[i].want)
			assert_string_equal(text, cases[i].want);
		else
			assert_null(text);
		free(text);
		capture_close(c);
		free(b.data);
	}
}

static void feature_cpus_and_memory(void **state)
{
	uint32_t available = 0, online = 0;
	uint64_t memory_bytes = 0;
	struct bytes b;
	struct capture *c = with_section(&b, PERFFILE_NRCPUS, "\10\0\0\0\6\0\0\0", 8);

	assert_int_equal(feature_cpus(c, &available, &online), 0);
	assert_int_equal(available, 8);
	assert_int_equal(online, 6);
	assert_int_equal(feature_memory(c, &memory_bytes), -ENOENT);
	capture_close(c);
	free(b.data);
	c = with_section(&b, PERFFILE_NRCPUS, "\10\0\0\0\6\0\0", 7);
	assert_int_equal(feature_cpus(c, &available, &online), -EBADMSG);
	capture_close(c);
	free(b.data);
	c = with_section(&b, PERFFILE_TOTAL_MEM, "\0\0\20\0\0\0\0\0", 8);
	assert_int_equal(feature_memory(c, &memory_bytes), 0);
	assert_int_equal(memory_bytes, 1ULL << 30);
	assert_int_equal(feature_cpus(c, &available, &online), -ENOENT);
	capture_close(c);
	free(b.data);
	c = with_section(&b, PERFFILE_TOTAL_MEM, "\377\377\377\377\377\377\377\377", 8);
	assert_int_equal(feature_memory(c, &memory_bytes), -EBADMSG);
	capture_close(c);
	free(b.data);
}

static void feature_build_ids_are_counted(void **state)
{
	uint8_t two[200] = { [6] = 100, [106] = 100 };
	uint32_t count = 7;
	struct bytes b;
	struct capture *c = with_section(&b, PERFFILE_BUILD_ID, two, sizeof(two));

	assert_int_equal(feature_build_ids(c, &count), 0);
	assert_int_equal(count, 2);
	capture_close(c);
	free(b.data);
	two[106] = 101;
	c = with_section(&b, PERFFILE_BUILD_ID, two, sizeof(two));
	assert_int_equal(feature_build_ids(c, &count), -EBADMSG);
	capture_close(c);
	free(b.data);
	two[6] = 0; /* a record that never ends */
	c = with_section(&b, PERFFILE_BUILD_ID, two, sizeof(two));
	assert_int_equal(feature_build_ids(c, &count), -EBADMSG);
	assert_int_equal(count, 2);
	capture_close(c);
	free(b.data);
}

static void feature_topology_counts_packages_and_cores(void **state)
{
	static const struct {
		const char *data;
		size_t size_bytes;
		int rc;
	} cases[] = {
		{ "\1\0\0\0\4\0\0\0000-3\0\2\0\0\0\4\0\0\0000,1\0\4\0\0\0002,3", 32, 0 },
		/* Broken: no packages where one is announced, one that is too long, no number of cores. */
		{ "\1\0\0\0", 4, -EBADMSG },
		{ "\1\0\0\0\377\377\0\0000-3", 12, -EBADMSG },
		{ "\1\0\0\0\4\0\0\0000-3\0\2\0", 14, -EBADMSG },
		{ "\377\377\377\377\0\0\0\0", 8, -EBADMSG },
	};
	uint32_t packages, cores;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes b;
		struct capture *c = with_section(&b, PERFFILE_CPU_TOPOLOGY, cases[i].data,
						 cases[i].size_bytes);

		packages = cores = 77;
		assert_int_equal(feature_topology(c, &packages, &cores), cases[i].rc);
		assert_int_equal(packages, cases[i].rc ? 77 : 1);
		assert_int_equal(cores, cases[i].rc ? 77 : 2);
		assert_int_equal(feature_command_words(c, NULL, NULL), -ENOENT);
		capture_close(c);
		free(b.data);
	}
}

static void feature_names(void **state)
{
	assert_string_equal(feature_name(PERFFILE_HOSTNAME), "HOSTNAME");
	assert_string_equal(feature_name(PERFFILE_CLOCK_DATA), "CLOCK_DATA");
	assert_null(feature_name(0));
	assert_null(feature_name(255));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(feature_command_line_joins_the_words),
		cmocka_unit_test(feature_cpus_and_memory),
		cmocka_unit_test(feature_build_ids_are_counted),
		cmocka_unit_test(feature_topology_counts_packages_and_cores),
		cmocka_unit_test(feature_names),
	};

	return cmocka_run_group_tests_name("feature", tests, NULL, NULL);
}
