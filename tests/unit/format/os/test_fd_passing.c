/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/os/fd_passing.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static unsigned open_count(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

/* As a process would that was taken over. */
static void send_many(int socket, size_t byte_count, unsigned fd_count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(8 * sizeof(int))];
	} control = { .bytes = { 0 } };
	char bytes[8] = "abcdefg";
	struct iovec data = { .iov_base = bytes, .iov_len = byte_count };
	struct msghdr m = { .msg_iov = &data,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = CMSG_SPACE(fd_count * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
	for (unsigned i = 0; i < fd_count; i++)
		memcpy(CMSG_DATA(c) + i * sizeof(int), &socket, sizeof(int));
	assert_int_equal(sendmsg(socket, &m, 0), byte_count);
}

static void whatever_comes_no_descriptor_is_left_open(void **state)
{
	static const struct {
		size_t bytes;
		unsigned fds;
	} cases[] = { { 8, 1 }, { 8, 2 }, { 8, 3 }, { 8, 8 }, { 0, 1 }, { 0, 2 } };
	char bytes[8];
	int ends[2], fd;
	unsigned before;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	before = open_count();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		send_many(ends[1], cases[i].bytes, cases[i].fds);
		assert_int_equal(fd_passing_receive(ends[0], bytes, sizeof(bytes), &fd, 0),
				 cases[i].bytes);
		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(open_count(), before);
	}
	close(ends[0]);
	close(ends[1]);
}

static void a_message_without_a_descriptor_and_the_end_have_none(void **state)
{
	char bytes[8];
	int ends[2], fd = 0;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(fd_passing_send(ends[1], "abc", 3, -1), 0);
	assert_int_equal(fd_passing_receive(ends[0], bytes, sizeof(bytes), &fd, 0), 3);
	assert_int_equal(fd, -1);
	close(ends[1]);
	assert_int_equal(fd_passing_receive(ends[0], bytes, sizeof(bytes), &fd, 0), 0);
	assert_int_equal(fd, -1);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_comes_no_descriptor_is_left_open),
		cmocka_unit_test(a_message_without_a_descriptor_and_the_end_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
