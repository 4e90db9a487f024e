/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/payload/context_record.h"

#include <errno.h>
#include <string.h>

#define SERVICE_NAME "service.name"
#define UNNAMED      "unknown_service" /* ":" and the program may follow */

/* Fields of the messages that the name lies in. */
enum {
	CONTEXT_RESOURCE = 1,
	RESOURCE_ATTRIBUTES = 1,
	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2,
	VALUE_STRING = 1
};

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

void context_record_encode(const struct context_record *r, uint8_t out[CONTEXT_RECORD_HEAD_BYTES])
{
	memset(out, 0, CONTEXT_RECORD_HEAD_BYTES);
	le32_store(out, CONTEXT_RECORD_HEAD_BYTES + r->size_bytes);
	le32_store(out + 4, r->pid);
	le64_store(out + CONTEXT_RECORD_TIME_OFF, r->since_ns);
	le32_store(out + 16, r->size_bytes);
}

int context_record_next(struct cursor *c, struct context_record *out)
{
	struct context_record r;
	struct cursor entry;
	uint32_t size;

	if (!cursor_left(c))
		return 0;
	if (cursor_left(c) < CONTEXT_RECORD_HEAD_BYTES)
		return -EBADMSG;
	size = le32_load(c->data + c->off_bytes);
	if (size < CONTEXT_RECORD_HEAD_BYTES || size > cursor_left(c))
		return -EBADMSG;
	entry = cursor_of(cursor_bytes(c, size), size); /* a later version may add fields */
	cursor_skip(&entry, 4);
	r.pid = cursor_u32(&entry);
	r.since_ns = cursor_u64(&entry);
	r.size_bytes = cursor_u32(&entry);
	cursor_skip(&entry, 4);
	r.message = cursor_bytes(&entry, r.size_bytes);
	if (!cursor_ok(&entry))
		return -EBADMSG;
	*out = r;
	return 1;
}

/* ---- the message ---- */

static uint64_t read_varint(struct cursor *c)
{
	uint64_t value = 0;
	uint8_t byte;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		byte = cursor_u8(c);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->bad = true;
	return 0;
}

/*
 * The next field `number` of a message that is a message, bytes or a text.  False: there is none any more, or the message
 * is broken.
 */
static bool next_bytes(struct cursor *c, uint64_t number, struct cursor *out)
{
	while (cursor_ok(c) && cursor_left(c)) {
		uint64_t tag = read_varint(c), size;
		const uint8_t *bytes;

		switch (tag & 7) {
		case WIRE_VARINT:
			(void)read_varint(c);
			break;
		case WIRE_FIXED64:
			cursor_skip(c, 8);
			break;
		case WIRE_FIXED32:
			cursor_skip(c, 4);
			break;
		case WIRE_BYTES:
			size = read_varint(c);
			bytes = size <= cursor_left(c) ? cursor_bytes(c, size) : NULL;
			c->bad |= !bytes;
			if (bytes && tag >> 3 == number) {
				*out = cursor_of(bytes, size);
				return true;
			}
			break;
		default:
			c->bad = true;
		}
	}
	return false;
}

static bool is_text(const struct cursor *c, const char *text)
{
	return c->size_bytes == strlen(text) && !memcmp(c->data, text, c->size_bytes);
}

static bool is_name(const uint8_t *name, size_t name_bytes)
{
	const size_t unnamed_bytes = strlen(UNNAMED);

	if (!name_bytes || name_bytes > CONTEXT_RECORD_NAME_MAX)
		return false;
	for (size_t i = 0; i < name_bytes; i++)
		if (name[i] < 0x20 || name[i] == 0x7f)
			return false;
	return name_bytes < unnamed_bytes || memcmp(name, UNNAMED, unnamed_bytes) != 0 ||
	       (name_bytes > unnamed_bytes && name[unnamed_bytes] != ':');
}

/* The string value of an attribute of this key. */
static bool read_attribute(struct cursor attribute, struct cursor *out)
{
	struct cursor values = attribute, key, value;

	return next_bytes(&attribute, ATTRIBUTE_KEY, &key) && is_text(&key, SERVICE_NAME) &&
	       next_bytes(&values, ATTRIBUTE_VALUE, &value) &&
	       next_bytes(&value, VALUE_STRING, out);
}

bool context_record_service(const uint8_t *message, size_t size_bytes, const char **name,
			    size_t *name_bytes)
{
	struct cursor context = cursor_of(message, size_bytes), resource, attribute, found;
	bool has = false;

	while (next_bytes(&context, CONTEXT_RESOURCE, &resource)) {
		while (next_bytes(&resource, RESOURCE_ATTRIBUTES, &attribute))
			if (!has && read_attribute(attribute, &found))
				has = true;
		context.bad |= !cursor_ok(&resource);
	}
	if (!has || !cursor_ok(&context) || !is_name(found.data, found.size_bytes))
		return false;
	*name = (const char *)found.data;
	*name_bytes = found.size_bytes;
	return true;
}

/* Puts the beginning of a field that is bytes of this size. */
static size_t put_field(uint8_t *out, unsigned number, size_t size_bytes)
{
	size_t used = 0;

	out[used++] = (uint8_t)(number << 3 | WIRE_BYTES);
	for (; size_bytes > 0x7f; size_bytes >>= 7)
		out[used++] = (uint8_t)(size_bytes | 0x80);
	out[used++] = (uint8_t)size_bytes;
	return used;
}

static size_t field_bytes(size_t size_bytes)
{
	uint8_t head[8];

	return put_field(head, 1, size_bytes) + size_bytes;
}

size_t context_record_message(const char *name, size_t name_bytes, uint8_t *out)
{
	const size_t value = field_bytes(name_bytes),
		     attribute = field_bytes(strlen(SERVICE_NAME)) + field_bytes(value),
		     resource = field_bytes(attribute);
	uint8_t own[CONTEXT_RECORD_NAME_MAX];
	size_t used = 0;

	memcpy(own, name, name_bytes); /* it may lie where the message is put */
	used += put_field(out + used, CONTEXT_RESOURCE, resource);
	used += put_field(out + used, RESOURCE_ATTRIBUTES, attribute);
	used += put_field(out + used, ATTRIBUTE_KEY, strlen(SERVICE_NAME));
	memcpy(out + used, SERVICE_NAME, strlen(SERVICE_NAME));
	used += strlen(SERVICE_NAME);
	used += put_field(out + used, ATTRIBUTE_VALUE, value);
	used += put_field(out + used, VALUE_STRING, name_bytes);
	memcpy(out + used, own, name_bytes);
	return used + name_bytes;
}
