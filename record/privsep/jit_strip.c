/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/jit_strip.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/perf/jitdump.h"

#define WINDOW_BYTES (256u << 10)
#define MOST_BYTES   (JITDUMP_RECORD_BYTES + JITDUMP_LOAD_BYTES + JITDUMP_NAME_BYTES + 1)

/* A part of the file in memory: most records are small and come one after another. */
struct window {
	int fd;
	uint64_t at_bytes; /* of data[0] in the file */
	size_t size_bytes;
	uint8_t data[WINDOW_BYTES];
};

/* The bytes at an offset, as many as there are up to MOST_BYTES. */
static const uint8_t *look(struct window *w, uint64_t off_bytes, size_t *left_bytes)
{
	ssize_t n;

	if (off_bytes < w->at_bytes || off_bytes - w->at_bytes > w->size_bytes ||
	    w->size_bytes - (off_bytes - w->at_bytes) < MOST_BYTES) {
		n = pread(w->fd, w->data, sizeof(w->data), (off_t)off_bytes);
		w->at_bytes = off_bytes;
		w->size_bytes = n > 0 ? (size_t)n : 0;
	}
	*left_bytes = w->size_bytes - (size_t)(off_bytes - w->at_bytes);
	return w->data + (off_bytes - w->at_bytes);
}

/* The bytes of a record that are copied, its head included; 0: none. */
static size_t copied_bytes(const uint8_t *record, uint32_t id, size_t size_bytes)
{
	const size_t name_off = JITDUMP_RECORD_BYTES + JITDUMP_LOAD_BYTES;
	size_t name_bytes;

	if (id == JITDUMP_MOVE)
		return size_bytes;
	if (id != JITDUMP_LOAD || size_bytes < name_off)
		return 0;
	name_bytes = strnlen((const char *)record + name_off, size_bytes - name_off);
	return name_off + name_bytes + (name_off + name_bytes < size_bytes);
}

static void add_record(struct outbuf *out, const uint8_t *record, size_t size_bytes)
{
	outbuf_add(out, record, 4);
	outbuf_u32(out, (uint32_t)size_bytes);
	outbuf_add(out, record + 8, size_bytes - 8);
}

static bool strip(struct window *w, uint64_t off_bytes, struct outbuf *out, size_t end_bytes)
{
	const uint8_t *record;
	uint32_t id, size_bytes;
	size_t left_bytes, keep;

	while (outbuf_ok(out)) {
		record = look(w, off_bytes, &left_bytes);
		if (left_bytes < JITDUMP_RECORD_BYTES)
			return true;
		id = le32_load(record);
		size_bytes = le32_load(record + 4);
		if (size_bytes < JITDUMP_RECORD_BYTES)
			return true;
		keep = copied_bytes(record, id, size_bytes < left_bytes ? size_bytes : left_bytes);
		if (keep > MOST_BYTES)
			keep = MOST_BYTES;
		if (keep && keep > end_bytes - out->size_bytes)
			return false;
		if (keep)
			add_record(out, record, keep);
		off_bytes += size_bytes;
	}
	return true;
}

bool jitstrip(int fd, struct outbuf *out, size_t limit_bytes)
{
	struct window *w = malloc(sizeof(*w));
	size_t left_bytes, end_bytes = out->size_bytes + limit_bytes;
	struct jitdump_header header;
	const uint8_t *bytes;
	struct cursor c;
	bool complete = true;

	if (!w)
		return false;
	w->fd = fd;
	w->at_bytes = w->size_bytes = 0;
	bytes = look(w, 0, &left_bytes);
	c = cursor_of(bytes, left_bytes);
	if (limit_bytes > MOST_BYTES && !jitdump_header(&c, &header)) {
		complete = c.off_bytes <= limit_bytes;
		if (complete)
			outbuf_add(out, bytes, c.off_bytes);
		complete = complete && strip(w, header.size_bytes, out, end_bytes);
	}
	free(w);
	return complete;
}
