/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/container/cgroup_selection.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"
#include "format/payload/container_record.h"

#define ID_MIN_DIGITS 12 /* fewer may be a name */

struct cgroup_selection_id {
	char digits[CONTAINER_RECORD_DIGITS];
};

void cgroup_selection_done(struct cgroup_selection *s)
{
	free(s->ids);
	s->ids = NULL;
	s->count = s->room = 0;
}

bool cgroup_selection_is_wanted(const struct cgroup_selection *s)
{
	return s->opts->cgroups.count || s->opts->units.count || s->opts->containers.count;
}

static bool is_path(const struct option_list *asked, const char *path)
{
	for (unsigned i = 0; i < asked->count; i++) {
		const char *pattern = asked->values[i];

		pattern += *pattern == '/';
		if (!fnmatch(pattern, path + (*path == '/'), FNM_PATHNAME))
			return true;
	}
	return false;
}

static bool is_unit(const struct option_list *asked, const char *name)
{
	char service[NAME_MAX + 16];

	for (unsigned i = 0; i < asked->count; i++) {
		if (!fnmatch(asked->values[i], name, 0))
			return true;
		if (snprintf(service, sizeof(service), "%s.service", asked->values[i]) <
			    (int)sizeof(service) &&
		    !fnmatch(service, name, 0))
			return true;
	}
	return false;
}

static bool is_container(const struct cgroup_selection *s, const char *path)
{
	const struct option_list *asked = &s->opts->containers;
	const char *id = asked->count ? container_record_in(path) : NULL;

	if (!id)
		return false;
	for (unsigned i = 0; i < asked->count; i++) {
		size_t digits = strlen(asked->values[i]);

		if (digits >= ID_MIN_DIGITS && digits <= CONTAINER_RECORD_DIGITS &&
		    !strncmp(asked->values[i], id, digits))
			return true;
	}
	for (size_t i = 0; i < s->count; i++)
		if (!memcmp(s->ids[i].digits, id, CONTAINER_RECORD_DIGITS))
			return true;
	return false;
}

/* One folder alone, not those above it. */
static bool takes_folder(const struct cgroup_selection *s, const char *path)
{
	const char *slash = strrchr(path, '/');

	return is_path(&s->opts->cgroups, path) ||
	       is_unit(&s->opts->units, slash ? slash + 1 : path) || is_container(s, path);
}

bool cgroup_selection_takes(const struct cgroup_selection *s, const char *path)
{
	char part[PATH_MAX];
	size_t bytes = strlen(path);

	if (bytes >= sizeof(part))
		return false;
	memcpy(part, path, bytes + 1);
	while (!takes_folder(s, part)) {
		char *slash = strrchr(part, '/');

		if (!slash || !*part)
			return false;
		*slash = '\0';
	}
	return true;
}

int cgroup_selection_name(struct cgroup_selection *s, const char *id, const char *name,
			  size_t name_bytes)
{
	const struct option_list *asked = &s->opts->containers;
	char text[CONTAINER_RECORD_NAME_MAX + 1];
	bool is_asked = false;
	int err;

	if (name_bytes >= sizeof(text))
		return 0;
	memcpy(text, name, name_bytes);
	text[name_bytes] = '\0';
	for (unsigned i = 0; i < asked->count; i++)
		is_asked |= !fnmatch(asked->values[i], text, 0);
	for (size_t i = 0; i < s->count; i++)
		is_asked &= memcmp(s->ids[i].digits, id, CONTAINER_RECORD_DIGITS) != 0;
	if (!is_asked)
		return 0;
	err = vec_reserve(&s->ids, &s->room, s->count + 1);
	if (err)
		return err;
	memcpy(s->ids[s->count++].digits, id, CONTAINER_RECORD_DIGITS);
	return 1;
}
