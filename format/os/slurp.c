/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/os/slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kernel hands out /proc files page by page or so: a larger step only saves calls. */
#define STEP_BYTES (64u << 10)

static int read_all(int fd, size_t max_bytes, struct outbuf *out)
{
	size_t start = out->size_bytes;
	size_t step = 4096;
	uint8_t *to;
	ssize_t got;

	for (;;) {
		to = outbuf_reserve(out, step);
		if (!to)
			return -ENOMEM;
		got = read(fd, to, step);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		out->size_bytes += (size_t)got;
		if (out->size_bytes - start > max_bytes)
			return -EOVERFLOW;
		if (out->size_bytes - start >= STEP_BYTES)
			step = STEP_BYTES;
	}
	*to = '\0'; /* not counted; the last step's space was not used */
	return 0;
}

int slurp_at(int dir_fd, const char *path, struct outbuf *out)
{
	return slurp_some(dir_fd, path, SLURP_MAX_BYTES, out);
}

int slurp_some(int dir_fd, const char *path, size_t max_bytes, struct outbuf *out)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = read_all(fd, max_bytes, out);
	close(fd);
	return err;
}

int slurp(const char *path, struct outbuf *out)
{
	return slurp_at(AT_FDCWD, path, out);
}

char *slurp_line(const char *path)
{
	struct outbuf b = { 0 };

	if (slurp(path, &b)) {
		outbuf_done(&b);
		return NULL;
	}
	while (b.size_bytes && b.data[b.size_bytes - 1] == '\n')
		b.data[--b.size_bytes] = '\0';
	return (char *)b.data;
}
