/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_page - any bytes as a page that carries a capture, and as the base64 of one
 *
 * The checksum of the base64 is made right, or nothing else than the first would ever be taken.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/base/base64.h"
#include "format/base/crc32c.h"
#include "format/reader/page_spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define CRC "data-crc32c=\""
#define ID  "id=\"capture\">"

static void mend_checksum(uint8_t *d, size_t size, uint8_t *room)
{
	uint8_t *crc = memmem(d, size, CRC, strlen(CRC)), *text = memmem(d, size, ID, strlen(ID));
	size_t chars, bytes;
	char digits[9];

	if (!crc || !text || text < crc + strlen(CRC) + 8)
		return;
	text += strlen(ID);
	chars = size - (size_t)(text - d);
	if (memchr(text, '<', chars))
		chars = (size_t)((uint8_t *)memchr(text, '<', chars) - text);
	if (!base64_decode(text, chars, room, &bytes))
		return;
	snprintf(digits, sizeof(digits), "%08x", crc32c(0, room, bytes));
	memcpy(crc + strlen(CRC), digits, 8);
}

/* The base64 of the bytes that were written is in the page. */
static void check_back(int fd, uint64_t bytes, const uint8_t *page, size_t page_bytes)
{
	struct outbuf text = { 0 };
	uint8_t *got = malloc(bytes + 1);

	if (!got || pread(fd, got, bytes + 1, 0) != (ssize_t)bytes)
		abort();
	base64_add(&text, got, bytes);
	if (outbuf_ok(&text) && text.size_bytes &&
	    !memmem(page, page_bytes, text.data, text.size_bytes))
		abort();
	outbuf_done(&text);
	free(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t *d = malloc(size_bytes + 1), *room = malloc(size_bytes + 1);
	uint64_t bytes = 0;
	struct source s;
	int fd;

	if (d && room) {
		if (size_bytes)
			memcpy(d, data, size_bytes);
		mend_checksum(d, size_bytes, room);
		source_of_bytes(d, size_bytes, &s);
		fd = page_spool_is(&s) ? memfd_create("fuzz", MFD_CLOEXEC) : -1;
		if (fd >= 0) {
			if (!page_spool_take(&s, fd, &bytes, NULL)) {
				if (bytes >= size_bytes)
					abort();
				check_back(fd, bytes, d, size_bytes);
			}
			close(fd);
		}
	}
	free(d);
	free(room);
	return 0;
}
