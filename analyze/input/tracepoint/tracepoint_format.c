/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/tracepoint/tracepoint_format.h"

#include <errno.h>
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

/* *at: behind the formats, where all were seen. */
static int walk(struct cursor *at,
		int (*each)(void *ctx, const char *system, const char *text, size_t size_bytes),
		void *ctx)
{
	struct cursor c = *at;
	uint32_t systems, events;
	const uint8_t *text;
	const char *system;
	uint64_t bytes;
	int stop = 0;

	skip_head(&c);
	for (events = cursor_u32(&c); cursor_ok(&c) && events; events--)
		cursor_skip(&c, cursor_u64(&c)); /* ftrace's own */
	for (systems = cursor_u32(&c); cursor_ok(&c) && systems; systems--) {
		system = cursor_str(&c);
		for (events = cursor_u32(&c); cursor_ok(&c) && events; events--) {
			bytes = cursor_u64(&c);
			text = cursor_bytes(&c, bytes);
			if (text && each)
				stop = each(ctx, system, (const char *)text, bytes);
			if (stop)
				return stop;
		}
	}
	*at = c;
	return cursor_ok(&c) ? 0 : -EBADMSG;
}

int tracepoint_format_each(const uint8_t *section, size_t section_bytes,
			   int (*each)(void *ctx, const char *system, const char *text,
				       size_t size_bytes),
			   void *ctx)
{
	struct cursor c = cursor_of(section, section_bytes);

	return walk(&c, each, ctx);
}

struct wanted {
	const char *system, *name;
	char **out;
};

static int copy_if_wanted(void *ctx, const char *system, const char *text, size_t size_bytes)
{
	const struct wanted *w = ctx;
	size_t name_bytes = strlen(w->name);

	if (strcmp(system, w->system) != 0 || size_bytes <= 6 + name_bytes ||
	    memcmp(text, "name: ", 6) != 0 || memcmp(text + 6, w->name, name_bytes) != 0 ||
	    text[6 + name_bytes] != '\n')
		return 0;
	*w->out = strndup(text, size_bytes);
	return *w->out ? 1 : -ENOMEM;
}

int tracepoint_format_find(const uint8_t *section, size_t section_bytes, const char *system,
			   const char *name, char **out)
{
	struct wanted w = { system, name, out };
	int found = tracepoint_format_each(section, section_bytes, copy_if_wanted, &w);

	return found == 1 ? 0 : found ? found : -ENOENT;
}

size_t tracepoint_format_end(const uint8_t *section, size_t section_bytes)
{
	struct cursor c = cursor_of(section, section_bytes);

	return walk(&c, NULL, NULL) ? 0 : c.off_bytes;
}
