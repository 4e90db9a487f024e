/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/os/fd_passing.h"
#include "format/os/seccomp_filter.h"
#include "record/privsep/caps.h"

/* ---- life ---- */

static int spawn(const char *program, const char *word, int socket, pid_t *pid)
{
	char name[] = "ebprec-record";
	char *argv[] = { name, (char *)(uintptr_t)word, NULL }, *no_environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int err;

	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	err = posix_spawnattr_init(&attr);
	if (err) {
		posix_spawn_file_actions_destroy(&actions);
		return -err;
	}
	/* Ctrl-C on the terminal is for the recorder. */
	(void)posix_spawnattr_setpgroup(&attr, 0);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	err = posix_spawn_file_actions_adddup2(&actions, socket, SUBPROCESS_FD);
	for (int fd = 0; fd < SUBPROCESS_FD && !err; fd++)
		err = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_addclosefrom_np(&actions, SUBPROCESS_FD + 1);
	if (!err)
		err = posix_spawn(pid, program, &actions, &attr, argv, no_environment);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

int subprocess_start(const char *program, const char *word, pid_t *pid, int *socket_fd)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = spawn(program, word, ends[1], pid);
	close(ends[1]);
	if (err)
		close(ends[0]);
	else
		*socket_fd = ends[0];
	return err;
}

/* ---- words with descriptors ---- */

int subprocess_send(int socket, int fd, const void *bytes, size_t count)
{
	return fd_passing_send(socket, bytes, count, fd);
}

int subprocess_receive(int socket, int *fd, void *bytes, size_t count)
{
	int got;

	if (fd_passing_receive(socket, bytes, count, &got, MSG_WAITALL) != (ssize_t)count) {
		if (got >= 0)
			close(got);
		return -EPIPE;
	}
	*fd = got;
	return 0;
}

/* ---- the filter ---- */

static const int deadly[] = {
	SYS_openat, SYS_execve, SYS_execveat, SYS_socket, SYS_ptrace, SYS_bpf
};

int subprocess_confine(const int *allowed, size_t count)
{
#ifdef __SANITIZE_ADDRESS__ /* which needs more calls */
	(void)allowed;
	(void)count;
	(void)deadly;
	return 0;
#else
	struct seccomp_filter f;
	int err;

	seccomp_filter_begin(&f);
	seccomp_filter_calls(&f, allowed, count, SECCOMP_RET_ALLOW);
	seccomp_filter_calls(&f, deadly, sizeof(deadly) / sizeof(deadly[0]),
			     SECCOMP_RET_KILL_PROCESS);
	err = seccomp_filter_install(&f, SECCOMP_FILTER_FAIL(EPERM), /* all_threads= */ false);
	return err == -EINVAL || err == -ENOSYS ? 0 : err;
#endif
}

int subprocess_confine_opening(uint64_t rights)
{
	static const int allowed[] = {
		SYS_perf_event_open, SYS_recvmsg, SYS_sendmsg,      SYS_close, SYS_read,
		SYS_exit_group,      SYS_brk,     SYS_rt_sigreturn, SYS_mmap,  SYS_munmap,
		SYS_restart_syscall,
	};
	int err = caps_drop(rights);

	return err ? err : subprocess_confine(allowed, sizeof(allowed) / sizeof(allowed[0]));
}
