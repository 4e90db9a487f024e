/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/locate/file_opener.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analyze/sym/locate/open_in_root.h"
#include "format/os/fd_passing.h"

enum operation { OPERATION_OPEN, OPERATION_OPEN_LAST_LINK, OPERATION_OPEN_SOURCE, OPERATION_STAT };

/* A question, with the socket for its answer; of the paths only what is used is sent, each with its NUL. */
struct question {
	uint32_t operation;
	char paths[2 * PATH_MAX]; /* root, path */
};

struct answer {
	int32_t result; /* 0, with a descriptor where one was asked for, or negative errno */
	struct stat st;
};

/* ---- the side that asks ---- */

static int receive_answer(int socket, bool wants_fd, struct stat *st)
{
	struct answer a;
	int fd;

	if (fd_passing_receive(socket, &a, sizeof(a), &fd, 0) == sizeof(a) && a.result <= 0 &&
	    (!a.result && wants_fd) == (fd >= 0)) {
		if (!a.result)
			*st = a.st;
		return a.result ? a.result : wants_fd ? fd : 0;
	}
	if (fd >= 0)
		close(fd);
	return -EPERM;
}

static int ask(int socket, enum operation operation, const char *root, const char *path,
	       struct stat *st)
{
	struct question q = { .operation = operation };
	size_t root_bytes = root ? strlen(root) + 1 : 1, path_bytes = strlen(path) + 1;
	int ends[2], err;

	if (root_bytes > PATH_MAX || path_bytes > PATH_MAX)
		return -ENAMETOOLONG;
	if (root)
		memcpy(q.paths, root, root_bytes);
	memcpy(q.paths + root_bytes, path, path_bytes);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = fd_passing_send(socket, &q,
			      offsetof(struct question, paths) + root_bytes + path_bytes, ends[1]);
	close(ends[1]);
	if (err)
		err = -EPERM;
	else
		err = receive_answer(ends[0], operation != OPERATION_STAT, st);
	close(ends[0]);
	return err;
}

int file_opener_open(int socket, const char *root, const char *path, bool follow, struct stat *st)
{
	return ask(socket, follow ? OPERATION_OPEN_LAST_LINK : OPERATION_OPEN, root, path, st);
}

int file_opener_open_source(int socket, const char *root, const char *path, struct stat *st)
{
	return ask(socket, OPERATION_OPEN_SOURCE, root, path, st);
}

int file_opener_stat(int socket, const char *root, const char *path, struct stat *st)
{
	return ask(socket, OPERATION_STAT, root, path, st);
}

/* ---- the side that answers ---- */

/* Both paths end within what came. */
static bool is_question(const struct question *q, size_t size_bytes, const char **path)
{
	const char *end = (const char *)q + size_bytes, *nul;

	if (size_bytes <= offsetof(struct question, paths) || q->operation > OPERATION_STAT)
		return false;
	nul = memchr(q->paths, '\0', (size_t)(end - q->paths));
	if (!nul || nul + 1 >= end || end[-1])
		return false;
	*path = nul + 1;
	return true;
}

static void answer(const struct question *q, const char *path, bool with_sources, int to)
{
	struct answer a;
	int result, fd;

	memset(&a, 0, sizeof(a));
	if (q->operation == OPERATION_STAT)
		result = roots_stat(0, q->paths, path, &a.st);
	else if (q->operation == OPERATION_OPEN_SOURCE)
		result = with_sources ? roots_open_source(0, q->paths, path, &a.st) : -EACCES;
	else
		result = roots_open(0, q->paths, path, q->operation == OPERATION_OPEN_LAST_LINK,
				    &a.st);
	fd = q->operation != OPERATION_STAT && result >= 0 ? result : -1;
	a.result = result < 0 ? result : 0;
	(void)fd_passing_send(to, &a, sizeof(a), fd);
	if (fd >= 0)
		close(fd);
}

void file_opener_serve(int socket, bool with_sources)
{
	struct question q;
	ssize_t size_bytes;
	const char *path;
	int to;

	while ((size_bytes = fd_passing_receive(socket, &q, sizeof(q), &to, 0)) > 0) {
		if (to >= 0 && is_question(&q, (size_t)size_bytes, &path))
			answer(&q, path, with_sources, to);
		if (to >= 0)
			close(to);
	}
}
