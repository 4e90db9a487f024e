/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/key/name_sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int origin_of(const struct function *f, const struct resolver_source *s,
		     struct string_table *names, uint32_t *out)
{
	const char *text = "names in the capture", *file = "";
	char *both;
	int err, size;

	if (f->reason != NAME_FOUND)
		text = name_reason_text((enum name_reason)f->reason);
	else if (s && s->trust != NAME_BY_NOTHING)
		text = name_trust_text(s->trust);
	if (f->reason == NAME_FOUND && s)
		file = *s->debug_file ? s->debug_file : s->file;
	size = asprintf(&both, "%s%s%s", text, *file ? ": " : "", file);
	if (size < 0)
		return -ENOMEM;
	err = string_table_add(names, both, (size_t)size, out);
	free(both);
	return err;
}

int name_sources_make(const struct function_table *naming, const struct resolver *resolver,
		      struct string_table *names, struct name_sources *out)
{
	struct name_sources fresh = { .count = naming->function_count };
	int err = 0;

	fresh.list = calloc(fresh.count + 1, sizeof(*fresh.list));
	if (!fresh.list)
		return -ENOMEM;
	for (size_t i = 0; !err && i < fresh.count; i++) {
		const struct function *f = &naming->functions[i];
		struct resolver_source s;
		bool known = f->source && resolver_source(resolver, f->source - 1, &s);
		char hex[BUILDID_HEX_BYTES] = "";

		if (known)
			buildid_hex(&s.build_id, hex);
		err = string_table_add(names, hex, strlen(hex), &fresh.list[i].build_id);
		if (!err)
			err = origin_of(f, known ? &s : NULL, names, &fresh.list[i].origin);
	}
	if (err)
		name_sources_done(&fresh);
	else
		*out = fresh;
	return err;
}

void name_sources_done(struct name_sources *s)
{
	free(s->list);
	*s = (struct name_sources){ 0 };
}
