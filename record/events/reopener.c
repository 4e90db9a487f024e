/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/reopener.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/privsep/subprocess.h"
#include "record/events/perf_event.h"
#include "record/privsep/caps.h"

#define REGISTERED_MAX 64

enum deed { DEED_KEEP, DEED_SEAL, DEED_OPEN };

struct question {
	uint32_t deed;
	uint32_t cpu;
	struct perf_event_attr attr;
};

/* The reply to OPEN has as many as events are registered. */
struct answer {
	int32_t result; /* negative errno; for KEEP the number */
};

struct reopener {
	pid_t pid;
	int socket;
	int registered_count, owed_count; /* answers to OPEN that have not come yet */
	bool asked;
	uint32_t cpu; /* that was asked for */
	int err;      /* of the first event that could not be opened */
	int event[REGISTERED_MAX];
	bool extra[REGISTERED_MAX];
};

/* ---- the recorder's side ---- */

int reopener_new(const char *program, struct reopener **out)
{
	struct reopener *r = calloc(1, sizeof(*r));
	int err = r ? subprocess_start(program, REOPENER_OPTION, &r->pid, &r->socket) : -ENOMEM;

	if (err) {
		free(r);
		return err;
	}
	for (int i = 0; i < REGISTERED_MAX; i++)
		r->event[i] = -1;
	*out = r;
	return 0;
}

static void forget(struct reopener *r)
{
	for (int i = 0; i < REGISTERED_MAX; i++) {
		if (r->event[i] >= 0)
			close(r->event[i]);
		r->event[i] = -1;
	}
	r->asked = false;
	r->err = 0;
}

void reopener_free(struct reopener *r)
{
	if (!r)
		return;
	forget(r);
	close(r->socket);
	(void)kill(r->pid, SIGKILL);
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(r);
}

/* One answer, and the descriptor that came with it, or -1. */
static int receive(struct reopener *r, int *event)
{
	struct answer a;
	int err = subprocess_receive(r->socket, event, &a, sizeof(a));

	return err ? err : a.result;
}

static int ask(struct reopener *r, const struct question *q)
{
	int event = -1, result = r ? subprocess_send(r->socket, -1, q, sizeof(*q)) : -EPERM;

	if (!result)
		result = receive(r, &event);
	if (event >= 0)
		close(event);
	return result;
}

int reopener_keep(struct reopener *r, const struct perf_event_attr *attr)
{
	const struct question q = { .deed = DEED_KEEP, .attr = *attr };
	int number = ask(r, &q);

	if (number >= REGISTERED_MAX)
		return -EPIPE;
	if (number >= 0)
		r->registered_count = number + 1;
	return number;
}

int reopener_keep_extra(struct reopener *r, const struct perf_event_attr *attr)
{
	int number = reopener_keep(r, attr);

	if (number >= 0)
		r->extra[number] = true;
	return number;
}

int reopener_seal(struct reopener *r)
{
	const struct question q = { .deed = DEED_SEAL };

	return ask(r, &q);
}

int reopener_ask(struct reopener *r, uint32_t cpu)
{
	const struct question q = { .deed = DEED_OPEN, .cpu = cpu };
	int err;

	if (!r)
		return -EPERM;
	forget(r);
	err = subprocess_send(r->socket, -1, &q, sizeof(q));
	if (err)
		return err;
	r->owed_count += r->registered_count;
	r->asked = true;
	r->cpu = cpu;
	return 0;
}

/* Reads the next answer: to the last request, or to an earlier one that is not wanted any more. */
static int take_answer(struct reopener *r)
{
	int event = -1, result = receive(r, &event), number;

	if (result == -EPIPE)
		return result;
	if (r->owed_count > r->registered_count) {
		if (event >= 0)
			close(event);
	} else {
		number = r->registered_count - r->owed_count;
		r->event[number] = event;
		if (result < 0 && !r->err && !r->extra[number])
			r->err = result;
	}
	r->owed_count--;
	return 0;
}

int reopener_await(struct reopener *r, uint32_t cpu, int timeout_ms)
{
	struct pollfd p;
	int err = 0;

	if (!r || !r->asked || r->cpu != cpu)
		return -ENOENT;
	p = (struct pollfd){ .fd = r->socket, .events = POLLIN };
	while (!err && r->owed_count) {
		if (poll(&p, 1, timeout_ms) <= 0)
			return -EAGAIN;
		err = take_answer(r);
	}
	r->asked = false;
	return err ? err : r->err;
}

void reopener_forget(struct reopener *r, uint32_t cpu)
{
	if (r && r->cpu == cpu)
		r->asked = false;
}

int reopener_take(struct reopener *r, int number)
{
	int event = r && number >= 0 && number < r->registered_count ? r->event[number] : -1;

	if (event < 0)
		return -ENOENT;
	r->event[number] = -1;
	return event;
}

/* ---- the helper's side ---- */

struct server {
	struct perf_event_attr registered[REGISTERED_MAX];
	int count;
	bool sealed;
};

static int keep(struct server *s, const struct perf_event_attr *attr)
{
	if (s->sealed)
		return -EPERM;
	if (s->count == REGISTERED_MAX)
		return -ENOSPC;
	s->registered[s->count] = *attr;
	return s->count++;
}

static int answer(int result, int event)
{
	const struct answer a = { .result = result };
	int err = subprocess_send(SUBPROCESS_FD, event, &a, sizeof(a));

	if (event >= 0)
		close(event);
	return err;
}

static int open_all(const struct server *s, uint32_t cpu)
{
	int err = 0;

	for (int i = 0; i < s->count && !err; i++) {
		int event = perf_event_set_open_one(&s->registered[i], 0, cpu);

		err = answer(event < 0 ? event : 0, event < 0 ? -1 : event);
	}
	return err;
}

static int serve(struct server *s, const struct question *q)
{
	switch (q->deed) {
	case DEED_KEEP:
		return answer(keep(s, &q->attr), -1);
	case DEED_SEAL:
		s->sealed = true;
		return answer(0, -1);
	case DEED_OPEN:
		return open_all(s, q->cpu);
	default:
		return -EINVAL;
	}
}

int reopener_serve(void)
{
	struct server s = { .count = 0 };
	uint64_t rights = RIGHT(CAP_PERFMON);
	struct question q;
	int fd;

	if (perf_event_set_paranoid() > 2) /* Debian's kernels then want more */
		rights |= RIGHT(CAP_SYS_ADMIN);
	if (subprocess_confine_opening(rights))
		return 1;
	while (!subprocess_receive(SUBPROCESS_FD, &fd, &q, sizeof(q))) {
		if (fd >= 0)
			close(fd);
		if (serve(&s, &q))
			return 1;
	}
	return 0;
}
