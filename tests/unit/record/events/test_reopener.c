/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/reopener.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NO_SUCH_CPU 65535

static struct reopener *start(void)
{
	struct reopener *r = NULL;

	assert_int_equal(reopener_new("/proc/self/exe", &r), 0); /* main() below */
	return r;
}

static const struct perf_event_attr dummy = { .type = PERF_TYPE_SOFTWARE,
					      .size = sizeof(dummy),
					      .config = PERF_COUNT_SW_DUMMY };

static int await(struct reopener *r, uint32_t cpu)
{
	int err = reopener_await(r, cpu, 0);

	return err == -EAGAIN ? reopener_await(r, cpu, 10000) : err;
}

static void reopener_that_is_sealed_learns_no_more(void **state)
{
	struct perf_event_attr attr = dummy;
	struct reopener *r = start();

	assert_int_equal(reopener_keep(r, &attr), 0);
	assert_int_equal(reopener_keep(r, &attr), 1);
	assert_int_equal(reopener_seal(r), 0);
	assert_int_equal(reopener_keep(r, &attr), -EPERM);
	assert_int_equal(reopener_seal(r), 0);
	reopener_free(r);
}

static void reopener_opens_what_it_keeps(void **state)
{
	struct perf_event_attr attr = dummy;
	struct reopener *r = start();
	int err, fd;

	assert_int_equal(reopener_keep(r, &attr), 0);
	assert_int_equal(reopener_await(r, 0, 0), -ENOENT); /* no CPU was asked for */
	assert_int_equal(reopener_ask(r, 0), 0);
	assert_int_equal(reopener_await(r, 1, 0), -ENOENT);
	err = await(r, 0);
	if (err == -EACCES || err == -EPERM) { /* no rights, here or at all */
		reopener_free(r);
		skip();
	}
	assert_int_equal(err, 0);
	assert_int_equal(reopener_await(r, 0, 0), -ENOENT); /* reported once */
	assert_int_equal(reopener_take(r, 1), -ENOENT);
	assert_int_equal(reopener_take(r, -EPERM), -ENOENT);
	fd = reopener_take(r, 0);
	assert_true(fd >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	assert_int_equal(reopener_take(r, 0), -ENOENT);
	reopener_free(r);
}

static void reopener_does_without_what_is_extra(void **state)
{
	struct perf_event_attr attr = dummy, none = { .type = UINT32_MAX, .size = sizeof(none) };
	struct reopener *r = start();
	int err, fd;

	assert_int_equal(reopener_keep_extra(r, &none), 0);
	assert_int_equal(reopener_keep(r, &attr), 1);
	assert_int_equal(reopener_keep_extra(r, &attr), 2);
	assert_int_equal(reopener_ask(r, 0), 0);
	err = await(r, 0);
	if (err == -EACCES || err == -EPERM) { /* no rights, here or at all */
		reopener_free(r);
		skip();
	}
	assert_int_equal(err, 0);
	assert_int_equal(reopener_take(r, 0), -ENOENT);
	for (int number = 1; number <= 2; number++) {
		fd = reopener_take(r, number);
		assert_true(fd >= 0);
		close(fd);
	}
	assert_int_equal(reopener_keep(r, &none), 3); /* this one is needed */
	assert_int_equal(reopener_ask(r, 0), 0);
	assert_true(await(r, 0) < 0);
	reopener_free(r);
}

static void reopener_knows_what_was_asked_last(void **state)
{
	struct perf_event_attr attr = dummy;
	struct reopener *r = start();

	assert_int_equal(reopener_keep(r, &attr), 0);
	assert_int_equal(reopener_keep(r, &attr), 1);
	/* The answers to the first are still to come when the second is asked. */
	assert_int_equal(reopener_ask(r, 0), 0);
	assert_int_equal(reopener_ask(r, NO_SUCH_CPU), 0);
	assert_int_equal(reopener_await(r, 0, 0), -ENOENT);
	assert_true(await(r, NO_SUCH_CPU) < 0);
	assert_int_equal(reopener_take(r, 0), -ENOENT);
	/* One that is forgotten, too. */
	assert_int_equal(reopener_ask(r, NO_SUCH_CPU), 0);
	reopener_forget(r, 0);
	assert_int_not_equal(reopener_await(r, NO_SUCH_CPU, 0), -ENOENT);
	assert_int_equal(reopener_ask(r, NO_SUCH_CPU), 0);
	reopener_forget(r, NO_SUCH_CPU);
	assert_int_equal(reopener_await(r, NO_SUCH_CPU, 0), -ENOENT);
	reopener_free(r);
}

static void reopener_that_is_none_reports_it(void **state)
{
	struct perf_event_attr attr = dummy;
	struct reopener *r = NULL;

	assert_int_equal(reopener_keep(NULL, &attr), -EPERM);
	assert_int_equal(reopener_seal(NULL), -EPERM);
	assert_int_equal(reopener_ask(NULL, 0), -EPERM);
	assert_int_equal(reopener_await(NULL, 0, 0), -ENOENT);
	assert_int_equal(reopener_take(NULL, 0), -ENOENT);
	reopener_forget(NULL, 0);
	reopener_free(NULL);
	assert_int_not_equal(reopener_new("/nowhere", &r), 0);
	assert_null(r);
	assert_int_equal(reopener_new("/bin/true", &r), 0); /* ends at once */
	assert_int_equal(reopener_keep(r, &attr), -EPIPE);
	reopener_free(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reopener_that_is_sealed_learns_no_more),
		cmocka_unit_test(reopener_opens_what_it_keeps),
		cmocka_unit_test(reopener_does_without_what_is_extra),
		cmocka_unit_test(reopener_knows_what_was_asked_last),
		cmocka_unit_test(reopener_that_is_none_reports_it),
	};

	if (argc == 2 && !strcmp(argv[1], REOPENER_OPTION))
		return reopener_serve();
	return cmocka_run_group_tests_name("reopener", tests, NULL, NULL);
}
