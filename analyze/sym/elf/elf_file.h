/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_file - sections and segments of an untrusted ELF file
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

struct elf_file; /* opaque */

struct elf_file_section {
	const char *name; /* "" when unreadable; borrowed until elf_file_close() */
	uint32_t type;    /* SHT_* */
	uint64_t flags;   /* SHF_* */
	uint64_t addr, off_bytes, size_bytes, entry_bytes;
	uint32_t link;
	const uint8_t
		*inflated; /* where off_bytes counts from instead of the file; NULL: the file */
};

/* A PT_LOAD. */
struct elf_file_segment {
	uint64_t vaddr, off_bytes, file_bytes, mem_bytes;
	bool exec;
};

/* fd is borrowed until elf_file_close().  -EBADMSG: not ELF, broken, or big-endian; -ENOMEM; errno. */
int elf_file_open(int fd, struct elf_file **out);
/* data is borrowed until elf_file_close(). */
int elf_file_from_bytes(const void *data, size_t size_bytes, struct elf_file **out);
void elf_file_close(struct elf_file *e); /* NULL is fine */

bool elf_file_is64(const struct elf_file *e);
uint16_t elf_file_machine(const struct elf_file *e); /* EM_* */

/* By section index: [0] is the empty one.  count is 0 when the file has no sections. */
const struct elf_file_section *elf_file_sections(const struct elf_file *e, size_t *count);
/* The first of this type, or of this name; NULL when there is none. */
const struct elf_file_section *elf_file_by_type(const struct elf_file *e, uint32_t type);
const struct elf_file_section *elf_file_by_name(const struct elf_file *e, const char *name);

const struct elf_file_segment *elf_file_segments(const struct elf_file *e, size_t *count);

/*
 * Inflates the section of that name in memory, if there is one and it is compressed (zlib, zstd); from then on
 * it is read like others.  Before other threads read the file.  -ENOTSUP: compressed in another way, not what
 * its header states, to more than 1 GiB, or more than elf_file_add_inflated() allows; -ENOMEM; errors of reading.
 */
int elf_file_inflate(struct elf_file *e, const char *name);
/* How many bytes it has when inflated, as its header states (.zdebug_* too); 0: it is not compressed, or damaged. */
uint64_t elf_file_stated_bytes(const struct elf_file *e, const struct elf_file_section *s);

/* The bytes of compressed sections of one file, and those in memory. */
struct elf_file_inflated {
	uint64_t packed_bytes, bytes;
};

/*
 * Adds a section.  false: all together are more than 64 MiB and 32 times the compressed bytes, which debug information
 * is not, or more than 4 GiB: a small file could fill the memory.
 */
bool elf_file_add_inflated(struct elf_file_inflated *sum, uint64_t packed_bytes, uint64_t bytes);

/*
 * The section's bytes and a NUL behind them; *out is owned (free()).
 * -ENODATA: it has none in this file; -EBADMSG: outside of the file; -EOVERFLOW: above 1 GiB; -ENOMEM.
 */
int elf_file_read(const struct elf_file *e, const struct elf_file_section *s, uint8_t **out);
/* Whether elf_file_read() would find the bytes; its errors. */
int elf_file_check(const struct elf_file *e, const struct elf_file_section *s);
/* size_bytes of the section from off_bytes on, which must lie in it.  Errors of elf_file_read(). */
int elf_file_read_part(const struct elf_file *e, const struct elf_file_section *s,
		       uint64_t off_bytes, uint8_t *buf, size_t size_bytes);

#endif
