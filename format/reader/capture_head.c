/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * The sections around the data (FORMAT.md 2, 3): file header, superblock, attrs, ids, features.
 *
 * Sections are copied, each size checked against the file's before anything is allocated; and since
 * a hostile header can name the same bytes many times, all copies together may not exceed the file.
 */
#include "format/reader/capture_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/base/vec.h"

#define MAGIC_OLD         0x454c494646524550ULL /* "PERFFILE": perf before 2.6.3x */
#define MAGIC_BIG_ENDIAN  0x50455246494c4532ULL
#define ATTR_MIN_BYTES    64 /* PERF_ATTR_SIZE_VER0 */
#define ATTR_MAX_BYTES    4096
#define TABLE_ENTRY_BYTES 16
#define TABLE_COPY_OFF    (EBX_SUPER_OFF + EBX_SUPER_BYTES)

/* ---- file header and superblock ---- */

static bool is_text(const uint8_t *bytes, size_t size_bytes)
{
	for (size_t i = 0; i < size_bytes; i++)
		if (bytes[i] < 0x20 ? !strchr("\t\n\f\r", bytes[i]) || !bytes[i] : bytes[i] == 0x7f)
			return false;
	return true;
}

/* The type of a file that users name by mistake, by its first bytes (magic(5)); NULL: not known. */
static const char *other_file(const uint8_t *bytes, size_t size_bytes)
{
	static const struct {
		const char *magic, *what;
	} others[] = {
		{ "\x7f"
		  "ELF",
		  "a program or library, in ELF" },
		{ "\x89PNG", "a PNG image" },
		{ "\xff\xd8\xff", "a JPEG image" },
		{ "GIF8", "a GIF image" },
		{ "%PDF", "a PDF document" },
		{ "\x1f\x8b", "compressed by gzip (gunzip it first)" },
		{ "\xfd"
		  "7zXZ",
		  "compressed by xz (unxz it first)" },
		{ "\x28\xb5\x2f\xfd", "compressed by zstd (unzstd it first)" },
		{ "BZh", "compressed by bzip2 (bunzip2 it first)" },
		{ "PK\x03\x04", "a zip archive (unzip it first)" },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		size_t magic_bytes = strlen(others[i].magic);

		if (size_bytes >= magic_bytes && !memcmp(bytes, others[i].magic, magic_bytes))
			return others[i].what;
	}
	/* A capture that was truncated behind its first bytes is a capture. */
	if (!memcmp(bytes, "PERFILE2", size_bytes < 8 ? size_bytes : 8))
		return NULL;
	return is_text(bytes, size_bytes) ? "text" : NULL;
}

static int check_magic(uint64_t magic, const uint8_t *head, size_t size_bytes,
		       struct parse_err *err)
{
	const char *other;

	if (magic == PERFFILE_MAGIC)
		return 0;
	if (magic == MAGIC_BIG_ENDIAN)
		return parse_fail(err, -ENOTSUP, 0, "big-endian perf.data");
	if (magic == MAGIC_OLD)
		return parse_fail(err, -ENOTSUP, 0, "perf.data version 1");
	other = other_file(head, size_bytes);
	return parse_fail(err, -EBADMSG, 0, other ? other : "not a perf.data file");
}

int capture_begins_at(const char *path)
{
	uint8_t head[8];
	struct cursor cur = cursor_of(head, sizeof(head));
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), found = 0;
	struct stat st;
	ssize_t have;

	if (fd < 0)
		return errno == ENOENT || errno == ENXIO ? 0 : -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		have = pread(fd, head, sizeof(head), 0);
		if (have < 0)
			found = -errno;
		else if (have == sizeof(head))
			found = check_magic(cursor_u64(&cur), head, sizeof(head), NULL) != -EBADMSG;
	}
	close(fd);
	return found;
}

static void take_super(struct capture *c, const uint8_t *bytes, size_t size_bytes)
{
	struct parse_err err = { 0 };

	if (size_bytes < 8 || memcmp(bytes, "EBPREC1\n", 8))
		return;
	c->kind = CAPTURE_EBX;
	if (!ebx_super_decode(bytes, size_bytes, &c->super, &err)) {
		c->has_super = true;
		/* The superblock has a checksum, the file header has none. */
		c->data_off_bytes = c->super.data_off_bytes;
		memcpy(c->feature_bits, c->super.feature_bits, sizeof(c->feature_bits));
		return;
	}
	c->damage.bad_sections++;
	damage_note(c, EBX_SUPER_OFF + err.offset_bytes, err.what);
}

/* The file mode's header; cur is behind its size. */
static int take_file_header(struct capture *c, struct cursor *cur, struct parse_err *err)
{
	c->kind = CAPTURE_PERF;
	c->attr_entry_bytes = cursor_u64(cur);
	c->attrs_off_bytes = cursor_u64(cur);
	c->attrs_size_bytes = cursor_u64(cur);
	c->data_off_bytes = cursor_u64(cur);
	c->data_size_bytes = cursor_u64(cur);
	cursor_skip(cur, 16); /* event types, unused since 2012 */
	for (unsigned i = 0; i < 4; i++)
		c->feature_bits[i] = cursor_u64(cur);
	if (!cursor_ok(cur))
		return parse_fail(err, -ENODATA, cur->size_bytes, "cut inside the header");
	if (c->data_off_bytes < PERFFILE_HEADER_BYTES)
		return parse_fail(err, -EBADMSG, 40, "data section inside the header");
	return 0;
}

int capture_read_header(struct capture *c, struct parse_err *err)
{
	/* In one read, and the file's size after it: a recorder may be writing both. */
	uint8_t head[EBX_SUPER_OFF + EBX_SUPER_BYTES];
	size_t have = source_read(&c->source, 0, head, sizeof(head));
	struct cursor cur = cursor_of(head, have);
	uint64_t header_bytes;
	int ret;

	source_refresh(&c->source);
	if (!have)
		return parse_fail(err, -ENODATA, 0, "the file is empty");
	if (have < PERFFILE_PIPE_HEADER_BYTES && other_file(head, have))
		return parse_fail(err, -EBADMSG, 0, other_file(head, have));
	if (have < PERFFILE_PIPE_HEADER_BYTES || c->source.size_bytes < have)
		return parse_fail(err, -ENODATA, have, "cut inside the header");
	ret = check_magic(cursor_u64(&cur), head, have, err);
	if (ret)
		return ret;
	header_bytes = cursor_u64(&cur);
	if (header_bytes == PERFFILE_PIPE_HEADER_BYTES) {
		c->kind = CAPTURE_PIPE;
		c->data_off_bytes = PERFFILE_PIPE_HEADER_BYTES;
		c->data_size_bytes = c->source.size_bytes - PERFFILE_PIPE_HEADER_BYTES;
		return 0;
	}
	if (header_bytes != PERFFILE_HEADER_BYTES)
		return parse_fail(err, -EBADMSG, 8, "header of an unknown size");
	c->header_crc32c = crc32c(0, head, PERFFILE_HEADER_BYTES);
	ret = take_file_header(c, &cur, err);
	if (!ret)
		take_super(c, head + EBX_SUPER_OFF, have - EBX_SUPER_OFF);
	return ret;
}

/* ---- attrs ---- */

int capture_add_attr(struct capture *c, const uint8_t *attr, size_t size_bytes, const uint8_t *ids,
		     size_t id_count)
{
	struct capture_attr a = { .id_count = id_count };
	uint64_t *own_ids;
	char *name;

	if (vec_reserve(&c->attrs, &c->attr_room, c->attr_count + 1))
		return -ENOMEM;
	own_ids = malloc(id_count ? 8 * id_count : 8);
	name = strdup("");
	if (!own_ids || !name) {
		free(own_ids);
		free(name);
		return -ENOMEM;
	}
	for (size_t i = 0; i < id_count; i++)
		own_ids[i] = le64_load(ids + 8 * i);
	memcpy(&a.attr, attr, size_bytes < sizeof(a.attr) ? size_bytes : sizeof(a.attr));
	a.ids = own_ids;
	a.name = name;
	c->attrs[c->attr_count++] = a;
	return 0;
}

int capture_name_attr(struct capture *c, size_t i, const uint8_t *name, size_t size_bytes)
{
	char *copy = strndup((const char *)name, size_bytes);

	if (!copy)
		return -ENOMEM;
	free((void *)c->attrs[i].name);
	c->attrs[i].name = copy;
	return 0;
}

/* A copy of a section in *out, owned.  -EBADMSG: it is not all in the file; -ENOMEM. */
static int load_section(struct capture *c, uint64_t off_bytes, uint64_t size_bytes, uint8_t **out)
{
	uint64_t file_bytes = c->source.size_bytes;
	uint8_t *data;

	if (off_bytes > file_bytes || size_bytes > file_bytes - off_bytes ||
	    size_bytes > file_bytes - c->loaded_bytes)
		return -EBADMSG;
	data = malloc(size_bytes ? size_bytes : 1);
	if (!data)
		return -ENOMEM;
	if (source_read(&c->source, off_bytes, data, size_bytes) != size_bytes) {
		free(data);
		return -EBADMSG;
	}
	c->loaded_bytes += size_bytes;
	*out = data;
	return 0;
}

/* Reads a section; a broken one is damage and no error.  -ENOMEM. */
static int load_or_note(struct capture *c, uint64_t off_bytes, uint64_t size_bytes,
			const char *what, uint8_t **out)
{
	int err = load_section(c, off_bytes, size_bytes, out);

	if (err != -EBADMSG)
		return err;
	c->damage.bad_sections++;
	damage_note(c, off_bytes, what);
	return 0;
}

/* One entry of the attr section: an attr, and where its ids are. */
static int read_attr(struct capture *c, const uint8_t *entry, size_t attr_bytes)
{
	uint64_t off = le64_load(entry + attr_bytes), size = le64_load(entry + attr_bytes + 8);
	uint8_t *ids = NULL;
	int err;

	err = load_or_note(c, off, size, "ids of an event outside of the file", &ids);
	if (err)
		return err;
	err = capture_add_attr(c, entry, attr_bytes, ids, ids ? size / 8 : 0);
	free(ids);
	return err;
}

static int read_attrs(struct capture *c)
{
	uint64_t each = c->attr_entry_bytes;
	uint8_t *entries = NULL;
	int err;

	if (each < ATTR_MIN_BYTES + 16 || each > ATTR_MAX_BYTES || c->attrs_size_bytes % each) {
		c->damage.bad_sections++;
		damage_note(c, 16, "attrs of an impossible size");
		return 0;
	}
	err = load_or_note(c, c->attrs_off_bytes, c->attrs_size_bytes, "attrs outside of the file",
			   &entries);
	for (uint64_t off = 0; !err && entries && off < c->attrs_size_bytes; off += each)
		err = read_attr(c, entries + off, each - 16);
	free(entries);
	return err;
}

/* ---- features ---- */

int capture_add_feature(struct capture *c, unsigned bit, const uint8_t *data, size_t size_bytes)
{
	uint8_t *copy;

	if (bit >= PERFFILE_FEATURE_BITS || c->features[bit].data || !size_bytes)
		return 0;
	copy = malloc(size_bytes);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, size_bytes);
	c->features[bit] = (struct capture_bytes){ .data = copy, .size_bytes = size_bytes };
	return 0;
}

static size_t count_bits(const uint64_t bits[4])
{
	size_t n = 0;

	for (unsigned i = 0; i < 4; i++)
		n += (size_t)__builtin_popcountll(bits[i]);
	return n;
}

/* The feature table: ours is also in front, where no crash can reach it; perf's is behind the data. */
static int load_table(struct capture *c, size_t entries, uint8_t **out)
{
	size_t size = entries * TABLE_ENTRY_BYTES;
	uint8_t *table = NULL;
	int err;

	if (c->has_super) {
		err = load_section(c, TABLE_COPY_OFF, size, &table);
		if (!err && crc32c(0, table, size) == c->super.table_crc32c) {
			*out = table;
			return 0;
		}
		free(table);
		if (err == -ENOMEM)
			return err;
		c->damage.bad_sections++;
		damage_note(c, TABLE_COPY_OFF, "feature table checksum");
	}
	if (c->data_size_bytes > UINT64_MAX - c->data_off_bytes) {
		c->damage.bad_sections++;
		return 0;
	}
	return load_or_note(c, c->data_off_bytes + c->data_size_bytes, size,
			    "feature table outside of the file", out);
}

static int read_features(struct capture *c)
{
	size_t entries = count_bits(c->feature_bits), entry = 0;
	uint8_t *table = NULL;
	int err;

	if (!entries)
		return 0;
	/* perf sets the bits at the start and writes the table at the end, data.size before it. */
	if (!c->has_super && !c->data_size_bytes)
		return 0;
	err = load_table(c, entries, &table);
	for (unsigned bit = 0; !err && table && bit < PERFFILE_FEATURE_BITS; bit++) {
		const uint8_t *e = table + entry * TABLE_ENTRY_BYTES;
		uint8_t *data = NULL;

		if (!(c->feature_bits[bit / 64] >> (bit % 64) & 1))
			continue;
		entry++;
		if (!le64_load(e + 8))
			continue;
		err = load_or_note(c, le64_load(e), le64_load(e + 8),
				   "feature section outside of the file", &data);
		c->features[bit].data = data;
		c->features[bit].size_bytes = data ? le64_load(e + 8) : 0;
	}
	free(table);
	return err;
}

/* ---- checksums (FORMAT.md 3) ---- */

static void bad_sum(struct capture *c, uint64_t off_bytes, const char *what)
{
	c->damage.bad_sections++;
	damage_note(c, off_bytes, what);
}

/* Checks the part of the head that never changes.  Its readers report what is truncated. */
static void check_static(struct capture *c)
{
	uint64_t off = c->super.static_off_bytes, end = c->super.data_off_bytes;
	uint8_t bytes[4096];
	uint32_t crc = 0;
	size_t step;

	if (end > c->source.size_bytes)
		return;
	for (; off < end; off += step) {
		step = end - off < sizeof(bytes) ? (size_t)(end - off) : sizeof(bytes);
		if (source_read(&c->source, off, bytes, step) != step)
			return;
		crc = crc32c(crc, bytes, step);
	}
	if (crc != c->super.static_crc32c)
		bad_sum(c, c->super.static_off_bytes,
			"checksum of the head: attrs, ids or feature sections are wrong");
}

/* The feature table behind the data, which perf reads; ebprec needs it only when the copy is
 * broken. */
static void check_table(struct capture *c)
{
	uint64_t off = c->data_off_bytes + c->data_size_bytes;
	size_t size = count_bits(c->feature_bits) * TABLE_ENTRY_BYTES;
	uint8_t table[PERFFILE_FEATURE_BITS * TABLE_ENTRY_BYTES];

	if (off < c->data_off_bytes || source_read(&c->source, off, table, size) != size)
		return; /* truncated, and reported */
	if (crc32c(0, table, size) != c->super.table_crc32c)
		bad_sum(c, off, "feature table behind the data checksum");
}

/* Checks the parts that each flush writes again, unless a recorder may be writing them now. */
static void check_changing(struct capture *c)
{
	struct capture_bytes time = c->features[PERFFILE_SAMPLE_TIME];
	struct capture_bytes compressed = c->features[PERFFILE_COMPRESSED];
	struct capture_bytes *ids = &c->features[PERFFILE_BUILD_ID];
	uint32_t crc = c->header_crc32c;

	if (c->super.state == EBX_LIVE)
		return;
	check_table(c);
	crc = crc32c(crc, time.data, time.size_bytes);
	crc = crc32c(crc, compressed.data, compressed.size_bytes);
	if (time.data && compressed.data && crc != c->super.head_crc32c)
		bad_sum(c, 0, "checksum of the file header");
	if (!ids->data || crc32c(0, ids->data, ids->size_bytes) == c->super.build_id_crc32c)
		return;
	bad_sum(c, c->data_off_bytes + c->data_size_bytes, "checksum of the build-ids");
	free((void *)ids->data);
	*ids = (struct capture_bytes){ 0 }; /* a wrong id is worse than none */
}

int capture_read_sections(struct capture *c)
{
	int err;

	if (c->kind == CAPTURE_PIPE)
		return 0;
	err = read_attrs(c);
	if (!err)
		err = read_features(c);
	if (!err && c->has_super && c->super.static_off_bytes) {
		check_static(c);
		check_changing(c);
	}
	return err;
}

/* ---- names and ids ---- */

/* EVENT_DESC: for each event its attr, ids and name, in the order of the attrs. */
static int names_from_event_desc(struct capture *c)
{
	struct capture_bytes f = c->features[PERFFILE_EVENT_DESC];
	struct cursor cur = cursor_of(f.data, f.size_bytes);
	uint32_t count, attr_bytes;
	int err = 0;

	if (!f.data)
		return 0;
	count = cursor_u32(&cur);
	attr_bytes = cursor_u32(&cur);
	for (uint32_t i = 0; !err && i < count && i < c->attr_count; i++) {
		uint32_t id_count, name_bytes;
		const uint8_t *name;

		cursor_skip(&cur, attr_bytes);
		id_count = cursor_u32(&cur);
		name_bytes = cursor_u32(&cur);
		name = cursor_bytes(&cur, name_bytes);
		cursor_skip(&cur, 8 * (size_t)id_count);
		if (!cursor_ok(&cur)) {
			c->damage.bad_sections++;
			damage_note(c, 0, "broken EVENT_DESC section");
			break;
		}
		err = capture_name_attr(c, i, name, name_bytes);
	}
	return err;
}

static int compare_ids(const void *a, const void *b)
{
	const struct id_entry *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->attr < y->attr ? -1 : x->attr > y->attr;
}

int capture_finish_attrs(struct capture *c)
{
	size_t count = 0;
	int err = names_from_event_desc(c);

	if (err)
		return err;
	for (size_t i = 0; i < c->attr_count; i++)
		count += c->attrs[i].id_count;
	if (!count)
		return 0;
	c->ids = calloc(count, sizeof(*c->ids));
	if (!c->ids)
		return -ENOMEM;
	for (size_t i = 0; i < c->attr_count; i++)
		for (size_t j = 0; j < c->attrs[i].id_count; j++)
			c->ids[c->id_count++] = (struct id_entry){ .id = c->attrs[i].ids[j],
								   .attr = i };
	qsort(c->ids, c->id_count, sizeof(*c->ids), compare_ids);
	return 0;
}
