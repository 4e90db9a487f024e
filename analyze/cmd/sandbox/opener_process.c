/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/sandbox/opener_process.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analyze/cmd/sandbox/sandbox.h"
#include "analyze/sym/locate/file_opener.h"

#define SOCKET_FD 3

/* With nothing of the process that it came from but the socket; the first that it sends is an errno. */
static void __attribute__((noreturn))
run(int socket, const char *const *roots, size_t root_count, bool with_sources)
{
	const struct sandbox_opts opts = { .read = roots,
					   .read_count = root_count,
					   .opens_in_roots = true };
	struct sandbox_result result;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), err;

	(void)prctl(PR_SET_NAME, "ebprec-opener");
	for (int fd = 0; fd < SOCKET_FD; fd++)
		(void)dup2(null, fd);
	(void)dup2(socket, SOCKET_FD);
	(void)close_range(SOCKET_FD + 1, ~0U, 0);
	err = sandbox_enter(&opts, &result);
	if (write(SOCKET_FD, &err, sizeof(err)) == sizeof(err) && !err)
		file_opener_serve(SOCKET_FD, with_sources);
	_exit(0);
}

int opener_process_start(const char *const *roots, size_t root_count, bool with_sources)
{
	int ends[2], socket, err = -ECHILD;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	socket = fcntl(ends[0], F_DUPFD_CLOEXEC, SOCKET_FD); /* above standard input and output */
	pid = socket < 0 ? -1 : fork();
	if (!pid)
		run(ends[1], roots, root_count, with_sources);
	close(ends[0]);
	close(ends[1]);
	if (pid > 0 && recv(socket, &err, sizeof(err), 0) == sizeof(err) && !err)
		return socket;
	if (socket >= 0)
		close(socket);
	return err;
}
