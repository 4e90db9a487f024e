/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/tracepoint/format_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"

/* The number behind "key:" in [line, end); UINT32_MAX: none. */
static uint32_t number_behind(const char *line, const char *end, const char *key)
{
	const char *at = memmem(line, (size_t)(end - line), key, strlen(key));

	return at ? (uint32_t)strtoul(at + strlen(key), NULL, 10) : UINT32_MAX;
}

/* "\tfield:TYPE NAME[16];\toffset:8;\tsize:16;\tsigned:0;" */
static bool read_field(const char *line, const char *end, struct tracepoint_format_text_field *out)
{
	const char *semicolon = memchr(line, ';', (size_t)(end - line)), *name, *bracket;
	struct tracepoint_format_text_field f = { 0 };
	size_t bytes;

	if (!semicolon || strncmp(line, "\tfield:", 7) != 0)
		return false;
	name = memrchr(line, ' ', (size_t)(semicolon - line));
	if (!name)
		return false;
	name++;
	f.off_bytes = number_behind(semicolon, end, "offset:");
	f.size_bytes = number_behind(semicolon, end, "size:");
	f.is_signed = number_behind(semicolon, end, "signed:") == 1;
	f.is_elsewhere = !strncmp(line + 7, "__data_loc char[] ", 18);
	bracket = memchr(name, '[', (size_t)(semicolon - name));
	f.is_text = f.is_elsewhere ||
		    (bracket && memmem(line, (size_t)(name - line), "char ", 5) != NULL);
	bytes = (size_t)((bracket ? bracket : semicolon) - name);
	if (!bytes || bytes >= sizeof(f.name) || f.off_bytes > 4096 || f.size_bytes > 4096 ||
	    !strncmp(name, "common_", 7))
		return false;
	memcpy(f.name, name, bytes);
	*out = f;
	return f.is_elsewhere ? f.size_bytes == 4
	       : f.is_text    ? f.size_bytes > 0
			      : f.size_bytes == 1 || f.size_bytes == 2 || f.size_bytes == 4 ||
				     f.size_bytes == 8;
}

int tracepoint_format_text_from_format(const char *format, struct tracepoint_format_text *out)
{
	struct tracepoint_format_text t = { .size_bytes = 8 };
	struct tracepoint_format_text_field *f;

	for (const char *line = format, *end; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		f = &t.field[t.count];
		if (t.count == TRACEPOINT_FORMAT_TEXT_FIELDS_MAX || !read_field(line, end, f))
			continue;
		if (f->off_bytes + f->size_bytes > t.size_bytes)
			t.size_bytes = f->off_bytes + f->size_bytes;
		t.count++;
	}
	if (!strstr(format, "format:\n"))
		return -EBADMSG;
	*out = t;
	return 0;
}

static long long number(const struct tracepoint_format_text_field *f, const uint8_t *at)
{
	switch (f->size_bytes) {
	case 1:
		return f->is_signed ? (long long)(int8_t)*at : (long long)*at;
	case 2:
		return f->is_signed ? (long long)(int16_t)le16_load(at) : (long long)le16_load(at);
	case 4:
		return f->is_signed ? (long long)(int32_t)le32_load(at) : (long long)le32_load(at);
	default:
		return (long long)le64_load(at);
	}
}

void tracepoint_format_text_write(const struct tracepoint_format_text *t, const uint8_t *raw,
				  size_t raw_bytes, char *out, size_t out_bytes)
{
	const char *blank = "";
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < t->count && used < out_bytes - 1; i++) {
		const struct tracepoint_format_text_field *f = &t->field[i];
		size_t off = f->off_bytes, bytes = f->size_bytes;

		if (off > raw_bytes || raw_bytes - off < bytes)
			continue;
		if (f->is_elsewhere) {
			bytes = le16_load(raw + off + 2);
			off = le16_load(raw + off);
			if (off > raw_bytes)
				continue;
			if (bytes > raw_bytes - off)
				bytes = raw_bytes - off; /* the kernel gave us only the beginning */
		}
		used += (size_t)snprintf(out + used, out_bytes - used, "%s%s=", blank, f->name);
		blank = " ";
		if (used >= out_bytes - 1)
			break;
		if (f->is_text)
			used += (size_t)snprintf(out + used, out_bytes - used, "%.*s",
						 (int)strnlen((const char *)raw + off, bytes),
						 (const char *)raw + off);
		else if (f->size_bytes == 8 && !f->is_signed)
			used += (size_t)snprintf(out + used, out_bytes - used, "%llu",
						 (unsigned long long)number(f, raw + off));
		else
			used += (size_t)snprintf(out + used, out_bytes - used, "%lld",
						 number(f, raw + off));
	}
}
