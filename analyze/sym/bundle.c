/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/lower_bound.h"

#define VERSION_NAMES  1
#define VERSION_LINES  2
#define VERSION_STARTS 2 /* added to either: where functions begin that have no name */
#define HEAD_BYTES     64
#define FRAME_BYTES    16
#define NO_NAME        UINT32_MAX
#define RETURN_FLAG    1
#define HAS_GENERATION 1

struct bundle {
	uint8_t *data; /* owned */
	size_t size_bytes;
	struct bundle_head head;
	bool has_lines, has_starts;
	const uint8_t *places, *frames;
	size_t count, place_bytes, frame_count;
	const char *texts; /* each ends with a NUL, the last one, too */
	size_t text_bytes;
};

/* A location with frames has their index. */
static size_t place_bytes(bool has_lines)
{
	return has_lines ? 24 : 16;
}

/* ---- writing ---- */

static int by_place(const void *va, const void *vb)
{
	const struct bundle_place *a = va, *b = vb;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (int)a->is_return - (int)b->is_return;
}

static int by_name(const void *va, const void *vb)
{
	return strcmp(*(const char *const *)va, *(const char *const *)vb);
}

/* The distinct names, sorted; *name_count of them.  Owned. */
static const char **distinct_names(const struct bundle_place *places, size_t count,
				   const struct bundle_frames *frames, size_t *name_count)
{
	const char **names = calloc(count + 2 * frames->count + 1, sizeof(*names));
	size_t i, used = 0;

	if (!names)
		return NULL;
	for (i = 0; i < count; i++)
		if (places[i].name)
			names[used++] = places[i].name;
	for (i = 0; i < frames->count; i++) {
		if (frames->list[i].function)
			names[used++] = frames->list[i].function;
		if (frames->list[i].file)
			names[used++] = frames->list[i].file;
	}
	if (used)
		qsort(names, used, sizeof(*names), by_name);
	*name_count = 0;
	for (i = 0; i < used; i++)
		if (!*name_count || strcmp(names[*name_count - 1], names[i]) != 0)
			names[(*name_count)++] = names[i];
	return names;
}

struct texts {
	const char **names;
	size_t count;
	uint64_t *offs; /* of each, behind path and symbols */
};

static size_t put_text(uint8_t *at, const char *text)
{
	size_t n = strlen(text) + 1;

	memcpy(at, text, n);
	return n;
}

static uint32_t text_off(const struct texts *t, const char *name)
{
	const char **found;

	if (!name)
		return NO_NAME;
	found = bsearch(&name, t->names, t->count, sizeof(*t->names), by_name);
	return (uint32_t)t->offs[found - t->names];
}

static bool has_starts(const struct bundle_place *places, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (places[i].name && places[i].reason != NAME_FOUND)
			return true;
	return false;
}

static void put_head(uint8_t *p, const struct bundle_head *h, size_t count, size_t text_bytes,
		     bool has_lines)
{
	memset(p, 0, HEAD_BYTES);
	le16_store(p, has_lines ? VERSION_LINES : VERSION_NAMES);
	p[2] = h->trust;
	p[3] = h->file.id.build_id.size_bytes;
	le32_store(p + 4, (uint32_t)count);
	le32_store(p + 8, (uint32_t)text_bytes);
	le32_store(p + 12, h->file.id.dev_major);
	le32_store(p + 16, h->file.id.dev_minor);
	p[20] = h->file.any_generation ? 0 : HAS_GENERATION;
	le64_store(p + 24, h->file.id.inode);
	le64_store(p + 56, h->file.id.inode_generation);
	memcpy(p + 32, h->file.id.build_id.bytes, BUILDID_MAX_BYTES);
}

static uint8_t *put_places(uint8_t *p, const struct bundle_place *places, size_t count,
			   const struct texts *t, bool has_lines)
{
	for (size_t i = 0; i < count; i++, p += place_bytes(has_lines)) {
		le64_store(p, places[i].offset);
		le32_store(p + 8, text_off(t, places[i].name));
		p[12] = places[i].reason;
		p[13] = places[i].is_return ? RETURN_FLAG : 0;
		if (!has_lines)
			continue;
		le16_store(p + 14, places[i].frame_count);
		le32_store(p + 16, places[i].first_frame);
	}
	return p;
}

static uint8_t *put_frames(uint8_t *p, const struct bundle_frames *frames, const struct texts *t)
{
	for (size_t i = 0; i < frames->count; i++, p += FRAME_BYTES) {
		le32_store(p, text_off(t, frames->list[i].function));
		le32_store(p + 4, text_off(t, frames->list[i].file));
		le32_store(p + 8, frames->list[i].line);
		le32_store(p + 12, frames->list[i].column);
	}
	return p;
}

static int encode(const struct bundle_head *head, const struct bundle_place *places, size_t count,
		  const struct bundle_frames *frames, bool has_lines, struct texts *t,
		  uint8_t **out, size_t *size_bytes)
{
	uint64_t text_bytes = strlen(head->file.path) + 1;
	uint8_t *data, *p;
	size_t i;

	text_bytes += strlen(head->symbols) + 1;
	for (i = 0; i < t->count; i++) {
		t->offs[i] = text_bytes;
		text_bytes += strlen(t->names[i]) + 1;
	}
	if (text_bytes >= NO_NAME || count >= UINT32_MAX || frames->count >= UINT32_MAX)
		return -EOVERFLOW;
	*size_bytes = HEAD_BYTES + place_bytes(has_lines) * count + FRAME_BYTES * frames->count +
		      (size_t)text_bytes;
	data = calloc(1, *size_bytes);
	if (!data)
		return -ENOMEM;
	put_head(data, head, count, (size_t)text_bytes, has_lines);
	if (has_lines)
		le32_store(data + 52, (uint32_t)frames->count);
	if (has_starts(places, count))
		le16_store(data, (uint16_t)(le16_load(data) + VERSION_STARTS));
	p = put_places(data + HEAD_BYTES, places, count, t, has_lines);
	p = put_frames(p, frames, t);
	p += put_text(p, head->file.path);
	p += put_text(p, head->symbols);
	for (i = 0; i < t->count; i++)
		p += put_text(p, t->names[i]);
	*out = data;
	return 0;
}

int bundle_encode(const struct bundle_head *head, struct bundle_place *places, size_t count,
		  const struct bundle_frames *frames, uint8_t **out, size_t *size_bytes)
{
	static const struct bundle_frames none = { 0 };
	const struct bundle_frames *all = frames ? frames : &none;
	struct texts t = { 0 };
	int err = -ENOMEM;

	if (count)
		qsort(places, count, sizeof(*places), by_place);
	t.names = distinct_names(places, count, all, &t.count);
	t.offs = calloc(t.count + 1, sizeof(*t.offs));
	if (t.names && t.offs)
		err = encode(head, places, count, all, frames, &t, out, size_bytes);
	free(t.names);
	free(t.offs);
	return err;
}

/* ---- reading ---- */

static bool is_text(const struct bundle *b, uint32_t off)
{
	return off == NO_NAME || off < b->text_bytes;
}

/* Checks what look-ups will trust: order, names within the texts, known reasons. */
static bool check_places(const struct bundle *b)
{
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < b->count; i++) {
		const uint8_t *p = b->places + i * b->place_bytes;
		uint64_t key = le64_load(p);
		uint32_t name = le32_load(p + 8);

		if ((i && key < last) || !is_text(b, name) || p[12] >= NAME_REASONS)
			return false;
		if (p[12] == NAME_FOUND ? name == NO_NAME : name != NO_NAME && !b->has_starts)
			return false;
		if (b->has_lines && (le32_load(p + 16) > b->frame_count ||
				     le16_load(p + 14) > b->frame_count - le32_load(p + 16)))
			return false;
		last = key;
	}
	return true;
}

static bool check_frames(const struct bundle *b)
{
	for (size_t i = 0; i < b->frame_count; i++)
		if (!is_text(b, le32_load(b->frames + i * FRAME_BYTES)) ||
		    !is_text(b, le32_load(b->frames + i * FRAME_BYTES + 4)))
			return false;
	return true;
}

static int read_head(struct bundle *b, const uint8_t *p, size_t size_bytes)
{
	size_t left = size_bytes - HEAD_BYTES;
	const char *symbols;

	b->has_starts = le16_load(p) > VERSION_LINES;
	b->has_lines = le16_load(p) == VERSION_LINES + (b->has_starts ? VERSION_STARTS : 0);
	b->place_bytes = place_bytes(b->has_lines);
	b->count = le32_load(p + 4);
	b->text_bytes = le32_load(p + 8);
	b->frame_count = b->has_lines ? le32_load(p + 52) : 0;
	if (p[2] >= NAME_TRUSTS || p[3] > BUILDID_MAX_BYTES || left / b->place_bytes < b->count)
		return -EBADMSG;
	left -= b->place_bytes * b->count;
	if (left / FRAME_BYTES < b->frame_count ||
	    left - FRAME_BYTES * b->frame_count != b->text_bytes)
		return -EBADMSG;
	b->places = p + HEAD_BYTES;
	b->frames = b->places + b->place_bytes * b->count;
	b->texts = (const char *)b->frames + FRAME_BYTES * b->frame_count;
	if (b->text_bytes < 2 || b->texts[b->text_bytes - 1])
		return -EBADMSG;
	symbols = b->texts + strlen(b->texts) + 1;
	if (symbols >= b->texts + b->text_bytes)
		return -EBADMSG;
	b->head = (struct bundle_head){
		.file.path = b->texts,
		.file.id.build_id.size_bytes = p[3],
		.file.id.dev_major = le32_load(p + 12),
		.file.id.dev_minor = le32_load(p + 16),
		.file.id.inode = le64_load(p + 24),
		.file.id.inode_generation = le64_load(p + 56),
		.file.any_generation = !(p[20] & HAS_GENERATION),
		.symbols = symbols,
		.trust = p[2],
	};
	memcpy(b->head.file.id.build_id.bytes, p + 32, p[3]);
	return check_places(b) && check_frames(b) ? 0 : -EBADMSG;
}

int bundle_decode(uint8_t *data, size_t size_bytes, struct bundle **out)
{
	struct bundle *b;
	int err;

	if (size_bytes < HEAD_BYTES)
		return -EBADMSG;
	if (le16_load(data) < VERSION_NAMES || le16_load(data) > VERSION_LINES + VERSION_STARTS)
		return -ENOTSUP;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	err = read_head(b, data, size_bytes);
	if (err) {
		free(b);
		return err;
	}
	b->data = data;
	b->size_bytes = size_bytes;
	*out = b;
	return 0;
}

void bundle_free(struct bundle *b)
{
	if (!b)
		return;
	free(b->data);
	free(b);
}

const struct bundle_head *bundle_head(const struct bundle *b)
{
	return &b->head;
}

const uint8_t *bundle_bytes(const struct bundle *b, size_t *size_bytes)
{
	*size_bytes = b->size_bytes;
	return b->data;
}

size_t bundle_count(const struct bundle *b)
{
	return b->count;
}

static const char *text_at(const struct bundle *b, uint32_t off)
{
	return off == NO_NAME ? NULL : b->texts + off;
}

bool bundle_has_lines(const struct bundle *b)
{
	return b->has_lines;
}

size_t bundle_frame_count(const struct bundle *b)
{
	return b->frame_count;
}

struct source_frame bundle_frame(const struct bundle *b, size_t i)
{
	const uint8_t *p = b->frames + i * FRAME_BYTES;

	return (struct source_frame){ text_at(b, le32_load(p)), text_at(b, le32_load(p + 4)),
				      le32_load(p + 8), le32_load(p + 12) };
}

static struct bundle_place place_at(const struct bundle *b, const uint8_t *p)
{
	return (struct bundle_place){
		.offset = le64_load(p),
		.name = text_at(b, le32_load(p + 8)),
		.is_return = p[13] & RETURN_FLAG,
		.reason = p[12],
		.frame_count = b->has_lines ? le16_load(p + 14) : 0,
		.first_frame = b->has_lines ? le32_load(p + 16) : 0,
	};
}

struct bundle_place bundle_place(const struct bundle *b, size_t i)
{
	return place_at(b, b->places + i * b->place_bytes);
}

bool bundle_find(const struct bundle *b, uint64_t offset, bool is_return, struct bundle_place *out)
{
	size_t low = lower_bound(i, 0, b->count,
				 le64_load(b->places + i * b->place_bytes) < offset);

	for (; low < b->count; low++) {
		const uint8_t *p = b->places + low * b->place_bytes;

		if (le64_load(p) != offset)
			return false;
		if ((p[13] & RETURN_FLAG) != is_return)
			continue;
		*out = place_at(b, p);
		return true;
	}
	return false;
}

/* ---- joining ---- */

/* Two tables to join. */
struct both {
	struct bundle_place *places;
	size_t count;
	struct source_frame *frames;
	size_t frame_count;
};

/* Adds what b knows, but where known does already. */
static void add_known(struct both *to, const struct bundle *b, const struct bundle *known)
{
	struct bundle_place place, other;

	for (size_t i = 0; i < b->count; i++) {
		place = bundle_place(b, i);
		if (known && bundle_find(known, place.offset, place.is_return, &other))
			continue;
		place.first_frame += (uint32_t)to->frame_count;
		to->places[to->count++] = place;
	}
	for (size_t i = 0; i < b->frame_count; i++)
		to->frames[to->frame_count++] = bundle_frame(b, i);
}

int bundle_join(const struct bundle *a, const struct bundle *b, uint8_t **out, size_t *size_bytes)
{
	struct both both = { 0 };
	struct bundle_head head = a->head;
	int err = -ENOMEM;

	if (a->frame_count + b->frame_count >= UINT32_MAX)
		return -EOVERFLOW;
	if (head.trust == NAME_BY_NOTHING) {
		head.trust = b->head.trust;
		head.symbols = b->head.symbols;
	}
	both.places = calloc(a->count + b->count + 1, sizeof(*both.places));
	both.frames = calloc(a->frame_count + b->frame_count + 1, sizeof(*both.frames));
	if (both.places && both.frames) {
		struct bundle_frames frames;

		add_known(&both, a, NULL);
		add_known(&both, b, a);
		frames = (struct bundle_frames){ both.frames, both.frame_count };
		err = bundle_encode(&head, both.places, both.count,
				    a->has_lines || b->has_lines ? &frames : NULL, out, size_bytes);
	}
	free(both.places);
	free(both.frames);
	return err;
}
