/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/cursor.h"

#define VERSION     1
#define HEAD_BYTES  64
#define PLACE_BYTES 16
#define NO_NAME     UINT32_MAX
#define RETURN_FLAG 1

struct bundle {
	uint8_t *data; /* owned */
	struct bundle_head head;
	const uint8_t *places;
	size_t count;
	const char *texts; /* each ends with a NUL, the last one, too */
	size_t text_bytes;
};

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

/* The distinct names, sorted; *count of them.  Owned. */
static const char **distinct_names(const struct bundle_place *places, size_t count, size_t *kept)
{
	const char **names = calloc(count + 1, sizeof(*names));
	size_t i, used = 0;

	if (!names)
		return NULL;
	for (i = 0; i < count; i++)
		if (places[i].name)
			names[used++] = places[i].name;
	if (used)
		qsort(names, used, sizeof(*names), by_name);
	*kept = 0;
	for (i = 0; i < used; i++)
		if (!*kept || strcmp(names[*kept - 1], names[i]) != 0)
			names[(*kept)++] = names[i];
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

static void put_head(uint8_t *p, const struct bundle_head *h, size_t count, size_t text_bytes)
{
	memset(p, 0, HEAD_BYTES);
	le16_store(p, VERSION);
	p[2] = h->trust;
	p[3] = h->file.build_id.size_bytes;
	le32_store(p + 4, (uint32_t)count);
	le32_store(p + 8, (uint32_t)text_bytes);
	le32_store(p + 12, h->file.dev_major);
	le32_store(p + 16, h->file.dev_minor);
	le64_store(p + 24, h->file.inode);
	memcpy(p + 32, h->file.build_id.bytes, BUILDID_MAX_BYTES);
}

static int encode(const struct bundle_head *head, const struct bundle_place *places, size_t count,
		  struct texts *t, uint8_t **out, size_t *size_bytes)
{
	uint64_t text_bytes = strlen(head->file.path) + 1;
	uint8_t *data, *p;
	size_t i;

	text_bytes += strlen(head->symbols) + 1;
	for (i = 0; i < t->count; i++) {
		t->offs[i] = text_bytes;
		text_bytes += strlen(t->names[i]) + 1;
	}
	if (text_bytes >= NO_NAME || count >= UINT32_MAX)
		return -EOVERFLOW;
	*size_bytes = HEAD_BYTES + PLACE_BYTES * count + (size_t)text_bytes;
	data = calloc(1, *size_bytes);
	if (!data)
		return -ENOMEM;
	put_head(data, head, count, (size_t)text_bytes);
	p = data + HEAD_BYTES;
	for (i = 0; i < count; i++, p += PLACE_BYTES) {
		le64_store(p, places[i].offset);
		le32_store(p + 8, text_off(t, places[i].name));
		p[12] = places[i].reason;
		p[13] = places[i].is_return ? RETURN_FLAG : 0;
	}
	p += put_text(p, head->file.path);
	p += put_text(p, head->symbols);
	for (i = 0; i < t->count; i++)
		p += put_text(p, t->names[i]);
	*out = data;
	return 0;
}

int bundle_encode(const struct bundle_head *head, struct bundle_place *places, size_t count,
		  uint8_t **out, size_t *size_bytes)
{
	struct texts t = { 0 };
	int err = -ENOMEM;

	if (count)
		qsort(places, count, sizeof(*places), by_place);
	t.names = distinct_names(places, count, &t.count);
	t.offs = calloc(t.count + 1, sizeof(*t.offs));
	if (t.names && t.offs)
		err = encode(head, places, count, &t, out, size_bytes);
	free(t.names);
	free(t.offs);
	return err;
}

/* ---- reading ---- */

/* Checks what look-ups will trust: order, names within the texts, known reasons. */
static bool check_places(const struct bundle *b)
{
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < b->count; i++) {
		const uint8_t *p = b->places + i * PLACE_BYTES;
		uint64_t key = le64_load(p);
		uint32_t name = le32_load(p + 8);

		if ((i && key < last) || (name != NO_NAME && name >= b->text_bytes) ||
		    p[12] >= NAME_REASONS || (name == NO_NAME) != (p[12] != NAME_FOUND))
			return false;
		last = key;
	}
	return true;
}

static int read_head(struct bundle *b, const uint8_t *p, size_t size_bytes)
{
	const char *symbols;

	b->count = le32_load(p + 4);
	b->text_bytes = le32_load(p + 8);
	if (p[2] >= NAME_TRUSTS || p[3] > BUILDID_MAX_BYTES ||
	    (size_bytes - HEAD_BYTES) / PLACE_BYTES < b->count ||
	    size_bytes - HEAD_BYTES - PLACE_BYTES * b->count != b->text_bytes)
		return -EBADMSG;
	b->places = p + HEAD_BYTES;
	b->texts = (const char *)p + HEAD_BYTES + PLACE_BYTES * b->count;
	if (b->text_bytes < 2 || b->texts[b->text_bytes - 1])
		return -EBADMSG;
	symbols = b->texts + strlen(b->texts) + 1;
	if (symbols >= b->texts + b->text_bytes)
		return -EBADMSG;
	b->head = (struct bundle_head){
		.file.path = b->texts,
		.file.build_id.size_bytes = p[3],
		.file.dev_major = le32_load(p + 12),
		.file.dev_minor = le32_load(p + 16),
		.file.inode = le64_load(p + 24),
		.symbols = symbols,
		.trust = p[2],
	};
	memcpy(b->head.file.build_id.bytes, p + 32, p[3]);
	return check_places(b) ? 0 : -EBADMSG;
}

int bundle_decode(uint8_t *data, size_t size_bytes, struct bundle **out)
{
	struct bundle *b;
	int err;

	if (size_bytes < HEAD_BYTES)
		return -EBADMSG;
	if (le16_load(data) != VERSION)
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

size_t bundle_count(const struct bundle *b)
{
	return b->count;
}

bool bundle_find(const struct bundle *b, uint64_t offset, bool is_return, struct bundle_place *out)
{
	size_t low = 0, high = b->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (le64_load(b->places + mid * PLACE_BYTES) < offset)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < b->count; low++) {
		const uint8_t *p = b->places + low * PLACE_BYTES;
		uint32_t name = le32_load(p + 8);

		if (le64_load(p) != offset)
			return false;
		if ((p[13] & RETURN_FLAG) != is_return)
			continue;
		*out = (struct bundle_place){ offset, name == NO_NAME ? NULL : b->texts + name,
					      is_return, p[12] };
		return true;
	}
	return false;
}
