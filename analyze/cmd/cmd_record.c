/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ebprec record - starts the recorder, which is a program of its own
 *
 * The analyzer links neither libbpf nor anything privileged.  ebprec-record is looked for beside
 * this very executable (a build tree, or one directory for both), then in ../libexec/ebprec as
 * `make install` puts it, then in PATH.
 */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/cmd/common/commands.h"
#include "analyze/out/message.h"

#define RECORDER "ebprec-record"

/* dir/middle/ebprec-record when it is there, though this user may not run it; owned. */
static char *try_dir(const char *dir, size_t dir_bytes, const char *middle)
{
	char *path = NULL;

	if (asprintf(&path, "%.*s/%s" RECORDER, (int)dir_bytes, dir, middle) < 0)
		return NULL;
	if (!access(path, X_OK) || (errno == EACCES && !access(path, F_OK)))
		return path;
	free(path);
	return NULL;
}

static char *find_in_path(void)
{
	const char *dir = getenv("PATH");
	size_t length;
	char *path;

	for (; dir && *dir; dir += length + (dir[length] == ':')) {
		length = strcspn(dir, ":");
		path = length ? try_dir(dir, length, "") : NULL;
		if (path)
			return path;
	}
	return NULL;
}

char *cmd_record_find(void)
{
	char self[PATH_MAX], *slash, *path = NULL;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length > 0) {
		self[length] = '\0';
		slash = strrchr(self, '/');
		length = slash ? slash - self : 0;
		path = try_dir(self, (size_t)length, "");
		if (!path)
			path = try_dir(self, (size_t)length, "../libexec/ebprec/");
	}
	return path ? path : find_in_path();
}

/* The group of this machine's own list: other lists take code that a static program cannot load. */
static struct group *find_group(FILE *list, gid_t gid)
{
	struct group *group = fgetgrent(list);

	while (group && group->gr_gid != gid)
		group = fgetgrent(list);
	return group;
}

void cmd_record_cure(const char *path, char *out, size_t out_bytes)
{
	struct stat st;
	FILE *list = !stat(path, &st) && st.st_mode & S_IXGRP ? fopen("/etc/group", "re") : NULL;
	struct group *group = list ? find_group(list, st.st_gid) : NULL;

	if (group)
		snprintf(
			out, out_bytes,
			"sudo ebprec record ..., or join the group: sudo usermod -aG %s USER, and log in again",
			group->gr_name);
	else
		snprintf(out, out_bytes, "sudo ebprec record ...");
	if (list)
		fclose(list);
}

int cmd_record_become(const char *path, char **argv)
{
	char name[] = RECORDER, cure[200];
	int err;

	if (!path)
		return message_error(
			"cannot record: this is the analyzer alone, there is no " RECORDER
			" (install the package " RECORDER ", or build it with 'make')");
	argv[0] = name;
	execv(path, argv);
	err = errno;
	cmd_record_cure(path, cure, sizeof(cure));
	return message_error(err == EACCES ? "cannot run '%s': %s (%s)" : "cannot run '%s': %s",
			     path, strerror(err), cure);
}

int cmd_record(int argc, char **argv)
{
	char *path = cmd_record_find();
	int status = cmd_record_become(path, argv);

	(void)argc;
	free(path);
	return status;
}
