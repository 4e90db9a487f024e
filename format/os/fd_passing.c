/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/os/fd_passing.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int fd_passing_send(int socket, const void *bytes, size_t size_bytes, int fd)
{
	union control control = { .bytes = { 0 } };
	struct iovec data = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size_bytes };
	struct msghdr m = { .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *c;
	ssize_t n;

	if (fd >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	do {
		n = sendmsg(socket, &m, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == (ssize_t)size_bytes ? 0 : -EPIPE;
}

ssize_t fd_passing_receive(int socket, void *bytes, size_t size_bytes, int *fd, int flags)
{
	union control control;
	struct iovec data = { .iov_base = bytes, .iov_len = size_bytes };
	struct msghdr m = { .msg_iov = &data,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = CMSG_LEN(
				    sizeof(int)) }; /* no room for a second one */
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do {
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&m); /* a message without a byte may have one */
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(int));
	return n;
}
