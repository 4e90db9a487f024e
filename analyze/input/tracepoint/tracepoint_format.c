/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/tracepoint/tracepoint_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"

/* The fixed head up to the counts: magic, version, byte order, size of a long, page size. */
static void skip_head(struct cursor *c)
{
	static const char magic[] = "\x17\x08\x44tracing";
	const uint8_t *p = cursor_bytes(c, sizeof(magic) - 1);

	if (!p || memcmp(p, magic, sizeof(magic) - 1))
		c->bad = true;
	cursor_str(c); /* version */
	cursor_skip(c, 6);
	cursor_str(c); /* "header_page" */
	cursor_skip(c, cursor_u64(c));
	cursor_str(c); /* "header_event" */
	cursor_skip(c, cursor_u64(c));
}

static bool is_called(const uint8_t *text, size_t bytes, const char *name)
{
	size_t want = strlen(name);

	return bytes > 6 + want && !memcmp(text, "name: ", 6) && !memcmp(text + 6, name, want) &&
	       text[6 + want] == '\n';
}

static int copy_text(const uint8_t *text, size_t bytes, char **out)
{
	char *copy = strndup((const char *)text, bytes);

	if (!copy)
		return -ENOMEM;
	*out = copy;
	return 0;
}

/* One that is asked for, by name or by number. */
struct wanted {
	const char *system, *name; /* NULL: by number */
	uint64_t id;
};

static bool has_id(const uint8_t *text, size_t bytes, uint64_t id)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "\nID: %" PRIu64 "\n", id);

	return memmem(text, bytes, line, (size_t)n);
}

static bool is_wanted(const struct wanted *w, const char *system, const uint8_t *text, size_t bytes)
{
	if (!w->name)
		return has_id(text, bytes, w->id);
	return !strcmp(system, w->system) && is_called(text, bytes, w->name);
}

static int find(struct cursor *at, const struct wanted *w, char **out)
{
	struct cursor c = *at;
	uint32_t systems, events;
	const char *of;
	const uint8_t *text;
	uint64_t bytes;

	skip_head(&c);
	for (events = cursor_u32(&c); cursor_ok(&c) && events; events--)
		cursor_skip(&c, cursor_u64(&c)); /* ftrace's own */
	for (systems = cursor_u32(&c); cursor_ok(&c) && systems; systems--) {
		of = cursor_str(&c);
		for (events = cursor_u32(&c); cursor_ok(&c) && events; events--) {
			bytes = cursor_u64(&c);
			text = cursor_bytes(&c, bytes);
			if (text && w && is_wanted(w, of, text, bytes))
				return copy_text(text, bytes, out);
		}
	}
	*at = c;
	return cursor_ok(&c) ? -ENOENT : -EBADMSG;
}

int tracepoint_format_find(const uint8_t *section, size_t section_bytes, const char *system,
			   const char *name, char **out)
{
	struct cursor c = cursor_of(section, section_bytes);
	const struct wanted w = { system, name, 0 };

	return find(&c, &w, out);
}

int tracepoint_format_by_id(const uint8_t *section, size_t section_bytes, uint64_t id, char **out)
{
	struct cursor c = cursor_of(section, section_bytes);
	const struct wanted w = { NULL, NULL, id };

	return find(&c, &w, out);
}

size_t tracepoint_format_end(const uint8_t *section, size_t section_bytes)
{
	struct cursor c = cursor_of(section, section_bytes);

	return find(&c, NULL, NULL) == -ENOENT ? c.off_bytes : 0;
}
