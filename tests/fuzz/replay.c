/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * replay - feeds a fuzz target the files of its corpus, without a fuzzing engine
 *
 * Linked with one fuzz_*.c, which defines LLVMFuzzerTestOneInput() as libFuzzer wants it.  Each
 * argument is a file.  Besides whole, it is given cut at a few places, since most bugs of a reader
 * are at an end.  Prints TAP; a crash shows as missing results.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CUTS 16

/* The file in *out, owned by the caller.  0 or -errno. */
static int read_file(const char *path, uint8_t **out, size_t *size_bytes)
{
	FILE *f = fopen(path, "rbe");
	uint8_t *data = NULL;
	struct stat st;
	int err = 0;

	if (!f)
		return -errno;
	if (fstat(fileno(f), &st))
		err = -errno;
	if (!err) {
		data = malloc((size_t)st.st_size + 1);
		if (!data)
			err = -ENOMEM;
		else if (fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
			err = -EIO;
	}
	fclose(f);
	if (err) {
		free(data);
		return err;
	}
	*out = data;
	*size_bytes = (size_t)st.st_size;
	return 0;
}

/* An exact copy, so that a sanitizer sees one byte too far. */
static void feed(const uint8_t *data, size_t size_bytes)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);

	if (!copy)
		abort();
	if (size_bytes)
		memcpy(copy, data, size_bytes);
	LLVMFuzzerTestOneInput(copy, size_bytes);
	free(copy);
}

static void replay_file(const char *path, unsigned number)
{
	uint8_t *data = NULL;
	size_t size_bytes = 0;
	int err = read_file(path, &data, &size_bytes);

	if (err) {
		printf("not ok %u - %s: %s\n", number, path, strerror(-err));
		return;
	}
	feed(data, size_bytes);
	for (size_t i = 0; i < CUTS; i++)
		feed(data, size_bytes * i / CUTS);
	free(data);
	printf("ok %u - %s\n", number, path);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++)
		replay_file(argv[i], (unsigned)i);
	return 0;
}
