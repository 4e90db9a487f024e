/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/sink.h"
#include "format/reader/capture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct fixture {
	int fd;
	struct event_attrs attrs;
	struct writer *writer;
	struct sink emit;
};

/* A disk that is full beyond so many bytes. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void begin(struct fixture *f)
{
	struct writer_attr attrs[ATTR_END];
	struct writer_opts opts = { .attrs = attrs, .uuid = "unit-test", .level = 1 };
	struct perf_event_attr kernel;
	char path[] = "/tmp/sink-XXXXXX";

	*f = (struct fixture){
		.fd = mkstemp(path)
	}; /* limits of files are not for those of memfd_create() */
	assert_true(f->fd >= 0);
	unlink(path);
	event_attrs_sample_kernel(&kernel, false, 99);
	event_attrs_set_sample(&f->attrs, &kernel);
	event_attrs_side_kernel(&kernel);
	event_attrs_set_side(&f->attrs, &kernel);
	event_attrs_set_tracepoint(&f->attrs, ATTR_WAKEUP, "sched:sched_wakeup", 1);
	event_attrs_set_tracepoint(&f->attrs, ATTR_MIGRATE, "sched:sched_migrate_task", 2);
	event_attrs_set_tracepoint(&f->attrs, ATTR_WAKER, "ebprec:waker", 3);
	event_attrs_set_tracepoint(&f->attrs, ATTR_EXITED, "ebprec:exit", 4);
	event_attrs_set_tracepoint(&f->attrs, ATTR_METRIC, "ebprec:rows", 5);
	assert_int_equal(event_attrs_number(&f->attrs), 0);
	opts.attr_count = event_attrs_for_writer(&f->attrs, attrs);
	assert_int_equal(writer_new(f->fd, &opts, &f->writer), 0);
	f->emit.attrs = &f->attrs;
	f->emit.writer = f->writer;
}

static void end(struct fixture *f)
{
	writer_free(f->writer);
	event_attrs_done(&f->attrs);
	close(f->fd);
}

static void give(struct fixture *f, enum event_attrs_event event, unsigned count)
{
	static const uint8_t raw[12];
	struct sample_record s = { .pid = 1, .tid = 1, .period = 1, .time_ns = 1000 };

	if (event != ATTR_SAMPLE) {
		s.raw = raw;
		s.raw_bytes = sizeof(raw);
	}
	while (count--)
		assert_int_equal(sink_sample(&f->emit, event, &s), 0);
}

static void emit_counts_every_record_that_a_failed_write_took_as_lost(void **state)
{
	struct side_record r = { .time_ns = 1000 };
	struct account *a;
	struct fixture f;

	begin(&f);
	a = &f.emit.account;
	r.id = sink_side_id(&f.emit);
	give(&f, ATTR_SAMPLE, 1);
	give(&f, ATTR_METRIC, 1);
	assert_int_equal(sink_flush(&f.emit), 0);
	give(&f, ATTR_SAMPLE, 2);
	give(&f, ATTR_WAKEUP, 3);
	give(&f, ATTR_MIGRATE, 4);
	give(&f, ATTR_WAKER, 5);
	give(&f, ATTR_EXITED, 6);
	give(&f, ATTR_METRIC, 7);
	assert_int_equal(sink_side(&f.emit, &r, side_record_comm(&r, 1, 1, "name")), 0);
	limit_files(1);
	assert_int_equal(sink_flush(&f.emit), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_int_equal(sink_give_up(&f.emit, 2000), 0);
	assert_int_equal(a->sample_count, 1);
	assert_int_equal(a->row_count, 1);
	assert_int_equal(a->wakeup_count + a->task_count + a->waker_count + a->exit_count, 0);
	assert_int_equal(a->lost_count[EBPREC_EV_CPU], 2);
	assert_int_equal(a->lost_count[EBPREC_EV_TASK], 7);
	assert_int_equal(a->lost_count[EBPREC_EV_WAKER], 5);
	assert_int_equal(a->lost_count[EBPREC_EV_EXIT], 6);
	assert_int_equal(a->lost_count[EBPREC_EV_METRIC], 7);
	assert_int_equal(a->side_lost_count, 1);
	/* A LOST record for each of the six kinds. */
	assert_int_equal(a->side_count, 6);
	assert_int_equal(sink_flush(&f.emit), 0);
	assert_int_equal(writer_finish(f.writer, NULL, 0), 0);
	end(&f);
}

/* The losses that the blocks' headers of a stream report. */
static uint64_t lost_in_stream(int fd, enum ebx_stream stream)
{
	const struct capture_block *block;
	struct parse_err err;
	struct capture *c;
	uint64_t sum = 0;
	size_t count;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(capture_open(path, &c, &err), 0);
	block = capture_blocks(c, &count);
	for (; count--; block++)
		sum += block->stream == stream ? block->lost_count : 0;
	capture_close(c);
	return sum;
}

/* The sum of the LOST records of an event. */
static uint64_t lost_records(int fd, uint64_t id)
{
	struct record_iter *it;
	struct parse_err err;
	struct capture *c;
	struct record r;
	uint64_t sum = 0;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(capture_open(path, &c, &err), 0);
	assert_int_equal(record_iter_new(c, 1u << EBX_STREAM_SIDE, 0, SIZE_MAX, &it), 0);
	while (record_iter_next(it, &r) == 1) {
		const uint8_t *body = (const uint8_t *)(r.header + 1);

		if (r.header->type == PERF_RECORD_LOST && le64_load(body) == id)
			sum += le64_load(body + 8);
	}
	record_iter_free(it);
	capture_close(c);
	return sum;
}

static void losses_of_a_failed_write_are_in_the_file_also_when_their_records_failed(void **state)
{
	struct side_record r = { .time_ns = 1000 };
	struct fixture f;
	uint64_t lost;

	begin(&f);
	r.id = sink_side_id(&f.emit);
	give(&f, ATTR_SAMPLE, 1);
	assert_int_equal(sink_flush(&f.emit), 0);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(sink_side(&f.emit, &r, side_record_comm(&r, 1, 1, "name")), 0);
	give(&f, ATTR_SAMPLE, 2);
	limit_files(1);
	assert_int_equal(sink_flush(&f.emit), -EFBIG);
	assert_int_equal(sink_give_up(&f.emit, 2000), 0);
	assert_int_equal(sink_flush(&f.emit), -EFBIG); /* the LOST records fail, too */
	limit_files(RLIM_INFINITY);
	assert_int_equal(sink_give_up(&f.emit, 3000), 0);
	assert_int_equal(sink_flush(&f.emit), 0);
	assert_int_equal(writer_finish(f.writer, NULL, 0), 0);
	lost = f.emit.account.side_lost_count;
	assert_true(lost >= 5);
	assert_int_equal(lost_records(f.fd, sink_side_id(&f.emit)), lost);
	assert_int_equal(lost_records(f.fd, event_attrs_id(&f.attrs, ATTR_SAMPLE)), 2);
	end(&f);
}

static void losses_of_what_describes_processes_are_losses_of_the_side_band(void **state)
{
	static const enum ebprec_event_type types[] = { EBPREC_EV_EXEC, EBPREC_EV_CODE };
	struct fixture f;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		uint64_t counts[EBPREC_EV_END] = { 0 };

		counts[types[i]] = 3;
		begin(&f);
		assert_int_equal(sink_lost(&f.emit, counts, 1000), 0);
		assert_int_equal(writer_finish(f.writer, NULL, 0), 0);
		assert_int_equal(lost_in_stream(f.fd, EBX_STREAM_SIDE), 3);
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(emit_counts_every_record_that_a_failed_write_took_as_lost),
		cmocka_unit_test(
			losses_of_a_failed_write_are_in_the_file_also_when_their_records_failed),
		cmocka_unit_test(losses_of_what_describes_processes_are_losses_of_the_side_band),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
