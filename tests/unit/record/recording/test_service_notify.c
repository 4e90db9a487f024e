/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/recording/service_notify.h"

/* The socket of a service manager, which is bound to the name and set in the environment. */
static int bind_manager(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t bytes = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	memcpy(at.sun_path, name, bytes);
	if (*name == '@')
		at.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&at,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes)),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static void assert_message(int fd, const char *want)
{
	char got[64] = "";
	ssize_t n = recv(fd, got, sizeof(got) - 1, 0);

	assert_int_equal(n, (ssize_t)strlen(want));
	assert_string_equal(got, want);
}

static int clear_environment(void **state)
{
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return 0;
}

static void service_notify_absent_sends_nothing(void **state)
{
	struct service_notify n;

	setenv("WATCHDOG_USEC", "1000", 1);
	assert_int_equal(service_notify_open(&n), 0);
	assert_int_equal(n.fd, -1);
	service_notify_send(&n, "READY=1");
	service_notify_alive(&n, 1ULL << 40);
	service_notify_close(&n);
	setenv("NOTIFY_SOCKET", "", 1);
	assert_int_equal(service_notify_open(&n), 0);
	assert_int_equal(n.fd, -1);
}

static void service_notify_path_and_abstract_name_get_each_message(void **state)
{
	char path[] = "/tmp/service_notify.XXXXXX", names[2][64], socket_path[64];
	struct service_notify n;
	int fd;

	assert_non_null(mkdtemp(path));
	snprintf(socket_path, sizeof(socket_path), "%s/socket", path);
	snprintf(names[0], sizeof(names[0]), "%s", socket_path);
	snprintf(names[1], sizeof(names[1]), "@ebprec-test/%d", (int)getpid());
	for (int i = 0; i < 2; i++) {
		fd = bind_manager(names[i]);
		assert_int_equal(service_notify_open(&n), 0);
		service_notify_send(&n, "READY=1");
		service_notify_send(&n, "STOPPING=1");
		assert_message(fd, "READY=1");
		assert_message(fd, "STOPPING=1");
		service_notify_close(&n);
		service_notify_close(&n);
		close(fd);
	}
	unlink(socket_path);
	rmdir(path);
}

static void service_notify_wrong_names_are_refused(void **state)
{
	char longest[200];
	const char *const wrong[] = { "relative", "@", "/", " /run/x", "vsock:2:1234", longest };
	struct service_notify n;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv("NOTIFY_SOCKET", wrong[i], 1);
		assert_int_equal(service_notify_open(&n), -EINVAL);
		assert_int_equal(n.fd, -1);
	}
	setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
	assert_int_equal(service_notify_open(&n), -ENOENT);
	setenv("NOTIFY_SOCKET", "/dev/null", 1);
	assert_int_equal(service_notify_open(&n), -ECONNREFUSED);
	assert_int_equal(n.fd, -1);
}

static void service_notify_manager_that_does_not_read_delays_nothing(void **state)
{
	char name[64];
	struct service_notify n;
	int fd;

	snprintf(name, sizeof(name), "@ebprec-test/%d", (int)getpid());
	fd = bind_manager(name);
	assert_int_equal(service_notify_open(&n), 0);
	alarm(20);
	for (int i = 0; i < 100000; i++)
		service_notify_send(&n, "WATCHDOG=1");
	close(fd); /* nor one that has ended */
	service_notify_send(&n, "WATCHDOG=1");
	alarm(0);
	service_notify_close(&n);
}

static void service_notify_sign_of_life_comes_twice_in_the_time(void **state)
{
	char name[64], pid[32];
	struct service_notify n;
	char byte;
	int fd;

	snprintf(name, sizeof(name), "@ebprec-test/%d", (int)getpid());
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	fd = bind_manager(name);
	setenv("WATCHDOG_USEC", "2000000", 1);
	setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(service_notify_open(&n), 0);
	service_notify_alive(&n, 5000000000ULL);
	assert_message(fd, "WATCHDOG=1");
	service_notify_alive(&n, 5999999999ULL);
	assert_int_equal(recv(fd, &byte, 1, 0), -1);
	service_notify_alive(&n, 6000000000ULL);
	assert_message(fd, "WATCHDOG=1");
	service_notify_close(&n);
	close(fd);
}

static void service_notify_watchdog_of_another_or_of_no_number_is_ignored(void **state)
{
	static const char *const wrong[] = { "", "-1", "1x", "99999999999999999999",
					     "18446744073709551615" };
	char name[64];
	struct service_notify n;
	int fd;

	snprintf(name, sizeof(name), "@ebprec-test/%d", (int)getpid());
	fd = bind_manager(name);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv("WATCHDOG_USEC", wrong[i], 1);
		assert_int_equal(service_notify_open(&n), 0);
		assert_int_equal(n.every_ns, 0);
		service_notify_close(&n);
	}
	setenv("WATCHDOG_USEC", "2000000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	assert_int_equal(service_notify_open(&n), 0);
	assert_int_equal(n.every_ns, 0);
	service_notify_close(&n);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(service_notify_absent_sends_nothing, clear_environment),
		cmocka_unit_test_setup(service_notify_path_and_abstract_name_get_each_message,
				       clear_environment),
		cmocka_unit_test_setup(service_notify_wrong_names_are_refused, clear_environment),
		cmocka_unit_test_setup(service_notify_manager_that_does_not_read_delays_nothing,
				       clear_environment),
		cmocka_unit_test_setup(service_notify_sign_of_life_comes_twice_in_the_time,
				       clear_environment),
		cmocka_unit_test_setup(
			service_notify_watchdog_of_another_or_of_no_number_is_ignored,
			clear_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
