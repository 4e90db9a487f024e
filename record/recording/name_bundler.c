/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/name_bundler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GO_ALONE = 'a', GO_WITH_DIR = 'd' }; /* the requests to the process */

static bool find_analyzer(char path[PATH_MAX])
{
	static const char *const places[] = { "ebprec", "../../bin/ebprec" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return false;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	slash[1] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (snprintf(path, PATH_MAX, "%s%s", self, places[i]) < PATH_MAX &&
		    !access(path, X_OK))
			return true;
	}
	return false;
}

/* Ctrl-C ends the recording, not what comes after it. */
static _Noreturn void child(const char *analyzer, const char *path, const char *dir, int go_fd)
{
	char name[] = "ebprec", command[] = "bundle", quiet[] = "-q", input[] = "-i",
	     debug_dir[] = "--debug-dir", *argv[] = { name,
						      command,
						      quiet,
						      input,
						      (char *)(uintptr_t)path,
						      debug_dir,
						      (char *)(uintptr_t)dir,
						      NULL };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, was[3];
	char go;
	size_t i;

	for (i = 0; i < 3; i++)
		sigaction(signals[i], &ignore, &was[i]);
	while (read(go_fd, &go, 1) != 1) {
		if (errno != EINTR)
			_exit(0);
		errno = 0;
	}
	for (i = 0; i < 3; i++)
		sigaction(signals[i], &was[i], NULL);
	if (go == GO_ALONE)
		argv[5] = NULL;
	execv(analyzer, argv);
	_exit(127);
}

int name_bundler_fork(struct name_bundler *b, const char *path, const char *dir)
{
	char analyzer[PATH_MAX];
	int go[2];

	*b = (struct name_bundler){ .go_fd = -1 };
	if (!find_analyzer(analyzer))
		return -ENOENT;
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	b->pid = fork();
	if (!b->pid) {
		close(go[1]);
		errno = 0;
		child(analyzer, path, dir, go[0]);
	}
	close(go[0]);
	if (b->pid < 0) {
		b->pid = 0;
		close(go[1]);
		return -EAGAIN;
	}
	b->go_fd = go[1];
	return 0;
}

int name_bundler_run(struct name_bundler *b, bool has_dir)
{
	const char go = has_dir ? GO_WITH_DIR : GO_ALONE;
	int status;

	if (write(b->go_fd, &go, 1) != 1)
		return -EIO;
	while (waitpid(b->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -EIO;
	}
	b->pid = 0;
	close(b->go_fd);
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

void name_bundler_done(struct name_bundler *b)
{
	if (!b->pid)
		return;
	close(b->go_fd);
	(void)waitpid(b->pid, NULL, 0);
	b->pid = 0;
}
