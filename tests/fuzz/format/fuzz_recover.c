/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_recover - any bytes as a capture to be mended
 *
 * A recovered file must be complete then: looked at again there is nothing to do, and every block that
 * was counted is read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/writer/recover.h"
#include "format/reader/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void write_all(int fd, const uint8_t *data, size_t size_bytes)
{
	if (pwrite(fd, data, size_bytes, 0) != (ssize_t)size_bytes)
		abort();
}

/* The entire file at fd; owned. */
static uint8_t *read_all(int fd, size_t *size_bytes)
{
	off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *data = malloc((size_t)size + 1);

	if (!data || pread(fd, data, (size_t)size, 0) != size)
		abort();
	*size_bytes = (size_t)size;
	return data;
}

/* Plans and, when asked to, applies; false: refused. */
static bool recover(int fd, const uint8_t *data, size_t size_bytes, bool apply,
		    struct recover_report *out)
{
	struct recovery *r = NULL;
	struct capture *c = NULL;
	struct parse_err err;
	bool done = false;

	if (!capture_from_bytes(data, size_bytes, &c, &err) && !recovery_plan(c, fd, &r, &err)) {
		recovery_get_report(r, out);
		done = true;
		if (apply && recovery_apply(r, fd))
			abort();
	}
	recovery_free(r);
	capture_close(c);
	return done;
}

static void check_result(int fd, const struct recover_report *before)
{
	struct recover_report after;
	size_t size_bytes, blocks;
	uint8_t *data = read_all(fd, &size_bytes);
	struct capture *c = NULL;

	if (!recover(fd, data, size_bytes, false, &after) || !after.is_complete ||
	    after.block_count != before->block_count)
		abort();
	if (capture_from_bytes(data, size_bytes, &c, NULL))
		abort();
	(void)capture_blocks(c, &blocks);
	if (capture_damage(c)->bad_blocks || blocks < before->block_count)
		abort();
	capture_close(c);
	free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct recover_report report;
	int fd = memfd_create("recover", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	write_all(fd, data, size_bytes);
	if (recover(fd, data, size_bytes, true, &report))
		check_result(fd, &report);
	close(fd);
	return 0;
}
