/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static int watch(const struct control_socket *c, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int begin_listening(int fd)
{
	struct sockaddr_un at;
	socklen_t bytes = recorder_socket_address((int)getpid(), &at);

	return bind(fd, (struct sockaddr *)&at, bytes) || listen(fd, CONTROL_SOCKET_CLIENTS)
		       ? -errno
		       : 0;
}

int control_socket_open(struct control_socket *c)
{
	struct control_socket made = { .fd = -1 };
	int err;

	made.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (made.epoll_fd < 0)
		return -errno;
	made.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = made.fd < 0 ? -errno : begin_listening(made.fd);
	if (!err)
		err = watch(&made, made.fd);
	if (err) {
		if (made.fd >= 0)
			close(made.fd);
		close(made.epoll_fd);
		return err;
	}
	*c = made;
	return 0;
}

static void answer_one(const struct control_client *client, enum recorder_answer answer,
		       const char *text)
{
	char message[RECORDER_SOCKET_ANSWER_BYTES];
	int n = snprintf(message, sizeof(message), "%c%s", answer, text);
	size_t bytes = n < (int)sizeof(message) ? (size_t)n : sizeof(message) - 1;

	/* A client that no longer reads gets no answer. */
	(void)!send(client->fd, message, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Those behind it move up. */
static void drop(struct control_socket *c, size_t i)
{
	close(c->clients[i].fd); /* leaves the epoll set, too */
	c->count--;
	memmove(&c->clients[i], &c->clients[i + 1], (c->count - i) * sizeof(*c->clients));
}

static bool is_trusted(int fd)
{
	struct ucred peer = { 0 };
	socklen_t bytes = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* The oldest that has not asked makes room for a new one. */
static bool has_room(struct control_socket *c)
{
	for (size_t i = 0; i < c->count && c->count == CONTROL_SOCKET_CLIENTS; i++) {
		if (!c->clients[i].has_asked)
			drop(c, i);
	}
	return c->count < CONTROL_SOCKET_CLIENTS;
}

static void accept_clients(struct control_socket *c)
{
	int fd;

	while ((fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (is_trusted(fd) && has_room(c) && !watch(c, fd))
			c->clients[c->count++] = (struct control_client){ .fd = fd };
		else
			close(fd);
	}
}

/* False: there is no such request. */
static bool parse_request(const char *word, size_t bytes, enum recorder_request *out)
{
	for (unsigned i = 0; i < RECORDER_REQUEST_COUNT; i++) {
		const char *known = recorder_socket_word(i);

		if (strlen(known) == bytes && !memcmp(known, word, bytes)) {
			*out = i;
			return true;
		}
	}
	return false;
}

/* Its bit, when it has sent its request; one that hangs up, or asks for what is not known, is dropped. */
static unsigned read_request(struct control_socket *c, size_t i)
{
	struct control_client *client = &c->clients[i];
	char word[32];
	ssize_t n = recv(client->fd, word, sizeof(word), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0 && parse_request(word, (size_t)n, &client->request)) {
		client->has_asked = true;
		/* That it hangs up is nothing to wake up for. */
		(void)epoll_ctl(c->epoll_fd, EPOLL_CTL_DEL, client->fd, NULL);
		return 1u << client->request;
	}
	if (n > 0)
		answer_one(client, RECORDER_CANNOT, "there is no such request");
	drop(c, i);
	return 0;
}

unsigned control_socket_take(struct control_socket *c)
{
	unsigned asked = 0;

	if (c->fd < 0)
		return 0;
	accept_clients(c);
	for (size_t i = c->count; i-- > 0;) {
		if (!c->clients[i].has_asked)
			asked |= read_request(c, i);
	}
	return asked;
}

void control_socket_answer(struct control_socket *c, enum recorder_request request,
			   enum recorder_answer answer, const char *text)
{
	for (size_t i = c->count; i-- > 0;) {
		if (c->clients[i].has_asked && c->clients[i].request == request) {
			answer_one(&c->clients[i], answer, text);
			drop(c, i);
		}
	}
}

void control_socket_close(struct control_socket *c)
{
	if (c->fd < 0)
		return;
	(void)control_socket_take(c);
	while (c->count) {
		answer_one(&c->clients[0], RECORDER_FAILED, "the recording ended");
		drop(c, 0);
	}
	close(c->epoll_fd);
	close(c->fd);
	c->fd = -1;
}
