/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fakebpf - the calls of libbpf that the rooms of unwinding make, without a kernel
 *
 * A test that includes this defines them itself, and so the linker does not take libbpf's: maps
 * that are mapped are memory, hash tables from a u32 are lists.  Their contents can be looked at.
 */
#ifndef EBPREC_TESTS_FAKEBPF_H
#define EBPREC_TESTS_FAKEBPF_H

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FAKEBPF_KEYS = 4096, FAKEBPF_FDS = 1024 };

static struct {
	size_t value_bytes;
	uint32_t count;
	struct {
		uint32_t key;
		uint8_t value[32];
	} pair[FAKEBPF_KEYS];
} * fakebpf[FAKEBPF_FDS]; /* by fd; NULL: not a hash table */

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_bytes, __u32 value_bytes,
		   __u32 count, const struct bpf_map_create_opts *opts)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || fd >= FAKEBPF_FDS || ftruncate(fd, (off_t)value_bytes * count))
		abort();
	free(fakebpf[fd]);
	fakebpf[fd] = NULL;
	if (type == BPF_MAP_TYPE_HASH) {
		fakebpf[fd] = calloc(1, sizeof(*fakebpf[fd]));
		if (!fakebpf[fd])
			abort();
		fakebpf[fd]->value_bytes = value_bytes;
	}
	return fd;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	uint32_t i, k;

	memcpy(&k, key, sizeof(k));
	for (i = 0; i < fakebpf[fd]->count; i++) {
		if (fakebpf[fd]->pair[i].key != k)
			continue;
		memcpy(value, fakebpf[fd]->pair[i].value, fakebpf[fd]->value_bytes);
		return 0;
	}
	errno = ENOENT;
	return -1;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	uint32_t i, k;

	memcpy(&k, key, sizeof(k));
	for (i = 0; i < fakebpf[fd]->count; i++) {
		if (fakebpf[fd]->pair[i].key != k)
			continue;
		fakebpf[fd]->pair[i] = fakebpf[fd]->pair[--fakebpf[fd]->count];
		return 0;
	}
	errno = ENOENT;
	return -1;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	uint32_t i;

	if (!fakebpf[fd])
		return 0; /* a map of maps: no walk uses it */
	(void)bpf_map_delete_elem(fd, key);
	i = fakebpf[fd]->count;
	if (i == FAKEBPF_KEYS) {
		errno = E2BIG;
		return -1;
	}
	memcpy(&fakebpf[fd]->pair[i].key, key, sizeof(uint32_t));
	memcpy(fakebpf[fd]->pair[i].value, value, fakebpf[fd]->value_bytes);
	fakebpf[fd]->count++;
	return 0;
}

int bpf_map_update_batch(int fd, const void *keys, const void *values, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	return 0;
}

/* At the end of a program, for the leak checker. */
static inline void fakebpf_done(void)
{
	size_t fd;

	for (fd = 0; fd < FAKEBPF_FDS; fd++)
		free(fakebpf[fd]);
}

#endif
