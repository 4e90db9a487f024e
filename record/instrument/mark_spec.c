/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/mark_spec.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Copies [from, to), which must not be empty. */
static bool take(const char *from, const char *to, char *out, size_t out_bytes)
{
	size_t bytes = (size_t)(to - from);

	if (!bytes || bytes >= out_bytes)
		return false;
	memcpy(out, from, bytes);
	out[bytes] = '\0';
	return true;
}

/* The last colon in [from, to); NULL: none. */
static const char *last_colon(const char *from, const char *to)
{
	return from < to ? memrchr(from, ':', (size_t)(to - from)) : NULL;
}

/* From the end: names have no colon, a path may. */
static bool parse_words(const char *text, struct mark_spec *s)
{
	const char *end = text + strlen(text), *name = last_colon(text, end), *group, *base;

	if (!name || !take(name + 1, end, s->name, sizeof(s->name)))
		return false;
	if (s->kind == MARK_SPEC_TP)
		return !memchr(text, ':', (size_t)(name - text)) &&
		       take(text, name, s->group, sizeof(s->group));
	if (s->kind == MARK_SPEC_UPROBE) {
		base = memrchr(text, '/', (size_t)(name - text));
		return take(text, name, s->file, sizeof(s->file)) &&
		       take(base ? base + 1 : text, name, s->group, sizeof(s->group));
	}
	group = last_colon(text, name);
	return group && take(group + 1, name, s->group, sizeof(s->group)) &&
	       take(text, group, s->file, sizeof(s->file));
}

int mark_spec_parse(const char *text, struct mark_spec *out)
{
	static const struct {
		const char *prefix;
		enum mark_spec_kind kind;
	} kinds[] = {
		{ "usdt:", MARK_SPEC_USDT },
		{ "uprobe:", MARK_SPEC_UPROBE },
		{ "tp:", MARK_SPEC_TP },
	};
	struct mark_spec s = { 0 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
			continue;
		s.kind = kinds[i].kind;
		if (!parse_words(text + strlen(kinds[i].prefix), &s))
			return -EINVAL;
		/* Both become a path in tracefs. */
		if (s.kind == MARK_SPEC_TP && (strpbrk(s.group, "/.") || strpbrk(s.name, "/.")))
			return -EINVAL;
		*out = s;
		return 0;
	}
	return -EINVAL;
}
