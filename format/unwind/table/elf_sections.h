/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_sections - where an ELF file keeps its unwind information, and nothing else of it
 *
 * Reads the ELF header, the program headers, and .eh_frame: by section headers, or through the
 * segment PT_GNU_EH_FRAME when those were stripped; and .gopclntab of Go's programs.  format/unwind/table/module_table.h makes a table of it.
 * Everything is read by pread() into memory (or copied from bytes), bounded by the size of the
 * file and by the limits in module_table.h.
 */
#ifndef EBPREC_FORMAT_UNWIND_TABLE_ELF_SECTIONS_H
#define EBPREC_FORMAT_UNWIND_TABLE_ELF_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/err.h"
#include "format/unwind/unwind.h"
#include "format/unwind/table/module_table.h"

/* Bytes in memory, or a file when data is NULL. */
struct elf_sections_source {
	const uint8_t *data; /* borrowed */
	uint64_t size_bytes;
	int fd; /* borrowed */
};

struct elf_sections_segment {
	uint64_t off_bytes, size_bytes; /* in the file */
	uint64_t vaddr;
	uint64_t align_bytes; /* a power of two, 4096..65536 */
};

/*
 * .init or .fini: put together of pieces that have no rules, and the first code of a file that runs,
 * so the first that is missing from memory.  Known by its bytes: sub $8,%rsp; ...; add $8,%rsp; ret.
 */
struct elf_sections_hook {
	uint64_t vaddr, size_bytes;
	uint32_t sub_end_bytes; /* where the frame is there, from vaddr */
};

/* Stubs that jump to functions of other files, of aarch64: linkers make no rules for them. */
struct elf_sections_plt {
	uint64_t vaddr, size_bytes; /* 0: there are none */
	uint32_t
		push_end_bytes; /* where the first stub has put two registers on the stack, from vaddr */
};

struct elf_sections {
	enum unwind_arch arch;
	uint8_t *eh_frame;       /* owned; NULL when the file has none */
	size_t size_bytes;       /* of eh_frame */
	uint64_t vaddr;          /* of eh_frame[0] */
	uint64_t file_off_bytes; /* of eh_frame[0] */
	bool ends_at_zero;       /* found without section headers: the size is an upper bound */
	uint8_t *go_table;       /* owned; NULL when the file is not of Go, or it cannot be read */
	size_t go_bytes;
	uint64_t go_text_vaddr; /* the address of Go's code, from .go.module; else 0 */
	struct elf_sections_segment exec[MODULE_TABLE_MAX_EXEC];
	uint32_t n_exec;
	/* The first code a program runs, known by its bytes: it has no caller.  0: not known. */
	uint64_t start_vaddr;
	struct elf_sections_hook
		hooks[MODULE_TABLE_MAX_HOOKS]; /* x86_64; by address, none overlap */
	uint32_t n_hooks;
	struct elf_sections_plt plt;
};

/* Describes an open file.  -EINVAL when it is not a regular file, or the errno of fstat(). */
int elf_sections_source_fd(int fd, struct elf_sections_source *source);

/*
 * Fills *out; release it with elf_sections_done().  -EBADMSG, -ENODATA, -ENOTSUP, -EOVERFLOW as in
 * err.h, -ENOMEM, or the errno of pread().
 */
int elf_sections_read(const struct elf_sections_source *source, struct elf_sections *out,
		      struct parse_err *err);
void elf_sections_done(struct elf_sections *elf);

/*
 * Hands out the starts of functions by the file's symbols and pointers, unordered; some pointers
 * are no starts.  None when they cannot be read.
 */
void elf_sections_functions(const struct elf_sections_source *source,
			    void (*fn)(void *ctx, uint64_t vaddr), void *ctx);
/* Reads bytes of the file. -ENODATA: it is not as long; or the errno of pread(). */
int elf_sections_bytes(const struct elf_sections_source *source, uint64_t off_bytes, void *to,
		       size_t size_bytes);

#endif
