/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/payload/file_facts.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define FIXED_BYTES   88
#define SEGMENT_BYTES 24
#define PHDRS_MAX     64

static size_t put_text(uint8_t *at, const struct filefacts_text *t)
{
	uint16_t n = t->size_bytes < FILEFACTS_TEXT_MAX ? t->size_bytes : FILEFACTS_TEXT_MAX;

	le16_store(at, n);
	if (n)
		memcpy(at + 2, t->text, n);
	return 2 + (size_t)n;
}

size_t filefacts_encode(const struct filefacts *f, uint8_t out[FILEFACTS_MAX_BYTES])
{
	size_t size = FIXED_BYTES;
	uint32_t i;

	memset(out, 0, FIXED_BYTES);
	le32_store(out + 4, f->dev_major);
	le32_store(out + 8, f->dev_minor);
	out[12] = f->build_id.size_bytes;
	out[13] = (uint8_t)f->segment_count;
	memcpy(out + 16, f->build_id.bytes, BUILDID_MAX_BYTES);
	le64_store(out + 40, f->inode);
	le64_store(out + 48, f->inode_generation);
	le64_store(out + 56, f->size_bytes);
	le64_store(out + 64, f->mtime_ns);
	le64_store(out + 72, f->mount_namespace);
	for (i = 0; i < f->segment_count; i++) {
		le64_store(out + size, f->segments[i].vaddr);
		le64_store(out + size + 8, f->segments[i].off_bytes);
		le64_store(out + size + 16, f->segments[i].size_bytes);
		size += SEGMENT_BYTES;
	}
	size += put_text(out + size, &f->path);
	size += put_text(out + size, &f->root);
	size += put_text(out + size, &f->cgroup);
	le32_store(out, (uint32_t)size);
	return size;
}

static struct filefacts_text get_text(struct cursor *c)
{
	uint16_t n = cursor_u16(c);
	const uint8_t *text = cursor_bytes(c, n);

	return text ? (struct filefacts_text){ (const char *)text, n }
		    : (struct filefacts_text){ "", 0 };
}

static bool get_fixed(struct cursor *c, struct filefacts *f)
{
	const uint8_t *p = cursor_bytes(c, FIXED_BYTES);

	if (!p || p[12] > BUILDID_MAX_BYTES || p[13] > FILEFACTS_SEGMENTS_MAX)
		return false;
	f->dev_major = le32_load(p + 4);
	f->dev_minor = le32_load(p + 8);
	f->build_id.size_bytes = p[12];
	f->segment_count = p[13];
	memcpy(f->build_id.bytes, p + 16, f->build_id.size_bytes);
	f->inode = le64_load(p + 40);
	f->inode_generation = le64_load(p + 48);
	f->size_bytes = le64_load(p + 56);
	f->mtime_ns = le64_load(p + 64);
	f->mount_namespace = le64_load(p + 72);
	return true;
}

int filefacts_next(struct cursor *c, struct filefacts *out)
{
	struct filefacts f = { 0 };
	struct cursor entry;
	uint32_t i, size;

	if (!cursor_left(c))
		return 0;
	if (cursor_left(c) < FIXED_BYTES)
		return -EBADMSG;
	size = le32_load(c->data + c->off_bytes);
	if (size < FIXED_BYTES || size > cursor_left(c))
		return -EBADMSG;
	entry = cursor_of(cursor_bytes(c, size),
			  size); /* what is behind the texts is of the future */
	if (!get_fixed(&entry, &f))
		return -EBADMSG;
	for (i = 0; i < f.segment_count; i++) {
		f.segments[i].vaddr = cursor_u64(&entry);
		f.segments[i].off_bytes = cursor_u64(&entry);
		f.segments[i].size_bytes = cursor_u64(&entry);
	}
	f.path = get_text(&entry);
	f.root = get_text(&entry);
	f.cgroup = get_text(&entry);
	if (!cursor_ok(&entry))
		return -EBADMSG;
	*out = f;
	return 1;
}

/* ---- segments ---- */

static void add_segment(const uint8_t *p, bool is64, struct filefacts_segment *out, uint32_t *count)
{
	uint32_t type = le32_load(p), flags = le32_load(is64 ? p + 4 : p + 24);

	if (type != PT_LOAD || !(flags & PF_X) || *count == FILEFACTS_SEGMENTS_MAX)
		return;
	if (is64)
		out[*count] = (struct filefacts_segment){ le64_load(p + 16), le64_load(p + 8),
							  le64_load(p + 32) };
	else
		out[*count] = (struct filefacts_segment){ le32_load(p + 8), le32_load(p + 4),
							  le32_load(p + 16) };
	++*count;
}

uint32_t filefacts_segments(int fd, struct filefacts_segment out[FILEFACTS_SEGMENTS_MAX])
{
	uint8_t head[sizeof(Elf64_Ehdr)], phdrs[PHDRS_MAX * sizeof(Elf64_Phdr)];
	uint32_t i, n, count = 0;
	uint64_t off;
	size_t each;
	bool is64;

	if (pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head, ELFMAG, SELFMAG) != 0 || head[EI_DATA] != ELFDATA2LSB)
		return 0;
	is64 = head[EI_CLASS] == ELFCLASS64;
	each = is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	off = is64 ? le64_load(head + 32) : le32_load(head + 28);
	n = le16_load(head + (is64 ? 56 : 44));
	if (le16_load(head + (is64 ? 54 : 42)) != each || n > PHDRS_MAX || off > INT64_MAX ||
	    pread(fd, phdrs, n * each, (off_t)off) != (ssize_t)(n * each))
		return 0;
	for (i = 0; i < n; i++)
		add_segment(phdrs + i * each, is64, out, &count);
	return count;
}
