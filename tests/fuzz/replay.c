/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * replay - feeds a fuzz target the files of its corpus, without a fuzzing engine
 *
 * Linked with one fuzz_*.c, which defines LLVMFuzzerTestOneInput() as libFuzzer wants it.  Each
 * argument is a file.  Besides complete, it is given cut at a few places, since most bugs of a reader
 * are at an end.  Prints TAP; a crash shows as missing results.
 *
 *	fuzz_X --random FIRST COUNT SEED FILE...
 *
 * gives it COUNT inputs that are made of the files by chance: the same seed and number is the same input,
 * and the number of each thousand is printed before it comes.
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

/* ---- by chance ---- */

#define INPUT_MOST 4096

static uint64_t random_state; /* of the input that is being made; xorshift64* */

static size_t draw(size_t below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (size_t)((random_state * 0x2545F4914F6CDD1DULL >> 11) % below);
}

/* Bytes of one file, then of another from any place on, some of them changed, some more behind. */
static size_t make_input(uint8_t *const *data, const size_t *sizes, size_t count, uint8_t *to)
{
	size_t a = draw(count), b = draw(count), bytes, from, more;

	bytes = draw(sizes[a] + 1);
	bytes = bytes < INPUT_MOST / 2 ? bytes : INPUT_MOST / 2;
	memcpy(to, data[a], bytes);
	from = draw(sizes[b] + 1);
	more = sizes[b] - from < INPUT_MOST / 4 ? sizes[b] - from : INPUT_MOST / 4;
	memcpy(to + bytes, data[b] + from, more);
	bytes += more;
	for (more = draw(64); more; more--)
		to[bytes++] = (uint8_t)draw(256);
	for (more = draw(12); more && bytes; more--)
		to[draw(bytes)] = (uint8_t)draw(256);
	return bytes;
}

static int feed_by_chance(char **argv, int files)
{
	unsigned long first = strtoul(argv[0], NULL, 10), count = strtoul(argv[1], NULL, 10);
	unsigned long seed = strtoul(argv[2], NULL, 10);
	uint8_t **data = calloc((size_t)files + 1, sizeof(*data)), input[INPUT_MOST];
	size_t *sizes = calloc((size_t)files + 1, sizeof(*sizes));

	for (int i = 0; data && sizes && i < files; i++) {
		if (read_file(argv[3 + i], &data[i], &sizes[i])) {
			fprintf(stderr, "cannot read '%s'\n", argv[3 + i]);
			return 2;
		}
	}
	printf("1..1\n");
	for (unsigned long i = first; data && sizes && i < first + count; i++) {
		random_state = (seed * 1000000007 + i) * 0x9E3779B97F4A7C15ULL | 1;
		draw(2);
		if (i % 1000 == 0) {
			printf("# %lu\n", i);
			fflush(stdout);
		}
		feed(input, make_input(data, sizes, (size_t)files, input));
	}
	printf("ok 1 - %lu inputs by chance\n", count);
	for (int i = 0; data && i < files; i++)
		free(data[i]);
	free(data);
	free(sizes);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 5 && !strcmp(argv[1], "--random"))
		return feed_by_chance(argv + 2, argc - 5);
	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++)
		replay_file(argv[i], (unsigned)i);
	return 0;
}
