/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* dbus_capture, dbus_message - messages in files of both forms and orders of bytes, cut and damaged ones */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/dbus/dbus_capture.h"

struct file {
	uint8_t bytes[4096];
	size_t count;
	bool is_big;
};

static void put(struct file *f, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		f->bytes[f->count++] = (uint8_t)(value >> 8 * (f->is_big ? bytes - 1 - i : i));
}

static void put_text(struct file *f, const char *text)
{
	put(f, strlen(text), 4);
	for (; *text; text++)
		put(f, (uint8_t)*text, 1);
	put(f, 0, 1);
}

/* at: where the message begins. */
static void align(struct file *f, size_t at, size_t to)
{
	while ((f->count - at) % to)
		put(f, 0, 1);
}

static void put_field(struct file *f, size_t at, uint8_t code, char type, const char *text)
{
	align(f, at, 8);
	put(f, code, 1);
	put(f, 1, 1);
	put(f, (uint8_t)type, 1);
	put(f, 0, 1);
	put_text(f, text);
}

static void set(struct file *f, size_t at, uint32_t value)
{
	size_t was = f->count;

	f->count = at;
	put(f, value, 4);
	f->count = was;
}

/* A call of :1.7 with the serial number. */
static size_t put_message(struct file *f, uint32_t serial)
{
	size_t at = f->count, fields;

	put(f, f->is_big ? 'B' : 'l', 1);
	put(f, DBUS_CALL, 1);
	put(f, 0, 1);
	put(f, 1, 1);
	put(f, 4, 4);
	put(f, serial, 4);
	put(f, 0, 4);
	fields = f->count;
	put_field(f, at, 1, 'o', "/a");
	put_field(f, at, 3, 's', "Work");
	put_field(f, at, 7, 's', ":1.7");
	set(f, at + 12, (uint32_t)(f->count - fields));
	align(f, at, 8);
	put(f, 0x1234, 4);
	return f->count - at;
}

static void begin_pcap(struct file *f, bool is_big, uint32_t magic, uint32_t link)
{
	*f = (struct file){ .is_big = is_big };
	put(f, magic, 4);
	put(f, 2, 2);
	put(f, 4, 2);
	put(f, 0, 8);
	put(f, 65536, 4);
	put(f, link, 4);
}

static void put_packet(struct file *f, uint32_t s, uint32_t part, uint32_t serial)
{
	size_t at = f->count;
	size_t bytes;

	put(f, s, 4);
	put(f, part, 4);
	put(f, 0, 8);
	bytes = put_message(f, serial);
	set(f, at + 8, (uint32_t)bytes);
	set(f, at + 12, (uint32_t)bytes);
}

static void begin_block(struct file *f, uint32_t type)
{
	put(f, type, 4);
	put(f, 0, 4);
}

static void end_block(struct file *f, size_t at)
{
	align(f, at, 4);
	set(f, at + 4, (uint32_t)(f->count - at + 4));
	put(f, f->count - at + 4, 4);
}

/* resolution 0: no option, which means microseconds. */
static void begin_pcapng(struct file *f, bool is_big, uint8_t resolution)
{
	size_t at = 0;

	*f = (struct file){ .is_big = is_big };
	begin_block(f, 0x0a0d0d0a);
	put(f, 0x1a2b3c4d, 4);
	put(f, 1, 2);
	put(f, 0, 2);
	put(f, UINT64_MAX, 8);
	end_block(f, at);
	at = f->count;
	begin_block(f, 1);
	put(f, 231, 2);
	put(f, 0, 2);
	put(f, 0, 4);
	if (resolution) {
		put(f, 9, 2);
		put(f, 1, 2);
		put(f, resolution, 1);
		align(f, at, 4);
		put(f, 0, 4);
	}
	end_block(f, at);
}

static void put_block_packet(struct file *f, uint32_t interface, uint64_t time, uint32_t serial)
{
	size_t at = f->count, bytes;

	begin_block(f, 6);
	put(f, interface, 4);
	put(f, time >> 32, 4);
	put(f, (uint32_t)time, 4);
	put(f, 0, 8);
	bytes = put_message(f, serial);
	set(f, at + 20, (uint32_t)bytes);
	set(f, at + 24, (uint32_t)bytes);
	end_block(f, at);
}

static struct {
	uint64_t times[8];
	struct dbus_message messages[8];
	size_t count;
} heard;

static int on_message(void *arg, uint64_t wall_ns, const struct dbus_message *m)
{
	(void)arg;
	assert_true(heard.count < 8);
	heard.times[heard.count] = wall_ns;
	heard.messages[heard.count++] = *m;
	return 0;
}

static int read_bytes(const struct file *f, size_t bytes, struct dbus_capture_stats *stats)
{
	heard.count = 0;
	return dbus_capture_read(f->bytes, bytes, on_message, NULL, stats);
}

static void expect_two(const struct file *f)
{
	struct dbus_capture_stats stats;

	assert_int_equal(read_bytes(f, f->count, &stats), 0);
	assert_int_equal(stats.message_count, 2);
	assert_int_equal(stats.bad_count, 0);
	assert_int_equal(stats.cut_bytes, 0);
	assert_int_equal(heard.count, 2);
	assert_int_equal(heard.times[0], 5000007000);
	assert_int_equal(heard.times[1], 6000000000);
	assert_int_equal(heard.messages[0].serial, 3);
	assert_int_equal(heard.messages[1].serial, 70000);
	assert_true(heard.messages[0].wants_reply);
	assert_string_equal(heard.messages[0].sender, ":1.7");
	assert_string_equal(heard.messages[0].member, "Work");
	assert_string_equal(heard.messages[0].interface, "");
}

static void both_forms_and_orders_and_units_of_time_are_read(void **state)
{
	struct file f;

	(void)state;
	for (int is_big = 0; is_big < 2; is_big++) {
		begin_pcap(&f, is_big, 0xa1b2c3d4, 231);
		put_packet(&f, 5, 7, 3);
		put_packet(&f, 6, 0, 70000);
		expect_two(&f);
		begin_pcap(&f, is_big, 0xa1b23c4d, 231);
		put_packet(&f, 5, 7000, 3);
		put_packet(&f, 6, 0, 70000);
		expect_two(&f);
		begin_pcapng(&f, is_big, 0);
		put_block_packet(&f, 0, 5000007, 3);
		put_block_packet(&f, 0, 6000000, 70000);
		expect_two(&f);
		begin_pcapng(&f, is_big, 9);
		put_block_packet(&f, 0, 5000007000, 3);
		put_block_packet(&f, 0, 6000000000, 70000);
		expect_two(&f);
	}
}

/* Each length of a file gives the messages that are complete, and no other. */
static void a_file_that_is_cut_has_what_is_complete(void **state)
{
	struct dbus_capture_stats stats;
	struct file f;
	size_t one;

	(void)state;
	for (int form = 0; form < 2; form++) {
		if (form)
			begin_pcapng(&f, false, 0);
		else
			begin_pcap(&f, false, 0xa1b2c3d4, 231);
		if (form)
			put_block_packet(&f, 0, 1, 1);
		else
			put_packet(&f, 0, 1, 1);
		one = f.count;
		if (form)
			put_block_packet(&f, 0, 2, 2);
		else
			put_packet(&f, 0, 2, 2);
		for (size_t bytes = one; bytes < f.count; bytes++) {
			assert_int_equal(read_bytes(&f, bytes, &stats), 0);
			assert_int_equal(stats.message_count, 1);
			assert_int_equal(stats.cut_bytes, bytes - one);
		}
		for (size_t bytes = 0; bytes < one; bytes++) {
			(void)read_bytes(&f, bytes, &stats);
			assert_int_equal(heard.count, 0);
		}
	}
}

static void packets_that_are_no_message_are_counted(void **state)
{
	struct dbus_capture_stats stats;
	struct file f;

	(void)state;
	begin_pcap(&f, false, 0xa1b2c3d4, 231);
	put_packet(&f, 1, 0, 1);
	f.bytes[24 + 16] = 'x';
	put_packet(&f, 2, 0, 2);
	assert_int_equal(read_bytes(&f, f.count, &stats), 0);
	assert_int_equal(stats.message_count, 1);
	assert_int_equal(stats.bad_count, 1);
	/* A packet of an interface that is not there. */
	begin_pcapng(&f, false, 0);
	put_block_packet(&f, 0, 1, 1);
	put_block_packet(&f, 3, 2, 2);
	assert_int_equal(read_bytes(&f, f.count, &stats), 0);
	assert_int_equal(stats.message_count, 1);
	assert_int_equal(stats.bad_count, 1);
}

static void files_of_something_else_are_refused(void **state)
{
	struct dbus_capture_stats stats;
	struct file f;

	(void)state;
	begin_pcap(&f, false, 0xa1b2c3d4, 1);
	put_packet(&f, 1, 0, 1);
	assert_int_equal(read_bytes(&f, f.count, &stats), -EPROTONOSUPPORT);
	f.bytes[0] = 0;
	assert_int_equal(read_bytes(&f, f.count, &stats), -EBADMSG);
}

/* Any byte of a header may be any other: the message is refused, or its texts end within their room. */
static void no_byte_of_a_message_leads_beyond_it(void **state)
{
	struct dbus_message m;
	struct file f = { 0 };
	size_t bytes = put_message(&f, 1);

	(void)state;
	for (size_t at = 0; at < bytes; at++)
		for (unsigned value = 0; value < 256; value += 5) {
			struct file other = f;

			other.bytes[at] = (uint8_t)value;
			if (dbus_message_parse(other.bytes, bytes, &m))
				continue;
			assert_true(strlen(m.sender) < DBUS_NAME_MAX);
			assert_true(strlen(m.member) < DBUS_NAME_MAX);
		}
	for (size_t cut = 0; cut < 16; cut++)
		assert_int_equal(dbus_message_parse(f.bytes, cut, &m), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_forms_and_orders_and_units_of_time_are_read),
		cmocka_unit_test(a_file_that_is_cut_has_what_is_complete),
		cmocka_unit_test(packets_that_are_no_message_are_counted),
		cmocka_unit_test(files_of_something_else_are_refused),
		cmocka_unit_test(no_byte_of_a_message_leads_beyond_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
