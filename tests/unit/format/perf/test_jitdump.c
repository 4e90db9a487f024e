/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* jitdump: records that may be cut or broken anywhere, with their code and without */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/perf/jitdump.h"
#include "record/privsep/jit_strip.h"

static void header(struct outbuf *b, uint64_t flags)
{
	outbuf_u32(b, 0x4a695444);
	outbuf_u32(b, 1);
	outbuf_u32(b, JITDUMP_HEADER_BYTES);
	outbuf_u32(b, 62); /* EM_X86_64 */
	outbuf_u32(b, 0);
	outbuf_u32(b, 77);
	outbuf_u64(b, 5);
	outbuf_u64(b, flags);
}

static void load(struct outbuf *b, uint64_t time_ns, uint64_t addr, uint64_t index,
		 const char *name, size_t code_bytes)
{
	size_t name_bytes = strlen(name) + 1;

	outbuf_u32(b, JITDUMP_LOAD);
	outbuf_u32(b,
		   (uint32_t)(JITDUMP_RECORD_BYTES + JITDUMP_LOAD_BYTES + name_bytes + code_bytes));
	outbuf_u64(b, time_ns);
	outbuf_u32(b, 77);
	outbuf_u32(b, 78);
	outbuf_u64(b, addr);
	outbuf_u64(b, addr);
	outbuf_u64(b, code_bytes);
	outbuf_u64(b, index);
	outbuf_add(b, name, name_bytes);
	outbuf_zeros(b, code_bytes);
}

static void move(struct outbuf *b, uint64_t time_ns, uint64_t from, uint64_t to, uint64_t bytes,
		 uint64_t index)
{
	outbuf_u32(b, JITDUMP_MOVE);
	outbuf_u32(b, JITDUMP_RECORD_BYTES + 48);
	outbuf_u64(b, time_ns);
	outbuf_u32(b, 77);
	outbuf_u32(b, 78);
	outbuf_u64(b, from);
	outbuf_u64(b, from);
	outbuf_u64(b, to);
	outbuf_u64(b, bytes);
	outbuf_u64(b, index);
}

static void other(struct outbuf *b, uint32_t id, size_t body_bytes)
{
	outbuf_u32(b, id);
	outbuf_u32(b, (uint32_t)(JITDUMP_RECORD_BYTES + body_bytes));
	outbuf_u64(b, 9);
	outbuf_zeros(b, body_bytes);
}

static struct outbuf sample(void)
{
	struct outbuf b = { 0 };

	header(&b, 0);
	load(&b, 10, 0x1000, 0, "first", 32);
	other(&b, JITDUMP_DEBUG, 100);
	load(&b, 20, 0x2000, 1, "", 600000); /* more than is read at once */
	move(&b, 30, 0x1000, 0x3000, 32, 0);
	other(&b, 4, 24); /* unwind tables */
	load(&b, 40, 0x1000, 2, "third one", 16);
	other(&b, JITDUMP_CLOSE, 0);
	assert_true(outbuf_ok(&b));
	return b;
}

/* All codes as one text. */
static const char *read_all(const uint8_t *bytes, size_t size_bytes)
{
	static char text[512];
	struct cursor c = cursor_of(bytes, size_bytes);
	struct jitdump_header h;
	struct jitdump_code code;
	size_t at = 0;

	text[0] = '\0';
	if (jitdump_header(&c, &h))
		return "none";
	while (jitdump_next(&c, &code) == 1 && at < sizeof(text) - 64)
		at += (size_t)snprintf(
			text + at, sizeof(text) - at, "%llu:%llx+%llu=%llu%s%.*s ",
			(unsigned long long)code.time_ns, (unsigned long long)code.addr,
			(unsigned long long)code.size_bytes, (unsigned long long)code.index,
			code.is_move ? " moved" : ",", (int)code.name_bytes, code.name);
	return text;
}

#define ALL "10:1000+32=0,first 20:2000+600000=1, 30:3000+32=0 moved 40:1000+16=2,third one "

static int file_of(const struct outbuf *b, size_t size_bytes)
{
	int fd = memfd_create("jitdump", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, b->data, size_bytes), size_bytes);
	return fd;
}

static void loads_and_moves_are_read(void **state)
{
	struct outbuf b = sample();

	assert_string_equal(read_all(b.data, b.size_bytes), ALL);
	outbuf_done(&b);
}

static void cut_anywhere_gives_what_is_complete(void **state)
{
	struct outbuf b = sample();
	size_t i;
	uint8_t *exact;

	for (i = 0; i < b.size_bytes; i = i < 300 || i > 600400 ? i + 1 : i + 997) {
		exact = malloc(i + 1); /* for the sanitizer */
		memcpy(exact, b.data, i);
		if (i < JITDUMP_HEADER_BYTES)
			assert_string_equal(read_all(exact, i), "none");
		else
			assert_int_equal(
				strncmp(ALL, read_all(exact, i), strlen(read_all(exact, i))), 0);
		free(exact);
	}
	outbuf_done(&b);
}

static void a_stripped_dump_has_the_same_names(void **state)
{
	struct outbuf b = sample(), out = { 0 };
	int fd = file_of(&b, b.size_bytes);

	assert_true(jitstrip(fd, &out, 1 << 20));
	assert_string_equal(read_all(out.data, out.size_bytes), ALL);
	assert_in_range(out.size_bytes, 100, 400);
	close(fd);
	outbuf_done(&b);
	outbuf_done(&out);
}

static void a_name_without_its_code_stays(void **state)
{
	struct outbuf b = { 0 }, out = { 0 };
	int fd;

	header(&b, 0);
	load(&b, 10, 0x1000, 0, "cut", 1000);
	fd = file_of(&b, b.size_bytes - 990); /* the process was killed while it wrote */
	assert_true(jitstrip(fd, &out, 1 << 20));
	assert_string_equal(read_all(out.data, out.size_bytes), "10:1000+1000=0,cut ");
	close(fd);
	outbuf_done(&b);
	outbuf_done(&out);
}

static void the_limit_holds_and_is_reported(void **state)
{
	struct outbuf b = { 0 }, out = { 0 };
	int fd;

	header(&b, 0);
	for (int i = 0; i < 1000; i++)
		load(&b, 10, 0x1000, 0, "again", 10);
	fd = file_of(&b, b.size_bytes);
	outbuf_u16(&out, 0); /* what stands before counts for nothing */
	assert_false(jitstrip(fd, &out, 8192));
	assert_in_range(out.size_bytes, 8192 - 100, 8194);
	close(fd);
	outbuf_done(&b);
	outbuf_done(&out);
}

static void a_header_beyond_the_limit_does_not_lift_it(void **state)
{
	static const uint8_t zero[100000];
	struct outbuf b = { 0 }, out = { 0 };
	int fd;

	header(&b, 0);
	le32_store(b.data + 8, 100000);
	outbuf_add(&b, zero, 100000 - b.size_bytes);
	for (int i = 0; i < 10000; i++)
		load(&b, 10, 0x1000, 0, "again", 10);
	fd = file_of(&b, b.size_bytes);
	assert_false(jitstrip(fd, &out, 8192));
	assert_int_equal(out.size_bytes, 0);
	close(fd);
	outbuf_done(&b);
	outbuf_done(&out);
}

static void what_is_no_jitdump_is_refused(void **state)
{
	struct outbuf b = sample(), out = { 0 };
	struct jitdump_header h;
	struct cursor c;
	int fd;

	b.data[0] ^= 1;
	c = cursor_of(b.data, b.size_bytes);
	assert_int_equal(jitdump_header(&c, &h), -EBADMSG);
	fd = file_of(&b, b.size_bytes);
	assert_true(jitstrip(fd, &out, 1 << 20));
	assert_int_equal(out.size_bytes, 0);
	close(fd);
	memcpy(b.data, "JiTD", 4); /* a big-endian machine's */
	c = cursor_of(b.data, b.size_bytes);
	assert_int_equal(jitdump_header(&c, &h), -ENOTSUP);
	memcpy(b.data, "DTiJ\2", 5);
	c = cursor_of(b.data, b.size_bytes);
	assert_int_equal(jitdump_header(&c, &h), -ENOTSUP);
	memcpy(b.data, "DTiJ\1\0\0\0\4", 9); /* a header of 4 bytes */
	c = cursor_of(b.data, b.size_bytes);
	assert_int_equal(jitdump_header(&c, &h), -EBADMSG);
	outbuf_done(&b);
	outbuf_done(&out);
}

static void ticks_of_the_processor_are_reported(void **state)
{
	struct outbuf b = { 0 };
	struct jitdump_header h;
	struct cursor c;

	header(&b, 1);
	c = cursor_of(b.data, b.size_bytes);
	assert_int_equal(jitdump_header(&c, &h), 0);
	assert_true(h.foreign_clock);
	assert_int_equal(h.pid, 77);
	outbuf_done(&b);
}

static void impossible_records_end_or_are_passed_over(void **state)
{
	struct outbuf b = { 0 };

	header(&b, 0);
	load(&b, 10, UINT64_MAX - 4, 0, "over the end", 10);
	load(&b, 10, 0x1000, 0, "nothing", 0);
	load(&b, 11, 0x1000, 1, "good", 8);
	outbuf_u32(&b, JITDUMP_LOAD);
	outbuf_u32(&b, 3); /* shorter than its head */
	load(&b, 12, 0x1000, 1, "unreachable", 8);
	assert_string_equal(read_all(b.data, b.size_bytes), "11:1000+8=1,good ");
	outbuf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_and_moves_are_read),
		cmocka_unit_test(cut_anywhere_gives_what_is_complete),
		cmocka_unit_test(a_stripped_dump_has_the_same_names),
		cmocka_unit_test(a_name_without_its_code_stays),
		cmocka_unit_test(the_limit_holds_and_is_reported),
		cmocka_unit_test(a_header_beyond_the_limit_does_not_lift_it),
		cmocka_unit_test(what_is_no_jitdump_is_refused),
		cmocka_unit_test(ticks_of_the_processor_are_reported),
		cmocka_unit_test(impossible_records_end_or_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
