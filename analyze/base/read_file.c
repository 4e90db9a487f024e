/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/read_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int read_file_text(const char *path, size_t max_bytes, char **out)
{
	FILE *from = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	int err = 0;

	if (!from)
		return -errno;
	text = malloc(max_bytes + 1);
	if (!text)
		err = -ENOMEM;
	if (!err)
		size = fread(text, 1, max_bytes, from);
	if (!err && ferror(from))
		err = -EIO;
	if (!err && getc(from) != EOF)
		err = -EFBIG;
	fclose(from);
	if (err) {
		free(text);
		return err;
	}
	text[size] = '\0';
	*out = text;
	return 0;
}
