/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/runtime/source_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/lower_bound.h"
#include "format/base/vec.h"
#include "record/privsep/path_below.h"

#define READ_NS 2000000000ULL

static void free_file(struct source_file *f)
{
	if (!f)
		return;
	free(f->name);
	free(f->text.starts);
	free(f);
}

void source_lines_done(struct source_lines *l)
{
	while (l->count)
		free_file(l->files[--l->count]);
	l->start_count = 0;
}

/* ---- texts ---- */

/* The bytes of the character at `at`, and how many units it is. */
static size_t char_bytes(const uint8_t *at, size_t left, uint32_t *units)
{
	size_t want = at[0] < 0xc2 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 1;

	*units = 1;
	for (size_t i = 1; i < want; i++)
		if (i >= left || (at[i] & 0xc0) != 0x80)
			return i;
	*units = want == 4 ? 2 : 1;
	return want;
}

/* ECMAScript's line terminators. */
static bool ends_line(const uint8_t *at, size_t left, size_t bytes)
{
	if (bytes == 3)
		return at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9);
	return *at == '\n' || (*at == '\r' && (left < 2 || at[1] != '\n'));
}

static int put_start(struct source_starts *out, uint32_t start)
{
	if (out->line_count >= SOURCE_FILE_STARTS)
		return -E2BIG;
	if (vec_reserve(&out->starts, &out->room, out->line_count + 1))
		return -ENOMEM;
	out->starts[out->line_count++] = start;
	return 0;
}

int source_lines_read(const uint8_t *bytes, size_t size_bytes, struct source_starts *out)
{
	size_t i = size_bytes >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0, n;
	int err = put_start(out, 0);
	uint32_t units;

	for (; i < size_bytes && !err; i += n) {
		n = char_bytes(bytes + i, size_bytes - i, &units);
		out->unit_count += units;
		if (ends_line(bytes + i, size_bytes - i, n))
			err = put_start(out, out->unit_count);
	}
	return err;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'                 ? c - '0'
	       : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
						    : -1;
}

char *source_path(const char *name)
{
	const char *scheme = "file://";
	char *path, *to;

	if (*name == '/')
		return strdup(name);
	if (strncmp(name, scheme, strlen(scheme)) != 0 || name[strlen(scheme)] != '/')
		return NULL;
	path = to = strdup(name + strlen(scheme));
	for (char *from = path; from && *from && *from != '?' && *from != '#'; to++) {
		bool is_coded = *from == '%' && hex(from[1]) >= 0 && hex(from[2]) >= 0;

		*to = is_coded ? (char)(hex(from[1]) << 4 | hex(from[2])) : *from;
		from += is_coded ? 3 : 1;
	}
	if (to)
		*to = '\0';
	return path;
}

/* ---- reading, in a thread ---- */

struct read_job {
	struct io_job base;
	struct source_lines *to;
	uint32_t pid;
	char *name;                /* owned */
	struct source_starts text; /* owned */
};

/* Below the root of the process, or of this one, when that is gone. */
static int open_script(const char *path, uint32_t pid, struct stat *st)
{
	char root[48];
	int dir, at;

	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	at = path_below(dir, path, true);
	close(dir);
	return at < 0 ? at : path_below_read(at, st);
}

static void read_script(int fd, size_t size_bytes, struct source_starts *out)
{
	uint8_t *bytes = malloc(size_bytes + 1);

	/* One that cannot be read to its end has no lines. */
	if (!bytes || pread(fd, bytes, size_bytes, 0) != (ssize_t)size_bytes ||
	    source_lines_read(bytes, size_bytes, out)) {
		free(out->starts);
		*out = (struct source_starts){ 0 };
	}
	free(bytes);
}

static void read_work(struct io_job *job)
{
	struct read_job *j = (struct read_job *)job;
	char *path = source_path(j->name);
	struct stat st;
	int fd = path ? open_script(path, j->pid, &st) : -ENOMEM;

	free(path);
	if (fd < 0)
		return;
	if (st.st_size <= SOURCE_FILE_BYTES &&
	    (!job->user || st.st_uid == job->user || st.st_mode & S_IROTH))
		read_script(fd, (size_t)st.st_size, &j->text);
	close(fd);
}

static void read_drop(struct io_job *job)
{
	struct read_job *j = (struct read_job *)job;

	free(j->name);
	free(j->text.starts);
	free(j);
}

static struct source_file *file_of(const struct source_lines *l, uint32_t pid, const char *name)
{
	for (size_t i = l->count; i-- > 0;)
		if (l->files[i]->pid == pid && !strcmp(l->files[i]->name, name))
			return l->files[i];
	return NULL;
}

static void forget_oldest(struct source_lines *l)
{
	l->start_count -= l->files[0]->text.line_count;
	free_file(l->files[0]);
	memmove(&l->files[0], &l->files[1], --l->count * sizeof(l->files[0]));
}

static void read_given_up(struct io_job *job)
{
	((struct read_job *)job)->to->reading--;
}

static void read_done(struct io_job *job)
{
	struct read_job *j = (struct read_job *)job;
	struct source_file *f;

	j->to->reading--;
	while (j->to->start_count + j->text.line_count > SOURCE_STARTS_MAX && j->to->count)
		forget_oldest(j->to);
	f = file_of(j->to, j->pid, j->name);
	if (f && !f->text.starts) {
		f->text = j->text;
		j->to->start_count += f->text.line_count;
		j->text = (struct source_starts){ 0 };
	}
	read_drop(job);
}

/* Without lines yet.  NULL: no memory. */
static struct source_file *add_file(struct source_lines *l, uint32_t pid, const char *name)
{
	struct source_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->pid = pid;
	f->name = strdup(name);
	if (!f->name) {
		free(f);
		return NULL;
	}
	if (l->count == SOURCE_FILES_MAX)
		forget_oldest(l);
	l->files[l->count++] = f;
	return f;
}

void source_lines_see(struct source_lines *l, uint32_t pid, uint32_t user, const char *name)
{
	char *path = source_path(name);
	struct read_job *j = NULL;

	if (l->io && path && !file_of(l, pid, name) && add_file(l, pid, name))
		j = calloc(1, sizeof(*j));
	free(path);
	if (!j)
		return;
	*j = (struct read_job){ .base = { .work = read_work,
					  .done = read_done,
					  .given_up = read_given_up,
					  .drop = read_drop,
					  .key = io_key(IO_KIND_SCRIPTS, pid, 0),
					  .user = user },
				.to = l,
				.pid = pid,
				.name = strdup(name) };
	l->reading++; /* before done() */
	if (!j->name || io_timeout_run(l->io, &j->base, true, READ_NS) == -EBUSY) {
		l->reading--;
		read_drop(&j->base);
	}
}

uint32_t source_lines_find(const struct source_lines *l, uint32_t pid, const char *name,
			   uint32_t unit_count, uint32_t place, uint32_t *column)
{
	const struct source_file *f = file_of(l, pid, name);
	size_t line;

	if (!f || !f->text.line_count || f->text.unit_count != unit_count || place >= unit_count)
		return 0;
	line = lower_bound(i, 0, f->text.line_count, f->text.starts[i] <= place);
	*column = place - f->text.starts[line - 1] + 1;
	return (uint32_t)line;
}
