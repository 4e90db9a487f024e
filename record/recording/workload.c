/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "record/base/command_path.h"
#include "record/privsep/caps.h"

#define KILL_WAIT_NS 1000000000ULL /* a process in an uninterruptible sleep outlives SIGKILL */

const char *workload_remedy(const char *name, int err)
{
	struct stat st;
	bool is_there = !stat(name, &st);

	if (err == -ENOENT && !strchr(name, '/'))
		return is_there ? "it is not in $PATH: ./ before it names that of this folder"
				: "no folder of $PATH has it";
	if (err == -ENOENT && is_there)
		return "the interpreter that it names does not exist";
	if (err == -EACCES && is_there && S_ISDIR(st.st_mode))
		return "it is a folder, a program was expected";
	if (err == -EACCES && is_there)
		return "chmod +x lets it run; 'ebprec report' reads a capture";
	return NULL;
}

static void report(int fd, int err)
{
	while (write(fd, &err, sizeof(err)) < 0 && errno == EINTR)
		;
}

/* In the child.  Async-signal-safe calls only would not matter: there is one thread. */
static _Noreturn void child(char *const *argv, const struct signal_state *signals, int go_fd,
			    int error_fd)
{
	char path[PATH_MAX], go;
	int err = -caps_of_user();

	if (!err)
		err = -command_path_find(argv[0], path);
	report(error_fd, err);
	if (err)
		_exit(127);
	/* The end of the pipe without a byte: the recorder gave up. */
	errno = 0;
	while (read(go_fd, &go, 1) != 1) {
		if (errno != EINTR)
			_exit(0);
		errno = 0;
	}
	sigaction(SIGINT, &signals->interrupt, NULL);
	sigaction(SIGTERM, &signals->terminate, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	execvp(argv[0], argv);
	report(error_fd, errno);
	_exit(127);
}

/* The errno that the child reports; 0: none, or the end of the file. */
static int reported(int fd)
{
	int err = 0;
	ssize_t got;

	do {
		got = read(fd, &err, sizeof(err));
	} while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(err) ? err : 0;
}

int workload_fork(struct workload *w, char *const *argv, const struct signal_state *signals)
{
	int go[2] = { -1, -1 }, error[2] = { -1, -1 };
	int err = 0;

	*w = (struct workload){ .pidfd = -1, .go_fd = -1, .error_fd = -1 };
	if (pipe2(go, O_CLOEXEC) || pipe2(error, O_CLOEXEC)) {
		err = -errno;
		goto out;
	}
	w->pid = fork();
	if (w->pid < 0) {
		err = -errno;
		w->pid = 0;
		goto out;
	}
	if (!w->pid) {
		close(go[1]);
		close(error[0]);
		child(argv, signals, go[0], error[1]);
	}
	w->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
	if (w->pidfd < 0)
		err = -errno;
	w->go_fd = go[1];
	w->error_fd = error[0];
	go[1] = error[0] = -1;
	close(error[1]);
	error[1] = -1;
	if (!err)
		err = -reported(w->error_fd);
out:
	if (go[0] >= 0)
		close(go[0]);
	if (go[1] >= 0)
		close(go[1]);
	if (error[0] >= 0)
		close(error[0]);
	if (error[1] >= 0)
		close(error[1]);
	if (err)
		workload_done(w);
	return err;
}

void workload_reap(struct workload *w)
{
	if (w->pid && !w->reaped && waitpid(w->pid, &w->status, WNOHANG) == w->pid)
		w->reaped = true;
}

/* Waits for its end until the time is up.  Whether it has ended. */
static bool await_end(struct workload *w, uint64_t wait_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), until_ns = now_ns + wait_ns;
	struct pollfd p = { .fd = w->pidfd, .events = POLLIN };

	workload_reap(w);
	while (w->pid && !w->reaped && now_ns < until_ns) {
		(void)poll(&p, 1, (int)((until_ns - now_ns) / 1000000) + 1);
		workload_reap(w);
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	return !w->pid || w->reaped;
}

int workload_start(struct workload *w)
{
	int err;

	while (write(w->go_fd, "g", 1) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	/* exec closes the child's end: the end of the file means that the command runs. */
	err = reported(w->error_fd);
	if (err)
		(void)await_end(w, KILL_WAIT_NS);
	return -err;
}

enum workload_end workload_end(struct workload *w)
{
	if (await_end(w, 0)) /* one that has ended by itself, even of SIGTERM, keeps its status */
		return WORKLOAD_ENDED;
	w->killed = !kill(w->pid, SIGTERM);
	if (await_end(w, WORKLOAD_TERM_WAIT_NS))
		return WORKLOAD_ENDED;
	(void)kill(w->pid, SIGKILL);
	return await_end(w, KILL_WAIT_NS) ? WORKLOAD_KILLED : WORKLOAD_LEFT;
}

int workload_exit_status(const struct workload *w)
{
	if (!w->pid || !w->reaped)
		return 0;
	if (w->killed && WIFSIGNALED(w->status) &&
	    (WTERMSIG(w->status) == SIGTERM || WTERMSIG(w->status) == SIGKILL))
		return 0;
	return WIFSIGNALED(w->status) ? 128 + WTERMSIG(w->status) : WEXITSTATUS(w->status);
}

void workload_done(struct workload *w)
{
	if (!w->pid)
		return;
	if (w->go_fd >= 0)
		close(w->go_fd); /* a child that still waits ends now */
	if (!w->killed)
		(void)await_end(w, KILL_WAIT_NS);
	if (w->pidfd >= 0)
		close(w->pidfd);
	if (w->error_fd >= 0)
		close(w->error_fd);
	*w = (struct workload){ 0 };
}
