/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/function_code.h"

#include <stdlib.h>
#include <unistd.h>

/* The extent of the function, as far as its segment has bytes in the file. */
static enum name_reason find_code(const struct symfile *s, uint64_t off_bytes,
				  struct function_code *c)
{
	uint64_t vaddr, start, end;

	if (s->reason != NAME_FOUND)
		return s->reason;
	if (!s->symbols || !symfile_vaddr(s, off_bytes, &vaddr) ||
	    !symtab_extent(s->symbols, vaddr, &start, &end) || vaddr - start > off_bytes)
		return NAME_BETWEEN;
	c->vaddr = start;
	c->offset = off_bytes - (vaddr - start);
	c->total_bytes = end - start;
	c->size_bytes = c->total_bytes < FUNCTION_CODE_MAX_BYTES ? (size_t)c->total_bytes
								 : FUNCTION_CODE_MAX_BYTES;
	return NAME_FOUND;
}

static enum name_reason read_code(int fd, struct function_code *c)
{
	struct elf_file *elf = NULL;
	ssize_t n;

	if (elf_file_open(fd, &elf))
		return NAME_BAD_ELF;
	c->machine = elf_file_machine(elf);
	elf_file_close(elf);
	c->bytes = malloc(c->size_bytes + 1);
	n = c->bytes ? pread(fd, c->bytes, c->size_bytes, (off_t)c->offset) : -1;
	if (n <= 0) {
		free(c->bytes);
		return NAME_BAD_ELF;
	}
	c->size_bytes = (size_t)n;
	return NAME_FOUND;
}

enum name_reason function_code_read(const struct symfile *s, const struct name_roots *roots,
				    const struct resolver_file *as, uint64_t off_bytes,
				    struct function_code *out)
{
	struct located l = { .fd = -1 };
	struct function_code c = { 0 };
	enum name_reason reason = find_code(s, off_bytes, &c);

	if (reason != NAME_FOUND)
		return reason;
	if (!symfile_reopen(roots->opener, s, as, &l))
		return NAME_FILE_GONE;
	reason = read_code(l.fd, &c);
	located_done(&l);
	if (reason == NAME_FOUND)
		*out = c;
	return reason;
}
