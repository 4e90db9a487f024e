/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/live/live_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX      "ebprec-live-"
#define SECOND_NS   ((uint64_t)1000000000)
#define DESCENDANTS 32 /* more than this command ever starts */

static const char *base_folder(void)
{
	const char *named = getenv("TMPDIR");

	return named && *named == '/' ? named : "/var/tmp"; /* /tmp is often memory */
}

static int open_folder(int parent, const char *name)
{
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Takes fd, which is the folder of that name. */
static void remove_folder(int fd, int parent, const char *name)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		unlinkat(fd, entry->d_name, 0);
	closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* Whether the name is that of a folder whose command is gone, or in another pid namespace. */
static bool is_left_over(const char *name)
{
	char *end;
	long pid;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return false;
	pid = strtol(name + strlen(PREFIX), &end, 10);
	return pid > 0 && pid <= INT_MAX && *end == '.' && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* A command that goes on has locked its folder. */
static bool is_ours_and_unused(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB);
}

static void remove_left_over(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = is_left_over(entry->d_name) ? open_folder(dirfd(dir), entry->d_name) : -1;

		if (fd >= 0 && is_ours_and_unused(fd))
			remove_folder(fd, dirfd(dir), entry->d_name);
		else if (fd >= 0)
			close(fd);
	}
	if (dir)
		closedir(dir);
}

int live_files_make(char **out, int *lock)
{
	char *path;
	int fd;

	remove_left_over(base_folder());
	if (asprintf(&path, "%s/" PREFIX "%d.XXXXXX", base_folder(), (int)getpid()) < 0)
		return -ENOMEM;
	fd = mkdtemp(path) ? open_folder(AT_FDCWD, path) : -1;
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) {
		int err = -errno;

		if (fd >= 0)
			close(fd);
		free(path);
		return err;
	}
	*out = path;
	*lock = fd;
	return 0;
}

void live_files_remove(const char *folder)
{
	remove_folder(open_folder(AT_FDCWD, folder), AT_FDCWD, folder);
}

/* ---- cost ---- */

/* Returns how many bytes of the file are in text, with a NUL behind them. */
static size_t read_proc(pid_t pid, const char *file, char *text, size_t room)
{
	char path[80];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, room - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void add_cost(pid_t pid, uint64_t *cpu_ns, uint64_t *memory_bytes)
{
	uint64_t user = 0, system = 0, pages = 0, shared = 0;
	char text[1024], *behind;

	/* The name is in parentheses, and may contain some. */
	if (read_proc(pid, "stat", text, sizeof(text)) && (behind = strrchr(text, ')')) &&
	    sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
		   &user, &system) == 2)
		*cpu_ns += (user + system) * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK));
	if (read_proc(pid, "statm", text, sizeof(text)) &&
	    sscanf(text, "%*u %" SCNu64 " %" SCNu64, &pages, &shared) == 2 && pages > shared)
		*memory_bytes += (pages - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Where the kernel does not list children (CONFIG_PROC_CHILDREN), pid alone. */
void live_files_cost(pid_t pid, uint64_t *cpu_ns, uint64_t *memory_bytes)
{
	pid_t all[DESCENDANTS] = { pid };
	char file[64], text[512], *word, *end;
	size_t count = 1;

	*cpu_ns = *memory_bytes = 0;
	for (size_t i = 0; i < count; i++) {
		add_cost(all[i], cpu_ns, memory_bytes);
		snprintf(file, sizeof(file), "task/%d/children", (int)all[i]);
		read_proc(all[i], file, text, sizeof(text));
		for (word = text; count < DESCENDANTS; word = end) {
			long child = strtol(word, &end, 10);

			if (end == word)
				break;
			all[count++] = (pid_t)child;
		}
	}
}
