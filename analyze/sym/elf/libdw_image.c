/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/elf/libdw_image.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/sym/elf/elf_file.h"
#include "format/base/full_io.h"
#include "format/base/cursor.h"

#define IMAGE_MAX_BYTES (16ULL << 30)
#define BEHIND_BYTES    65536

void libdw_image_done(struct libdw_image *i)
{
	if (i->data)
		munmap(i->data, i->size_bytes + BEHIND_BYTES);
	*i = (struct libdw_image){ 0 };
}

/* Missing bytes (the file was truncated meanwhile) stay zero. */
static int read_span(int fd, struct libdw_image *i, uint64_t off_bytes, uint64_t size_bytes)
{
	ssize_t n;

	if (off_bytes > i->size_bytes || size_bytes > i->size_bytes - off_bytes)
		return 0; /* libdw does not believe it either */
	n = full_read_at(fd, i->data + off_bytes, size_bytes, off_bytes);
	return n < 0 ? (int)n : 0;
}

static bool is_wanted(const struct elf_file_section *s)
{
	static const char *const names[] = { "info",    "abbrev",      "str",      "line_str",
					     "line",    "ranges",      "rnglists", "addr",
					     "aranges", "str_offsets", "types" };
	const char *name = s->name;

	if (!strncmp(name, ".debug_", 7))
		name += 7;
	else if (!strncmp(name, ".zdebug_", 8))
		name += 8;
	else
		return s->type == SHT_STRTAB && !(s->flags & SHF_ALLOC) &&
		       !strcmp(name, ".shstrtab");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The table of section headers, as the ELF header describes it. */
static int read_headers(int fd, struct libdw_image *i, bool is64, size_t section_count)
{
	size_t each = is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint64_t off;
	int err;

	err = read_span(fd, i, 0, sizeof(Elf64_Ehdr));
	if (err)
		return err;
	off = is64 ? le64_load(i->data + 40) : le32_load(i->data + 32);
	return read_span(fd, i, off, each * section_count);
}

static int fill(int fd, struct libdw_image *i, const struct elf_file *e)
{
	const struct elf_file_section *sections, *s;
	struct elf_file_inflated inflated = { 0 };
	uint64_t bytes;
	size_t count;
	int err;

	sections = elf_file_sections(e, &count);
	err = read_headers(fd, i, elf_file_is64(e), count);
	for (size_t n = 1; !err && n < count; n++) {
		s = &sections[n];
		if (s->type == SHT_NOBITS || !is_wanted(s))
			continue;
		bytes = elf_file_stated_bytes(e, s); /* libdw inflates what is compressed */
		err = bytes && !elf_file_add_inflated(&inflated, s->size_bytes, bytes)
			      ? -EOVERFLOW
			      : read_span(fd, i, s->off_bytes, s->size_bytes);
	}
	return err;
}

int libdw_image_read(int fd, struct libdw_image *out)
{
	struct libdw_image i = { 0 };
	struct elf_file *e;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return -EBADMSG;
	if ((uint64_t)st.st_size > IMAGE_MAX_BYTES)
		return -EOVERFLOW;
	err = elf_file_open(fd, &e);
	if (err)
		return err;
	i.size_bytes = (size_t)st.st_size;
	i.data = mmap(NULL, i.size_bytes + BEHIND_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (i.data == MAP_FAILED) {
		i.data = NULL;
		err = -ENOMEM;
	}
	if (!err)
		err = fill(fd, &i, e);
	elf_file_close(e);
	if (err)
		libdw_image_done(&i);
	else
		*out = i;
	return err;
}
