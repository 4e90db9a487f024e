/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* full_io - reads and writes that go on until all bytes are done: a call may do less, or be interrupted by a signal */
#ifndef EBPREC_FORMAT_BASE_FULL_IO_H
#define EBPREC_FORMAT_BASE_FULL_IO_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* 0, or -errno; -EIO where a call writes nothing. */
static inline int full_write(int fd, const void *data, size_t size_bytes)
{
	for (size_t done = 0; done < size_bytes;) {
		ssize_t n = write(fd, (const uint8_t *)data + done, size_bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

/* The same at a place of the file. */
static inline int full_write_at(int fd, const void *data, size_t size_bytes, uint64_t off_bytes)
{
	for (size_t done = 0; done < size_bytes;) {
		ssize_t n = pwrite(fd, (const uint8_t *)data + done, size_bytes - done,
				   (off_t)(off_bytes + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

/* The bytes that were read, fewer than size_bytes where the file ends or cannot be read further; -errno: none could be. */
static inline ssize_t full_read_at(int fd, void *to, size_t size_bytes, uint64_t off_bytes)
{
	size_t done = 0;

	while (done < size_bytes) {
		ssize_t n = pread(fd, (uint8_t *)to + done, size_bytes - done,
				  (off_t)(off_bytes + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !done)
			return -errno;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

#endif
