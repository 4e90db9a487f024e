/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/reader/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/full_io.h"
#include "format/base/cursor.h"
#include "format/perf/perffile.h"
#include "format/reader/page_spool.h"
#include "format/reader/pipe_spool.h"

#define SPOOL_BYTES (256 << 10)

/* A file without a name, on disk where that works, else in memory. */
static int spool_create(void)
{
	const char *dirs[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	int fd;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (!dirs[i] || !dirs[i][0])
			continue;
		fd = open(dirs[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
	}
	fd = memfd_create("ebprec-input", MFD_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

/* A source that does not begin like one is no capture, however long it is: /dev/zero has no end. */
static bool begins_like_capture(const struct source *s)
{
	uint8_t magic[8];

	return page_spool_is(s) || (source_read(s, 0, magic, sizeof(magic)) == sizeof(magic) &&
				    le64_load(magic) == PERFFILE_MAGIC);
}

/* Appends what fd has to s, to its end, or as far as it takes to see that it is no capture. */
static int copy_all(int fd, struct source *s)
{
	uint8_t *chunk = malloc(SPOOL_BYTES);
	bool is_capture = false;
	int err = chunk ? 0 : -ENOMEM;

	while (!err) {
		ssize_t n = read(fd, chunk, SPOOL_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		err = full_write(s->fd, chunk, (size_t)n);
		s->size_bytes += (uint64_t)n;
		if (!is_capture && s->size_bytes >= PERFFILE_PIPE_HEADER_BYTES) {
			is_capture = begins_like_capture(s);
			if (!is_capture)
				break;
		}
	}
	free(chunk);
	return err;
}

/* Reads fd to its end into a temporary file. */
static int spool(int fd, struct source *out)
{
	struct source s = { .fd = spool_create() };
	int err = s.fd < 0 ? s.fd : copy_all(fd, &s);

	if (err)
		source_done(&s);
	else
		*out = s;
	return err;
}

/*
 * Files of /proc and of tracefs have text and the size 0.  Reading some of them waits for what comes (trace_pipe, kmsg), which a
 * file does not do.
 */
static bool has_size(int fd, const struct stat *st)
{
	if (!S_ISREG(st->st_mode) || st->st_size)
		return S_ISREG(st->st_mode);
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	return false;
}

/* A capture that went through a pipe becomes the file that it would have been, one in a page the file that it was. */
static int take_out(struct source *s, struct parse_err *where)
{
	struct source file = { 0 };
	bool is_page = page_spool_is(s);
	int err;

	if (!is_page && !pipe_spool_is(s))
		return 0;
	file.fd = spool_create();
	if (file.fd < 0)
		return file.fd;
	err = is_page ? page_spool_take(s, file.fd, &file.size_bytes, where)
		      : pipe_spool_rebuild(s, file.fd, &file.size_bytes);
	if (err) {
		source_done(&file);
		return err;
	}
	file.dev = s->dev;
	file.ino = s->ino;
	source_done(s);
	*s = file;
	return 0;
}

int source_open(const char *path, struct source *out, struct parse_err *where)
{
	struct source s = { .fd = -1 };
	struct stat st;
	int err = 0;
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC)
				   : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		err = -errno;
	} else if (has_size(fd, &st)) {
		s = (struct source){ .fd = fd,
				     .size_bytes = (uint64_t)st.st_size,
				     .dev = st.st_dev,
				     .ino = st.st_ino };
		fd = -1;
	} else {
		err = S_ISDIR(st.st_mode) ? -EISDIR : spool(fd, &s);
	}
	if (fd >= 0)
		close(fd);
	if (!err)
		err = take_out(&s, where);
	if (err)
		source_done(&s);
	else
		*out = s;
	return err;
}

void source_of_bytes(const void *data, size_t size_bytes, struct source *out)
{
	*out = (struct source){ .fd = -1, .data = data, .size_bytes = size_bytes };
}

void source_done(struct source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct source){ .fd = -1 };
}

void source_refresh(struct source *s)
{
	struct stat st;

	if (s->fd >= 0 && !fstat(s->fd, &st))
		s->size_bytes = (uint64_t)st.st_size;
}

size_t source_read(const struct source *s, uint64_t off_bytes, void *out, size_t size_bytes)
{
	uint64_t left = off_bytes < s->size_bytes ? s->size_bytes - off_bytes : 0;
	ssize_t n;

	if (size_bytes > left)
		size_bytes = (size_t)left;
	if (s->fd < 0) {
		if (size_bytes)
			memcpy(out, s->data + off_bytes, size_bytes);
		return size_bytes;
	}
	n = full_read_at(s->fd, out, size_bytes, off_bytes);
	return n < 0 ? 0 : (size_t)n;
}

void window_init(struct window *w, const struct source *s, size_t ahead_bytes)
{
	*w = (struct window){ .source = s, .ahead_bytes = ahead_bytes };
}

void window_done(struct window *w)
{
	free(w->buf);
	*w = (struct window){ 0 };
}

const uint8_t *window_at(struct window *w, uint64_t off_bytes, size_t size_bytes)
{
	size_t want = size_bytes > w->ahead_bytes ? size_bytes : w->ahead_bytes;

	if (w->source->fd < 0) {
		if (off_bytes > w->source->size_bytes ||
		    size_bytes > w->source->size_bytes - off_bytes)
			return NULL;
		return w->source->data + off_bytes;
	}
	if (off_bytes >= w->off_bytes && off_bytes - w->off_bytes <= w->have_bytes &&
	    size_bytes <= w->have_bytes - (off_bytes - w->off_bytes))
		return w->buf + (off_bytes - w->off_bytes);
	if (want > w->room_bytes) {
		uint8_t *more = realloc(w->buf, want);

		if (!more) {
			w->no_memory = true;
			return NULL;
		}
		w->buf = more;
		w->room_bytes = want;
	}
	w->off_bytes = off_bytes;
	w->have_bytes = source_read(w->source, off_bytes, w->buf, want);
	return size_bytes <= w->have_bytes ? w->buf : NULL;
}
