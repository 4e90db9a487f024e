/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/capture_meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *capture_meta_read(const struct capture *c, uint64_t object)
{
	size_t count, size_bytes;
	const struct capture_object *o = capture_objects(c, &count);
	uint8_t *data;
	char *text;

	while (count--) {
		if (o[count].kind != EBX_META || o[count].object != object || !o[count].whole ||
		    capture_object_read(c, &o[count], &data, &size_bytes))
			continue;
		text = strndup((const char *)data, size_bytes);
		free(data);
		return text;
	}
	return NULL;
}

char *capture_meta_notes(const struct capture *c)
{
	size_t count, size_bytes, all_bytes;
	const struct capture_object *o = capture_objects(c, &count);
	char *text = NULL;
	uint8_t *data;
	FILE *to = NULL;

	for (; count--; o++) {
		if (o->kind != EBX_NOTE || !o->whole ||
		    capture_object_read(c, o, &data, &size_bytes))
			continue;
		if (!to)
			to = open_memstream(&text, &all_bytes);
		if (to)
			fwrite(data, 1, size_bytes, to);
		free(data);
	}
	if (to && fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}

const char *capture_meta_after(const char *text, const char *key)
{
	size_t size = strlen(key);

	for (; (text = strstr(text, key)); text += size) {
		if (text[-1] != '"' || text[size] != '"' || text[size + 1] != ':')
			continue;
		text += size + 2;
		return text + strspn(text, " \n\t");
	}
	return NULL;
}

bool capture_meta_is(const char *text, const char *key, const char *value)
{
	const char *at = capture_meta_after(text, key);

	return at && !strncmp(at, value, strlen(value));
}

/* The character below U+10000 as UTF-8; returns its bytes. */
static size_t put_utf8(unsigned code, char *out)
{
	if (code < 0x80) {
		*out = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | code >> 12);
	out[1] = (char)(0x80 | (code >> 6 & 0x3f));
	out[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

/* What the escape stands for, in *out_bytes, and how long that is; 0: not known. */
static size_t unescape(const char *at, char *out, size_t *out_bytes)
{
	unsigned value = 0;

	if (at[1] == '"' || at[1] == '\\' || at[1] == '/') {
		*out = at[1];
		*out_bytes = 1;
		return 2;
	}
	if (at[1] != 'u' || strspn(at + 2, "0123456789abcdefABCDEF") < 4 ||
	    sscanf(at + 2, "%4x", &value) != 1 || !value || (value & 0xf800) == 0xd800)
		return 0;
	*out_bytes = put_utf8(value, out);
	return 6;
}

char *capture_meta_string(const char *text, const char **end)
{
	char *out, *to;
	size_t bytes, made;

	if (!text || *text++ != '"')
		return NULL;
	out = to = malloc(strlen(text) + 1);
	while (out && *text && *text != '"') {
		bytes = made = 1;
		*to = *text;
		if (*text == '\\')
			bytes = unescape(text, to, &made);
		if (!bytes)
			break;
		text += bytes;
		to += made;
	}
	if (!out || *text != '"') {
		free(out);
		return NULL;
	}
	*to = '\0';
	*end = text + 1;
	return out;
}

static const char *element(const char *at)
{
	at += strspn(at, " \n\t");
	return *at && *at != ']' ? at : NULL;
}

const char *capture_meta_first(const char *array)
{
	return array && *array == '[' ? element(array + 1) : NULL;
}

const char *capture_meta_next(const char *behind)
{
	behind += strspn(behind, " \n\t");
	return *behind == ',' ? element(behind + 1) : NULL;
}

bool capture_meta_number(const char *text, const char *key, uint64_t *out)
{
	const char *at = key ? capture_meta_after(text, key) : text;
	char *end;
	uint64_t value;

	if (!at || *at < '0' || *at > '9')
		return false;
	value = strtoull(at, &end, 10);
	if (end == at)
		return false;
	*out = value;
	return true;
}

size_t capture_meta_gaps(const struct capture *c, struct time_span *gaps, size_t max)
{
	char *text = capture_meta_read(c, EBX_META_PARTS);
	const char *at = text;
	uint64_t from_ns, to_ns, end_ns = 0;
	size_t count = 0;

	while (at && (at = capture_meta_after(at, "from_mono_ns")) &&
	       capture_meta_number(at, NULL, &from_ns) &&
	       capture_meta_number(at, "to_mono_ns", &to_ns)) {
		if (end_ns && from_ns > end_ns && count < max)
			gaps[count++] = (struct time_span){ end_ns, from_ns };
		end_ns = to_ns > end_ns ? to_ns : end_ns;
	}
	free(text);
	return count;
}
