/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* scrub_sections - names in feature sections (perf's header.c) */
#include <string.h>

#include "analyze/input/tracepoint/tracepoint_format.h"
#include "analyze/rewrite/scrub_priv.h"
#include "format/base/cursor.h"

#define BUILD_ID_PATH_OFF 36 /* in an entry of the section */

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

static void edit_event_names(struct scrub *s, uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	uint32_t count = cursor_u32(&c), attr_bytes = cursor_u32(&c), ids;
	size_t room;
	char *text;

	for (; count; count--) {
		cursor_skip(&c, attr_bytes);
		ids = cursor_u32(&c);
		text = next_string(&c, data, &room);
		if (!text)
			return;
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
				      1ULL << PERFFILE_PMU_MAPPINGS | 1ULL << 17 /* GROUP_DESC */ |
				      1ULL << 19 /* STAT */ | 1ULL << 20 /* CACHE */ |
				      1ULL << 22 /* MEM_TOPOLOGY */ | 1ULL << PERFFILE_CLOCKID |
				      1ULL << 28 /* CPU_PMU_CAPS */ | 1ULL << PERFFILE_CLOCK_DATA |
				      1ULL << 30 /* HYBRID_TOPOLOGY */ | 1ULL << 31 /* PMU_CAPS */;

	return bit < 64 && known >> bit & 1;
}

/* Behind the formats: symbols and texts of the kernel, and which thread had which name. */
static bool edit_formats(struct scrub *s, uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	size_t end = tracepoint_format_end(data, size_bytes), bytes;
	const uint8_t *part;

	if (!end)
		return false;
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
