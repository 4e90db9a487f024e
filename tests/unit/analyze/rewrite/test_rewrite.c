/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "analyze/input/embedded_files.h"
#include "analyze/rewrite/merge.h"
#include "analyze/rewrite/rewrite.h"
#include "analyze/input/capture_stats.h"
#include "format/perf/perfrec.h"
#include "tests/lib/gen/captures.h"

static struct maker maker;

/* Names at 10, 20, ... 90, samples at 15, 25, ... 85, each in a flush of its own; objects. */
static struct bytes make(bool finished)
{
	struct bytes b;

	maker_begin(&maker, false);
	assert_int_equal(writer_object(maker.w, EBX_META, EBX_META_START, "{}", 2), 0);
	assert_int_equal(writer_object(maker.w, EBX_META, EBX_META_ACCOUNT, "{1}", 3), 0);
	assert_int_equal(writer_object(maker.w, EBX_FILE, 1, "\1\0n-file", 8), 0);
	for (uint64_t t = 10; t < 100; t += 10) {
		maker_comm(&maker, 7, "seven", t);
		if (t < 90)
			maker_sample(&maker, 7, t + 5, 0);
		writer_lost(maker.w, EBX_STREAM_CPU, t);
		assert_int_equal(writer_flush(maker.w, true), 0);
	}
	if (finished)
		assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	return b;
}

struct result {
	int error;
	struct rewrite_stats stats;
	struct bytes file; /* owned */
	struct capture *c; /* of file */
	struct capture_stats counts;
};

static struct result rewrite(const struct bytes *from, uint64_t from_ns, uint64_t to_ns, bool plain)
{
	const struct filter filter = { .span = { from_ns, to_ns } };
	const struct rewrite_opts opts = { .filter = &filter, .plain = plain };
	struct maker to = { .fd = memfd_create("rewrite", MFD_CLOEXEC) };
	struct result res = { 0 };
	struct capture *c;

	assert_int_equal(capture_from_bytes(from->data, from->size, &c, NULL), 0);
	res.error = rewrite_capture(c, to.fd, &opts, &res.stats);
	capture_close(c);
	if (!res.error) {
		res.file = maker_bytes(&to);
		assert_int_equal(res.stats.file_bytes, res.file.size);
		assert_int_equal(capture_from_bytes(res.file.data, res.file.size, &res.c, NULL), 0);
		assert_int_equal(capture_stats_capture(res.c, UINT32_MAX, &res.counts), 0);
	}
	close(to.fd);
	return res;
}

static void result_done(struct result *res)
{
	capture_stats_done(&res->counts);
	capture_close(res->c);
	free(res->file.data);
}

static void rewrite_slices_samples_at_both_ends_and_names_at_the_end(void **state)
{
	static const struct {
		uint64_t from_ns, to_ns;
		unsigned samples, names;
	} cases[] = {
		{ 0, UINT64_MAX, 8, 9 }, { 35, 55, 3, 5 }, { 36, 54, 1, 5 }, { 35, 35, 1, 3 },
		{ 36, 44, 0, 4 },        { 86, 99, 0, 9 }, { 0, 9, 0, 0 },   { 15, 20, 1, 2 },
	};
	struct bytes b = make(true);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct result res = rewrite(&b, cases[i].from_ns, cases[i].to_ns, false);

		assert_int_equal(res.error, 0);
		assert_int_equal(res.counts.types[PERF_RECORD_SAMPLE], cases[i].samples);
		assert_int_equal(res.counts.types[PERF_RECORD_COMM], cases[i].names);
		assert_int_equal(res.stats.sample_count, cases[i].samples);
		assert_int_equal(res.stats.record_count, cases[i].samples + cases[i].names);
		result_done(&res);
	}
	free(b.data);
}

static void rewrite_keeps_objects_but_not_those_that_count_all(void **state)
{
	struct bytes b = make(true);
	struct result slice = rewrite(&b, 35, 55, false), plain = rewrite(&b, 0, UINT64_MAX, true);

	assert_int_equal(slice.counts.kinds[EBX_META].object_count, 1);
	assert_int_equal(slice.counts.kinds[EBX_FILE].object_count, 1);
	assert_string_equal(capture_feature_string(slice.c, PERFFILE_HOSTNAME), "machine");
	assert_null(capture_super(plain.c));
	assert_int_equal(plain.counts.kinds[EBX_META].object_count, 0);
	assert_string_equal(capture_feature_string(plain.c, PERFFILE_HOSTNAME), "machine");
	assert_int_equal(plain.counts.types[PERF_RECORD_SAMPLE], 8);
	result_done(&slice);
	result_done(&plain);
	free(b.data);
}

static void rewrite_carries_what_was_lost_in_the_span(void **state)
{
	struct bytes b = make(true);
	struct result all = rewrite(&b, 0, UINT64_MAX, false), part = rewrite(&b, 35, 55, false);

	/* A number is in the block that follows: 10 + ... + 80, and 30 + 40 + 50. */
	assert_int_equal(all.counts.streams[EBX_STREAM_CPU].lost_count, 360);
	assert_int_equal(part.counts.streams[EBX_STREAM_CPU].lost_count, 120);
	result_done(&all);
	result_done(&part);
	free(b.data);
}

static void rewrite_of_an_unfinished_capture_is_finished(void **state)
{
	struct bytes live = make(false), complete = make(true);
	struct result a = rewrite(&live, 20, 60, false), b = rewrite(&complete, 20, 60, false);

	assert_int_equal(capture_super(a.c)->state, EBX_CLEAN);
	assert_int_equal(a.file.size, b.file.size);
	assert_memory_equal(a.file.data, b.file.data, a.file.size);
	result_done(&a);
	result_done(&b);
	free(live.data);
	free(complete.data);
}

static void rewrite_gives_each_part_an_id_of_its_own(void **state)
{
	struct bytes b = make(true);
	struct result one = rewrite(&b, 20, 60, false), two = rewrite(&b, 20, 61, false);
	const uint8_t *id = capture_super(one.c)->uuid;

	assert_memory_not_equal(id, capture_super(two.c)->uuid, 16);
	assert_int_equal(id[6] >> 4, 8);
	assert_int_equal(id[8] >> 6, 2);
	result_done(&one);
	result_done(&two);
	free(b.data);
}

/* The kernel's mistakes, in a file of perf's that has them. */
static void rewrite_mends_what_the_kernel_did_not_mean(void **state)
{
	struct record_iter *it;
	struct result res;
	struct record rec;
	struct bytes b;
	size_t size;

	maker_begin(&maker, true);
	size = rec_mmap2(maker.rec, 5, "/bin/five", 10);
	le16_store(maker.rec + 4, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	le32_store(maker.rec + 40, 254); /* a device number where a build-id would have its size */
	assert_int_equal(writer_record(maker.w, EBX_STREAM_SIDE, maker.rec, size, 10, -1), 0);
	memset(maker.rec, 0xee, 88);
	memset(maker.rec + 8, 0, 16);
	rec_tail(maker.rec, 24, 6, 6, 20);
	rec_finish(maker.rec, 88, PERF_RECORD_BPF_EVENT, 0);
	assert_int_equal(writer_record(maker.w, EBX_STREAM_SIDE, maker.rec, 88, 20, -1), 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	res = rewrite(&b, 0, 50, true);
	assert_int_equal(res.error, 0);
	assert_int_equal(record_iter_new(res.c, UINT32_MAX, 0, SIZE_MAX, &it), 0);
	assert_int_equal(record_iter_next(it, &rec), 1);
	assert_int_equal(rec.header->misc, PERF_RECORD_MISC_USER);
	assert_int_equal(record_iter_next(it, &rec), 1);
	assert_int_equal(rec.header->size, 56);
	assert_int_equal(record_iter_next(it, &rec), 0);
	record_iter_free(it);
	result_done(&res);
	free(b.data);
}

static void rewrite_leaves_out_a_broken_block_and_counts_it(void **state)
{
	struct bytes b = make(true);
	struct capture *c;
	const struct capture_block *f;
	struct result res;
	size_t count;

	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	f = capture_blocks(c, &count);
	/* The last byte of a block's record is in its zstd data. */
	b.data[f[3].off_bytes + f[3].file_bytes - 1] ^= 1;
	capture_close(c);
	res = rewrite(&b, 0, UINT64_MAX, false);
	assert_int_equal(res.error, 0);
	assert_int_equal(res.stats.bad_blocks, 1);
	assert_int_equal(res.stats.record_count, 16);
	result_done(&res);
	free(b.data);
}

/* ---- merge ---- */

static void put_file(uint64_t number, const char *name, const char *content)
{
	uint8_t object[64];
	size_t n = strlen(name);

	le16_store(object, (uint16_t)n);
	memcpy(object + 2, name, n);
	memcpy(object + 2 + n, content, strlen(content));
	assert_int_equal(writer_object(maker.w, EBX_FILE, number, object, 2 + n + strlen(content)),
			 0);
}

static struct bytes make_part(unsigned part)
{
	struct bytes b;

	maker_begin(&maker, false);
	if (part) {
		put_file(1, "[vdso]", part == 1 ? "one" : "three");
		put_file(2, "[vdso]", part == 1 ? "two" : "four");
	}
	put_file(3, "perf-7.map", part == 1 ? "b" : part ? "c" : "a");
	maker_sample(&maker, 7, 10 + 10 * part, 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	return b;
}

static int embedded_one(const struct capture *c, const char *name, char **out, size_t *size_bytes)
{
	struct embedded *e;
	int err = embedded_read(c, &e);

	if (err)
		return err;
	err = embedded_get(e, name, out, size_bytes);
	embedded_free(e);
	return err;
}

static void check_file(const struct capture *c, const char *name, const char *content)
{
	size_t size;
	char *text;

	assert_int_equal(embedded_one(c, name, &text, &size), 0);
	assert_string_equal(text, content);
	free(text);
}

/* The kernel's own code is the same in all parts; of what grows each part has a piece. */
static void merge_has_files_that_do_not_grow_once(void **state)
{
	struct bytes part[3], all;
	struct capture *c[3], *merged;
	struct maker to = { .fd = memfd_create("merge", MFD_CLOEXEC) };
	struct rewrite_stats stats;
	struct merge_error error;

	for (unsigned i = 0; i < 3; i++) {
		part[i] = make_part(i);
		assert_int_equal(capture_from_bytes(part[i].data, part[i].size, &c[i], NULL), 0);
	}
	assert_int_equal(merge_captures((const struct capture *const *)c, 3,
					&(struct merge_how){ .any_boot = true }, to.fd, &stats,
					&error),
			 0);
	all = maker_bytes(&to);
	assert_int_equal(capture_from_bytes(all.data, all.size, &merged, NULL), 0);
	check_file(merged, "[vdso]", "onetwo");
	check_file(merged, "perf-7.map", "abc");
	capture_close(merged);
	free(all.data);
	close(to.fd);
	for (unsigned i = 0; i < 3; i++) {
		capture_close(c[i]);
		free(part[i].data);
	}
}

/* More records than a thread holds in memory: several batches. */
static struct bytes make_large_part(uint64_t from)
{
	struct bytes b;

	maker_begin(&maker, false);
	for (uint64_t i = 0; i < 200000; i++)
		maker_sample(&maker, 7, from + i, (int)(i % 2));
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	return b;
}

static void merge_makes_the_same_file_by_any_number_of_threads(void **state)
{
	static const unsigned threads[] = { 1, 2, 8 };
	struct bytes part[4], all[3];
	struct capture *c[4];
	struct rewrite_stats stats;
	struct merge_error error;

	for (unsigned i = 0; i < 4; i++) {
		part[i] = i % 2 ? make_large_part(1000000 * i) : make_part(i / 2);
		assert_int_equal(capture_from_bytes(part[i].data, part[i].size, &c[i], NULL), 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		const struct merge_how how = { .any_boot = true, .thread_count = threads[i] };
		struct maker to = { .fd = memfd_create("merge", MFD_CLOEXEC) };

		assert_int_equal(merge_captures((const struct capture *const *)c, 4, &how, to.fd,
						&stats, &error),
				 0);
		assert_int_equal(stats.sample_count, 400002);
		all[i] = maker_bytes(&to);
		close(to.fd);
		assert_int_equal(all[i].size, all[0].size);
		assert_memory_equal(all[i].data, all[0].data, all[0].size);
	}
	for (unsigned i = 0; i < 3; i++)
		free(all[i].data);
	for (unsigned i = 0; i < 4; i++) {
		capture_close(c[i]);
		free(part[i].data);
	}
}

/* The threads that are ahead are ended. */
static void merge_into_a_file_that_cannot_be_written_fails(void **state)
{
	struct bytes part[3] = { make_part(0), make_large_part(1000000), make_large_part(3000000) };
	struct capture *c[3];
	struct rewrite_stats stats;
	struct merge_error error;
	const struct rlimit small = { 100000, RLIM_INFINITY };
	struct rlimit was;
	int fd = memfd_create("merge", MFD_CLOEXEC);

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(capture_from_bytes(part[i].data, part[i].size, &c[i], NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(merge_captures((const struct capture *const *)c, 3,
					&(struct merge_how){ .any_boot = true }, fd, &stats,
					&error),
			 -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	close(fd);
	for (unsigned i = 0; i < 3; i++) {
		capture_close(c[i]);
		free(part[i].data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rewrite_slices_samples_at_both_ends_and_names_at_the_end),
		cmocka_unit_test(rewrite_keeps_objects_but_not_those_that_count_all),
		cmocka_unit_test(rewrite_carries_what_was_lost_in_the_span),
		cmocka_unit_test(rewrite_of_an_unfinished_capture_is_finished),
		cmocka_unit_test(rewrite_gives_each_part_an_id_of_its_own),
		cmocka_unit_test(rewrite_mends_what_the_kernel_did_not_mean),
		cmocka_unit_test(rewrite_leaves_out_a_broken_block_and_counts_it),
		cmocka_unit_test(merge_has_files_that_do_not_grow_once),
		cmocka_unit_test(merge_makes_the_same_file_by_any_number_of_threads),
		cmocka_unit_test(merge_into_a_file_that_cannot_be_written_fails),
	};

	return cmocka_run_group_tests_name("rewrite", tests, NULL, NULL);
}
