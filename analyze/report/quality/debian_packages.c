/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/quality/debian_packages.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX       ".list"
#define SUFFIX_BYTES 5

/* The longest list of a Debian package has 3 MB; a longer one is not read. */
#define LIST_BYTES_MAX (16u << 20)

/* A file under its two names: /usr/lib/x and /lib/x are one where /lib is a link. */
struct wanted {
	const char *path, *other; /* other: NULL: none */
	char *room;
};

static const char *const merged[] = { "/bin/", "/sbin/", "/lib/", "/lib64/", "/lib32/" };

static void find_other(struct wanted *w)
{
	for (size_t i = 0; i < sizeof(merged) / sizeof(merged[0]); i++) {
		if (!strncmp(w->path, "/usr", 4) &&
		    !strncmp(w->path + 4, merged[i], strlen(merged[i])))
			w->other = w->path + 4;
		if (!strncmp(w->path, merged[i], strlen(merged[i])) &&
		    asprintf(&w->room, "/usr%s", w->path) >= 0)
			w->other = w->room;
	}
}

/* Whether a line of the list, which ends with a newline, is the path. */
static bool has_line(const char *list, size_t size_bytes, const char *path)
{
	size_t bytes = strlen(path);
	const char *end = list + size_bytes, *at = list;

	while ((at = memmem(at, (size_t)(end - at), path, bytes))) {
		if ((at == list || at[-1] == '\n') && at + bytes < end && at[bytes] == '\n')
			return true;
		at++;
	}
	return false;
}

/* Owned; NULL: it cannot be read. */
static char *read_list(int folder, const char *name, size_t *size_bytes)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	struct stat st;
	ssize_t got = -1;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size < LIST_BYTES_MAX)
		text = malloc((size_t)st.st_size);
	if (text)
		got = read(fd, text, (size_t)st.st_size);
	close(fd);
	if (got <= 0) {
		free(text);
		return NULL;
	}
	*size_bytes = (size_t)got;
	return text;
}

/* "libzstd1:amd64.list" is of libzstd1.  NULL: no memory. */
static char *symbols_of(const char *list)
{
	const char *colon = strchr(list, ':');
	int bytes = colon ? (int)(colon - list) : (int)strlen(list) - SUFFIX_BYTES;
	char *name;

	if (asprintf(&name, "%.*s%s", bytes, list,
		     bytes == 5 && !strncmp(list, "libc6", 5) ? "-dbg" : "-dbgsym") < 0)
		return NULL;
	return name;
}

static bool is_list(const char *name)
{
	size_t bytes = strlen(name);

	return bytes > SUFFIX_BYTES && !strcmp(name + bytes - SUFFIX_BYTES, SUFFIX);
}

static void look_into(int folder, const char *name, const struct wanted *wanted, size_t count,
		      char **names)
{
	size_t size_bytes;
	char *list = read_list(folder, name, &size_bytes);

	for (size_t i = 0; list && i < count; i++)
		if (!names[i] && (has_line(list, size_bytes, wanted[i].path) ||
				  (wanted[i].other && has_line(list, size_bytes, wanted[i].other))))
			names[i] = symbols_of(name);
	free(list);
}

void debian_packages_find(const char *folder, const char *const *paths, size_t count, char **names)
{
	struct wanted wanted[DEBIAN_PACKAGES_MOST] = { 0 };
	struct dirent *entry;
	DIR *dir = count ? opendir(folder) : NULL;

	for (size_t i = 0; i < count; i++) {
		names[i] = NULL;
		wanted[i].path = paths[i];
		find_other(&wanted[i]);
	}
	while (dir && (entry = readdir(dir)))
		if (is_list(entry->d_name))
			look_into(dirfd(dir), entry->d_name, wanted, count, names);
	for (size_t i = 0; i < count; i++)
		free(wanted[i].room);
	if (dir)
		closedir(dir);
}
