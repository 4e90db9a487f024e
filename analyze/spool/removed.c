/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/spool/removed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/base/read_file.h"
#include "analyze/base/result_file.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"

#define READ_BYTES_MAX (16u << 20)

enum { NUMBERS = 5, FIELDS = NUMBERS + 3 };

static int add_entry(struct removed_list *l, const struct spool_removed *e)
{
	char *name = strdup(e->name);

	if (!name || vec_reserve(&l->list, &l->capacity, l->count + 1)) {
		free(name);
		return -ENOMEM;
	}
	l->list[l->count] = *e;
	l->list[l->count++].name = name;
	return 0;
}

/* Splits a line, which it changes.  false: it is none of ours, or torn. */
static bool read_line(char *line, struct spool_removed *out)
{
	char *fields[FIELDS] = { NULL }, *end;
	uint64_t numbers[NUMBERS];
	size_t count = 0;

	for (char *at = line; at && count < FIELDS; count++)
		fields[count] = strsep(&at, "\t");
	if (count != FIELDS || strcmp(fields[FIELDS - 1], ".") != 0)
		return false;
	for (size_t i = 0; i < NUMBERS; i++) {
		errno = 0;
		numbers[i] = strtoull(fields[i], &end, 10);
		if (*end || end == fields[i] || errno)
			return false;
	}
	*out = (struct spool_removed){ .from_ns = numbers[0],
				       .to_ns = numbers[1],
				       .sample_count = numbers[2],
				       .lost_count = numbers[3],
				       .file_bytes = numbers[4],
				       .name = fields[NUMBERS + 1] };
	snprintf(out->why, sizeof(out->why), "%s", fields[NUMBERS]);
	return true;
}

/* A capture whose removal failed, or was killed behind its line, gets the same line again. */
static bool is_repeated(const struct removed_list *l, const struct spool_removed *e)
{
	const struct spool_removed *last = l->count ? &l->list[l->count - 1] : NULL;

	return last && *e->name && !strcmp(last->name, e->name) && last->from_ns == e->from_ns &&
	       last->to_ns == e->to_ns && last->sample_count == e->sample_count &&
	       last->file_bytes == e->file_bytes;
}

/* What is no file of ours is as none: a FIFO would be waited for, and the spool has to be kept within its limits. */
static int read_text(const char *path, char **text)
{
	struct stat st;
	int err = lstat(path, &st) || !S_ISREG(st.st_mode)
			  ? -ENOENT
			  : read_file_text(path, READ_BYTES_MAX, text);

	return err == -EFBIG ? -ENOENT : err;
}

int removed_read(const char *path, struct removed_list *out)
{
	struct removed_list fresh = { 0 };
	struct spool_removed entry;
	char *text = NULL, *at, *line;
	int err = read_text(path, &text);

	for (at = text; !err && (line = strsep(&at, "\n")) != NULL;)
		if (read_line(line, &entry) && !is_repeated(&fresh, &entry))
			err = add_entry(&fresh, &entry);
	free(text);
	if (err && err != -ENOENT) {
		removed_done(&fresh);
		return err;
	}
	*out = fresh;
	return 0;
}

static void write_line(FILE *to, const struct spool_removed *e)
{
	fprintf(to, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t.\n",
		e->from_ns, e->to_ns, e->sample_count, e->lost_count, e->file_bytes, e->why,
		e->name);
}

/* Makes the older half of the list one entry. */
static void join_older(struct removed_list *l)
{
	struct spool_removed sum = l->list[0];
	size_t half = l->count / 2;

	for (size_t i = 1; i < half; i++) {
		const struct spool_removed *e = &l->list[i];

		if (e->from_ns < sum.from_ns)
			sum.from_ns = e->from_ns;
		if (e->to_ns > sum.to_ns)
			sum.to_ns = e->to_ns;
		sum.sample_count = saturate_add(sum.sample_count, e->sample_count);
		sum.lost_count = saturate_add(sum.lost_count, e->lost_count);
		sum.file_bytes = saturate_add(sum.file_bytes, e->file_bytes);
		free(e->name);
	}
	*sum.name = '\0';
	l->list[0] = sum;
	memmove(&l->list[1], &l->list[half], (l->count - half) * sizeof(*l->list));
	l->count -= half - 1;
}

static int rewrite(const char *path, struct removed_list *l)
{
	struct result_file *file;
	int err = result_file_open(path, &file);
	FILE *to;

	if (err)
		return err;
	to = fdopen(dup(result_file_fd(file)), "w");
	if (!to) {
		result_file_abort(file);
		return -ENOMEM;
	}
	if (l->count >= 4)
		join_older(l);
	for (size_t i = 0; i < l->count; i++)
		write_line(to, &l->list[i]);
	if (fclose(to)) {
		err = -errno;
		result_file_abort(file);
		return err;
	}
	return result_file_commit(file);
}

/* A line behind one that was torn begins anew. */
static int append(int fd, const char *text, size_t size_bytes)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char last = '\n';

	if (end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n' && write(fd, "\n", 1) != 1)
		return errno ? -errno : -EIO;
	if (write(fd, text, size_bytes) != (ssize_t)size_bytes)
		return errno ? -errno : -EIO;
	return fdatasync(fd) ? -errno : 0;
}

static int open_lines(const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		(void)remove(path);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
}

int removed_add(const char *path, const struct spool_removed *entry, struct removed_list *list)
{
	int fd = open_lines(path);
	char *line = NULL;
	size_t size = 0;
	off_t bytes;
	FILE *to;
	int err;

	if (fd < 0)
		return -errno;
	to = open_memstream(&line, &size);
	if (to)
		write_line(to, entry);
	err = !to || fclose(to) ? -ENOMEM : append(fd, line, size);
	free(line);
	bytes = lseek(fd, 0, SEEK_END);
	close(fd);
	if (!err)
		err = add_entry(list, entry);
	if (!err && bytes > (off_t)REMOVED_BYTES_MAX)
		(void)rewrite(path, list); /* the line is there; the next one tries again */
	return err;
}

void removed_forget(struct removed_list *l, const char *name)
{
	size_t used = 0;

	for (size_t i = 0; i < l->count; i++) {
		if (!strcmp(l->list[i].name, name))
			free(l->list[i].name);
		else
			l->list[used++] = l->list[i];
	}
	l->count = used;
}

bool removed_has(const struct removed_list *l, const char *name)
{
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->list[i].name, name))
			return true;
	return false;
}

void removed_done(struct removed_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->list[i].name);
	free(l->list);
	*l = (struct removed_list){ 0 };
}
