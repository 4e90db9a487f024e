/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* scrub_sections - names in feature sections (perf's header.c), and of probes, which perf has in several of them */
#include <ctype.h>
#include <string.h>

#include "analyze/input/tracepoint/tracepoint_format.h"
#include "analyze/rewrite/scrub/scrub_priv.h"
#include "format/base/cursor.h"

#define BUILD_ID_PATH_OFF 36 /* in an entry of the section */

/* ---- names of probes ---- */

static const char *const probe_prefixes[] = { "probe_", "sdt_" };

/* How many bytes of the name of a group are in front of the name of a file, or of a provider of SDT probes. */
static size_t probe_prefix_bytes(const char *group, size_t size_bytes)
{
	for (size_t i = 0; i < sizeof(probe_prefixes) / sizeof(probe_prefixes[0]); i++) {
		size_t bytes = strlen(probe_prefixes[i]);

		if (size_bytes > bytes && !memcmp(group, probe_prefixes[i], bytes))
			return bytes;
	}
	return 0;
}

/* "FUNCTION", "FUNCTION__return", and with "_1" where there are two: the function alone is hidden. */
static void edit_probe_function(struct scrub *s, char *name, size_t size_bytes)
{
	static const char at_return[] = "__return";
	const size_t return_bytes = sizeof(at_return) - 1;
	size_t bytes = size_bytes;

	while (bytes && isdigit((unsigned char)name[bytes - 1]))
		bytes--;
	if (bytes == size_bytes || !bytes || name[bytes - 1] != '_')
		bytes = size_bytes; /* no number of several */
	else
		bytes--;
	if (bytes > return_bytes && !memcmp(name + bytes - return_bytes, at_return, return_bytes))
		(void)scrub_symbol(s, name, bytes - return_bytes);
	else if (!scrub_symbol(s, name, size_bytes) && bytes < size_bytes)
		(void)scrub_symbol(s, name, bytes);
}

static void edit_probe_group(struct scrub *s, char *group, size_t size_bytes)
{
	size_t prefix = probe_prefix_bytes(group, size_bytes);

	if (s->learning)
		return;
	group += prefix;
	size_bytes -= prefix;
	if (scrub_seen_is_group(&s->seen, group, size_bytes))
		pseudonyms_put(s->p, PSEUDONYM_COMM, group, size_bytes);
	else /* no word begins behind "probe_" */
		scrub_text_apply(s->text, SCRUB_TEXT_FREE, group, size_bytes);
}

/* Names of hidden files and chosen symbols in the name of a probe's event: "GROUP:FUNCTION", or the group alone. */
static void scrub_probe_name(struct scrub *s, char *name, size_t size_bytes)
{
	char *colon = memchr(name, ':', size_bytes);
	size_t group_bytes = colon ? (size_t)(colon - name) : size_bytes;

	edit_probe_group(s, name, group_bytes);
	if (colon)
		edit_probe_function(s, colon + 1, size_bytes - group_bytes - 1);
}

static size_t name_bytes_of(const char *text, size_t size_bytes)
{
	size_t bytes = 0;

	while (bytes < size_bytes && (isalnum((unsigned char)text[bytes]) || text[bytes] == '_'))
		bytes++;
	return bytes;
}

void scrub_probe_words(struct scrub *s, char *text, size_t size_bytes)
{
	size_t bytes;

	for (size_t at = 0; at < size_bytes; at += bytes ? bytes : 1) {
		bytes = name_bytes_of(text + at, size_bytes - at);
		if (!probe_prefix_bytes(text + at, bytes))
			continue;
		if (at + bytes < size_bytes && text[at + bytes] == ':')
			bytes += 1 +
				 name_bytes_of(text + at + bytes + 1, size_bytes - at - bytes - 1);
		scrub_probe_name(s, text + at, bytes);
	}
}

/* ---- sections ---- */

/* u32 size, then the text and zeroes; NULL: the section ends before. */
static char *next_string(struct cursor *c, uint8_t *data, size_t *room_bytes)
{
	const uint8_t *at;

	*room_bytes = cursor_u32(c);
	at = cursor_bytes(c, *room_bytes);
	return at ? (char *)data + (at - data) : NULL;
}

static void edit_command_line(struct scrub *s, uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	uint32_t count = cursor_u32(&c);
	size_t room;
	char *text;

	for (; count && (text = next_string(&c, data, &room)); count--) {
		if (s->opts.command_lines && !s->learning) {
			s->stats.command_line_count++;
			memset(text, 0, room);
			if (room > 1)
				text[0] = 'x';
		} else {
			scrub_text_in(s, SCRUB_TEXT_FREE, SCRUB_LEFT_ARGUMENT, text, room);
		}
	}
}

static void edit_build_ids(struct scrub *s, uint8_t *data, size_t size_bytes)
{
	size_t entry;

	for (size_t at = 0; at + BUILD_ID_PATH_OFF < size_bytes; at += entry) {
		entry = le16_load(data + at + 6);
		if (entry <= BUILD_ID_PATH_OFF || entry > size_bytes - at)
			return;
		scrub_text_in(s, SCRUB_TEXT_PATH, SCRUB_LEFT_FILE,
			      (char *)data + at + BUILD_ID_PATH_OFF, entry - BUILD_ID_PATH_OFF);
	}
}

/* The format of the event with this perf_event_attr; NULL: unknown, or no tracepoint. */
static const struct scrub_format *format_of(const struct scrub *s, const uint8_t *attr,
					    size_t attr_bytes)
{
	if (!attr || attr_bytes < 16 || le32_load(attr) != PERF_TYPE_TRACEPOINT)
		return NULL;
	return scrub_formats_find(&s->formats, le64_load(attr + 8));
}

/* A text that the user gave, the number of the leader, that of the members. */
static void edit_group_names(struct scrub *s, uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	uint32_t count = cursor_u32(&c);
	size_t room;
	char *text;

	for (; count && (text = next_string(&c, data, &room)); count--) {
		scrub_probe_words(s, text, strnlen(text, room));
		scrub_text_in(s, SCRUB_TEXT_FREE, SCRUB_LEFT_EVENT, text, room);
		cursor_skip(&c, 8);
	}
}

static void edit_event_names(struct scrub *s, uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	uint32_t count = cursor_u32(&c), attr_bytes = cursor_u32(&c), ids;
	const struct scrub_format *format;
	const uint8_t *attr;
	size_t room;
	char *text;

	for (; count; count--) {
		attr = cursor_bytes(&c, attr_bytes);
		ids = cursor_u32(&c);
		text = next_string(&c, data, &room);
		if (!text)
			return;
		format = format_of(s, attr, attr_bytes);
		if (format && format->is_probe)
			scrub_probe_name(s, text, strnlen(text, room));
		scrub_text_in(s, SCRUB_TEXT_FREE, SCRUB_LEFT_EVENT, text, room);
		cursor_skip(&c, (size_t)ids * 8);
	}
}

/* Sections of numbers, and of texts that the kernel and the CPU have for everybody. */
static bool is_of_machine(unsigned bit)
{
	static const uint64_t known = 1ULL << PERFFILE_OSRELEASE | 1ULL << PERFFILE_VERSION |
				      1ULL << PERFFILE_ARCH | 1ULL << PERFFILE_NRCPUS |
				      1ULL << PERFFILE_CPUDESC | 1ULL << PERFFILE_CPUID |
				      1ULL << PERFFILE_TOTAL_MEM | 1ULL << PERFFILE_CPU_TOPOLOGY |
				      1ULL << PERFFILE_NUMA_TOPOLOGY |
				      1ULL << 15 /* BRANCH_STACK: empty */ |
				      1ULL << PERFFILE_PMU_MAPPINGS | 1ULL << 19 /* STAT */ |
				      1ULL << 20 /* CACHE */ | 1ULL << 22 /* MEM_TOPOLOGY */ |
				      1ULL << PERFFILE_CLOCKID | 1ULL << 28 /* CPU_PMU_CAPS */ |
				      1ULL << PERFFILE_CLOCK_DATA |
				      1ULL << 30 /* HYBRID_TOPOLOGY */ | 1ULL << 31 /* PMU_CAPS */;

	return bit < 64 && known >> bit & 1;
}

struct format_edit {
	struct scrub *s;
	uint8_t *data;
	const char *edited; /* the last group: its name is before all of its formats, once */
};

/* "name: FUNCTION", and the group. */
static int edit_probe_format(void *ctx, const char *system, const char *text, size_t size_bytes)
{
	struct format_edit *e = ctx;
	char *group = (char *)e->data + ((const uint8_t *)system - e->data),
	     *format = (char *)e->data + ((const uint8_t *)text - e->data);
	const char *end = memchr(text, '\n', size_bytes);

	if (!scrub_format_is_probe(text, size_bytes))
		return 0;
	if (system != e->edited)
		scrub_probe_name(e->s, group, strlen(system));
	e->edited = system;
	if (end && end - text > 6 && !memcmp(text, "name: ", 6))
		edit_probe_function(e->s, format + 6, (size_t)(end - text) - 6);
	return 0;
}

/* Behind the formats: symbols and texts of the kernel, and which thread had which name. */
static bool edit_formats(struct scrub *s, uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	size_t end = tracepoint_format_end(data, size_bytes), bytes;
	struct format_edit e = { .s = s, .data = data };
	const uint8_t *part;

	if (!end)
		return false;
	(void)tracepoint_format_each(data, size_bytes, edit_probe_format, &e);
	cursor_skip(&c, end);
	for (unsigned i = 0; i < 3 && cursor_left(&c); i++) {
		bytes = i < 2 ? cursor_u32(&c) : (size_t)cursor_u64(&c);
		part = cursor_bytes(&c, bytes);
		if (!part)
			return false;
		if (s->learning || s->opts.unknown || !bytes)
			continue;
		memset(data + (part - data), '\n', bytes);
		s->stats.dropped_count++;
	}
	return !cursor_left(&c);
}

/* All but the size that a text begins with. */
static void blank_text(uint8_t *data, size_t size_bytes, bool is_text)
{
	size_t from = is_text && size_bytes >= 4 ? 4 : 0;

	memset(data + from, 0, size_bytes - from);
}

static bool edit_section(struct scrub *s, unsigned bit, uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	size_t room;
	char *text;

	switch (bit) {
	case PERFFILE_HOSTNAME:
		text = next_string(&c, data, &room);
		if (text)
			scrub_text_in(s, SCRUB_TEXT_FREE, SCRUB_LEFT_HOST, text, room);
		return text;
	case PERFFILE_CMDLINE:
		edit_command_line(s, data, size_bytes);
		return true;
	case PERFFILE_BUILD_ID:
		edit_build_ids(s, data, size_bytes);
		return true;
	case PERFFILE_EVENT_DESC:
		edit_event_names(s, data, size_bytes);
		return true;
	case 17: /* GROUP_DESC */
		edit_group_names(s, data, size_bytes);
		return true;
	case PERFFILE_TRACING_DATA:
		return edit_formats(s, data, size_bytes);
	case PERFFILE_OSRELEASE:
	case PERFFILE_CPUDESC:
	case PERFFILE_CPUID:
	case PERFFILE_TOTAL_MEM:
		if (s->opts.machine && !s->learning)
			blank_text(data, size_bytes, bit != PERFFILE_TOTAL_MEM);
		return true;
	default:
		return is_of_machine(bit);
	}
}

/*
 * Features that identify the machine, or the time, are left out as asked for: no reader needs them.
 */
static bool is_left_out(const struct scrub *s, unsigned bit)
{
	if (bit == PERFFILE_CLOCK_DATA)
		return s->opts.times;
	return s->opts.machine && (bit == 20 /* CACHE */ || bit == 22 /* MEM_TOPOLOGY */ ||
				   bit == 28 /* CPU_PMU_CAPS */ || bit == 31 /* PMU_CAPS */);
}

bool scrub_section(void *ctx, unsigned bit, uint8_t *data, size_t size_bytes)
{
	struct scrub *s = ctx;

	if (is_left_out(s, bit))
		return false;
	if (edit_section(s, bit, data, size_bytes) || s->opts.unknown)
		return true;
	s->stats.dropped_count += !s->learning;
	return false;
}
