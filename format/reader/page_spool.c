/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/reader/page_spool.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/full_io.h"
#include "format/base/base64.h"
#include "format/base/crc32c.h"

#define PAGE_BEGIN  "<!DOCTYPE html>"
#define BLOCK_BEGIN "<script type=\"application/x-ebprec\" data-bytes=\""
#define BLOCK_CRC   "\" data-crc32c=\""
#define BLOCK_ID    "\" id=\"capture\">"
#define BLOCK_END   "</script>"
#define HEAD_MOST   64 /* characters between BLOCK_BEGIN and the base64 */

#define SCAN_BYTES  (256u << 10)
#define CHUNK_BYTES (48u << 10) /* of the capture; a multiple of 3 */

/* ---- writing ---- */

bool page_spool_add(struct outbuf *out, const struct source *capture)
{
	uint8_t *chunk = malloc(CHUNK_BYTES);
	size_t crc_at, size = 1;
	char text[9];
	uint32_t crc = 0;

	outbuf_printf(out, BLOCK_BEGIN "%" PRIu64 BLOCK_CRC, capture->size_bytes);
	crc_at = out->size_bytes;
	outbuf_printf(out, "........" BLOCK_ID);
	for (uint64_t at = 0; chunk && size && at < capture->size_bytes; at += size) {
		uint64_t left = capture->size_bytes - at;
		size_t wanted = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;

		size = source_read(capture, at, chunk, wanted) == wanted ? wanted : 0;
		crc = crc32c(crc, chunk, size);
		base64_add(out, chunk, size);
	}
	outbuf_add(out, BLOCK_END "\n", sizeof(BLOCK_END));
	snprintf(text, sizeof(text), "%08" PRIx32, crc);
	if (outbuf_ok(out))
		memcpy(out->data + crc_at, text, 8);
	out->bad |= !chunk;
	free(chunk);
	return size > 0;
}

/* ---- reading ---- */

struct block {
	uint64_t off_bytes; /* of the base64 */
	uint64_t capture_bytes;
	uint32_t crc;
};

bool page_spool_is(const struct source *s)
{
	char begin[sizeof(PAGE_BEGIN) - 1];

	return source_read(s, 0, begin, sizeof(begin)) == sizeof(begin) &&
	       !memcmp(begin, PAGE_BEGIN, sizeof(begin));
}

/* *off_bytes: behind the first BLOCK_BEGIN. */
static bool find_block(struct window *w, uint64_t *off_bytes)
{
	const size_t wanted = sizeof(BLOCK_BEGIN) - 1;
	uint64_t at = 0;

	for (;;) {
		uint64_t left = w->source->size_bytes - at;
		size_t size = left < SCAN_BYTES ? (size_t)left : SCAN_BYTES;
		const uint8_t *text = window_at(w, at, size), *hit;

		hit = text ? memmem(text, size, BLOCK_BEGIN, wanted) : NULL;
		if (hit) {
			*off_bytes = at + (uint64_t)(hit - text) + wanted;
			return true;
		}
		if (!text || size < SCAN_BYTES)
			return false;
		at += size - (wanted - 1);
	}
}

static bool skip_text(char **at, const char *text)
{
	size_t size = strlen(text);

	if (strncmp(*at, text, size) != 0)
		return false;
	*at += size;
	return true;
}

/* Its length and checksum, and that there is room for so much. */
static bool read_head(const struct source *s, struct block *b)
{
	char text[HEAD_MOST + 1], *at = text;
	uint64_t chars;

	text[source_read(s, b->off_bytes, text, HEAD_MOST)] = '\0';
	if (!isdigit((unsigned char)*at))
		return false;
	b->capture_bytes = strtoull(at, &at, 10);
	if (!skip_text(&at, BLOCK_CRC) || !isxdigit((unsigned char)*at))
		return false;
	b->crc = (uint32_t)strtoul(at, &at, 16);
	if (!skip_text(&at, BLOCK_ID))
		return false;
	b->off_bytes += (uint64_t)(at - text);
	chars = b->capture_bytes <= s->size_bytes ? base64_chars(b->capture_bytes) : UINT64_MAX;
	return chars <= s->size_bytes - b->off_bytes;
}

static int copy_capture(struct window *w, const struct block *b, int fd, struct parse_err *err)
{
	static const char what[] = "the capture in the page is not complete, or was changed";
	uint8_t *chunk = malloc(CHUNK_BYTES);
	uint64_t at = b->off_bytes, end = at + base64_chars(b->capture_bytes), total = 0;
	uint32_t crc = 0;
	int ret = chunk ? 0 : -ENOMEM;
	const uint8_t *text;

	while (!ret && at < end) {
		size_t chars = end - at < CHUNK_BYTES ? (size_t)(end - at) : CHUNK_BYTES, size;

		text = window_at(w, at, chars);
		if (!text || !base64_decode(text, chars, chunk, &size)) {
			ret = parse_fail(err, -EBADMSG, at, what);
			break;
		}
		crc = crc32c(crc, chunk, size);
		total += size;
		at += chars;
		ret = full_write(fd, chunk, size);
	}
	free(chunk);
	if (ret)
		return ret;
	text = window_at(w, end, sizeof(BLOCK_END) - 1);
	if (!text || memcmp(text, BLOCK_END, sizeof(BLOCK_END) - 1) != 0 ||
	    total != b->capture_bytes || crc != b->crc)
		return parse_fail(err, -EBADMSG, end, what);
	return 0;
}

int page_spool_take(const struct source *s, int fd, uint64_t *size_bytes, struct parse_err *err)
{
	struct block b;
	struct window w;
	int ret;

	window_init(&w, s, SCAN_BYTES);
	if (!find_block(&w, &b.off_bytes))
		ret = parse_fail(err, -EBADMSG, 0,
				 "a page that carries no capture (ebprec report --html FILE "
				 "--with-capture makes one that does)");
	else if (!read_head(s, &b))
		ret = parse_fail(err, -EBADMSG, b.off_bytes,
				 "the page is not as long as the capture that it carries");
	else
		ret = copy_capture(&w, &b, fd, err);
	if (w.no_memory)
		ret = -ENOMEM;
	window_done(&w);
	if (!ret)
		*size_bytes = b.capture_bytes;
	return ret;
}
