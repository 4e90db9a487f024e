/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elffile - sections and segments of an ELF file that nobody vouches for
 *
 * libelf finds the headers; contents are read by pread and never mapped, because a file that is
 * cut while being read must be an error and not a SIGBUS.  No size is believed before it is held
 * against the size of the file.  Little-endian only, 32 and 64 bits.
 */
#ifndef EBPREC_ANALYZE_SYM_ELF_ELF_FILE_H
#define EBPREC_ANALYZE_SYM_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile; /* opaque */

struct elffile_section {
	const char *name; /* "" when unreadable; borrowed until elffile_close() */
	uint32_t type;    /* SHT_* */
	uint64_t flags;   /* SHF_* */
	uint64_t addr, off_bytes, size_bytes, entry_bytes;
	uint32_t link;
};

/* A PT_LOAD. */
struct elffile_segment {
	uint64_t vaddr, off_bytes, file_bytes, mem_bytes;
	bool exec;
};

/* fd is borrowed until elffile_close().  -EBADMSG: not ELF, broken, or big-endian; -ENOMEM; errno. */
int elffile_open(int fd, struct elffile **out);
/* data is borrowed until elffile_close(). */
int elffile_from_bytes(const void *data, size_t size_bytes, struct elffile **out);
void elffile_close(struct elffile *e); /* NULL is fine */

bool elffile_is64(const struct elffile *e);
uint16_t elffile_machine(const struct elffile *e); /* EM_* */

/* By section index: [0] is the empty one.  count is 0 when the file has no sections. */
const struct elffile_section *elffile_sections(const struct elffile *e, size_t *count);
/* The first of this type, or of this name; NULL when there is none. */
const struct elffile_section *elffile_by_type(const struct elffile *e, uint32_t type);
const struct elffile_section *elffile_by_name(const struct elffile *e, const char *name);

const struct elffile_segment *elffile_segments(const struct elffile *e, size_t *count);

/*
 * The section's bytes and a NUL behind them; *out is owned (free()).
 * -ENODATA: it has none in this file; -EBADMSG: outside of the file; -EOVERFLOW: above 1 GiB; -ENOMEM.
 */
int elffile_read(const struct elffile *e, const struct elffile_section *s, uint8_t **out);
/* Whether elffile_read() would find the bytes; its errors. */
int elffile_check(const struct elffile *e, const struct elffile_section *s);
/* size_bytes of the section from off_bytes on, which must lie in it.  Errors of elffile_read(). */
int elffile_read_part(const struct elffile *e, const struct elffile_section *s, uint64_t off_bytes,
		      uint8_t *buf, size_t size_bytes);

#endif
