/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/sandbox/selfcheck.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analyze/sym/locate/debuginfod.h"
#include "analyze/sym/locate/file_search.h"
#include "format/base/buildid.h"

/* ---- names ---- */

/* The C library that this program runs with, from its own mappings: a file every program uses. */
static bool find_libc(char *path, size_t room)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL, *slash;
	bool found = false;
	size_t line_room = 0;

	while (maps && !found && getline(&line, &line_room, maps) > 0) {
		slash = strchr(line, '/');
		if (!slash || !strstr(slash, "/libc.so") || strlen(slash) >= room)
			continue;
		slash[strcspn(slash, "\n")] = '\0';
		snprintf(path, room, "%s", slash);
		found = true;
	}
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

static void look_debug_files(struct finding *f)
{
	const char *mend = "apt install libc6-dbg (Debian; other programs: their -dbgsym "
			   "packages), or --debuginfod";
	struct name_roots roots = { 0 };
	struct buildid id = { 0 };
	struct located at;
	char path[512];
	int fd, err;

	if (!find_libc(path, sizeof(path))) {
		finding_set(f, FINDING_DEGRADED, NULL, "no C library to try it with");
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : buildid_from_fd(fd, &id);
	if (fd >= 0)
		close(fd);
	if (!err)
		err = file_search_debug(&roots, &id, NULL, path, &at);
	if (err) {
		finding_set(f, FINDING_DEGRADED, mend,
			    "none for %s: names of its exports alone, no lines, nothing inlined",
			    path);
		return;
	}
	finding_set(f, FINDING_WORKS, NULL, "%s for %s", at.path, path);
	located_done(&at);
}

static void look_debuginfod(struct finding *f)
{
	const struct debuginfod_opts opts = { .limit_ns = 1 };
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfod *fetcher = NULL;
	int err = debuginfod_new(&opts, &fetcher);

	debuginfod_free(fetcher);
	if (err)
		finding_set(f, FINDING_DEGRADED, "apt install libdebuginfod1 (Debian)",
			    "libdebuginfod cannot be loaded: what is not on this machine has no "
			    "names");
	else if (!urls || !*urls)
		finding_set(f, FINDING_DEGRADED,
			    "export DEBUGINFOD_URLS=https://debuginfod.debian.net, or "
			    "--debuginfod URL",
			    "no server is named: what is not on this machine has no names");
	else
		finding_set(f, FINDING_WORKS, NULL, "%s (not asked now)", urls);
}

/* ---- containers ---- */

/* Whether the folder's list can be had; -ENOENT: there is no such folder. */
static int can_list(const char *path)
{
	DIR *dir = opendir(path);

	if (!dir)
		return -errno;
	closedir(dir);
	return 0;
}

static void look_containers(struct finding *f)
{
	static const char *const stores[] = {
		"/var/lib/docker",   "/var/lib/containerd", "/var/lib/containers/storage",
		"/var/lib/machines", "/var/lib/lxc",
	};
	char there[200] = "", closed[200] = "";
	size_t i;
	int err;

	for (i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		char *list = there;

		err = can_list(stores[i]);
		if (err == -EACCES || err == -EPERM)
			list = closed;
		else if (err)
			continue;
		snprintf(list + strlen(list), sizeof(there) - strlen(list), "%s%s",
			 *list ? ", " : "", stores[i]);
	}
	if (*closed)
		finding_set(f, FINDING_DEGRADED,
			    "sudo ebprec record --bundle ..., or as root: ebprec bundle",
			    "programs in %s cannot be read by you: names of their functions are "
			    "missing",
			    closed);
	else
		finding_set(f, FINDING_WORKS, NULL, "%s", *there ? there : "none on this machine");
}

/* ---- the sandbox ---- */

static void look_landlock(struct finding *f)
{
	/* LANDLOCK_CREATE_RULESET_VERSION: it returns only the version of its interface. */
	long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, 1U);

	if (version > 0)
		finding_set(f, FINDING_WORKS, NULL, "version %ld of its interface", version);
	else if (errno == EOPNOTSUPP)
		finding_set(f, FINDING_DEGRADED, "boot with landlock in lsm= (see kernel.org: lsm)",
			    "switched off at boot: files are opened with all rights of the user");
	else
		finding_set(f, FINDING_DEGRADED, "a kernel with CONFIG_SECURITY_LANDLOCK=y",
			    "not in this kernel: files are opened with all rights of the user");
}

static void look_seccomp(struct finding *f)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	if (!syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action))
		finding_set(f, FINDING_WORKS, NULL, "system calls can be filtered");
	else
		finding_set(f, FINDING_DEGRADED, "a kernel with CONFIG_SECCOMP_FILTER=y",
			    "not in this kernel: %s", strerror(errno));
}

static const struct {
	const char *name;
	void (*look)(struct finding *f);
} things[] = {
	{ "debug files", look_debug_files }, { "debuginfod", look_debuginfod },
	{ "containers", look_containers },   { "landlock", look_landlock },
	{ "seccomp", look_seccomp },
};

size_t selfcheck_count(void)
{
	return sizeof(things) / sizeof(things[0]);
}

void selfcheck(size_t index, struct finding *out)
{
	struct finding f = { 0 };

	snprintf(f.name, sizeof(f.name), "%s", things[index].name);
	things[index].look(&f);
	*out = f;
}
