/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elf_file - sections and segments of an untrusted ELF file */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "format/base/full_io.h"
#include "format/base/cursor.h"
#include "format/base/mmap_array.h"
#include "format/base/saturate.h"
#include "analyze/sym/elf/elf_file.h"

#define SECTION_MAX_BYTES (1ULL << 30)
/* zlib gets to 1032 times the compressed bytes, debug information to 3 or 4, and to 25 in a small file. */
#define INFLATED_TIMES      32
#define INFLATED_FREE_BYTES (64ULL << 20) /* beyond these times */
#define INFLATED_MAX_BYTES  (4ULL << 30)

#ifndef ELFCOMPRESS_ZSTD /* glibc 2.36 */
#define ELFCOMPRESS_ZSTD 2
#endif

struct elf_file {
	Elf *elf;
	int fd;              /* -1: from bytes */
	const uint8_t *data; /* NULL: from fd */
	uint64_t size_bytes; /* of the entire file */
	bool is64;
	uint16_t machine;
	struct elf_file_section *sections;
	size_t section_count;
	struct elf_file_segment *segments;
	size_t segment_count;
	struct elf_file_inflated inflated;
};

static int read_segments(struct elf_file *e)
{
	size_t i, count;
	GElf_Phdr p;

	if (elf_getphdrnum(e->elf, &count))
		return -EBADMSG;
	if (!count)
		return 0;
	e->segments = calloc(count, sizeof(*e->segments));
	if (!e->segments)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		if (i > INT32_MAX || !gelf_getphdr(e->elf, (int)i, &p))
			return -EBADMSG;
		if (p.p_type != PT_LOAD)
			continue;
		e->segments[e->segment_count++] = (struct elf_file_segment){
			.vaddr = p.p_vaddr,
			.off_bytes = p.p_offset,
			.file_bytes = p.p_filesz,
			.mem_bytes = p.p_memsz,
			.exec = p.p_flags & PF_X,
		};
	}
	return 0;
}

static const char *section_name(struct elf_file *e, size_t names, size_t off_bytes)
{
	const char *name = elf_strptr(e->elf, names, off_bytes);

	return name ? name : "";
}

/* Sections may be missing (sstrip): then there are no symbols, which is no error. */
static int read_sections(struct elf_file *e, const GElf_Ehdr *h)
{
	size_t count, names;
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	if (elf_getshdrnum(e->elf, &count))
		return -EBADMSG;
	if (!count) /* libelf also returns 0 for a table behind the end */
		return h->e_shoff && h->e_shnum ? -EBADMSG : 0;
	if (elf_getshdrstrndx(e->elf, &names))
		names = 0;
	e->sections = calloc(count, sizeof(*e->sections));
	if (!e->sections)
		return -ENOMEM;
	e->section_count = count;
	e->sections[0].name = "";
	while ((scn = elf_nextscn(e->elf, scn))) {
		size_t i = elf_ndxscn(scn);

		if (i >= count || !gelf_getshdr(scn, &s))
			return -EBADMSG;
		e->sections[i] = (struct elf_file_section){
			.name = section_name(e, names, s.sh_name),
			.type = s.sh_type,
			.flags = s.sh_flags,
			.addr = s.sh_addr,
			.off_bytes = s.sh_offset,
			.size_bytes = s.sh_size,
			.entry_bytes = s.sh_entsize,
			.link = s.sh_link,
		};
	}
	return 0;
}

static int read_headers(struct elf_file *e)
{
	GElf_Ehdr h;
	int err;

	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &h) ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB)
		return -EBADMSG;
	e->is64 = h.e_ident[EI_CLASS] == ELFCLASS64;
	e->machine = h.e_machine;
	err = read_segments(e);
	return err ? err : read_sections(e, &h);
}

static int finish_open(struct elf_file *e, struct elf_file **out)
{
	int err = read_headers(e);

	if (err) {
		elf_file_close(e);
		return err;
	}
	*out = e;
	return 0;
}

int elf_file_open(int fd, struct elf_file **out)
{
	struct elf_file *e;
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	elf_version(EV_CURRENT);
	e->fd = fd;
	e->size_bytes = (uint64_t)st.st_size;
	e->elf = elf_begin(fd, ELF_C_READ, NULL);
	return finish_open(e, out);
}

int elf_file_from_bytes(const void *data, size_t size_bytes, struct elf_file **out)
{
	struct elf_file *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	elf_version(EV_CURRENT);
	e->fd = -1;
	e->data = data;
	e->size_bytes = size_bytes;
	/* libelf only reads: it converts in copies, and not at all in our byte order. */
	e->elf = elf_memory((char *)(uintptr_t)data, size_bytes);
	return finish_open(e, out);
}

void elf_file_close(struct elf_file *e)
{
	if (!e)
		return;
	elf_end(e->elf);
	for (size_t i = 0; i < e->section_count; i++)
		free((uint8_t *)(uintptr_t)e->sections[i].inflated);
	free(e->sections);
	free(e->segments);
	free(e);
}

bool elf_file_is64(const struct elf_file *e)
{
	return e->is64;
}

uint16_t elf_file_machine(const struct elf_file *e)
{
	return e->machine;
}

const struct elf_file_section *elf_file_sections(const struct elf_file *e, size_t *count)
{
	*count = e->section_count;
	return e->sections;
}

const struct elf_file_section *elf_file_by_type(const struct elf_file *e, uint32_t type)
{
	size_t i;

	for (i = 1; i < e->section_count; i++)
		if (e->sections[i].type == type)
			return &e->sections[i];
	return NULL;
}

const struct elf_file_section *elf_file_by_name(const struct elf_file *e, const char *name)
{
	size_t i;

	for (i = 1; i < e->section_count; i++)
		if (!strcmp(e->sections[i].name, name))
			return &e->sections[i];
	return NULL;
}

const struct elf_file_segment *elf_file_segments(const struct elf_file *e, size_t *count)
{
	*count = e->segment_count;
	return e->segments;
}

static int read_at(const struct elf_file *e, uint8_t *buf, uint64_t off_bytes, size_t size_bytes)
{
	ssize_t n;

	if (e->data) {
		memcpy(buf, e->data + off_bytes, size_bytes);
		return 0;
	}
	n = full_read_at(e->fd, buf, size_bytes, off_bytes);
	/* It may be shorter than it was. */
	return n < 0 ? (int)n : (size_t)n < size_bytes ? -EBADMSG : 0;
}

int elf_file_check(const struct elf_file *e, const struct elf_file_section *s)
{
	if (s->type == SHT_NOBITS || s->type == SHT_NULL || s->flags & SHF_COMPRESSED)
		return -ENODATA;
	if (!s->inflated &&
	    (s->off_bytes > e->size_bytes || s->size_bytes > e->size_bytes - s->off_bytes))
		return -EBADMSG;
	if (s->size_bytes > SECTION_MAX_BYTES)
		return -EOVERFLOW;
	return 0;
}

static int read_section(const struct elf_file *e, const struct elf_file_section *s,
			uint64_t off_bytes, uint8_t *buf, size_t size_bytes)
{
	if (!s->inflated)
		return read_at(e, buf, off_bytes, size_bytes);
	memcpy(buf, s->inflated + off_bytes, size_bytes);
	return 0;
}

int elf_file_read_part(const struct elf_file *e, const struct elf_file_section *s,
		       uint64_t off_bytes, uint8_t *buf, size_t size_bytes)
{
	int err = elf_file_check(e, s);

	assert(off_bytes <= s->size_bytes && size_bytes <= s->size_bytes - off_bytes);
	return err ? err : read_section(e, s, s->off_bytes + off_bytes, buf, size_bytes);
}

int elf_file_read(const struct elf_file *e, const struct elf_file_section *s, uint8_t **out)
{
	int err = elf_file_check(e, s);
	size_t room_bytes;
	uint8_t *buf;

	if (err)
		return err;
	room_bytes = (size_t)s->size_bytes + 1;
	if (room_bytes >= MMAP_ARRAY_PAGE_BYTES)
		room_bytes += -room_bytes % MMAP_ARRAY_PAGE_BYTES;
	buf = mmap_array_raw(room_bytes);
	if (!buf)
		return -ENOMEM;
	err = read_section(e, s, s->off_bytes, buf, (size_t)s->size_bytes);
	if (err) {
		free(buf);
		return err;
	}
	buf[s->size_bytes] = '\0';
	*out = buf;
	return 0;
}

/* ---- compressed sections ---- */

static bool inflate_zlib(const uint8_t *from, size_t from_bytes, uint8_t *to, size_t to_bytes)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)from,
		       .avail_in = (uInt)from_bytes,
		       .next_out = to,
		       .avail_out = (uInt)to_bytes };
	bool fits;

	if (inflateInit(&z) != Z_OK)
		return false;
	fits = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == to_bytes;
	inflateEnd(&z);
	return fits;
}

static size_t head_bytes_of(const struct elf_file *e)
{
	return e->is64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
}

uint64_t elf_file_stated_bytes(const struct elf_file *e, const struct elf_file_section *s)
{
	static const char magic[] =
		"ZLIB"; /* of GNU's older form, with the size in big-endian order */
	bool older = !strncmp(s->name, ".zdebug_", 8);
	size_t head_bytes = older ? 12 : head_bytes_of(e);
	uint8_t head[sizeof(Elf64_Chdr)];

	if (s->inflated || s->type == SHT_NOBITS || !(older || s->flags & SHF_COMPRESSED) ||
	    s->off_bytes > e->size_bytes || s->size_bytes > e->size_bytes - s->off_bytes ||
	    s->size_bytes < head_bytes || read_at(e, head, s->off_bytes, head_bytes))
		return 0;
	if (older)
		return memcmp(head, magic, 4) ? 0 : be64toh(le64_load(head + 4));
	return e->is64 ? le64_load(head + 8) : le32_load(head + 4);
}

bool elf_file_add_inflated(struct elf_file_inflated *sum, uint64_t packed_bytes, uint64_t bytes)
{
	if (bytes > INFLATED_MAX_BYTES - sum->bytes)
		return false;
	sum->packed_bytes = saturate_add(sum->packed_bytes, packed_bytes);
	sum->bytes += bytes;
	return sum->bytes <= INFLATED_FREE_BYTES ||
	       (sum->bytes - INFLATED_FREE_BYTES) / INFLATED_TIMES <= sum->packed_bytes;
}

/* from: at the section's header.  NULL, and *err: it is not inflated. */
static uint8_t *inflate_section(const struct elf_file *e, const uint8_t *from, size_t from_bytes,
				size_t to_bytes, int *err)
{
	size_t head_bytes = head_bytes_of(e);
	uint32_t type = le32_load(from);
	uint8_t *to = mmap_array_raw(to_bytes + 1);
	bool fits;

	*err = to ? -ENOTSUP : -ENOMEM;
	if (!to)
		return NULL;
	from += head_bytes;
	from_bytes -= head_bytes;
	fits = type == ELFCOMPRESS_ZLIB
		       ? inflate_zlib(from, from_bytes, to, to_bytes)
		       : type == ELFCOMPRESS_ZSTD &&
				 ZSTD_decompress(to, to_bytes, from, from_bytes) == to_bytes;
	if (!fits) {
		free(to);
		return NULL;
	}
	return to;
}

int elf_file_inflate(struct elf_file *e, const char *name)
{
	struct elf_file_section *s = (struct elf_file_section *)(uintptr_t)elf_file_by_name(e,
											    name);
	struct elf_file_section packed;
	uint64_t size_bytes;
	uint8_t *from;
	int err;

	if (!s || s->inflated || !(s->flags & SHF_COMPRESSED))
		return 0;
	size_bytes = elf_file_stated_bytes(e, s);
	if (s->size_bytes < head_bytes_of(e) || size_bytes > SECTION_MAX_BYTES ||
	    !elf_file_add_inflated(&e->inflated, s->size_bytes, size_bytes))
		return -ENOTSUP;
	packed = *s;
	packed.flags &= ~(uint64_t)SHF_COMPRESSED;
	err = elf_file_read(e, &packed, &from);
	if (err)
		return err;
	packed.inflated = inflate_section(e, from, (size_t)packed.size_bytes, (size_t)size_bytes,
					  &err);
	free(from);
	if (!packed.inflated)
		return err;
	packed.off_bytes = 0;
	packed.size_bytes = size_bytes;
	*s = packed;
	return 0;
}
