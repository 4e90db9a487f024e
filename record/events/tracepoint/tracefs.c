/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/tracepoint/tracefs.h"

#include <linux/mount.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/os/slurp.h"

/*
 * tracefs where nothing is mounted, as in a chroot: a mount that only this descriptor knows of.  By system calls: the C
 * library has functions for them only since 2.36.
 */
static int detached_mount(void)
{
	int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), fd = -1;

	if (context < 0)
		return -1;
	if (!syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
	close(context);
	return fd;
}

static char *read_event_file(const char *name)
{
	/* The second is where it was before 4.1, and where debugfs still shows it. */
	static const char *const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct outbuf text = { 0 };
	char path[256];
	size_t i;
	int fd;

	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		snprintf(path, sizeof(path), "%s/events/%s", mounts[i], name);
		if (!slurp(path, &text) && text.size_bytes)
			return (char *)text.data;
		outbuf_done(&text);
	}
	fd = detached_mount();
	if (fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "events/%s", name);
	if (slurp_at(fd, path, &text) || !text.size_bytes)
		outbuf_done(&text);
	close(fd);
	return (char *)text.data;
}

char *tracefs_format(const char *system, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s/format", system, name);
	return read_event_file(path);
}

char *tracefs_header_page(void)
{
	return read_event_file("header_page");
}
