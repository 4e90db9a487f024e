/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/snapshot/snapshot_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int snapshot_socket_open(struct snapshot_socket *c)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int n, err;

	if (fd < 0)
		return -errno;
	/* The NUL in front makes the name abstract. */
	n = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, SNAPSHOT_SOCKET_NAME "%d",
		     (int)getpid());
	if (bind(fd, (struct sockaddr *)&at,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ||
	    listen(fd, SNAPSHOT_SOCKET_WAITING)) {
		err = -errno;
		close(fd);
		return err;
	}
	*c = (struct snapshot_socket){ .fd = fd };
	return 0;
}

void snapshot_socket_close(struct snapshot_socket *c)
{
	if (c->fd < 0)
		return;
	snapshot_socket_answer(c, false, "the recording ended");
	close(c->fd);
	c->fd = -1;
}

static bool is_trusted(int fd)
{
	struct ucred peer = { 0 };
	socklen_t bytes = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

bool snapshot_socket_accept(struct snapshot_socket *c)
{
	int fd;

	while ((fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (c->waiting_count < SNAPSHOT_SOCKET_WAITING && is_trusted(fd))
			c->waiting[c->waiting_count++] = fd;
		else
			close(fd);
	}
	return c->waiting_count != 0;
}

void snapshot_socket_answer(struct snapshot_socket *c, bool done, const char *text)
{
	char answer[1024];
	int n = snprintf(answer, sizeof(answer), "%c%s", done ? '+' : '-', text);
	size_t bytes = n < (int)sizeof(answer) ? (size_t)n : sizeof(answer) - 1;

	for (; c->waiting_count; c->waiting_count--) {
		int fd = c->waiting[c->waiting_count - 1];

		/* A client that no longer reads gets no answer. */
		(void)!send(fd, answer, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
	}
}
