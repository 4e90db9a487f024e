/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/read_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/base/vec.h"

#define STEP_BYTES 65536

/* With room for a NUL behind it. */
static int read_stream(FILE *from, size_t max_bytes, char **out, size_t *size_bytes)
{
	size_t room = 0, got;

	do {
		if (vec_reserve(out, &room, *size_bytes + STEP_BYTES + 1))
			return -ENOMEM;
		got = fread(*out + *size_bytes, 1, STEP_BYTES, from);
		*size_bytes += got;
		if (*size_bytes > max_bytes)
			return -EFBIG;
	} while (got);
	return ferror(from) ? -EIO : 0;
}

static int read_path(const char *path, size_t max_bytes, char **out, size_t *size_bytes)
{
	FILE *from = fopen(path, "re");
	char *bytes = NULL;
	int err;

	if (!from)
		return -errno;
	*size_bytes = 0;
	err = read_stream(from, max_bytes, &bytes, size_bytes);
	fclose(from);
	if (err)
		free(bytes);
	else
		*out = bytes;
	return err;
}

int read_file_text(const char *path, size_t max_bytes, char **out)
{
	size_t size_bytes;
	int err = read_path(path, max_bytes, out, &size_bytes);

	if (!err)
		(*out)[size_bytes] = '\0';
	return err;
}

int read_file_bytes(const char *path, size_t max_bytes, uint8_t **out, size_t *size_bytes)
{
	char *bytes;
	int err = read_path(path, max_bytes, &bytes, size_bytes);

	if (!err)
		*out = (uint8_t *)bytes;
	return err;
}
