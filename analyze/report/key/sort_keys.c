/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/key/sort_keys.h"

#include <errno.h>
#include <string.h>

#include "analyze/fold/groups.h"
#include "format/text/json_writer.h"

static const struct sort_key_info infos[SORT_KEY_COUNT] = {
	[KEY_COMM] = { "comm", NULL, "comm", "name of the thread", GROUP_COMM, false },
	[KEY_PID] = { "pid", NULL, "pid", "process", GROUP_PID, true },
	[KEY_TID] = { "tid", NULL, "tid", "thread", GROUP_TID, true },
	[KEY_CPU] = { "cpu", NULL, "cpu", "CPU", GROUP_CPU, true },
	[KEY_CGROUP] = { "cgroup", NULL, "cgroup", "path of the cgroup", GROUP_CGROUP, false },
	[KEY_CONTAINER] = { "container", NULL, "container", "name of the container, or its id",
			    GROUP_CGROUP, false },
	[KEY_SERVICE] = { "service", NULL, "service",
			  "OpenTelemetry's name, else systemd unit, container, comm", GROUP_SERVICE,
			  false },
	[KEY_DSO] = { "dso", NULL, "object", "file of the code", 0, false },
	[KEY_SYMBOL] = { "symbol", "sym", "function", "function", 0, false },
	[KEY_CATEGORY] = { "category", NULL, "category", "kind of work, by --categories", 0,
			   false },
	[KEY_LINE] = { "line", "srcline", "line", "source line (debug information)", 0, false },
	[KEY_SOURCE_FILE] = { "srcfile", NULL, "source file", "source file (debug information)", 0,
			      false },
	[KEY_BUILD_ID] = { "build_id", NULL, "build-id", "build-id of the file of the code", 0,
			   false },
	[KEY_ORIGIN] = { "origin", NULL, "origin", "where the name came from, or why there is none",
			 0, false },
};

const struct sort_key_info *sort_key_info(enum sort_key key)
{
	return &infos[key];
}

void sort_keys_names(const char *out[SORT_KEY_COUNT])
{
	for (size_t i = 0; i < SORT_KEY_COUNT; i++)
		out[i] = infos[i].name;
}

static bool is_named(const char *name, const char *word, size_t size_bytes)
{
	return name && strlen(name) == size_bytes && !memcmp(name, word, size_bytes);
}

/* Columns that perf lists among its keys: they are always shown, and sorted by. */
static bool is_always_shown(const char *word, size_t size_bytes)
{
	return is_named("overhead", word, size_bytes) ||
	       is_named("overhead_children", word, size_bytes) ||
	       is_named("sample", word, size_bytes);
}

int sort_keys_parse(struct sort_keys *keys, const char *text, const char **bad, size_t *bad_bytes)
{
	const char *end;
	size_t key, size;

	for (;; text = end + 1) {
		end = strchrnul(text, ',');
		size = (size_t)(end - text);
		if (is_always_shown(text, size)) {
			if (!*end)
				return 0;
			continue;
		}
		for (key = 0; key < SORT_KEY_COUNT; key++)
			if (is_named(infos[key].name, text, size) ||
			    is_named(infos[key].alias, text, size) ||
			    is_named(infos[key].heading, text, size))
				break;
		if (key == SORT_KEY_COUNT) {
			*bad = text;
			*bad_bytes = size;
			return -EINVAL;
		}
		if (!sort_keys_has(keys, key))
			keys->list[keys->count++] = key;
		if (!*end)
			return 0;
	}
}

bool sort_keys_has(const struct sort_keys *keys, enum sort_key key)
{
	for (size_t i = 0; i < keys->count; i++)
		if (keys->list[i] == key)
			return true;
	return false;
}

void sort_key_json(struct json_writer *j, enum sort_key key, const char *text)
{
	if (infos[key].is_number)
		json_writer_number(j, infos[key].name, "%s", text);
	else
		json_writer_string(j, infos[key].name, text);
}

unsigned sort_keys_fields(const struct sort_keys *keys)
{
	unsigned fields = 0;

	for (size_t i = 0; i < keys->count; i++)
		fields |= infos[keys->list[i]].fields;
	return fields;
}

bool sort_keys_want_lines(const struct sort_keys *keys)
{
	return sort_keys_has(keys, KEY_LINE) || sort_keys_has(keys, KEY_SOURCE_FILE);
}

bool sort_keys_want_sources(const struct sort_keys *keys)
{
	return sort_keys_has(keys, KEY_BUILD_ID) || sort_keys_has(keys, KEY_ORIGIN);
}
