/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/bundler.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

int bundler_run(const char *path)
{
	char analyzer[PATH_MAX], name[] = "ebprec", command[] = "bundle", quiet[] = "-q",
				 input[] = "-i",
				 *argv[] = { name, command, quiet, input, NULL, NULL };
	int status;
	pid_t pid;

	if (!find_analyzer(analyzer))
		return -ENOENT;
	argv[4] = (char *)(uintptr_t)path;
	(void)setpriority(PRIO_PROCESS, 0, 0); /* nothing is waiting for us any more */
	if (posix_spawn(&pid, analyzer, NULL, NULL, argv, environ))
		return -ENOENT;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -EIO;
	}
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}
