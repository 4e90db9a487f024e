/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* buildid - the GNU build-id of an ELF file, read without trusting it */
#ifndef EBPREC_FORMAT_BASE_BUILDID_H
#define EBPREC_FORMAT_BASE_BUILDID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILDID_MAX_BYTES 20 /* longer ones are cut, as the kernel does */

struct buildid {
	uint8_t bytes[BUILDID_MAX_BYTES];
	uint8_t size_bytes; /* 0: none */
};

/* Finds NT_GNU_BUILD_ID in a run of ELF notes (a PT_NOTE segment, /sys/kernel/notes).  -ENOENT, -EBADMSG. */
int buildid_from_notes(const void *notes, size_t size_bytes, struct buildid *out);

/* Reads the program headers of an open ELF file by pread, then its notes.  -ENOENT: no id;
 * -EBADMSG: not ELF or broken; else errno. */
int buildid_from_fd(int fd, struct buildid *out);

/* Whether they are equal; two that are none are. */
bool buildid_same(const struct buildid *a, const struct buildid *b);

#define BUILDID_HEX_BYTES (2 * BUILDID_MAX_BYTES + 1)
/* Lower-case hex with a NUL; "" for none. */
void buildid_hex(const struct buildid *id, char out[BUILDID_HEX_BYTES]);

#endif
