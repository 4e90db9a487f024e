/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/push/reader_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "format/os/fd_passing.h"

#define NS_PER_SECOND 1000000000ull
#define POLL_MS       1000
#define POLL_BLIND_MS 20 /* without pidfd_open(), of Linux 5.3 */

struct ask {
	uint32_t flags;
	char path[READER_PROCESS_PATH_BYTES];
};

/* Whether the process is over, or the other end of the socket is closed; or a while has passed. */
static void wait_a_while(int pidfd, int starter)
{
	struct pollfd list[] = { { .fd = starter }, { .fd = pidfd, .events = POLLIN } };

	(void)poll(list, pidfd < 0 ? 1 : 2, pidfd < 0 ? POLL_BLIND_MS : POLL_MS);
}

static bool is_gone(int starter)
{
	struct pollfd one = { .fd = starter };

	return poll(&one, 1, 0) > 0;
}

/*
 * Until it is over, or has had its time, or the one that asked is gone.  A parent's death is no signal here: landlock keeps
 * a confined process from signalling others.
 */
static int wait_for(pid_t pid, int starter)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) +
				READER_PROCESS_MOST_SECONDS * NS_PER_SECOND;
	const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int status;
	pid_t ended;

	while (!(ended = waitpid(pid, &status, WNOHANG)) || (ended < 0 && errno == EINTR)) {
		if (clock_ns(CLOCK_MONOTONIC) > end_ns || is_gone(starter)) {
			(void)kill(pid, SIGKILL);
			ended = waitpid(pid, &status, 0);
			break;
		}
		wait_a_while(pidfd, starter);
	}
	if (pidfd >= 0)
		close(pidfd);
	return ended < 0 ? W_EXITCODE(0, SIGKILL) : status;
}

static void __attribute__((noreturn))
read_one(reader_process_read *read, void *arg, const struct ask *ask, int socket)
{
	const struct rlimit cpu = { READER_PROCESS_MOST_SECONDS, READER_PROCESS_MOST_SECONDS };

	(void)prctl(PR_SET_NAME, "ebprec-reader");
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setrlimit(RLIMIT_CPU, &cpu);
	_exit(read(arg, ask->path, ask->flags, socket) & 0x7f);
}

static void __attribute__((noreturn)) serve(int starter, reader_process_read *read, void *arg)
{
	struct ask ask;
	int socket, status;
	pid_t pid;

	(void)prctl(PR_SET_NAME, "ebprec-starter");
	while (fd_passing_receive(starter, &ask, sizeof(ask), &socket, 0) == sizeof(ask)) {
		ask.path[sizeof(ask.path) - 1] = '\0';
		pid = fork();
		if (!pid) {
			close(starter);
			read_one(read, arg, &ask, socket);
		}
		if (socket >= 0)
			close(socket);
		status = pid < 0 ? W_EXITCODE(0, SIGKILL) : wait_for(pid, starter);
		if (fd_passing_send(starter, &status, sizeof(status), -1))
			break;
	}
	_exit(0);
}

int reader_process_start(reader_process_read *read, void *arg)
{
	const pid_t self = getpid();
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (!pid) {
		close(ends[0]);
		if (getppid() == self)
			serve(ends[1], read, arg);
		_exit(0);
	}
	close(ends[1]);
	if (pid > 0)
		return ends[0];
	close(ends[0]);
	return -EAGAIN;
}

int reader_process_ask(int starter, const char *path, unsigned flags, int *socket)
{
	struct ask ask = { .flags = flags };
	size_t bytes = strlen(path);
	int ends[2], err;

	if (bytes >= sizeof(ask.path))
		return -ENAMETOOLONG;
	memcpy(ask.path, path, bytes + 1);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = fd_passing_send(starter, &ask, sizeof(ask), ends[1]);
	close(ends[1]);
	if (err)
		close(ends[0]);
	else
		*socket = ends[0];
	return err;
}

int reader_process_wait(int starter, int *status)
{
	ssize_t n;

	do {
		n = recv(starter, status, sizeof(*status), 0);
	} while (n < 0 && errno == EINTR);
	return n == sizeof(*status) ? 0 : n < 0 ? -errno : -ECHILD;
}
