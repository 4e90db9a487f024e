/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/forms/forms.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/push/forms/clickhouse.h"
#include "analyze/push/forms/snappy.h"

static void addresses_are_of_a_form_a_host_and_a_path(void **state)
{
	static const struct {
		const char *text, *form, *url, *user;
	} cases[] = {
		{ "clickhouse://db/prof", "clickhouse", "http://db:8123", NULL },
		{ "clickhouse://me@db:99/prof", "clickhouse", "http://db:99", "me" },
		{ "clickhouse+https://[::1]/prof", "clickhouse", "https://[::1]:8443", NULL },
		{ "influx+http://h:8086/write?db=x", "influx", "http://h:8086/write?db=x", NULL },
		{ "pushgateway+https://h", "pushgateway", "https://h/", NULL },
	};
	struct push_target t;
	const char *problem;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(push_target_parse(cases[i].text, &t, &problem), 0);
		assert_string_equal(t.form->name, cases[i].form);
		assert_string_equal(t.url, cases[i].url);
		if (cases[i].user)
			assert_string_equal(t.user, cases[i].user);
		else
			assert_null(t.user);
		push_target_done(&t);
	}
}

static void what_is_no_address_is_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"db",
		"http://h/",
		"nothing+http://h/",
		"influx://h/",
		"influx+ftp://h/",
		"clickhouse://h",
		"clickhouse://h/a b",
		"clickhouse://h/a;drop",
		"clickhouse:///x",
		"influx+http://a b/",
		"clickhouse://h/x?y",
	};
	struct push_target t;
	const char *problem;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(push_target_parse(cases[i], &t, &problem), -EINVAL);
}

static void an_address_with_a_secret_is_refused(void **state)
{
	static const char *const cases[] = {
		"clickhouse://me:secret@h/x",
		"clickhouse://:secret@h/x",
		"influx+https://me:sec/ret@h:8086/write?db=x",
		"influx+http://me:s@cret@h/write",
		"influx+http://h/write?db=x&u=me&p=secret",
		"influx+http://h/write?P=secret",
		"json+https://h/?a=1;Token=secret#x",
		"nothing://me:secret@h/",
		"me:secret@h:3128",
	};
	struct push_target t;
	const char *problem;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(push_url_has_secret(cases[i]));
		assert_int_equal(push_target_parse(cases[i], &t, &problem), -EACCES);
		assert_non_null(strstr(problem, "--token-file"));
		assert_null(strstr(problem, "secret"));
	}
}

static void an_address_without_a_secret_has_none(void **state)
{
	static const char *const cases[] = {
		"",
		"h:3128",
		"http://me@[::1]:3128/",
		"influx+http://h:8086/write?db=p&precision=ns",
		"json+http://h:80/a@b:c?path=x&p=&pp=1",
		"json+http://h/?p",
		"clickhouse+https://me@db:8443/prof",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_false(push_url_has_secret(cases[i]));
}

static void ids_stay_what_databases_have(void **state)
{
	const uint64_t frames[] = { 1, 2 }, turned[] = { 2, 1 };
	uint64_t id = push_frame_id(PUSH_NATIVE, "aabb", "/bin/x", "main");

	assert_int_equal(id, push_frame_id(PUSH_NATIVE, "aabb", "/other/x", "main"));
	assert_int_not_equal(id, push_frame_id(PUSH_NATIVE, "aabc", "/bin/x", "main"));
	assert_int_not_equal(id, push_frame_id(PUSH_NATIVE, "aabb", "/bin/x", "mail"));
	assert_int_not_equal(push_stack_id(frames, 2), push_stack_id(turned, 2));
	assert_int_not_equal(push_stack_id(frames, 1), push_stack_id(frames, 2));
	/* The bytes that this commit stores. */
	assert_int_equal(id, 0x15a596a77dd603c3);
	assert_int_equal(push_stack_id(frames, 2), 0x3648687503651be);
}

static struct push_samples small_samples(struct push_frame *frames, uint32_t *numbers,
					 struct push_stack *stack)
{
	frames[0] = (struct push_frame){
		.id = 0x1122, .kind = PUSH_NATIVE, .build_id = "ab", .file = "/x", .name = "f"
	};
	numbers[0] = 0;
	*stack = (struct push_stack){ .id = 0x77, .first = 0, .count = 1 };
	return (struct push_samples){ .stacks = stack,
				      .stack_count = 1,
				      .frames = numbers,
				      .frame_count = 1,
				      .frame_list = frames,
				      .frame_list_count = 1 };
}

static void row_binary_is_that_of_the_documents(void **state)
{
	static const uint8_t stacks[] = { 0x77, 0,    0,    0, 0, 0, 0, 0, 1, 0,
					  1,    0x22, 0x11, 0, 0, 0, 0, 0, 0 };
	static const uint8_t samples[] = "\x01s\x03"
					 "cpu"
					 "\x80\x51\x01\0"
					 "\x77\0\0\0\0\0\0\0"
					 "\x0a\0\0\0\0\0\0\0"
					 "\x02\0\0\0\0\0\0\0"
					 "\x02h1"
					 "\x01"
					 "c"
					 "\0"
					 "\x05\0\0\0\0\0\0\0"
					 "\x06\0\0\0\0\0\0\0"
					 "\x01\x06"
					 "region"
					 "\x01\x02"
					 "eu"; /* without the NUL */
	struct push_frame frame;
	uint32_t number;
	struct push_stack stack;
	struct push_counted counted = { .event = "cpu",
					.samples = small_samples(&frame, &number, &stack) };
	struct push_row row = {
		.weight = 10, .samples = 2, .service = "s", .comm = "c", .container = ""
	};
	struct push_labels labels = { .count = 0 };
	uint8_t sent_stack = 0, sent_frame = 0;
	const char *problem;
	struct push_interval in = { .host = "h1",
				    .labels = &labels,
				    .sender = 5,
				    .seq = 6,
				    .from_s = 86400,
				    .to_s = 86460,
				    .counted = &counted,
				    .rows = &row,
				    .row_count = 1,
				    .sent_stacks = &sent_stack,
				    .sent_frames = &sent_frame };
	struct push_batch b = { 0 }, later = { 0 };

	assert_int_equal(push_labels_add(&labels, "region=eu", &problem), 0);
	assert_int_equal(push_clickhouse.encode(&in, &b), 0);
	assert_int_equal(b.part_count, 4);
	assert_string_equal(b.parts[0].name, "stacks");
	assert_int_equal(b.parts[0].body.size_bytes, sizeof(stacks));
	assert_memory_equal(b.parts[0].body.data, stacks, sizeof(stacks));
	assert_string_equal(b.parts[2].name, "samples");
	assert_int_equal(b.parts[2].body.size_bytes, sizeof(samples) - 1);
	assert_memory_equal(b.parts[2].body.data, samples, sizeof(samples) - 1);
	assert_int_equal(b.samples, 2);
	/* The next interval has the stack and its frame no more. */
	assert_int_equal(push_clickhouse.encode(&in, &later), 0);
	assert_int_equal(later.parts[0].body.size_bytes, 0);
	assert_int_equal(later.parts[1].body.size_bytes, 0);
	assert_int_equal(later.parts[2].body.size_bytes, b.parts[2].body.size_bytes);
	push_batch_done(&b);
	push_batch_done(&later);
	push_labels_done(&labels);
}

static void labels_have_their_rules(void **state)
{
	static const char *const bad[] = { "region",   "=eu",        "1a=b",      "a b=c",     "a=",
					   "a=b\x01c", "host=other", "region=us", "a=\xc3\xa4" };
	char text[] = "# of the machine\n\nregion=eu\ncloud.zone=a,b=c\n", twice[] = "x=1\nx=2\n",
	     wide[3 + PUSH_LABEL_VALUE_MAX + 1] = "k=", name[16];
	struct push_labels l = { .count = 0 };
	const char *problem = NULL;
	size_t line;

	assert_int_equal(push_labels_read(&l, text, &line, &problem), 0);
	assert_int_equal(l.count, 2);
	assert_string_equal(l.list[1].key, "cloud.zone");
	assert_string_equal(l.list[1].value, "a,b=c");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(push_labels_add(&l, bad[i], &problem), -EINVAL);
	memset(wide + 2, 'v', PUSH_LABEL_VALUE_MAX + 1);
	assert_int_equal(push_labels_add(&l, wide, &problem), -EINVAL);
	wide[2 + PUSH_LABEL_VALUE_MAX] = '\0';
	assert_int_equal(push_labels_add(&l, wide, &problem), 0);
	assert_int_equal(push_labels_read(&l, twice, &line, &problem), -EINVAL);
	assert_int_equal(line, 2);
	while (l.count < PUSH_LABELS_MAX) {
		snprintf(name, sizeof(name), "n%zu=1", l.count);
		assert_int_equal(push_labels_add(&l, name, &problem), 0);
	}
	assert_int_equal(push_labels_add(&l, "more=1", &problem), -EINVAL);
	push_labels_done(&l);
}

static struct push_point small_point(struct push_field *tags, struct push_field *values)
{
	tags[0] = (struct push_field){ (char *)(uintptr_t) "comm",
				       (char *)(uintptr_t) "a b,c=d\\" };
	tags[1] = (struct push_field){ (char *)(uintptr_t) "none", (char *)(uintptr_t) "" };
	values[0] = (struct push_field){ (char *)(uintptr_t) "calls", (char *)(uintptr_t) "12" };
	values[1] = (struct push_field){ (char *)(uintptr_t) "ns", (char *)(uintptr_t) "-3" };
	return (struct push_point){ .table = (char *)(uintptr_t) "sys calls",
				    .tags = tags,
				    .tag_count = 2,
				    .values = values,
				    .value_count = 2,
				    .time_ns = 1700000000000000000 };
}

static void text_of(const struct push_form *form, char *out, size_t out_bytes)
{
	struct push_field tags[2], values[2];
	struct push_point p = small_point(tags, values);
	struct push_interval in = { .host = "h1",
				    .sender = 5,
				    .seq = 6,
				    .from_s = 1700000000,
				    .points = &p,
				    .point_count = 1 };
	struct push_batch b = { .host = strdup("h1") };

	assert_int_equal(form->encode(&in, &b), 0);
	assert_int_equal(b.part_count, 1);
	assert_true(b.parts[0].body.size_bytes < out_bytes);
	memcpy(out, b.parts[0].body.data, b.parts[0].body.size_bytes);
	out[b.parts[0].body.size_bytes] = '\0';
	push_batch_done(&b);
}

static void lines_of_influx_are_escaped(void **state)
{
	char text[400];

	text_of(&push_influx, text, sizeof(text));
	assert_string_equal(text, "ebprec_sys\\ calls,host=h1,comm=a\\ b\\,c\\=d_ calls=12i,ns=-3i "
				  "1700000000000000000\n");
}

static void text_of_prometheus_has_a_type_a_metric(void **state)
{
	char text[400];

	text_of(&push_pushgateway, text, sizeof(text));
	assert_string_equal(text, "# TYPE ebprec_sys_calls_calls gauge\n"
				  "ebprec_sys_calls_calls{comm=\"a b,c=d\\\\\"} 12\n"
				  "# TYPE ebprec_sys_calls_ns gauge\n"
				  "ebprec_sys_calls_ns{comm=\"a b,c=d\\\\\"} -3\n");
}

static void batches_of_json_are_numbered(void **state)
{
	char text[600];

	text_of(&push_json, text, sizeof(text));
	assert_string_equal(
		text,
		"{\"timestamp\": 1700000000,\"source_script\": \"h1\",\"batch_id\": "
		"\"0000000000000005-6\",\"sequence\": 6,\"metrics\": [{\"table\": \"sys calls\","
		"\"host\": \"h1\",\"time\": 1700000000.000000000,\"comm\": \"a b,c=d\\\\\","
		"\"none\": \"\",\"calls\": 12,\"ns\": -3}]}\n");
}

static void literals_of_snappy_have_their_lengths(void **state)
{
	static const uint8_t want[] = { 5, 0xf4, 4, 0, 'h', 'e', 'l', 'l', 'o' };
	struct outbuf out = { 0 };
	uint8_t *large = calloc(1, 70000);

	snappy_block(&out, (const uint8_t *)"hello", 5);
	assert_int_equal(out.size_bytes, sizeof(want));
	assert_memory_equal(out.data, want, sizeof(want));
	outbuf_clear(&out);
	snappy_block(&out, large, 70000);
	assert_int_equal(out.size_bytes, 3 + 3 + 65536 + 3 + 70000 - 65536);
	free(large);
	outbuf_done(&out);
}

static void versions_of_clickhouse_are_numbers(void **state)
{
	assert_int_equal(push_clickhouse_version("18.16.1"), 18016);
	assert_int_equal(push_clickhouse_version("24.3.1.5\n"), 24003);
	assert_int_equal(push_clickhouse_version("nginx"), 0);
}

static void old_and_new_servers_get_tables_of_their_time(void **state)
{
	struct push_target t;
	const char *problem;
	char *sql;

	assert_int_equal(push_target_parse("clickhouse://h/p", &t, &problem), 0);
	t.version = 18016;
	assert_int_equal(push_clickhouse_statement(&t, false, 14, 1, &sql), 0);
	assert_null(strstr(sql, "LowCardinality"));
	assert_null(strstr(sql, "TTL"));
	assert_non_null(strstr(sql, "service String, event String"));
	free(sql);
	assert_int_equal(push_clickhouse_statement(&t, false, 14, 6, &sql), 0);
	assert_null(sql);
	t.version = 24003;
	assert_int_equal(push_clickhouse_statement(&t, true, 14, 1, &sql), 0);
	assert_non_null(strstr(sql, "host LowCardinality(String)"));
	assert_non_null(strstr(sql, "TTL t + INTERVAL 14 DAY"));
	assert_non_null(strstr(
		sql,
		"ReplicatedMergeTree('/clickhouse/tables/{shard}/p/ebprec_samples', '{replica}')"));
	free(sql);
	assert_int_equal(push_clickhouse_statement(&t, true, 14, 5, &sql), 0);
	assert_non_null(strstr(sql, "p/ebprec_hour', '{replica}', ver)"));
	free(sql);
	assert_int_equal(push_clickhouse_statement(&t, false, 14, 6, &sql), 0);
	assert_non_null(strstr(sql, "ALTER TABLE p.ebprec_samples ADD COLUMN IF NOT EXISTS"));
	free(sql);
	assert_int_equal(push_clickhouse_statement(&t, false, 14, 7, &sql), 0);
	assert_null(sql);
	t.version = 24010;
	assert_int_equal(push_clickhouse_statement(&t, false, 14, 7, &sql), 0);
	assert_non_null(
		strstr(sql, "REFRESH EVERY 1 HOUR OFFSET 10 MINUTE APPEND TO p.ebprec_hour AS"));
	free(sql);
	assert_int_equal(push_clickhouse_statement(&t, false, 14, 8, &sql), 0);
	assert_null(sql);
	push_target_done(&t);
}

static void quotes_in_texts_end_no_literal(void **state)
{
	char *text = push_clickhouse_quote("a'b\\c");

	assert_string_equal(text, "'a\\'b\\\\c'");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_of_a_form_a_host_and_a_path),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(an_address_with_a_secret_is_refused),
		cmocka_unit_test(an_address_without_a_secret_has_none),
		cmocka_unit_test(ids_stay_what_databases_have),
		cmocka_unit_test(row_binary_is_that_of_the_documents),
		cmocka_unit_test(labels_have_their_rules),
		cmocka_unit_test(lines_of_influx_are_escaped),
		cmocka_unit_test(text_of_prometheus_has_a_type_a_metric),
		cmocka_unit_test(batches_of_json_are_numbered),
		cmocka_unit_test(literals_of_snappy_have_their_lengths),
		cmocka_unit_test(versions_of_clickhouse_are_numbers),
		cmocka_unit_test(old_and_new_servers_get_tables_of_their_time),
		cmocka_unit_test(quotes_in_texts_end_no_literal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
