/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/locate/source_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/sym/locate/debuginfod.h"
#include "analyze/sym/locate/open_in_root.h"
#include "format/os/clock.h"
#include "format/base/full_io.h"

/* ---- finding ---- */

static int open_in_folder(const struct name_roots *roots, const char *folder, const char *path,
			  struct stat *st)
{
	const char *at = path;
	int fd = -ENOENT;

	while (fd < 0 && at) {
		at += strspn(at, "/");
		fd = roots_open_source(roots->opener, folder, at, st);
		at = strchr(at, '/');
	}
	return fd;
}

static int open_text(const struct name_roots *roots, const char *path, struct stat *st)
{
	int fd = -ENOENT;

	for (size_t i = 0; fd < 0 && i < roots->source_dir_count; i++)
		fd = open_in_folder(roots, roots->source_dirs[i], path, st);
	if (fd >= 0)
		return fd;
	return *path == '/' ? roots_open_source(roots->opener, roots->symfs, path, st) : -ENOTDIR;
}

static int fetch_text(const struct name_roots *roots, const struct buildid *id, const char *path,
		      struct stat *st)
{
	char *cached;
	int fd, err;

	if (!roots->fetcher || *path != '/')
		return -ENOENT;
	err = debuginfod_get_source(roots->fetcher, id, path, &fd, &cached);
	if (err)
		return -ENOENT;
	free(cached);
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && st->st_size <= (off_t)SOURCE_MAX_BYTES)
		return fd;
	close(fd);
	return -ENOEXEC;
}

/* ---- reading ---- */

/* The file may grow or be cut meanwhile: what is there then is what was read. */
static int read_bytes(int fd, size_t size_bytes, struct source_text *t)
{
	ssize_t n;

	t->bytes = malloc(size_bytes + 1);
	if (!t->bytes)
		return -ENOMEM;
	n = full_read_at(fd, t->bytes, size_bytes, 0);
	if (n < 0)
		return (int)n;
	t->size_bytes = (size_t)n;
	t->bytes[t->size_bytes] = '\0';
	return 0;
}

static int find_lines(struct source_text *t)
{
	const char *at = t->bytes, *end = t->bytes + t->size_bytes;
	size_t count = 1;

	for (const char *c = at; (c = memchr(c, '\n', (size_t)(end - c))); c++)
		count++;
	t->starts = reallocarray(NULL, count, sizeof(*t->starts));
	if (!t->starts)
		return -ENOMEM;
	while (at && at < end) {
		t->starts[t->line_count++] = (size_t)(at - t->bytes);
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	return 0;
}

int source_text_read(const struct name_roots *roots, const struct buildid *id, const char *path,
		     struct source_text *out)
{
	struct source_text fresh = { 0 };
	struct stat st;
	int fd = open_text(roots, path, &st), fetched = -ENOENT, err;

	if (fd < 0)
		fetched = fetch_text(roots, id, path, &st);
	if (fd < 0 && fetched < 0)
		return fd;
	err = read_bytes(fd < 0 ? fetched : fd, (size_t)st.st_size, &fresh);
	if (!err)
		err = find_lines(&fresh);
	if (!err && fd >= 0)
		fresh.mtime_ns = clock_timespec_ns(st.st_mtim);
	close(fd < 0 ? fetched : fd);
	if (err)
		source_text_done(&fresh);
	else
		*out = fresh;
	return err;
}

void source_text_done(struct source_text *t)
{
	free(t->bytes);
	free(t->starts);
	*t = (struct source_text){ 0 };
}

const char *source_text_line(const struct source_text *t, uint32_t line, size_t *size_bytes)
{
	size_t from, to;

	if (!line || line > t->line_count)
		return NULL;
	from = t->starts[line - 1];
	to = line < t->line_count ? t->starts[line] : t->size_bytes;
	while (to > from && (t->bytes[to - 1] == '\n' || t->bytes[to - 1] == '\r'))
		to--;
	*size_bytes = to - from;
	return t->bytes + from;
}
