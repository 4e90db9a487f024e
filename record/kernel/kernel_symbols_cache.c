/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * One file, replaced atomically, little-endian:
 *
 *	0	"EBKSYMS2"
 *	8	u32 crc32c of all up to the text, from 12 on; u32 symbols, u32 bytes of text, u32 0
 *	24	the kernel it is of: boot id[16], u32 crc32c of its modules, u32 of its first symbols
 *	48	u64 addresses of kernel_symbols_index_well_known
 *		symbols: u64 address, u32 place of the line in the text; by address
 *		text, as /proc/kallsyms has it
 *
 * The text has no checksum: reading it would take longer than all the rest.  A crash that could
 * damage it ends the boot that it is of, and each line that is read must have the right address.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/full_io.h"
#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "record/base/cache_dir.h"
#include "record/kernel/kernel_symbols_index_priv.h"
#include "format/os/slurp.h"

#define NAME        "kallsyms"
#define MAGIC       "EBKSYMS2"
#define SUMMED_AT   12
#define KEY_AT      24
#define KEY_BYTES   24
#define HEAD_BYTES  (KEY_AT + KEY_BYTES + 8 * KERNEL_SYMBOLS_INDEX_NAMES)
#define ENTRY_BYTES 12
#define SYMS_MAX    (4u << 20)
#define LOOK_BYTES  4096 /* of the first symbols */

/* ---- which kernel ---- */

/* Name, size, state and address of each module; not how many use it. */
static int modules_sum(const char *path, uint32_t *sum)
{
	struct outbuf text = { 0 };
	int err = slurp(path, &text), word = 0;
	const char *p = (const char *)text.data;
	size_t n;

	*sum = 0;
	while (!err && *p) {
		n = strcspn(p, " \n");
		if (word == 4 && (n != 4 || memcmp(p, "Live", 4)))
			err = -EAGAIN; /* its symbols are about to change */
		if (word < 2 || word == 5)
			*sum = crc32c(*sum, p, n + 1);
		word = p[n] == ' ' ? word + 1 : 0;
		p += n + (p[n] != '\0');
	}
	outbuf_done(&text);
	return err == -ENOENT ? 0 : err; /* a kernel without modules */
}

static int boot_id(const char *path, uint8_t id[16])
{
	char *text = slurp_line(path);
	unsigned v, i = 0;
	const char *p;

	for (p = text; p && *p && i < 16; i++, p += 2) {
		p += *p == '-';
		if (sscanf(p, "%2x", &v) != 1)
			break;
		id[i] = (uint8_t)v;
	}
	free(text);
	return i == 16 ? 0 : -ENODATA;
}

/*
 * The first symbols that the kernel shows now: whether it shows addresses, and where it is loaded.
 */
static int first_symbols(const char *path, uint32_t *sum)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t page[LOOK_BYTES];
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, page, sizeof(page));
	close(fd);
	if (n <= 0)
		return -ENODATA;
	*sum = crc32c(0, page, (size_t)n);
	return 0;
}

static int make_key(const struct kernel_symbols_index_source *s, uint8_t key[KEY_BYTES])
{
	uint32_t modules = 0, first = 0;
	int err = boot_id(s->boot_id, key);

	if (!err)
		err = modules_sum(s->modules, &modules);
	if (!err)
		err = first_symbols(s->kallsyms, &first);
	le32_store(key + 16, modules);
	le32_store(key + 20, first);
	return err;
}

/* ---- reading ---- */

static int read_exactly(int fd, void *to, size_t bytes, off_t off)
{
	ssize_t n = full_read_at(fd, to, bytes, (uint64_t)off);

	return n < 0 ? (int)n : (size_t)n == bytes ? 0 : -ENODATA;
}

static int take_index(struct kernel_symbols_index *k, const uint8_t *p, size_t count,
		      uint32_t text_bytes)
{
	size_t i;

	k->sym = malloc(count * sizeof(*k->sym));
	if (!k->sym)
		return -ENOMEM;
	for (i = 0; i < count; i++, p += ENTRY_BYTES) {
		k->sym[i] = (struct sym){ .addr = le64_load(p), .off_bytes = le32_load(p + 8) };
		if (k->sym[i].off_bytes >= text_bytes || (i && k->sym[i].addr < k->sym[i - 1].addr))
			return -EBADMSG;
	}
	k->count = count;
	return 0;
}

/* head is checked against the key; what is behind it, against the checksum. */
static int take_file(struct kernel_symbols_index *k, const uint8_t *head)
{
	uint32_t count = le32_load(head + 12), text_bytes = le32_load(head + 16);
	size_t bytes = (size_t)count * ENTRY_BYTES, i;
	struct stat st;
	uint8_t *index;
	uint32_t sum;
	int err;

	if (!count || count > SYMS_MAX || fstat(k->fd, &st) ||
	    (uint64_t)st.st_size != HEAD_BYTES + bytes + text_bytes)
		return -EBADMSG;
	index = malloc(bytes);
	if (!index)
		return -ENOMEM;
	err = read_exactly(k->fd, index, bytes, HEAD_BYTES);
	sum = crc32c(0, head + SUMMED_AT, HEAD_BYTES - SUMMED_AT);
	if (!err && crc32c(sum, index, bytes) != le32_load(head + 8))
		err = -EBADMSG;
	if (!err)
		err = take_index(k, index, count, text_bytes);
	free(index);
	for (i = 0; i < KERNEL_SYMBOLS_INDEX_NAMES; i++)
		k->named[i] = le64_load(head + KEY_AT + KEY_BYTES + 8 * i);
	k->text_off = (off_t)(HEAD_BYTES + bytes);
	return err;
}

int kernel_symbols_index_from_cache(const struct kernel_symbols_index_source *s,
				    struct kernel_symbols_index **out)
{
	uint8_t head[HEAD_BYTES], key[KEY_BYTES];
	int dir = cache_dir_open(s->folder), err;
	struct kernel_symbols_index *k;

	if (dir < 0)
		return dir;
	k = calloc(1, sizeof(*k));
	if (k)
		k->fd = openat(dir, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	err = !k ? -ENOMEM : k->fd < 0 ? -errno : 0;
	close(dir);
	if (!err)
		err = read_exactly(k->fd, head, sizeof(head), 0);
	if (!err && memcmp(head, MAGIC, 8))
		err = -EBADMSG;
	if (!err)
		err = make_key(s, key);
	if (!err && memcmp(head + KEY_AT, key, sizeof(key)))
		err = -ESTALE;
	if (!err)
		err = take_file(k, head);
	if (err) {
		kernel_symbols_index_free(k);
		return err;
	}
	k->source.kallsyms = s->kallsyms;
	*out = k;
	return 0;
}

/* ---- writing ---- */

/* Not of this boot's constant part: "[bpf]", "[__builtin__ftrace]", "[__builtin__kprobes]". */
static bool comes_and_goes(const struct ksym *s)
{
	return s->module && ((s->module_bytes == 3 && !memcmp(s->module, "bpf", 3)) ||
			     (s->module_bytes > 2 && !memcmp(s->module, "__", 2)));
}

static void add_symbols(const struct kernel_symbols_index *k, struct outbuf *index,
			struct outbuf *text)
{
	char line[KERNEL_SYMBOLS_INDEX_LINE_BYTES];
	struct ksym s;
	size_t i;

	for (i = 0; i < k->count; i++) {
		if (!kernel_symbols_index_line(k, i, line, &s) || comes_and_goes(&s))
			continue;
		outbuf_u64(index, s.addr);
		outbuf_u32(index, (uint32_t)text->size_bytes);
		outbuf_add(text, s.line, s.line_bytes);
	}
}

static void put_head(uint8_t *head, const struct kernel_symbols_index *k,
		     const uint8_t key[KEY_BYTES], const struct outbuf *index,
		     const struct outbuf *text)
{
	uint32_t sum;
	size_t i;

	memcpy(head, MAGIC, 8);
	le32_store(head + 12, (uint32_t)(index->size_bytes / ENTRY_BYTES));
	le32_store(head + 16, (uint32_t)text->size_bytes);
	le32_store(head + 20, 0);
	memcpy(head + KEY_AT, key, KEY_BYTES);
	for (i = 0; i < KERNEL_SYMBOLS_INDEX_NAMES; i++)
		le64_store(head + KEY_AT + KEY_BYTES + 8 * i, k->named[i]);
	sum = crc32c(0, head + SUMMED_AT, HEAD_BYTES - SUMMED_AT);
	le32_store(head + 8, crc32c(sum, index->data, index->size_bytes));
}

/* Writes a temporary file first: a reader at this moment sees the old file or the new one. */
static void write_file(int dir, const uint8_t head[HEAD_BYTES], const struct outbuf *index,
		       const struct outbuf *text)
{
	char temp[48];
	bool good;
	int fd;

	snprintf(temp, sizeof(temp), CACHE_DIR_TEMP_PREFIX "k%d", (int)getpid());
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	good = !full_write(fd, head, HEAD_BYTES) &&
	       !full_write(fd, index->data, index->size_bytes) &&
	       !full_write(fd, text->data, text->size_bytes);
	good &= !close(fd);
	if (!good || renameat(dir, temp, dir, NAME))
		(void)unlinkat(dir, temp, 0);
}

void kernel_symbols_index_keep(const struct kernel_symbols_index *k,
			       const struct kernel_symbols_index_source *s)
{
	uint8_t head[HEAD_BYTES], key[KEY_BYTES];
	struct outbuf index = { 0 }, text = { 0 };
	int dir;

	if (make_key(s, key))
		return;
	dir = cache_dir_open(s->folder);
	if (dir < 0)
		return;
	add_symbols(k, &index, &text);
	if (outbuf_ok(&index) && outbuf_ok(&text) && index.size_bytes) {
		put_head(head, k, key, &index, &text);
		write_file(dir, head, &index, &text);
	}
	outbuf_done(&index);
	outbuf_done(&text);
	close(dir);
}
