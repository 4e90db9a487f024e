/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* A capture through a pipe is the file that would have been written, and a cut one is its beginning. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/reader/pipe_spool.h"
#include "tests/lib/gen/captures.h"

static struct maker maker;

/* Three flushes, an object larger than a block, build-ids, and an end. */
static void write_story(bool complete)
{
	static const uint8_t ids[44] = { 0, 0, 0, 0, 0, 0, 44 };
	static uint8_t noise[80000];
	const struct writer_feature f = { PERFFILE_BUILD_ID, ids, sizeof(ids) };
	uint64_t t = 1000;

	for (unsigned round = 0; round < 3; round++) {
		maker_comm(&maker, 10 + round, "worker", t++);
		for (unsigned i = 0; i < 50; i++)
			maker_sample(&maker, 10, t++, i % 4);
		maker_noise(&maker, noise, sizeof(noise));
		if (round == 1)
			assert_int_equal(writer_object(maker.w, EBX_FILE, 1, noise, sizeof(noise)),
					 0);
		assert_int_equal(writer_flush(maker.w, true), 0);
	}
	if (complete)
		assert_int_equal(writer_finish(maker.w, &f, 1), 0);
}

static struct bytes story(bool complete, bool into_pipe)
{
	struct bytes b;

	maker_begin_how(&maker, false, into_pipe);
	write_story(complete);
	b = maker_bytes(&maker);
	maker_end(&maker);
	return b;
}

/* The file that these bytes become; size 0: they are no pipe of ours. */
static struct bytes rebuild(const uint8_t *data, size_t size)
{
	struct bytes b = { 0 };
	struct source s;
	uint64_t bytes;
	int fd;

	source_of_bytes(data, size, &s);
	if (!pipe_spool_is(&s))
		return b;
	fd = memfd_create("rebuilt", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pipe_spool_rebuild(&s, fd, &bytes), 0);
	assert_true(bytes <= size);
	b.size = (size_t)bytes;
	b.data = malloc(b.size + 1);
	assert_int_equal(pread(fd, b.data, b.size, 0), (ssize_t)b.size);
	close(fd);
	return b;
}

static void a_pipe_becomes_the_same_file(void **state)
{
	for (int complete = 0; complete < 2; complete++) {
		struct bytes file = story(complete, false), through = story(complete, true);
		struct bytes again = rebuild(through.data, through.size);

		assert_int_equal(again.size, file.size);
		assert_memory_equal(again.data, file.data, file.size);
		free(file.data);
		free(through.data);
		free(again.data);
	}
}

/* At each place of it a reader gets what was flushed by then, and no more damage than an end. */
static void a_cut_pipe_is_the_beginning(void **state)
{
	struct bytes through = story(true, true);
	size_t most = 0, opened = 0;

	for (size_t size = 0; size <= through.size; size += size < 12000 ? 1 : 41) {
		struct bytes b = rebuild(through.data, size);
		struct reading r;

		if (b.size) {
			r = read_bytes(b.data, b.size);
			if (!r.open_error && !r.damage.cut && !r.damage.bad_sections) {
				assert_int_equal(r.damage.bad_blocks, 0);
				assert_int_equal(r.damage.missing_seq, 0);
				assert_true(r.records >= most);
				most = (size_t)r.records;
				opened++;
			}
		}
		free(b.data);
	}
	assert_true(opened > 100);
	assert_true(most > 150);
	free(through.data);
}

static void a_changed_byte_is_never_worse_than_a_cut(void **state)
{
	struct bytes through = story(true, true);
	struct bytes complete = rebuild(through.data, through.size);
	const uint64_t records = read_bytes(complete.data, complete.size).records;

	for (size_t i = 0; i < through.size; i += i < 12000 ? 1 : 41) {
		uint8_t was = through.data[i];
		struct bytes b;

		through.data[i] ^= (uint8_t)(1u << (i % 8));
		b = rebuild(through.data, through.size);
		if (b.size)
			assert_true(read_bytes(b.data, b.size).records <= records);
		free(b.data);
		through.data[i] = was;
	}
	free(complete.data);
	free(through.data);
}

/* Also as a file that is named. */
static void opening_one_by_its_name_gives_the_file(void **state)
{
	struct bytes file = story(true, false), through = story(true, true);
	char path[] = "/tmp/ebprec-test-XXXXXX";
	int fd = mkstemp(path);
	struct capture *c = NULL;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, through.data, through.size), (ssize_t)through.size);
	assert_int_equal(capture_open(path, &c, NULL), 0);
	assert_int_equal(capture_file_bytes(c), file.size);
	assert_non_null(capture_super(c));
	assert_false(reading_is_damaged(&(struct reading){ .damage = *capture_damage(c) }));
	capture_close(c);
	close(fd);
	unlink(path);
	free(file.data);
	free(through.data);
}

struct reader {
	int fd;
	unsigned calls;
};

static int end_reading(void *arg)
{
	struct reader *r = arg;

	if (++r->calls == 2)
		close(r->fd);
	return r->calls > 100 ? -ETIMEDOUT : 0;
}

static void a_reader_that_ends_is_an_error_that_stays(void **state)
{
	static uint64_t id = 1;
	struct writer_attr attr = { .ids = &id, .id_count = 1 };
	struct reader reader = { 0 };
	struct writer_opts opts = { .attrs = &attr,
				    .attr_count = 1,
				    .level = 1,
				    .pipe = true,
				    .wait = end_reading,
				    .wait_arg = &reader };
	struct writer *w = NULL;
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	reader.fd = fds[0];
	assert_int_equal(writer_new(fds[1], &opts, &w), -EPIPE);
	assert_null(w);
	close(fds[1]);

	/* ... and later. */
	assert_int_equal(pipe(fds), 0);
	opts.wait = NULL;
	assert_int_equal(writer_new(fds[1], &opts, &w), 0);
	close(fds[0]);
	maker.w = w;
	maker_comm(&maker, 1, "x", 1);
	assert_int_equal(writer_flush(w, true), -EPIPE);
	assert_int_equal(writer_give_up(w), -EPIPE);
	assert_int_equal(writer_finish(w, NULL, 0), -EPIPE);
	writer_free(w);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_becomes_the_same_file),
		cmocka_unit_test(a_cut_pipe_is_the_beginning),
		cmocka_unit_test(a_changed_byte_is_never_worse_than_a_cut),
		cmocka_unit_test(opening_one_by_its_name_gives_the_file),
		cmocka_unit_test(a_reader_that_ends_is_an_error_that_stays),
	};

	return cmocka_run_group_tests_name("pipefile", tests, NULL, NULL);
}
