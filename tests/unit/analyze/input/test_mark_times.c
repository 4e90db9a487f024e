/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/input/mark_times.h"
#include "format/perf/trace_data.h"

#define MOST 8

struct fixture {
	struct string_table *names;
	struct mark list[MOST];
	struct markspan spans[MOST];
	struct marks marks;
};

static void setup(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	assert_int_equal(string_table_new(&f->names), 0);
	f->marks.marks = f->list;
	f->marks.spans = f->spans;
}

static uint32_t text(struct fixture *f, const char *s)
{
	uint32_t id;

	assert_int_equal(string_table_add(f->names, s, strlen(s), &id), 0);
	return id;
}

static struct mark *add_mark(struct fixture *f, uint64_t time_ns, const char *group,
			     const char *name, const char *words)
{
	struct mark *m = &f->list[f->marks.count++];

	assert_true(f->marks.count <= MOST);
	*m = (struct mark){ .time_ns = time_ns,
			    .tid = 7,
			    .kind = TRACE_DATA_MARK_POINT,
			    .group = text(f, group),
			    .name = text(f, name),
			    .text = text(f, words),
			    .span = MARKS_NONE };
	return m;
}

/* end_ns 0: it has no end, and lasts to 1000. */
static void add_span(struct fixture *f, uint64_t start_ns, uint64_t end_ns, const char *name,
		     uint32_t tid)
{
	struct mark *m = add_mark(f, start_ns, "app", name, "");
	uint32_t begin = (uint32_t)f->marks.count - 1;

	m->kind = TRACE_DATA_MARK_SPAN;
	m->tid = tid;
	m->span = (uint32_t)f->marks.span_count;
	f->spans[f->marks.span_count++] = (struct markspan){ .start_ns = start_ns,
							     .end_ns = end_ns ? end_ns : 1000,
							     .begin = begin,
							     .end = end_ns ? begin : MARKS_NONE };
}

/* "FROM-TO ..." of the spans that --during chooses, and the thread; or the error. */
static const char *during(const struct fixture *f, const char *word)
{
	static char out[200];
	struct time_span *list;
	const char *missing;
	size_t count = 0, at = 0;
	uint32_t tid;
	int err = mark_times_during(&f->marks, f->names, word, &list, &count, &missing, &tid);

	if (err) {
		snprintf(out, sizeof(out), "%s of %zu", strerror(-err), count);
		return out;
	}
	for (size_t i = 0; i < count; i++)
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%llu-%llu ",
				       (unsigned long long)list[i].from_ns,
				       (unsigned long long)list[i].to_ns);
	snprintf(out + at, sizeof(out) - at, "of %u", tid);
	free(list);
	return out;
}

static const char *between(const struct fixture *f, const char *from, const char *to)
{
	static char out[200];
	struct time_span *list;
	const char *missing;
	size_t count, at = 0;
	int err = mark_times_between(&f->marks, f->names, from, to, &list, &count, &missing);

	if (err) {
		snprintf(out, sizeof(out), "%s: %s", strerror(-err), missing);
		return out;
	}
	for (size_t i = 0; i < count; i++)
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%llu-%llu", i ? " " : "",
				       (unsigned long long)list[i].from_ns,
				       (unsigned long long)list[i].to_ns);
	free(list);
	return out;
}

static void spans_of_a_name_are_chosen_together_or_one_of_them(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	add_span(&f, 100, 200, "load", 7);
	add_span(&f, 150, 250, "load", 7);
	add_span(&f, 300, 600, "load", 8);
	add_span(&f, 700, 0, "load", 8);
	add_span(&f, 710, 720, "load#2", 9);
	assert_string_equal(during(&f, "load"), "100-250 300-600 700-1000 of 0");
	assert_string_equal(during(&f, "app/load"), "100-250 300-600 700-1000 of 0");
	assert_string_equal(during(&f, "load#1"), "100-200 of 7");
	assert_string_equal(during(&f, "load#3"), "300-600 of 8");
	assert_string_equal(during(&f, "load#2"), "710-720 of 9"); /* the name is the entire word */
	assert_string_equal(during(&f, "slowest:load"), "300-600 of 8"); /* of those that ended */
	string_table_free(f.names);
}

static void a_span_that_is_not_there_is_an_error(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	add_span(&f, 100, 0, "load", 7);
	assert_string_equal(during(&f, "store"), "No such file or directory of 0");
	assert_string_equal(during(&f, "store#1"), "No such file or directory of 0");
	assert_string_equal(during(&f, "load#2"), "Numerical result out of range of 1");
	assert_string_equal(during(&f, "slowest:load"), "Numerical result out of range of 1");
	assert_string_equal(during(&f, "load#0"), "No such file or directory of 0");
	assert_string_equal(during(&f, "load#99999999999999999999"),
			    "No such file or directory of 0");
	string_table_free(f.names);
}

static void times_between_marks_begin_at_the_first_and_end_at_the_next(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	add_mark(&f, 10, "app", "stop", "");
	add_mark(&f, 20, "app", "start", "");
	add_mark(&f, 30, "app", "start", "");
	add_mark(&f, 40, "app", "stop", "");
	add_mark(&f, 50, "log:err", "db", "connection 17 refused");
	add_mark(&f, 60, "logs", "db", "connection 18 refused");
	add_mark(&f, 70, "app", "stop", "");
	assert_string_equal(between(&f, "start", "stop"), "20-40");
	assert_string_equal(between(&f, "app/start", "log:/n [0-9]+ ref/"), "20-50");
	assert_string_equal(between(&f, "connection 18 refused", "stop"), "60-70");
	assert_string_equal(between(&f, "log:/18/", "stop"),
			    "No such file or directory: log:/18/"); /* of another group */
	assert_string_equal(between(&f, "start", "log:/(/"), "No such file or directory: log:/(/");
	string_table_free(f.names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_of_a_name_are_chosen_together_or_one_of_them),
		cmocka_unit_test(a_span_that_is_not_there_is_an_error),
		cmocka_unit_test(times_between_marks_begin_at_the_first_and_end_at_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
