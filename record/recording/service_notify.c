/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/service_notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The number that the variable holds; 0: there is none, or another text. */
static uint64_t number_of(const char *variable)
{
	const char *text = getenv(variable);
	unsigned long long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	return errno || *end ? 0 : value;
}

/* Half of the time that the manager waits for a sign of life of this process; 0: it does not wait. */
static uint64_t watchdog_half_ns(void)
{
	uint64_t usec = number_of("WATCHDOG_USEC");

	if (getenv("WATCHDOG_PID") && number_of("WATCHDOG_PID") != (uint64_t)getpid())
		return 0;
	return usec < UINT64_MAX / 500 ? usec * 500 : 0;
}

int service_notify_open(struct service_notify *out)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const char *name = getenv("NOTIFY_SOCKET");
	size_t bytes = name ? strlen(name) : 0;
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes);
	int fd, err;

	*out = (struct service_notify){ .fd = -1 };
	if (!bytes)
		return 0;
	if ((*name != '/' && *name != '@') || bytes < 2 || bytes >= sizeof(at.sun_path))
		return -EINVAL;
	memcpy(at.sun_path, name, bytes);
	if (*name == '@')
		at.sun_path[0] = '\0'; /* an abstract name has no NUL at its end, a path has one */
	else
		size++;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&at, size)) {
		err = -errno;
		close(fd);
		return err;
	}
	out->fd = fd;
	out->every_ns = watchdog_half_ns();
	return 0;
}

void service_notify_send(const struct service_notify *n, const char *line)
{
	if (n->fd >= 0)
		(void)send(n->fd, line, strlen(line), MSG_NOSIGNAL);
}

void service_notify_alive(struct service_notify *n, uint64_t now_ns)
{
	if (!n->every_ns || now_ns - n->sent_ns < n->every_ns)
		return;
	n->sent_ns = now_ns;
	service_notify_send(n, "WATCHDOG=1");
}

void service_notify_close(struct service_notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}
