/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/payload/metric_format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/unwind/stack_result.h"
#include "format/perf/trace_data.h"

/* Between the keys and the values of the text that a row is printed as. */
static const char values_begin[] = " :";

bool metric_format_is_name(const char *name)
{
	size_t bytes = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return bytes && !name[bytes] && bytes < METRIC_NAME_BYTES;
}

bool metric_format_note(const char *line, char out[METRIC_NAME_BYTES])
{
	size_t bytes = *line == '\'' ? strcspn(line + 1, "'\n") : 0;

	if (!bytes || bytes >= METRIC_NAME_BYTES ||
	    strncmp(line + 1 + bytes, "' " METRIC_NOTE_WORDS, strlen(METRIC_NOTE_WORDS) + 2) != 0)
		return false;
	memcpy(out, line + 1, bytes);
	out[bytes] = '\0';
	return true;
}

int metric_format_add(struct metric_format *f, const char *name, enum metric_kind kind,
		      uint32_t size_bytes, uint32_t count, bool is_key)
{
	uint32_t off = f->row_bytes ? f->row_bytes : METRIC_ROW_OFF;
	struct metric_field *field;

	if (!count || !size_bytes || size_bytes > 8 || size_bytes & (size_bytes - 1) ||
	    !metric_format_is_name(name) || (kind == METRIC_TEXT && size_bytes != 1))
		return -EINVAL;
	off = (off + size_bytes - 1) & ~(size_bytes - 1);
	if (f->field_count == METRIC_FIELDS_MAX || count > METRIC_ROW_MAX ||
	    off + size_bytes * count > METRIC_ROW_MAX - 8)
		return -EOVERFLOW;
	field = &f->fields[f->field_count++];
	*field = (struct metric_field){
		.off_bytes = off,
		.size_bytes = size_bytes,
		.count = count,
		.kind = kind,
		.is_key = is_key,
	};
	memcpy(field->name, name, strlen(name));
	f->row_bytes = off + size_bytes * count;
	return 0;
}

size_t metric_format_raw_bytes(const struct metric_format *f)
{
	return ((f->row_bytes + STACK_RESULT_BYTES + 4 + 7) & ~(size_t)7) - 4;
}

/* ---- writing ---- */

static void put_field(FILE *to, const struct metric_field *f)
{
	char array[16] = "";

	if (f->count > 1 || f->kind == METRIC_TEXT)
		snprintf(array, sizeof(array), "[%u]", f->count);
	fprintf(to, "\tfield:%s", f->kind == METRIC_TEXT ? "char" : "");
	if (f->kind != METRIC_TEXT)
		fprintf(to, "%c%u", f->kind == METRIC_SIGNED ? 's' : 'u', 8 * f->size_bytes);
	fprintf(to, " %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", f->name, array, f->off_bytes,
		f->size_bytes * f->count, f->kind == METRIC_SIGNED);
}

/* Histograms are left out of the line that people see. */
static bool is_printed(const struct metric_field *f)
{
	return f->count == 1 || f->kind == METRIC_TEXT;
}

static void put_print(FILE *to, const struct metric_format *f, bool keys)
{
	const struct metric_field *field;

	for (size_t i = 0; i < f->field_count; i++) {
		field = &f->fields[i];
		if (field->is_key != keys || !is_printed(field))
			continue;
		fprintf(to, " %s=%s", field->name,
			field->kind == METRIC_TEXT ? "%s"
			: field->size_bytes == 8   ? field->kind == METRIC_SIGNED ? "%lld" : "%llu"
			: field->kind == METRIC_SIGNED ? "%d"
						       : "%u");
	}
}

static void put_arguments(FILE *to, const struct metric_format *f, bool keys)
{
	for (size_t i = 0; i < f->field_count; i++) {
		if (f->fields[i].is_key == keys && is_printed(&f->fields[i]))
			fprintf(to, ", REC->%s", f->fields[i].name);
	}
}

char *metric_format_text(const struct metric_format *f)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return NULL;
	if (!f->field_count) {
		fclose(to);
		free(text);
		return NULL;
	}
	fprintf(to, "name: %s\nID: %u\n%s", f->name, f->id, trace_data_common_fields());
	for (size_t i = 0; i < f->field_count; i++)
		put_field(to, &f->fields[i]);
	fputs("\nprint fmt: \"", to);
	put_print(to, f, true);
	if (f->fields[0].is_key)
		fputs(values_begin, to);
	put_print(to, f, false);
	putc('"', to);
	put_arguments(to, f, true);
	put_arguments(to, f, false);
	putc('\n', to);
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- reading ---- */

/* "\tfield:u32 hist_ns[40];\toffset:..": type and name; false: not ours. */
static bool read_declaration(const char *line, struct metric_field *f)
{
	char type[8], name[METRIC_NAME_BYTES + 8];
	unsigned bits = 0, count = 1;
	char *bracket;

	if (sscanf(line, "\tfield:%7[a-z0-9] %31[a-z0-9_[]%*[];]", type, name) < 2)
		return false;
	bracket = strchr(name, '[');
	if (bracket) {
		*bracket = '\0';
		if (sscanf(bracket + 1, "%4u", &count) != 1 || !count || count > METRIC_ROW_MAX)
			return false;
	}
	if (!*name || strlen(name) >= METRIC_NAME_BYTES)
		return false;
	memset(f->name, 0, sizeof(f->name));
	memcpy(f->name, name, strlen(name));
	f->count = count;
	if (!strcmp(type, "char")) {
		f->kind = METRIC_TEXT;
		f->size_bytes = 1;
		return true;
	}
	if ((type[0] != 'u' && type[0] != 's') || sscanf(type + 1, "%2u", &bits) != 1 ||
	    (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return false;
	f->kind = type[0] == 's' ? METRIC_SIGNED : METRIC_UNSIGNED;
	f->size_bytes = bits / 8;
	return true;
}

static bool read_place(const char *text, struct metric_field *f)
{
	struct trace_data_field place;

	if (trace_data_format_field(text, f->name, &place) || place.off_bytes < METRIC_ROW_OFF ||
	    place.size_bytes != f->size_bytes * f->count || place.off_bytes > METRIC_ROW_MAX ||
	    place.size_bytes > METRIC_ROW_MAX - place.off_bytes)
		return false;
	f->off_bytes = place.off_bytes;
	return true;
}

static bool overlaps_earlier(const struct metric_format *f, const struct metric_field *field)
{
	uint32_t end = field->off_bytes + field->size_bytes * field->count;
	const struct metric_field *other;

	for (size_t i = 0; i < f->field_count; i++) {
		other = &f->fields[i];
		if (field->off_bytes < other->off_bytes + other->size_bytes * other->count &&
		    other->off_bytes < end)
			return true;
	}
	return false;
}

/* Keys are those that the text for people has before the values. */
static void find_keys(const char *text, struct metric_format *f)
{
	const char *print = strstr(text, "\nprint fmt: \""), *end;
	char word[METRIC_NAME_BYTES + 4];

	end = print ? strstr(print, values_begin) : NULL;
	for (size_t i = 0; end && i < f->field_count; i++) {
		const char *at;

		snprintf(word, sizeof(word), " %s=", f->fields[i].name);
		at = strstr(print, word);
		f->fields[i].is_key = at && at < end;
	}
}

int metric_format_parse(const char *text, struct metric_format *out)
{
	struct metric_format f = { 0 };
	const char *line;

	if (sscanf(text, "name: %23[a-z0-9_]", f.name) != 1 || trace_data_format_id(text, &f.id))
		return -EBADMSG;
	for (line = strchr(text, '\n'); line; line = strchr(line + 1, '\n')) {
		struct metric_field *field = &f.fields[f.field_count];

		if (strncmp(line + 1, "\tfield:", 7))
			continue;
		if (!strncmp(line + 1, "\tfield:unsigned ", 16) ||
		    !strncmp(line + 1, "\tfield:int common_", 18))
			continue;
		if (f.field_count == METRIC_FIELDS_MAX || !read_declaration(line + 1, field) ||
		    !read_place(text, field) || overlaps_earlier(&f, field))
			return -EBADMSG;
		if (field->off_bytes + field->size_bytes * field->count > f.row_bytes)
			f.row_bytes = field->off_bytes + field->size_bytes * field->count;
		f.field_count++;
	}
	if (!f.field_count)
		return -EBADMSG;
	find_keys(text, &f);
	*out = f;
	return 0;
}

const struct metric_field *metric_format_find(const struct metric_format *f, const char *name)
{
	for (size_t i = 0; i < f->field_count; i++) {
		if (!strcmp(f->fields[i].name, name))
			return &f->fields[i];
	}
	return NULL;
}

bool metric_format_is_histogram(const struct metric_field *f)
{
	return !f->is_key && f->kind == METRIC_UNSIGNED && f->count <= METRIC_BUCKETS_MAX &&
	       !strncmp(f->name, METRIC_HISTOGRAM, strlen(METRIC_HISTOGRAM));
}

uint64_t metric_format_number(const struct metric_field *f, const uint8_t *raw, size_t raw_bytes,
			      uint32_t element)
{
	size_t off = f->off_bytes + (size_t)element * f->size_bytes;
	bool is_signed = f->kind == METRIC_SIGNED;

	if (element >= f->count || off > raw_bytes || raw_bytes - off < f->size_bytes)
		return 0;
	switch (f->size_bytes) {
	case 1:
		return is_signed ? (uint64_t)(int64_t)(int8_t)raw[off] : raw[off];
	case 2:
		return is_signed ? (uint64_t)(int64_t)(int16_t)le16_load(raw + off)
				 : le16_load(raw + off);
	case 4:
		return is_signed ? (uint64_t)(int64_t)(int32_t)le32_load(raw + off)
				 : le32_load(raw + off);
	default:
		return le64_load(raw + off);
	}
}
