/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/payload/file_facts.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/crc32c.h"

#define FIXED_BYTES   88
#define SEGMENT_BYTES 24
#define PHDRS_MAX     64
#define HAS_LOADED    1
#define HAS_SPREAD    2
#define SUM_BYTES     (64u << 10) /* of a segment, and of the file's end */
#define BLOCK_BYTES   4096u
#define BLOCKS        16

static size_t put_text(uint8_t *at, const struct file_facts_text *t)
{
	uint16_t n = t->size_bytes < FILE_FACTS_TEXT_MAX ? t->size_bytes : FILE_FACTS_TEXT_MAX;

	le16_store(at, n);
	if (n)
		memcpy(at + 2, t->text, n);
	return 2 + (size_t)n;
}

size_t file_facts_encode(const struct file_facts *f, uint8_t out[FILE_FACTS_MAX_BYTES])
{
	size_t size = FIXED_BYTES;
	uint32_t i;

	memset(out, 0, FIXED_BYTES);
	le32_store(out + 4, f->id.dev_major);
	le32_store(out + 8, f->id.dev_minor);
	out[12] = f->id.build_id.size_bytes;
	out[13] = (uint8_t)f->segment_count;
	out[14] = (f->sum.has_loaded ? HAS_LOADED : 0) | (f->sum.has_spread ? HAS_SPREAD : 0);
	memcpy(out + 16, f->id.build_id.bytes, BUILDID_MAX_BYTES);
	le64_store(out + 40, f->id.inode);
	le64_store(out + 48, f->id.inode_generation);
	le64_store(out + 56, f->size_bytes);
	le64_store(out + 64, f->mtime_ns);
	le64_store(out + 72, f->mount_namespace);
	le32_store(out + 80, f->sum.loaded_crc);
	le32_store(out + 84, f->sum.spread_crc);
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

static struct file_facts_text get_text(struct cursor *c)
{
	uint16_t n = cursor_u16(c);
	const uint8_t *text = cursor_bytes(c, n);

	return text ? (struct file_facts_text){ (const char *)text, n }
		    : (struct file_facts_text){ "", 0 };
}

static bool get_fixed(struct cursor *c, struct file_facts *f)
{
	const uint8_t *p = cursor_bytes(c, FIXED_BYTES);

	if (!p || p[12] > BUILDID_MAX_BYTES || p[13] > FILE_FACTS_SEGMENTS_MAX)
		return false;
	f->id.dev_major = le32_load(p + 4);
	f->id.dev_minor = le32_load(p + 8);
	f->id.build_id.size_bytes = p[12];
	f->segment_count = p[13];
	memcpy(f->id.build_id.bytes, p + 16, f->id.build_id.size_bytes);
	f->id.inode = le64_load(p + 40);
	f->id.inode_generation = le64_load(p + 48);
	f->size_bytes = le64_load(p + 56);
	f->mtime_ns = le64_load(p + 64);
	f->mount_namespace = le64_load(p + 72);
	f->sum = (struct file_facts_sum){ le32_load(p + 80), le32_load(p + 84), p[14] & HAS_LOADED,
					  p[14] & HAS_SPREAD };
	return true;
}

int file_facts_next(struct cursor *c, struct file_facts *out)
{
	struct file_facts f = { 0 };
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
			  size); /* a later version may add fields behind the texts */
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

/* ---- contents of the file ---- */

struct phdrs {
	uint8_t bytes[PHDRS_MAX * sizeof(Elf64_Phdr)];
	uint32_t count;
	bool is64;
};

struct load {
	uint32_t flags;
	struct file_facts_segment at;
};

static bool read_phdrs(int fd, struct phdrs *out)
{
	uint8_t head[sizeof(Elf64_Ehdr)];
	uint64_t off;
	size_t each;

	if (pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head, ELFMAG, SELFMAG) != 0 || head[EI_DATA] != ELFDATA2LSB)
		return false;
	out->is64 = head[EI_CLASS] == ELFCLASS64;
	each = out->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	off = out->is64 ? le64_load(head + 32) : le32_load(head + 28);
	out->count = le16_load(head + (out->is64 ? 56 : 44));
	return le16_load(head + (out->is64 ? 54 : 42)) == each && out->count <= PHDRS_MAX &&
	       off <= INT64_MAX &&
	       pread(fd, out->bytes, out->count * each, (off_t)off) == (ssize_t)(out->count * each);
}

/* False: it is no PT_LOAD. */
static bool get_load(const struct phdrs *h, uint32_t i, struct load *out)
{
	const uint8_t *p = h->bytes + i * (h->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));

	if (le32_load(p) != PT_LOAD)
		return false;
	out->flags = le32_load(h->is64 ? p + 4 : p + 24);
	if (h->is64)
		out->at = (struct file_facts_segment){ le64_load(p + 16), le64_load(p + 8),
						       le64_load(p + 32) };
	else
		out->at = (struct file_facts_segment){ le32_load(p + 8), le32_load(p + 4),
						       le32_load(p + 16) };
	return true;
}

uint32_t file_facts_segments(int fd, struct file_facts_segment out[FILE_FACTS_SEGMENTS_MAX])
{
	struct phdrs h;
	struct load load;
	uint32_t i, count = 0;

	if (!read_phdrs(fd, &h))
		return 0;
	for (i = 0; i < h.count && count < FILE_FACTS_SEGMENTS_MAX; i++)
		if (get_load(&h, i, &load) && load.flags & PF_X)
			out[count++] = load.at;
	return count;
}

/* ---- checksums ---- */

/* Continues crc over up to size_bytes from there; false: there is not one. */
static bool add_bytes(int fd, uint64_t off_bytes, uint64_t size_bytes, uint32_t *crc)
{
	uint8_t block[BLOCK_BYTES];
	uint64_t done = 0;
	ssize_t n;

	if (off_bytes > INT64_MAX - SUM_BYTES)
		return false;
	while (done < size_bytes) {
		n = pread(fd, block,
			  size_bytes - done < sizeof(block) ? size_bytes - done : sizeof(block),
			  (off_t)(off_bytes + done));
		if (n <= 0)
			break;
		*crc = crc32c(*crc, block, (size_t)n);
		done += (uint64_t)n;
	}
	return done;
}

static bool sum_loaded(int fd, uint32_t *crc)
{
	struct phdrs h;
	struct load load;
	bool any = false;

	if (!read_phdrs(fd, &h))
		return false;
	for (uint32_t i = 0; i < h.count; i++)
		if (get_load(&h, i, &load) && !(load.flags & PF_W))
			any |= add_bytes(fd, load.at.off_bytes,
					 load.at.size_bytes < SUM_BYTES ? load.at.size_bytes
									: SUM_BYTES,
					 crc);
	return any;
}

static bool sum_spread(int fd, uint32_t *crc)
{
	struct stat st;
	uint64_t size;
	bool any = false;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return false;
	size = (uint64_t)st.st_size;
	for (unsigned i = 0; i < BLOCKS; i++)
		any |= add_bytes(fd, size / BLOCKS * i, BLOCK_BYTES, crc);
	return add_bytes(fd, size < SUM_BYTES ? 0 : size - SUM_BYTES, SUM_BYTES, crc) || any;
}

struct file_facts_sum file_facts_sum(int fd)
{
	struct file_facts_sum s = { 0 };

	s.has_loaded = sum_loaded(fd, &s.loaded_crc);
	s.has_spread = s.has_loaded && sum_spread(fd, &s.spread_crc);
	return s;
}

bool file_facts_same_sum(const struct file_facts_sum *a, const struct file_facts_sum *b)
{
	bool loaded = a->has_loaded && b->has_loaded, spread = a->has_spread && b->has_spread;

	return (loaded || spread) && (!loaded || a->loaded_crc == b->loaded_crc) &&
	       (!spread || a->spread_crc == b->spread_crc);
}

void file_facts_copy_name(const struct file_facts_sum *sum, uint64_t size_bytes, uint64_t mtime_ns,
			  char out[FILE_FACTS_COPY_NAME_BYTES])
{
	snprintf(out, FILE_FACTS_COPY_NAME_BYTES,
		 FILE_FACTS_COPY_DIR "/%08" PRIx32 "%08" PRIx32 "-%" PRIx64 "-%" PRIx64,
		 sum->loaded_crc, sum->spread_crc, size_bytes, mtime_ns);
}
