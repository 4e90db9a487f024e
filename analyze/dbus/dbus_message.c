/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/dbus/dbus_message.h"

#include <errno.h>
#include <string.h>

#include "format/base/cursor.h"

enum { HEADER_BYTES = 16, FLAG_NO_REPLY = 1, VERSION = 1 };

/* Codes of fields. */
enum {
	FIELD_INTERFACE = 2,
	FIELD_MEMBER,
	FIELD_ERROR,
	FIELD_REPLY_SERIAL,
	FIELD_DESTINATION,
	FIELD_SENDER,
};

struct reader {
	const uint8_t *bytes;
	size_t at, end;
	bool is_big; /* the most significant byte comes first */
};

/* From the beginning of the message on.  False: it ends there. */
static bool align(struct reader *r, size_t to)
{
	size_t at = (r->at + to - 1) / to * to;

	if (at > r->end)
		return false;
	r->at = at;
	return true;
}

static bool read_byte(struct reader *r, uint8_t *out)
{
	if (r->at == r->end)
		return false;
	*out = r->bytes[r->at++];
	return true;
}

static bool read_number(struct reader *r, uint32_t *out)
{
	uint32_t value;

	if (!align(r, 4) || r->end - r->at < 4)
		return false;
	value = le32_load(r->bytes + r->at);
	*out = r->is_big ? __builtin_bswap32(value) : value;
	r->at += 4;
	return true;
}

/* A text of so many bytes and a NUL. */
static bool read_text(struct reader *r, uint32_t size_bytes, char *out)
{
	if (size_bytes >= r->end - r->at || r->bytes[r->at + size_bytes])
		return false;
	if (out) {
		if (size_bytes >= DBUS_NAME_MAX || memchr(r->bytes + r->at, 0, size_bytes))
			return false;
		memcpy(out, r->bytes + r->at, size_bytes + 1);
	}
	r->at += size_bytes + 1;
	return true;
}

static char *text_of(struct dbus_message *m, uint8_t code)
{
	switch (code) {
	case FIELD_INTERFACE:
		return m->interface;
	case FIELD_MEMBER:
		return m->member;
	case FIELD_ERROR:
		return m->error;
	case FIELD_DESTINATION:
		return m->destination;
	case FIELD_SENDER:
		return m->sender;
	default:
		return NULL;
	}
}

/* A code, and a value of one of the types that fields of a header have. */
static bool read_field(struct reader *r, struct dbus_message *m)
{
	uint8_t code, one, type, end, bytes;
	uint32_t value;

	if (!align(r, 8) || !read_byte(r, &code) || !read_byte(r, &one) || one != 1 ||
	    !read_byte(r, &type) || !read_byte(r, &end) || end)
		return false;
	switch (type) {
	case 's':
	case 'o':
		return read_number(r, &value) &&
		       read_text(r, value, type == 's' ? text_of(m, code) : NULL);
	case 'g':
		return read_byte(r, &bytes) && read_text(r, bytes, NULL);
	case 'u':
		if (!read_number(r, &value))
			return false;
		if (code == FIELD_REPLY_SERIAL)
			m->reply_serial = value;
		return true;
	default:
		return false;
	}
}

int dbus_message_parse(const uint8_t *bytes, size_t size_bytes, struct dbus_message *out)
{
	struct reader r = { .bytes = bytes, .at = 8, .end = size_bytes };
	struct dbus_message m = { 0 };
	uint32_t fields_bytes;

	if (size_bytes < HEADER_BYTES || (bytes[0] != 'l' && bytes[0] != 'B') ||
	    bytes[3] != VERSION)
		return -EBADMSG;
	r.is_big = bytes[0] == 'B';
	m.type = bytes[1];
	m.wants_reply = m.type == DBUS_CALL && !(bytes[2] & FLAG_NO_REPLY);
	if (!read_number(&r, &m.serial) || !read_number(&r, &fields_bytes) ||
	    fields_bytes > size_bytes - HEADER_BYTES)
		return -EBADMSG;
	r.end = HEADER_BYTES + fields_bytes;
	while (r.at < r.end)
		if (!read_field(&r, &m))
			return -EBADMSG;
	*out = m;
	return 0;
}
