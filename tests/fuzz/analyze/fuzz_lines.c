/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_lines - any bytes as an ELF file with DWARF
 *
 * The answer of libdw to them is its own business; ours is that nothing we keep of it goes wrong and
 * that every question ends.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/sym/dwarf/libdw_lines.h"
#include "analyze/sym/dwarf/addr2line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* All split DWARF is in the same bytes. */
static int open_again(const void *ctx, const char *folder, const char *name, unsigned i)
{
	if (strlen(folder) == SIZE_MAX || strlen(name) == SIZE_MAX)
		abort();
	return i < 2 ? dup(*(const int *)ctx) : -ERANGE;
}

static int open_packed(const void *ctx, unsigned i)
{
	return i < 1 ? dup(*(const int *)ctx) : -ERANGE;
}

/* The same by our own reader. */
static void ask_for_all(int fd)
{
	uint64_t vaddrs[169];
	struct source_frame frames[8];
	struct addr2line *t;
	const char *part;
	size_t n;

	for (size_t i = 0; i < 169; i++)
		vaddrs[i] = i * 97;
	if (addr2line_new(fd, vaddrs, 169, 1,
			  &(struct addr2line_parts){
				  .open = open_again, .open_package = open_packed, .ctx = &fd },
			  &t))
		return;
	if (addr2line_gap(t, &part) && strlen(part) == SIZE_MAX)
		abort();
	for (size_t i = 0; i < 169; i++) {
		if (!addr2line_find(t, vaddrs[i], frames, 8, &n))
			continue;
		for (size_t k = 0; k < n; k++)
			if ((frames[k].function && strlen(frames[k].function) == SIZE_MAX) ||
			    (frames[k].file && strlen(frames[k].file) == SIZE_MAX))
				abort();
	}
	addr2line_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct source_frame frames[8];
	struct lines *l;
	uint64_t addr;
	size_t i, n;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	if (write(fd, data, size_bytes) == (ssize_t)size_bytes && !lines_open(fd, -1, &l)) {
		for (addr = 0; addr < 0x4000; addr += 97) {
			n = lines_find(l, addr, frames, 8);
			if (n > 8)
				abort();
			for (i = 0; i < n; i++)
				if ((frames[i].function &&
				     strlen(frames[i].function) == SIZE_MAX) ||
				    (frames[i].file && strlen(frames[i].file) == SIZE_MAX))
					abort();
		}
		lines_free(l);
	}
	ask_for_all(fd);
	close(fd);
	return 0;
}
