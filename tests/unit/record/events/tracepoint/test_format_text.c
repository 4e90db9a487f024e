/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/tracepoint/format_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/cursor.h"

static const char format[] = "name: some\nID: 371\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
			     "\n"
			     "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
			     "\tfield:s16 delta;\toffset:12;\tsize:2;\tsigned:1;\n"
			     "\tfield:u8 flag;\toffset:14;\tsize:1;\tsigned:0;\n"
			     "\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
			     "\tfield:__data_loc char[] path;\toffset:32;\tsize:4;\tsigned:0;\n"
			     "\tfield:unsigned long bits[4];\toffset:40;\tsize:32;\tsigned:0;\n"
			     "\tfield:const char * p;\toffset:72;\tsize:8;\tsigned:0;\n"
			     "\nprint fmt: \"%u\", REC->dev\n";

static size_t fill(uint8_t raw[128])
{
	memset(raw, 0, 128);
	le32_store(raw + 8, 4000000000u);
	le16_store(raw + 12, (uint16_t)-5);
	raw[14] = 200;
	memcpy(raw + 16, "exactly16letters", 16);
	le32_store(raw + 32, 5u << 16 | 80);
	le64_store(raw + 72, 0xffff888000000000);
	memcpy(raw + 80, "/a/b", 5);
	return 88;
}

static void tptext_prints_fields_in_order(void **state)
{
	uint8_t raw[128];
	char out[256];
	struct tracepoint_format_text t;

	assert_int_equal(tracepoint_format_text_from_format(format, &t), 0);
	assert_int_equal(t.size_bytes, 80);
	tracepoint_format_text_write(&t, raw, fill(raw), out, sizeof(out));
	assert_string_equal(out, "dev=4000000000 delta=-5 flag=200 comm=exactly16letters path=/a/b "
				 "p=18446612682070032384");
}

static void tptext_leaves_out_what_is_not_there(void **state)
{
	uint8_t raw[128], *exact;
	char out[256], complete[256], small[10];
	struct tracepoint_format_text t;
	size_t n = fill(raw);

	assert_int_equal(tracepoint_format_text_from_format(format, &t), 0);
	tracepoint_format_text_write(&t, raw, n, complete, sizeof(complete));
	for (size_t i = 0; i <= n; i++) {
		exact = malloc(i ? i : 1);
		memcpy(exact, raw, i);
		tracepoint_format_text_write(&t, exact, i, out, sizeof(out));
		assert_true(strlen(out) <= strlen(complete));
		free(exact);
	}
	le32_store(raw + 32, 5u << 16 | 0xffff); /* a text far behind the record */
	tracepoint_format_text_write(&t, raw, n, out, sizeof(out));
	assert_null(strstr(out, "path"));
	tracepoint_format_text_write(&t, raw, n, small, sizeof(small));
	assert_int_equal(strlen(small), 9);
	assert_memory_equal(small, "dev=40000", 9);
}

static void tptext_refuses_what_is_no_format(void **state)
{
	struct tracepoint_format_text t;

	assert_int_equal(tracepoint_format_text_from_format("", &t), -EBADMSG);
	assert_int_equal(tracepoint_format_text_from_format("name: x\nID: 3\n", &t), -EBADMSG);
	assert_int_equal(tracepoint_format_text_from_format(
				 "format:\n\tfield:int x;\n\tfield:;\toffset:8;\n"
				 "\tfield:int y;\toffset:99999;\tsize:4;\tsigned:0;\n"
				 "\tfield:int z;\toffset:8;\tsize:3;\tsigned:0;\n",
				 &t),
			 0);
	assert_int_equal(t.count, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tptext_prints_fields_in_order),
		cmocka_unit_test(tptext_leaves_out_what_is_not_there),
		cmocka_unit_test(tptext_refuses_what_is_no_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
