/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/contract/container_paths.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

char *container_paths_graphroot(char *line)
{
	static const char *const keys[] = { "graphroot", "rootless_storage_path" };
	char *p = line + strspn(line, " \t"), *end;
	size_t n = strcspn(p, " \t=");
	bool known = false;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		known |= n == strlen(keys[i]) && !strncmp(p, keys[i], n);
	p += n;
	p += strspn(p, " \t");
	if (!known || *p++ != '=')
		return NULL;
	p += strspn(p, " \t");
	if (p[0] != '"' || p[1] != '/')
		return NULL;
	end = strchr(++p, '"');
	if (!end)
		return NULL;
	*end = '\0';
	return p;
}
