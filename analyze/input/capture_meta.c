/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/capture_meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/text/json_reader.h"

static struct capture_meta_value value_of(const char *text, size_t size_bytes)
{
	return (struct capture_meta_value){ text, size_bytes };
}

static const struct capture_meta_value none;

/* From the token that is next; what is before it are blanks.  The text was read once, and is JSON. */
static struct capture_meta_value next_value(struct json_reader *j)
{
	size_t from = j->at;

	while (from < j->size_bytes && j->data[from] && strchr(" \t\r\n", j->data[from]))
		from++;
	return json_reader_skip(j) ? none : value_of(j->data + from, j->at - from);
}

static bool is_json(const char *text, size_t size_bytes)
{
	struct json_reader j = { .data = text, .size_bytes = size_bytes };
	int token;

	do
		token = json_reader_next(&j);
	while (token > 0);
	return token == JSON_READER_END;
}

struct capture_meta_value capture_meta_read(const struct capture *c, uint64_t object)
{
	size_t count, size_bytes;
	const struct capture_object *o = capture_objects(c, &count);
	uint8_t *data;
	char *text;

	while (count--) {
		if (o[count].kind != EBX_META || o[count].object != object ||
		    !o[count].is_complete || capture_object_read(c, &o[count], &data, &size_bytes))
			continue;
		text = is_json((const char *)data, size_bytes) ? calloc(1, size_bytes + 1) : NULL;
		if (text)
			memcpy(text, data, size_bytes); /* and a NUL behind it */
		free(data);
		return text ? value_of(text, size_bytes) : none;
	}
	return none;
}

void capture_meta_free(struct capture_meta_value v)
{
	free((void *)(uintptr_t)v.text);
}

char *capture_meta_notes(const struct capture *c)
{
	size_t count, size_bytes, all_bytes;
	const struct capture_object *o = capture_objects(c, &count);
	char *text = NULL;
	uint8_t *data;
	FILE *to = NULL;

	for (; count--; o++) {
		if (o->kind != EBX_NOTE || !o->is_complete ||
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

/* Names of a kind; returns how many. */
static size_t put_selected(struct capture_meta_value selection, const char *key, const char *kind,
			   bool is_first, FILE *to)
{
	struct capture_meta_value list = capture_meta_member(selection, key), at;
	size_t count = 0;

	for (at = capture_meta_first(list); at.text; at = capture_meta_next(list, at)) {
		char *name = capture_meta_string(at);

		if (!name)
			continue;
		fprintf(to, "%s%s%s",
			count      ? ", "
			: is_first ? kind
				   : "; ",
			count || is_first ? "" : kind, count ? "" : " ");
		fputs(name, to);
		free(name);
		count++;
	}
	return count;
}

char *capture_meta_selection(const struct capture *c)
{
	struct capture_meta_value meta = capture_meta_read(c, EBX_META_START),
				  selection = capture_meta_member(meta, "selection");
	char *text = NULL;
	size_t bytes, count = 0;
	FILE *to = selection.text ? open_memstream(&text, &bytes) : NULL;

	if (to) {
		count += put_selected(selection, "cgroups", "cgroup", !count, to);
		count += put_selected(selection, "units", "unit", !count, to);
		count += put_selected(selection, "containers", "container", !count, to);
		count += put_selected(selection, "comms", "comm", !count, to);
	}
	capture_meta_free(meta);
	if (to && !fclose(to) && count)
		return text;
	free(text);
	return NULL;
}

struct capture_meta_value capture_meta_member(struct capture_meta_value object, const char *key)
{
	struct json_reader j = { .data = object.text, .size_bytes = object.size_bytes };
	int token = object.text ? json_reader_next(&j) : JSON_READER_END;

	if (token != JSON_READER_OBJECT)
		return none;
	while ((token = json_reader_next(&j)) > 0) {
		if (token == JSON_READER_ARRAY) {
			for (unsigned depth = j.depth; token > 0 && j.depth >= depth;)
				token = json_reader_next(&j);
		}
		if (token == JSON_READER_KEY && json_reader_is(&j, key))
			return next_value(&j);
	}
	return none;
}

bool capture_meta_is(struct capture_meta_value object, const char *key, const char *value)
{
	struct capture_meta_value v = capture_meta_member(object, key);

	return v.text && v.size_bytes == strlen(value) && !memcmp(v.text, value, v.size_bytes);
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

/*
 * Decodes an escape into out, *out_bytes long; returns its own length; 0: not known.  A quote ends
 * the text.
 */
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

char *capture_meta_string(struct capture_meta_value v)
{
	char *out, *to;

	if (!v.text || *v.text != '"')
		return NULL;
	out = to = malloc(v.size_bytes);
	for (const char *at = v.text + 1, *end = v.text + v.size_bytes - 1; out && at < end;) {
		size_t bytes = 1, made = 1;

		*to = *at;
		if (*at == '\\')
			bytes = unescape(at, to, &made);
		if (!bytes) {
			free(out);
			return NULL;
		}
		at += bytes;
		to += made;
	}
	if (out)
		*to = '\0';
	return out;
}

/* The element behind at, which is behind a bracket or a comma. */
static struct capture_meta_value element_at(struct capture_meta_value array, const char *at)
{
	size_t left = array.size_bytes - (size_t)(at - array.text);
	struct json_reader j = { .data = at, .size_bytes = left };

	return next_value(&j);
}

struct capture_meta_value capture_meta_first(struct capture_meta_value array)
{
	return array.text && *array.text == '[' ? element_at(array, array.text + 1) : none;
}

struct capture_meta_value capture_meta_next(struct capture_meta_value array,
					    struct capture_meta_value element)
{
	const char *at = element.text + element.size_bytes;

	at += strspn(at, " \t\r\n");
	return *at == ',' ? element_at(array, at + 1) : none;
}

bool capture_meta_number(struct capture_meta_value v, const char *key, uint64_t *out)
{
	uint64_t value = 0;

	if (key)
		v = capture_meta_member(v, key);
	if (!v.text || !v.size_bytes)
		return false;
	for (size_t i = 0; i < v.size_bytes; i++)
		if (v.text[i] < '0' || v.text[i] > '9' ||
		    __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(v.text[i] - '0'), &value))
			return false;
	*out = value;
	return true;
}

uint64_t capture_meta_end_ns(const struct capture *c)
{
	struct capture_meta_value text = capture_meta_read(c, EBX_META_ACCOUNT);
	uint64_t end_ns;

	if (!capture_meta_number(text, "ended_mono_ns", &end_ns))
		end_ns = 0;
	capture_meta_free(text);
	return end_ns;
}

uint64_t capture_meta_began_ns(const struct capture *c)
{
	struct capture_meta_value text = capture_meta_read(c, EBX_META_ACCOUNT);
	uint64_t end_ns, duration_ns, began_ns = 0;

	/* One file of several has the beginning of all, and the events of a part. */
	if (!capture_meta_member(text, "segment").text &&
	    capture_meta_number(text, "ended_mono_ns", &end_ns) &&
	    capture_meta_number(text, "duration_ns", &duration_ns) && duration_ns < end_ns)
		began_ns = end_ns - duration_ns;
	capture_meta_free(text);
	return began_ns;
}

void capture_meta_extend(const struct capture *c, struct time_span *span)
{
	uint64_t end_ns = capture_meta_end_ns(c);

	if (span->to_ns < end_ns)
		span->to_ns = end_ns;
}

void capture_meta_extend_back(const struct capture *c, struct time_span *span)
{
	uint64_t began_ns = capture_meta_began_ns(c);

	if (began_ns && began_ns < span->from_ns)
		span->from_ns = began_ns;
}

bool capture_meta_segment(const struct capture *c, struct time_span *out)
{
	struct capture_meta_value text = capture_meta_read(c, EBX_META_ACCOUNT),
				  segment = capture_meta_member(text, "segment");
	uint64_t from_ns, end_ns, recorded_ns;
	bool is_one = capture_meta_number(segment, "dropped_until_mono_ns", &from_ns) &&
		      capture_meta_number(segment, "recorded_ns", &recorded_ns) &&
		      capture_meta_number(text, "ended_mono_ns", &end_ns) && recorded_ns < end_ns;

	capture_meta_free(text);
	/* The first one has all from the beginning on. */
	if (is_one)
		*out = (struct time_span){ from_ns ? from_ns : end_ns - recorded_ns, end_ns };
	return is_one;
}

/* Captures that were merged before switches had times of their own have those of all records. */
static bool read_part(struct capture_meta_value at, struct capture_meta_part *out)
{
	struct capture_meta_part part = {
		.system_wide = capture_meta_is(at, "system_wide", "true"),
		.is_partial = capture_meta_is(at, "system_wide", "false"),
	};

	if (!capture_meta_number(at, "from_mono_ns", &part.records.from_ns) ||
	    !capture_meta_number(at, "to_mono_ns", &part.records.to_ns))
		return false;
	if (!capture_meta_number(at, "switches_from_mono_ns", &part.switches.from_ns) ||
	    !capture_meta_number(at, "switches_to_mono_ns", &part.switches.to_ns))
		part.switches = part.records;
	*out = part;
	return true;
}

size_t capture_meta_parts(const struct capture *c,
			  struct capture_meta_part parts[CAPTURE_META_PARTS_MAX])
{
	struct capture_meta_value text = capture_meta_read(c, EBX_META_PARTS);
	struct capture_meta_value list = capture_meta_member(text, "parts"),
				  at = capture_meta_first(list);
	size_t count = 0;

	for (; count < CAPTURE_META_PARTS_MAX && at.text && read_part(at, &parts[count]); count++)
		at = capture_meta_next(list, at);
	capture_meta_free(text);
	return count;
}
