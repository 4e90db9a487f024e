/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * OTLP profiles: ExportProfilesServiceRequest of opentelemetry-proto 1.9 to 1.11, whose package is v1development, by HTTP as
 * protobuf.  A request has one dictionary, and a resource for each service and container; of each the samples and what they
 * weigh are two profiles, as one has one type of values.  Each table of the dictionary begins with its zero value.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/string_table.h"
#include "analyze/export/protobuf.h"
#include "analyze/push/forms/forms.h"
#include "analyze/push/forms/services.h"
#include "format/base/cursor.h"

#define NS_PER_SECOND 1000000000u
#define ROWS_A_PIECE  1000 /* of a resource; where a request may be cut in two */
/* "Requests should not exceed 64 MiB" */
#define REQUEST_MAX_BYTES (60u << 20)

enum { REQUEST_RESOURCES = 1, REQUEST_DICTIONARY = 2 };
enum {
	DICTIONARY_MAPPINGS = 1,
	DICTIONARY_LOCATIONS = 2,
	DICTIONARY_FUNCTIONS = 3,
	DICTIONARY_LINKS = 4,
	DICTIONARY_STRINGS = 5,
	DICTIONARY_ATTRIBUTES = 6,
	DICTIONARY_STACKS = 7
};
enum {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	PROFILE_ID = 7
};
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES = 2, SAMPLE_VALUES = 4 };

/* A table of the dictionary is a table of strings here: what distinguishes its rows, 0 the zero value. */
struct request {
	const struct push_interval *in;
	struct string_table *strings, *mappings, *locations, *functions, *attributes;
	uint32_t *location_of; /* by frame of the interval: its row; 0: not looked for yet */
	uint32_t *stack_of;    /* by stack, likewise */
	uint32_t stack_count;
	struct protobuf dictionary;
	struct protobuf row, packed, any; /* of the dictionary's, while one is written */
	struct protobuf resource, scopes, scope, profile, sample, pair;
	uint32_t profile_count;
	bool bad;
};

/* The number of a row, *is_new: it has to be written. */
static uint32_t row_of(struct request *o, struct string_table *table, bool *is_new,
		       const char *format, ...) __attribute__((format(printf, 4, 5)));

static uint32_t row_of(struct request *o, struct string_table *table, bool *is_new,
		       const char *format, ...)
{
	uint32_t before = string_table_count(table), row = 0;
	va_list args;
	char *key;
	int size;

	va_start(args, format);
	size = vasprintf(&key, format, args);
	va_end(args);
	*is_new = false;
	if (size < 0) {
		o->bad = true;
		return 0;
	}
	o->bad |= string_table_add(table, key, (size_t)size, &row) != 0;
	*is_new = !o->bad && string_table_count(table) > before;
	free(key);
	return row;
}

static uint32_t string_of(struct request *o, const char *text)
{
	uint32_t row = 0;

	o->bad |= string_table_add(o->strings, text, strlen(text), &row) != 0;
	return row;
}

/* KeyValueAndUnit, with a text as its value. */
static uint32_t attribute_of(struct request *o, const char *key, const char *value)
{
	bool is_new;
	uint32_t row = row_of(o, o->attributes, &is_new, "%s=%s", key, value);
	struct protobuf fields = { 0 };

	if (!is_new)
		return row;
	protobuf_clear(&o->any);
	protobuf_text(&o->any, 1, value, strlen(value));
	protobuf_number(&fields, 1, string_of(o, key));
	protobuf_message(&fields, 2, &o->any);
	protobuf_message(&o->dictionary, DICTIONARY_ATTRIBUTES, &fields);
	protobuf_done(&fields);
	return row;
}

/* A list of one number, packed. */
static void put_one(struct request *o, struct protobuf *to, unsigned field, uint64_t value)
{
	protobuf_clear(&o->packed);
	protobuf_packed(&o->packed, value);
	protobuf_message(to, field, &o->packed);
}

static uint32_t mapping_of(struct request *o, const struct push_frame *f)
{
	bool is_new = false;
	uint32_t row, build_id;

	if (!*f->file)
		return 0;
	row = row_of(o, o->mappings, &is_new, "%s\n%s", f->file, f->build_id);
	if (!is_new)
		return row;
	build_id = *f->build_id ? attribute_of(o, "process.executable.build_id.gnu", f->build_id)
				: 0;
	protobuf_clear(&o->row);
	protobuf_number(&o->row, 4, string_of(o, f->file));
	if (build_id)
		put_one(o, &o->row, 5, build_id);
	protobuf_message(&o->dictionary, DICTIONARY_MAPPINGS, &o->row);
	return row;
}

static uint32_t function_of(struct request *o, const char *name)
{
	bool is_new;
	uint32_t row = row_of(o, o->functions, &is_new, "%s", name);

	if (!is_new)
		return row;
	protobuf_clear(&o->row);
	protobuf_number(&o->row, 1, string_of(o, name));
	protobuf_message(&o->dictionary, DICTIONARY_FUNCTIONS, &o->row);
	return row;
}

static uint32_t kind_of(struct request *o, enum push_kind kind)
{
	return kind == PUSH_KERNEL   ? attribute_of(o, "profile.frame.type", "kernel")
	       : kind == PUSH_NATIVE ? attribute_of(o, "profile.frame.type", "native")
				     : 0;
}

/* Frames of one id are one, as stacks are told apart by these ids. */
static uint32_t location_of(struct request *o, uint32_t frame)
{
	const struct push_frame *f = &o->in->counted->samples.frame_list[frame];
	uint32_t mapping, function, kind, *row = &o->location_of[frame];
	bool is_new;

	if (*row)
		return *row;
	*row = row_of(o, o->locations, &is_new, "%016" PRIx64, f->id);
	if (!is_new)
		return *row;
	mapping = mapping_of(o, f);
	function = function_of(o, f->name);
	kind = kind_of(o, f->kind);
	protobuf_clear(&o->row);
	protobuf_number(&o->row, 1, mapping);
	protobuf_clear(&o->any); /* the one line */
	protobuf_number(&o->any, 1, function);
	protobuf_message(&o->row, 3, &o->any);
	if (kind)
		put_one(o, &o->row, 4, kind);
	protobuf_message(&o->dictionary, DICTIONARY_LOCATIONS, &o->row);
	return *row;
}

static uint32_t stack_of(struct request *o, uint32_t number)
{
	const struct push_samples *s = &o->in->counted->samples;
	const struct push_stack *stack = &s->stacks[number];

	if (o->stack_of[number] || !stack->count) /* the zero value has no location */
		return o->stack_of[number];
	o->stack_of[number] = ++o->stack_count;
	for (uint32_t f = 0; f < stack->count; f++)
		(void)location_of(o, s->frames[stack->first + f]);
	protobuf_clear(&o->row);
	protobuf_clear(&o->packed);
	for (uint32_t f = 0; f < stack->count; f++)
		protobuf_packed(&o->packed, location_of(o, s->frames[stack->first + f]));
	protobuf_message(&o->row, 1, &o->packed);
	protobuf_message(&o->dictionary, DICTIONARY_STACKS, &o->row);
	return o->stack_of[number];
}

/* ---- the dictionary ---- */

static void put_zero_rows(struct request *o)
{
	static const uint8_t zeros[16];
	static const unsigned tables[] = { DICTIONARY_MAPPINGS, DICTIONARY_LOCATIONS,
					   DICTIONARY_FUNCTIONS, DICTIONARY_ATTRIBUTES,
					   DICTIONARY_STACKS };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		protobuf_bytes(&o->dictionary, tables[i], zeros, 0);
	protobuf_clear(&o->row);
	protobuf_bytes(&o->row, 1, zeros, 16); /* of a trace */
	protobuf_bytes(&o->row, 2, zeros, 8);  /* of a span */
	protobuf_message(&o->dictionary, DICTIONARY_LINKS, &o->row);
}

/* The time of waits has the name that OpenTelemetry's own profiler gives it: receivers look for it. */
static const char *weight_type(const struct push_counted *c)
{
	return strcmp(c->event, PUSH_WAITS) != 0 ? c->weight_type : "events";
}

/* Before the resources, and with all that they will name. */
static void put_dictionary(struct request *o, const struct push_row *const *rows, size_t count,
			   struct push_part *part)
{
	struct protobuf field = { 0 };

	put_zero_rows(o);
	for (size_t i = 0; i < count && !o->bad; i++) {
		(void)stack_of(o, rows[i]->stack);
		if (*rows[i]->comm)
			(void)attribute_of(o, "thread.name", rows[i]->comm);
	}
	(void)string_of(o, o->in->counted->count_type);
	(void)string_of(o, "count");
	(void)string_of(o, weight_type(o->in->counted));
	(void)string_of(o, o->in->counted->weight_unit);
	for (uint32_t i = 0; i < string_table_count(o->strings); i++)
		protobuf_text(&o->dictionary, DICTIONARY_STRINGS, string_table_text(o->strings, i),
			      string_table_bytes(o->strings, i));
	protobuf_message(&field, REQUEST_DICTIONARY, &o->dictionary);
	o->bad |= field.failed;
	if (!o->bad)
		outbuf_add(&part->body, field.data, field.size_bytes);
	protobuf_done(&field);
}

/* ---- resources ---- */

/* KeyValue. */
static void put_pair(struct request *o, struct protobuf *to, unsigned field, const char *key,
		     const char *value)
{
	protobuf_clear(&o->any);
	protobuf_text(&o->any, 1, value, strlen(value));
	protobuf_clear(&o->pair);
	protobuf_text(&o->pair, 1, key, strlen(key));
	protobuf_message(&o->pair, 2, &o->any);
	protobuf_message(to, field, &o->pair);
}

static void put_type(struct request *o, unsigned field, const char *type, const char *unit)
{
	protobuf_clear(&o->sample);
	protobuf_number(&o->sample, 1, string_of(o, type));
	protobuf_number(&o->sample, 2, string_of(o, unit));
	protobuf_message(&o->profile, field, &o->sample);
}

static void put_sample(struct request *o, const struct push_row *row, uint64_t value)
{
	protobuf_clear(&o->sample);
	protobuf_number(&o->sample, SAMPLE_STACK, stack_of(o, row->stack));
	if (*row->comm)
		put_one(o, &o->sample, SAMPLE_ATTRIBUTES,
			attribute_of(o, "thread.name", row->comm));
	put_one(o, &o->sample, SAMPLE_VALUES, value);
	protobuf_message(&o->profile, PROFILE_SAMPLES, &o->sample);
}

/* The same in each request that has it: the sender, and a hash of host, batch and number. */
static void put_id(struct request *o)
{
	const uint64_t parts[] = { push_frame_id(PUSH_OTHER, "", "", o->in->host), o->in->seq,
				   ++o->profile_count };
	uint8_t id[16];

	le64_store(id, o->in->sender);
	le64_store(id + 8, push_stack_id(parts, 3));
	protobuf_bytes(&o->profile, PROFILE_ID, id, sizeof(id));
}

static void put_profile(struct request *o, const struct push_row *const *rows, size_t count,
			bool by_weight)
{
	const struct push_interval *in = o->in;

	protobuf_clear(&o->profile);
	put_type(o, PROFILE_TYPE, by_weight ? weight_type(in->counted) : in->counted->count_type,
		 by_weight ? in->counted->weight_unit : "count");
	for (size_t i = 0; i < count; i++)
		put_sample(o, rows[i], by_weight ? rows[i]->weight : rows[i]->samples);
	protobuf_fixed64(&o->profile, PROFILE_TIME,
			 in->from_s * NS_PER_SECOND + o->profile_count * PUSH_TIME_STEPS +
				 in->seq % PUSH_TIME_STEPS);
	protobuf_number(&o->profile, PROFILE_DURATION, (in->to_s - in->from_s) * NS_PER_SECOND);
	if (in->counted->period_ns) {
		put_type(o, PROFILE_PERIOD_TYPE, weight_type(in->counted),
			 in->counted->weight_unit);
		protobuf_number(&o->profile, PROFILE_PERIOD, in->counted->period_ns);
	}
	put_id(o);
	protobuf_message(&o->scopes, 2, &o->profile);
}

/* Who made it, and the batch: what is missing of its numbers was lost. */
static void put_scope(struct request *o)
{
	char text[24];

	protobuf_clear(&o->scope);
	protobuf_text(&o->scope, 1, "ebprec", 6);
	protobuf_text(&o->scope, 2, EBPREC_VERSION, strlen(EBPREC_VERSION));
	snprintf(text, sizeof(text), "%016" PRIx64, o->in->sender);
	put_pair(o, &o->scope, 3, "ebprec.sender", text);
	snprintf(text, sizeof(text), "%" PRIu64, o->in->seq);
	put_pair(o, &o->scope, 3, "ebprec.sequence", text);
	if (o->in->lost) {
		snprintf(text, sizeof(text), "%" PRIu64, o->in->lost);
		put_pair(o, &o->scope, 3, "ebprec.lost_samples", text);
	}
	protobuf_message(&o->scopes, 1, &o->scope);
}

static void put_resource(struct request *o, const struct push_row *const *rows, size_t count,
			 struct push_batch *b, struct push_part *part)
{
	struct protobuf attributes = { 0 }, field = { 0 };

	put_pair(o, &attributes, 1, "service.name", rows[0]->service);
	put_pair(o, &attributes, 1, "host.name", o->in->host);
	if (*rows[0]->container)
		put_pair(o, &attributes, 1, "container.name", rows[0]->container);
	for (size_t i = 0; o->in->labels && i < o->in->labels->count; i++)
		put_pair(o, &attributes, 1, o->in->labels->list[i].key,
			 o->in->labels->list[i].value);
	protobuf_clear(&o->scopes);
	put_scope(o);
	put_profile(o, rows, count, false);
	put_profile(o, rows, count, true);
	protobuf_clear(&o->resource);
	protobuf_message(&o->resource, 1, &attributes);
	protobuf_message(&o->resource, 2, &o->scopes);
	protobuf_message(&field, REQUEST_RESOURCES, &o->resource);
	o->bad |= field.failed;
	if (!o->bad) {
		outbuf_add(&part->body, field.data, field.size_bytes);
		push_part_end_row(b, part);
	}
	for (size_t i = 0; i < count; i++)
		b->samples += rows[i]->samples;
	protobuf_done(&attributes);
	protobuf_done(&field);
}

/* ---- the form ---- */

static bool prepare(struct request *o)
{
	struct string_table **tables[] = { &o->strings, &o->mappings, &o->locations, &o->functions,
					   &o->attributes };
	const struct push_samples *s = &o->in->counted->samples;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (string_table_new(tables[i]))
			return false;
	o->location_of = calloc(s->frame_list_count + 1, sizeof(*o->location_of));
	o->stack_of = calloc(s->stack_count + 1, sizeof(*o->stack_of));
	return o->location_of && o->stack_of;
}

static void request_done(struct request *o)
{
	struct string_table *const tables[] = { o->strings, o->mappings, o->locations, o->functions,
						o->attributes };
	struct protobuf *const messages[] = { &o->dictionary, &o->row,    &o->packed, &o->any,
					      &o->resource,   &o->scopes, &o->scope,  &o->profile,
					      &o->sample,     &o->pair };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		string_table_free(tables[i]);
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		protobuf_done(messages[i]);
	free(o->location_of);
	free(o->stack_of);
}

static int encode(const struct push_interval *in, struct push_batch *b)
{
	struct request o = { .in = in };
	const struct push_row **rows = services_sort(in);
	struct push_part *part = push_batch_add(b, "profiles");
	size_t count;

	b->bad |= !rows || !part || !prepare(&o);
	if (!b->bad) {
		put_dictionary(&o, rows, in->row_count, part);
		push_part_end_head(b, part);
	}
	for (size_t i = 0; i < in->row_count && !b->bad && !o.bad; i += count) {
		count = services_count(rows, in->row_count, i, true);
		if (count > ROWS_A_PIECE)
			count = ROWS_A_PIECE;
		put_resource(&o, rows + i, count, b, part);
	}
	b->bad |= o.bad;
	request_done(&o);
	free(rows);
	for (size_t i = 0; i < b->part_count && !b->bad;)
		i += b->parts[i].body.size_bytes <= REQUEST_MAX_BYTES || push_batch_halve(b, i);
	return b->bad ? -ENOMEM : 0;
}

static char *url(const struct push_target *t, const struct push_batch *b, size_t part)
{
	return push_target_url(t, "/v1development/profiles");
}

/* ---- the answer ---- */

static uint64_t read_varint(struct cursor *c)
{
	uint64_t value = 0;
	uint8_t byte = 0x80;

	for (unsigned shift = 0; shift < 64 && byte & 0x80 && cursor_ok(c); shift += 7) {
		byte = cursor_u8(c);
		value |= (uint64_t)(byte & 0x7f) << shift;
	}
	c->bad |= byte & 0x80;
	return value;
}

/* The next field; of bytes *number is how many, and *bytes are they.  0: the end, or no message. */
static unsigned read_field(struct cursor *c, uint64_t *number, const uint8_t **bytes)
{
	uint64_t tag = cursor_left(c) ? read_varint(c) : 0;

	*bytes = NULL;
	*number = 0;
	switch (tag & 7) {
	case 0:
		*number = tag ? read_varint(c) : 0;
		break;
	case 2:
		*number = read_varint(c);
		*bytes = *number <= cursor_left(c) ? cursor_bytes(c, *number) : NULL;
		c->bad |= !*bytes;
		break;
	default:
		return 0;
	}
	return cursor_ok(c) && tag >> 3 <= UINT32_MAX ? (unsigned)(tag >> 3) : 0;
}

/* As far as they can be printed. */
static void put_words(const uint8_t *bytes, size_t size_bytes, char *words, size_t words_bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < size_bytes && count < words_bytes - 1; i++)
		if (bytes[i] >= ' ' && bytes[i] < 0x7f)
			words[count++] = (char)bytes[i];
	words[count] = '\0';
}

/* ExportProfilesServiceResponse: partial_success{rejected_profiles, error_message}. */
static uint64_t rejected(const void *answer, size_t size_bytes, char *words, size_t words_bytes)
{
	struct cursor outer = cursor_of(answer, size_bytes), c;
	uint64_t number, count = 0;
	const uint8_t *bytes;
	unsigned field;

	*words = '\0';
	if (read_field(&outer, &number, &bytes) != 1 || !bytes)
		return 0;
	c = cursor_of(bytes, number);
	while ((field = read_field(&c, &number, &bytes))) {
		if (field == 1 && !bytes)
			count = number;
		else if (field == 2 && bytes)
			put_words(bytes, number, words, words_bytes);
	}
	return count;
}

const struct push_form push_otlp = {
	.name = "otlp",
	.about = "OTLP profiles by HTTP: OpenTelemetry's collector, and what takes them",
	.encode = encode,
	.url = url,
	.headers = { "Content-Type: application/x-protobuf" },
	.gzip = true,
	.counts_twice = true,
	.rejected = rejected,
};
