/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* unwind_replay - runs a fuzz target over files, for builds without a fuzzing engine. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static int replay(const char *path)
{
	uint8_t *data = NULL;
	FILE *f = fopen(path, "rbe");
	long size_bytes = -1;
	int err = -EIO;

	if (!f)
		return -errno;
	if (!fseek(f, 0, SEEK_END))
		size_bytes = ftell(f);
	if (size_bytes >= 0 && !fseek(f, 0, SEEK_SET))
		data = malloc((size_t)size_bytes + 1);
	if (data && fread(data, 1, (size_t)size_bytes, f) == (size_t)size_bytes) {
		LLVMFuzzerTestOneInput(data, (size_t)size_bytes);
		err = 0;
	}
	free(data);
	fclose(f);
	return err;
}

int main(int argc, char **argv)
{
	int i, err;

	for (i = 1; i < argc; i++) {
		err = replay(argv[i]);
		if (err) {
			fprintf(stderr, "replay: %s: %s\n", argv[i], strerror(-err));
			return 1;
		}
	}
	printf("%s: %d inputs replayed\n", argv[0], argc - 1);
	return 0;
}
