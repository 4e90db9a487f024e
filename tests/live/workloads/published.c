// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * published - publishes process contexts as OTEP 4719 has it, and ones that are broken
 *
 * published FORM[:FILE] MS ... [-- COMMAND...]: publishes the message of each file in turn, computes for so many
 * milliseconds of CPU time after each, and becomes COMMAND at the end.  The first message is published, later ones update
 * it.  Forms: memfd, anon (an anonymous mapping), none (nothing is published); version, size, address, signature and zero
 * have this field of the header wrong.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

struct header {
	char signature[8];
	uint32_t version, size_bytes;
	_Atomic uint64_t published_ns;
	const void *message;
};

static struct header *mapping;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *read_message(const char *path, uint32_t *size_bytes)
{
	char *bytes = malloc(1 << 20);
	FILE *f = fopen(path, "r");

	if (!f || !bytes)
		fail(path);
	*size_bytes = (uint32_t)fread(bytes, 1, 1 << 20, f);
	fclose(f);
	return bytes;
}

static void make_mapping(const char *form)
{
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;

	if (strcmp(form, "anon") != 0) {
		flags = MAP_PRIVATE;
		fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, sizeof(*mapping)))
			fail("memfd_create");
	}
	mapping = mmap(NULL, sizeof(*mapping), PROT_READ | PROT_WRITE, flags, fd, 0);
	if (mapping == MAP_FAILED || madvise(mapping, sizeof(*mapping), MADV_DONTFORK))
		fail("mmap");
	if (fd >= 0)
		close(fd);
}

/* The kernel may refuse a name, which the specification has publishers ignore. */
static void name_mapping(void)
{
	(void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, mapping, sizeof(*mapping), "OTEL_CTX");
}

static void publish(const char *form, const char *path)
{
	bool is_first = !mapping;
	uint32_t size_bytes;
	void *message = read_message(path, &size_bytes);

	if (is_first)
		make_mapping(form);
	mapping->published_ns = 0;
	atomic_thread_fence(memory_order_seq_cst);
	mapping->version = !strcmp(form, "version") ? 3 : 2;
	mapping->size_bytes = !strcmp(form, "size") ? UINT32_MAX : size_bytes;
	mapping->message = !strcmp(form, "address") ? (void *)1 : message;
	atomic_thread_fence(memory_order_seq_cst);
	mapping->published_ns = !strcmp(form, "zero") ? 0 : now_ns(CLOCK_BOOTTIME);
	atomic_thread_fence(memory_order_seq_cst);
	memcpy(mapping->signature, !strcmp(form, "signature") ? "OTEL_CTY" : "OTEL_CTX", 8);
	name_mapping();
}

static void compute(long ms)
{
	uint64_t until_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)ms * 1000000;

	while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < until_ns)
		for (volatile int i = 0; i < 1000; i++)
			;
}

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		char *path = strchr(argv[i], ':');

		if (!strcmp(argv[i], "--")) {
			execvp(argv[i + 1], argv + i + 1);
			fail(argv[i + 1]);
		}
		if (path) {
			*path = '\0';
			publish(argv[i], path + 1);
			puts("published");
			fflush(stdout);
		}
		compute(atol(argv[i + 1]));
	}
	return 0;
}
