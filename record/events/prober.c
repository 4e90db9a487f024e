/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/prober.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/privsep/subprocess.h"
#include "record/events/perf_event.h"
#include "record/privsep/caps.h"
#include "format/os/slurp.h"

#define SEMAPHORE_SHIFT 32 /* in attr.config: .../uprobe/format/ref_ctr_offset */

struct prober {
	pid_t pid;
	int socket;
};

struct question {
	uint64_t offset_bytes, semaphore_bytes;
};

struct answer {
	int32_t err; /* 0: a descriptor comes with it */
};

/* ---- the recorder's side ---- */

int prober_new(const char *program, struct prober **out)
{
	struct prober *p = calloc(1, sizeof(*p));
	int err = p ? subprocess_start(program, PROBER_OPTION, &p->pid, &p->socket) : -ENOMEM;

	if (err)
		free(p);
	else
		*out = p;
	return err;
}

void prober_free(struct prober *p)
{
	if (!p)
		return;
	close(p->socket);
	(void)kill(p->pid, SIGKILL);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(p);
}

int prober_open(struct prober *p, int fd, uint64_t offset_bytes, uint64_t semaphore_bytes)
{
	const struct question q = { offset_bytes, semaphore_bytes };
	struct answer a;
	int event = -1, err = subprocess_send(p->socket, fd, &q, sizeof(q));

	if (!err)
		err = subprocess_receive(p->socket, &event, &a, sizeof(a));
	if (err)
		return err;
	if (!a.err)
		return event >= 0 ? event : -EPIPE;
	if (event >= 0)
		close(event);
	return a.err < 0 ? a.err : -EPIPE;
}

/* ---- the helper's side ---- */

static int open_event(uint32_t type, int fd, const struct question *q)
{
	struct perf_event_attr attr = { .type = type, .size = sizeof(attr) };
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	attr.config = q->semaphore_bytes << SEMAPHORE_SHIFT;
	attr.config1 = (uint64_t)(uintptr_t)path;
	attr.config2 = q->offset_bytes;
	if (q->semaphore_bytes >> (64 - SEMAPHORE_SHIFT))
		return -EINVAL;
	return perf_event_set_open_one(&attr, 0, 0);
}

int prober_serve(void)
{
	char *type = slurp_line("/sys/bus/event_source/devices/uprobe/type");
	struct question q;
	struct answer a;
	int fd, event;

	if (subprocess_confine_opening(RIGHT(CAP_SYS_ADMIN)))
		return 1;
	while (!subprocess_receive(SUBPROCESS_FD, &fd, &q, sizeof(q))) {
		event = -EBADF;
		if (fd >= 0)
			event = type ? open_event((uint32_t)strtoul(type, NULL, 10), fd, &q)
				     : -ENOENT;
		a.err = event < 0 ? event : 0;
		if (subprocess_send(SUBPROCESS_FD, event, &a, sizeof(a)))
			return 1;
		if (fd >= 0)
			close(fd);
		if (event >= 0)
			close(event);
	}
	return 0;
}
