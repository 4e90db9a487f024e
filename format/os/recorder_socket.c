/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/os/recorder_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/os/clock.h"

const char *recorder_socket_word(enum recorder_request request)
{
	static const char *const words[RECORDER_REQUEST_COUNT] = {
		[RECORDER_PING] = "ping",
		[RECORDER_SNAPSHOT] = "snapshot",
		[RECORDER_STOP] = "stop",
	};

	return words[request];
}

socklen_t recorder_socket_address(int pid, struct sockaddr_un *out)
{
	int n;

	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	/* The NUL in front makes the name abstract. */
	n = snprintf(out->sun_path + 1, sizeof(out->sun_path) - 1, RECORDER_SOCKET_NAME "%d", pid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static bool is_recorder(int fd, int pid, uid_t *user)
{
	struct ucred peer = { 0 };
	socklen_t bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		return false;
	*user = peer.uid;
	return peer.pid == pid && (peer.uid == 0 || peer.uid == geteuid());
}

/* Signals that the caller handles do not end it: a second request would be a second snapshot. */
static int await_answer(int fd, int timeout_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), waited_ms = 0;
	int count;

	do {
		count = poll(&ready, 1, timeout_ms < 0 ? -1 : timeout_ms - (int)waited_ms);
		if (count >= 0 || errno != EINTR)
			return count > 0 ? 0 : count ? -errno : -ETIMEDOUT;
		waited_ms = (clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1000000;
	} while (timeout_ms < 0 || waited_ms < (unsigned)timeout_ms);
	return -ETIMEDOUT;
}

static int read_answer(int fd, int timeout_ms, char text[RECORDER_SOCKET_ANSWER_BYTES])
{
	char answer[RECORDER_SOCKET_ANSWER_BYTES];
	int err = await_answer(fd, timeout_ms);
	ssize_t n;

	if (err)
		return err;
	n = recv(fd, answer, sizeof(answer), 0);
	if (n <= 0)
		return -ECONNRESET;
	memcpy(text, answer + 1, (size_t)n - 1);
	text[n - 1] = '\0';
	switch (*answer) {
	case RECORDER_DONE:
		return 0;
	case RECORDER_CANNOT:
		return -EOPNOTSUPP;
	default:
		return -EIO;
	}
}

int recorder_socket_ask(int pid, enum recorder_request request, int timeout_ms,
			char text[RECORDER_SOCKET_ANSWER_BYTES])
{
	const char *word = recorder_socket_word(request);
	uid_t user = 0;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;
	struct sockaddr_un at;
	socklen_t bytes = recorder_socket_address(pid, &at);

	*text = '\0';
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&at, bytes))
		err = -errno;
	else if (!is_recorder(fd, pid, &user))
		err = -EPERM;
	else if (send(fd, word, strlen(word), MSG_NOSIGNAL) < 0 && errno != EPIPE)
		err = -errno;
	else /* one that hung up may have answered */
		err = read_answer(fd, timeout_ms, text);
	close(fd);
	return err == -ECONNRESET && geteuid() != 0 && user != geteuid() ? -EACCES : err;
}

int recorder_socket_list(int *pids, size_t capacity, size_t *count)
{
	FILE *f = fopen("/proc/net/unix", "re");
	size_t line_bytes = 0;
	char *line = NULL, *name;

	*count = 0;
	if (!f)
		return -errno;
	while (getline(&line, &line_bytes, f) > 0) {
		name = strstr(line, " @" RECORDER_SOCKET_NAME);
		/* Flags 00010000: it listens. */
		if (!name || !strstr(line, " 00010000 "))
			continue;
		if (*count < capacity)
			pids[*count] = atoi(name + strlen(" @" RECORDER_SOCKET_NAME));
		++*count;
	}
	free(line);
	fclose(f);
	return 0;
}
