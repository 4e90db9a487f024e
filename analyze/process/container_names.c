/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/container_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"

#define DIGITS_SHORT 12

struct named {
	char id[CONTAINER_RECORD_DIGITS];
	char name[CONTAINER_RECORD_NAME_MAX + 1];
	bool shared; /* another container has it, too */
};

struct container_names {
	struct named *list; /* by id */
	size_t count, capacity;
	bool has_complete_ids;
};

void container_names_free(struct container_names *n)
{
	if (n)
		free(n->list);
	free(n);
}

static int by_id(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;

	return memcmp(a->id, b->id, CONTAINER_RECORD_DIGITS);
}

static int by_name(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;

	return strcmp(a->name, b->name);
}

static int add(struct container_names *n, const uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data, size_bytes);
	struct container_record_entry e;
	int err = 0;

	while (!err && container_record_next(&c, &e) > 0) {
		if (e.id_bytes != CONTAINER_RECORD_DIGITS ||
		    !container_record_is_name(e.name, e.name_bytes))
			continue;
		err = vec_reserve(&n->list, &n->capacity, n->count + 1);
		if (err)
			break;
		n->list[n->count] = (struct named){ 0 };
		memcpy(n->list[n->count].id, e.id, CONTAINER_RECORD_DIGITS);
		memcpy(n->list[n->count++].name, e.name, e.name_bytes);
	}
	return err;
}

/*
 * Leaves each id once (merged captures may have it twice), and marks names of several containers.
 */
static void settle(struct container_names *n)
{
	size_t unique = 0;

	qsort(n->list, n->count, sizeof(*n->list), by_id);
	for (size_t i = 0; i < n->count; i++)
		if (!unique || by_id(&n->list[unique - 1], &n->list[i]) != 0)
			n->list[unique++] = n->list[i];
	n->count = unique;
	qsort(n->list, n->count, sizeof(*n->list), by_name);
	for (size_t i = 1; i < n->count; i++)
		if (!strcmp(n->list[i - 1].name, n->list[i].name))
			n->list[i - 1].shared = n->list[i].shared = true;
	qsort(n->list, n->count, sizeof(*n->list), by_id);
}

int container_names_read(const struct capture *c, struct container_names **out)
{
	struct container_names *n = calloc(1, sizeof(*n));
	size_t count, size_bytes;
	const struct capture_object *objects = capture_objects(c, &count);
	uint8_t *data;
	int err = n ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++) {
		if (objects[i].kind != EBX_CONTAINERS)
			continue;
		err = capture_object_read(c, &objects[i], &data, &size_bytes);
		if (!err) {
			err = add(n, data, size_bytes);
			free(data);
		}
		err = err == -ENOMEM ? err : 0;
	}
	if (err) {
		container_names_free(n);
		return err;
	}
	if (n->count)
		settle(n);
	*out = n;
	return 0;
}

/* machine-NAME.scope of systemd-nspawn and others, lxc.payload.NAME: systemd writes '-' as "\x2d". */
static void name_in(const char *cgroup, char out[CONTAINER_NAMES_TEXT_MAX])
{
	static const char *const marks[] = { "/machine-", "/lxc.payload." };
	const char *at = NULL, *end;
	size_t used = 0;

	for (size_t i = 0; !at && i < sizeof(marks) / sizeof(marks[0]); i++) {
		at = strstr(cgroup, marks[i]);
		at = at ? at + strlen(marks[i]) : NULL;
	}
	end = at ? strchrnul(at, '/') : NULL;
	if (at && end - at > 6 && !memcmp(end - 6, ".scope", 6))
		end -= 6;
	else if (at && strstr(cgroup, marks[0]))
		at = NULL; /* a slice, or something else */
	while (at && at < end && used < CONTAINER_RECORD_NAME_MAX) {
		bool dash = end - at >= 4 && !memcmp(at, "\\x2d", 4);

		out[used++] = dash ? '-' : *at;
		at += dash ? 4 : 1;
	}
	out[used] = '\0';
}

void container_names_complete_ids(struct container_names *n)
{
	if (n)
		n->has_complete_ids = true;
}

static void put_text(const struct container_names *n, const char *cgroup, int digits,
		     char out[CONTAINER_NAMES_TEXT_MAX])
{
	const char *id = container_record_in(cgroup);
	const struct named *found = NULL;
	struct named key;

	if (!id) {
		name_in(cgroup, out);
		return;
	}
	memcpy(key.id, id, CONTAINER_RECORD_DIGITS);
	if (n && n->count)
		found = bsearch(&key, n->list, n->count, sizeof(key), by_id);
	if (!found)
		snprintf(out, CONTAINER_NAMES_TEXT_MAX, "%.*s", digits, id);
	else if (found->shared)
		snprintf(out, CONTAINER_NAMES_TEXT_MAX, "%s@%.*s", found->name, digits, id);
	else
		snprintf(out, CONTAINER_NAMES_TEXT_MAX, "%s", found->name);
}

void container_names_text(const struct container_names *n, const char *cgroup,
			  char out[CONTAINER_NAMES_TEXT_MAX])
{
	put_text(n, cgroup, n && n->has_complete_ids ? CONTAINER_RECORD_DIGITS : DIGITS_SHORT, out);
}

void container_names_lines(const struct container_names *n, const char *cgroup,
			   char out[CONTAINER_NAMES_TEXT_MAX])
{
	const char *id = container_record_in(cgroup);
	size_t used;

	put_text(n, cgroup, DIGITS_SHORT, out);
	used = strlen(out);
	if (id)
		snprintf(out + used, CONTAINER_NAMES_TEXT_MAX - used, "\n%.*s",
			 CONTAINER_RECORD_DIGITS, id);
}

int container_names_name(const struct container_names *n, struct string_table *names,
			 uint32_t cgroup, uint32_t *out)
{
	char text[CONTAINER_NAMES_TEXT_MAX];

	if (*string_table_text(names, cgroup) != '/') {
		*out = cgroup;
		return 0;
	}
	container_names_text(n, string_table_text(names, cgroup), text);
	if (!*text)
		strcpy(text, CONTAINER_NAMES_HOST);
	return string_table_add(names, text, strlen(text), out);
}
