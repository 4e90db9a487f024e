/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/contract/service_unit.h"

#include <string.h>

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* run-u17.service, run-p12-i34.service, run-r and 32 digits: systemd-run's own names. */
static bool is_made_up(const char *name)
{
	if (!begins(name, "run-"))
		return false;
	if (name[4] == 'u' || name[4] == 'p')
		return name[5] >= '0' && name[5] <= '9';
	return name[4] == 'r' && strspn(name + 5, "0123456789abcdef") == 32;
}

static bool is_engine(const char *name)
{
	static const char *const engines[] = {
		"containerd.service", "docker.service",
		"crio.service",       "kubelet.service",
		"k3s.service",        "k3s-agent.service",
		"podman.service",     "snap.docker.dockerd.service"
	};

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (!strcmp(name, engines[i]))
			return true;
	return false;
}

/* Copies a part of a path; systemd writes '-' in a name as "\x2d". */
static void copy_name(const char *from, size_t size_bytes, char out[SERVICE_UNIT_MAX])
{
	const char *end = from + size_bytes;
	size_t used = 0;

	while (from < end && used + 1 < SERVICE_UNIT_MAX) {
		bool dash = end - from >= 4 && !memcmp(from, "\\x2d", 4);

		out[used++] = dash ? '-' : *from;
		from += dash ? 4 : 1;
	}
	out[used] = '\0';
}

void service_unit(const char *cgroup, bool in_container, char out[SERVICE_UNIT_MAX])
{
	const char *part = cgroup;
	char name[SERVICE_UNIT_MAX];
	size_t size;

	*out = '\0';
	for (; *part == '/'; part += size) {
		part++;
		size = strcspn(part, "/");
		if (size <= 8 || memcmp(part + size - 8, ".service", 8) != 0)
			continue;
		copy_name(part, size, name);
		if (!begins(name, "user@") && !is_made_up(name) &&
		    !(in_container && is_engine(name)))
			strcpy(out, name);
	}
}
