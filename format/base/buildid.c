/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * buildid - the GNU build-id of an ELF file, read without trusting it
 *
 * Only program headers are looked at, because a mapped file has them and its section headers may
 * be stripped.  The limits: a header table of 64 KiB, which is also execve()'s, 32 note segments,
 * and the first 64 KiB of each.
 */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/base/full_io.h"
#include "format/base/buildid.h"
#include "format/base/cursor.h"

#define PHDRS_MAX_BYTES  65536
#define NOTE_MAX_BYTES   65536
#define NOTE_MAX_COUNT   32
#define NOTE_ALIGN_BYTES 4 /* also in segments aligned to 8: there the sizes are multiples of 8 */

/* A range of bytes in the file. */
struct span {
	uint64_t off_bytes, size_bytes;
};

struct layout {
	bool is64;
	struct span phdrs;
	size_t phdr_bytes; /* of one */
};

static size_t note_padding(uint32_t size_bytes)
{
	return -size_bytes & (NOTE_ALIGN_BYTES - 1);
}

int buildid_from_notes(const void *notes, size_t size_bytes, struct buildid *out)
{
	struct cursor c = cursor_of(notes, size_bytes);

	while (cursor_left(&c) >= sizeof(Elf64_Nhdr)) {
		uint32_t name_bytes = cursor_u32(&c), desc_bytes = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const uint8_t *name, *desc;
		size_t pad;

		name = cursor_bytes(&c, name_bytes);
		cursor_skip(&c, note_padding(name_bytes));
		desc = cursor_bytes(&c, desc_bytes);
		if (!cursor_ok(&c))
			return -EBADMSG;
		if (type == NT_GNU_BUILD_ID && desc_bytes && name_bytes == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			struct buildid id = { .size_bytes = BUILDID_MAX_BYTES };

			if (desc_bytes < BUILDID_MAX_BYTES)
				id.size_bytes = (uint8_t)desc_bytes;
			memcpy(id.bytes, desc, id.size_bytes);
			*out = id;
			return 0;
		}
		pad = note_padding(desc_bytes); /* the last one's may be missing */
		cursor_skip(&c, pad < cursor_left(&c) ? pad : cursor_left(&c));
	}
	return -ENOENT;
}

/* All of the span, or -EBADMSG when the file ends before. */
static int read_span(int fd, void *buf, const struct span *s)
{
	ssize_t n;

	if (s->off_bytes > INT64_MAX - s->size_bytes)
		return -EBADMSG;
	n = full_read_at(fd, buf, s->size_bytes, s->off_bytes);
	return n < 0 ? (int)n : (size_t)n < s->size_bytes ? -EBADMSG : 0;
}

static int read_layout(int fd, struct layout *out)
{
	uint8_t head[sizeof(Elf64_Ehdr)] = { 0 };
	const struct span small = { 0, sizeof(Elf32_Ehdr) }, large = { 0, sizeof(Elf64_Ehdr) };
	struct layout l = { 0 };
	uint16_t count;
	int err;

	err = read_span(fd, head, &small);
	if (err)
		return err;
	if (memcmp(head, ELFMAG, SELFMAG) || head[EI_DATA] != ELFDATA2LSB)
		return -EBADMSG;
	l.is64 = head[EI_CLASS] == ELFCLASS64;
	if (!l.is64 && head[EI_CLASS] != ELFCLASS32)
		return -EBADMSG;
	if (l.is64) {
		err = read_span(fd, head, &large);
		if (err)
			return err;
		l.phdrs.off_bytes = le64_load(head + offsetof(Elf64_Ehdr, e_phoff));
		l.phdr_bytes = le16_load(head + offsetof(Elf64_Ehdr, e_phentsize));
		count = le16_load(head + offsetof(Elf64_Ehdr, e_phnum));
	} else {
		l.phdrs.off_bytes = le32_load(head + offsetof(Elf32_Ehdr, e_phoff));
		l.phdr_bytes = le16_load(head + offsetof(Elf32_Ehdr, e_phentsize));
		count = le16_load(head + offsetof(Elf32_Ehdr, e_phnum));
	}
	if (!count)
		return -ENOENT;
	l.phdrs.size_bytes = (uint64_t)count * l.phdr_bytes;
	if (l.phdr_bytes != (l.is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) ||
	    l.phdrs.size_bytes > PHDRS_MAX_BYTES)
		return -EBADMSG;
	*out = l;
	return 0;
}

/* The note segment that this program header describes; false when it is of another type. */
static bool note_span(const struct layout *l, const uint8_t *phdr, struct span *out)
{
	if (le32_load(phdr) != PT_NOTE) /* p_type comes first in both classes */
		return false;
	if (l->is64) {
		out->off_bytes = le64_load(phdr + offsetof(Elf64_Phdr, p_offset));
		out->size_bytes = le64_load(phdr + offsetof(Elf64_Phdr, p_filesz));
	} else {
		out->off_bytes = le32_load(phdr + offsetof(Elf32_Phdr, p_offset));
		out->size_bytes = le32_load(phdr + offsetof(Elf32_Phdr, p_filesz));
	}
	return true;
}

/* One broken segment does not hide the id in another. */
static int search_notes(int fd, const struct layout *l, const uint8_t *phdrs, uint8_t *buf,
			struct buildid *out)
{
	const uint8_t *end = phdrs + l->phdrs.size_bytes;
	int err, ret = -ENOENT, note_count = 0;
	struct span notes;

	for (; phdrs < end && note_count < NOTE_MAX_COUNT; phdrs += l->phdr_bytes) {
		if (!note_span(l, phdrs, &notes))
			continue;
		note_count++;
		if (notes.size_bytes > NOTE_MAX_BYTES)
			notes.size_bytes = NOTE_MAX_BYTES;
		err = read_span(fd, buf, &notes);
		if (!err)
			err = buildid_from_notes(buf, (size_t)notes.size_bytes, out);
		if (!err)
			return 0;
		if (err != -ENOENT)
			ret = err;
	}
	return ret;
}

int buildid_from_fd(int fd, struct buildid *out)
{
	uint8_t *phdrs = NULL, *buf = NULL;
	struct layout l;
	int err;

	err = read_layout(fd, &l);
	if (err)
		return err;
	phdrs = malloc((size_t)l.phdrs.size_bytes);
	buf = malloc(NOTE_MAX_BYTES);
	err = phdrs && buf ? read_span(fd, phdrs, &l.phdrs) : -ENOMEM;
	if (!err)
		err = search_notes(fd, &l, phdrs, buf, out);
	free(phdrs);
	free(buf);
	return err;
}

bool buildid_same(const struct buildid *a, const struct buildid *b)
{
	return a->size_bytes == b->size_bytes && !memcmp(a->bytes, b->bytes, a->size_bytes);
}

void buildid_hex(const struct buildid *id, char out[BUILDID_HEX_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < id->size_bytes && i < BUILDID_MAX_BYTES; i++) {
		out[2 * i] = digits[id->bytes[i] >> 4];
		out[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	out[2 * i] = '\0';
}
