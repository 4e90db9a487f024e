/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "format/os/recorder_socket.h"

int control_socket_open(struct control_socket *c)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;
	struct sockaddr_un at;
	socklen_t bytes = recorder_socket_address((int)getpid(), &at);

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&at, bytes) || listen(fd, CONTROL_SOCKET_WAITING)) {
		err = -errno;
		close(fd);
		return err;
	}
	*c = (struct control_socket){ .fd = fd };
	return 0;
}

void control_socket_close(struct control_socket *c)
{
	if (c->fd < 0)
		return;
	control_socket_answer(c, false, "the recording ended");
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

bool control_socket_accept(struct control_socket *c)
{
	int fd;

	while ((fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (c->waiting_count < CONTROL_SOCKET_WAITING && is_trusted(fd))
			c->waiting[c->waiting_count++] = fd;
		else
			close(fd);
	}
	return c->waiting_count != 0;
}

void control_socket_answer(struct control_socket *c, bool done, const char *text)
{
	char answer[RECORDER_SOCKET_ANSWER_BYTES];
	int n = snprintf(answer, sizeof(answer), "%c%s", done ? '+' : '-', text);
	size_t bytes = n < (int)sizeof(answer) ? (size_t)n : sizeof(answer) - 1;

	for (; c->waiting_count; c->waiting_count--) {
		int fd = c->waiting[c->waiting_count - 1];

		/* A client that no longer reads gets no answer. */
		(void)!send(fd, answer, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
	}
}
