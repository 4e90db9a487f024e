/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/snapshot/snapshot_trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/text/duration_text.h"

#define PSI_WINDOW_MIN_US 500000 /* the kernel's limits */
#define PSI_WINDOW_MAX_US 10000000

/* "50ms", "500us", "2s" in us, moved behind it; 0: none. */
static uint64_t read_us(const char **text)
{
	uint64_t ns;

	return duration_read(*text, false, text, &ns) ? ns / 1000 : 0;
}

static int parse_psi(const char *text, struct snapshot_trigger *out)
{
	static const char *const resources[] = { "cpu", "memory", "io" };
	size_t i, bytes = strcspn(text, ":");

	for (i = 0; i < 3; i++) {
		if (strlen(resources[i]) == bytes && !strncmp(resources[i], text, bytes))
			break;
	}
	if (i == 3 || text[bytes] != ':')
		return -EINVAL;
	snprintf(out->file, sizeof(out->file), "/proc/pressure/%s", resources[i]);
	text += bytes + 1;
	out->full = !strncmp(text, "full:", 5);
	if (!out->full && strncmp(text, "some:", 5) != 0)
		return -EINVAL;
	text += 5;
	out->stall_us = read_us(&text);
	if (*text++ != '/')
		return -EINVAL;
	out->window_us = read_us(&text);
	return *text || !out->stall_us || out->stall_us > out->window_us ||
			       out->window_us < PSI_WINDOW_MIN_US ||
			       out->window_us > PSI_WINDOW_MAX_US
		       ? -EINVAL
		       : 0;
}

int snapshot_trigger_parse(const char *words, struct snapshot_trigger *out)
{
	struct snapshot_trigger t = { .words = words };
	int err = 0;

	if (!strncmp(words, "mark:", 5) && words[5]) {
		t.kind = SNAPSHOT_TRIGGER_MARK;
		t.mark = words + 5;
	} else if (!strncmp(words, "runq:", 5)) {
		const char *text = words + 5;

		t.kind = SNAPSHOT_TRIGGER_RUNQ;
		t.late_us = read_us(&text);
		err = *text || !t.late_us ? -EINVAL : 0;
	} else if (!strncmp(words, "psi:", 4)) {
		t.kind = SNAPSHOT_TRIGGER_PSI;
		err = parse_psi(words + 4, &t);
	} else {
		err = -EINVAL;
	}
	if (!err)
		*out = t;
	return err;
}

static int open_psi(const struct snapshot_trigger *t, struct notes *notes)
{
	char text[80];
	int n, fd = open(t->file, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return note_fail(notes, -errno, "does this kernel have CONFIG_PSI, and psi=1?",
				 "cannot watch '%s' for '%s'", t->file, t->words);
	n = snprintf(text, sizeof(text), "%s %llu %llu", t->full ? "full" : "some",
		     (unsigned long long)t->stall_us, (unsigned long long)t->window_us);
	if (write(fd, text, (size_t)n + 1) < 0) {
		n = -errno;
		close(fd);
		return note_fail(notes, n,
				 n == -EINVAL ? "without CAP_SYS_RESOURCE the window is 2s or a "
						"multiple of it"
					      : NULL,
				 "cannot watch '%s' for '%s'", t->file, t->words);
	}
	return fd;
}

int snapshot_triggers_open(struct snapshot_triggers *t, const struct option_list *words,
			   struct notes *notes)
{
	int fd;

	if (!words->count)
		return 0;
	t->list = calloc(words->count, sizeof(*t->list));
	t->fds = malloc(words->count * sizeof(*t->fds));
	if (!t->list || !t->fds)
		return -ENOMEM;
	for (unsigned i = 0; i < words->count; i++) {
		if (snapshot_trigger_parse(words->values[i], &t->list[i]))
			return -EINVAL;
		fd = t->list[i].kind == SNAPSHOT_TRIGGER_PSI ? open_psi(&t->list[i], notes) : -1;
		if (fd < 0 && t->list[i].kind == SNAPSHOT_TRIGGER_PSI)
			return fd;
		t->fds[t->count++] = fd;
	}
	return 0;
}

void snapshot_triggers_done(struct snapshot_triggers *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->fds[i] >= 0)
			close(t->fds[i]);
	}
	free(t->list);
	free(t->fds);
	*t = (struct snapshot_triggers){ 0 };
}

static void fire(struct snapshot_triggers *t, const struct snapshot_trigger *by, uint64_t now_ns)
{
	if (t->fired_ns && now_ns < t->fired_ns + SNAPSHOT_TRIGGERS_PAUSE_NS)
		return;
	t->fired_ns = now_ns;
	t->fired = by->words;
}

void snapshot_triggers_mark(struct snapshot_triggers *t, const struct trace_data_mark *m,
			    uint64_t time_ns)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->list[i].kind == SNAPSHOT_TRIGGER_MARK &&
		    (!strcmp(t->list[i].mark, m->message) || !strcmp(t->list[i].mark, m->name)))
			fire(t, &t->list[i], time_ns);
	}
}

void snapshot_triggers_late(struct snapshot_triggers *t, uint64_t time_ns)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->list[i].kind == SNAPSHOT_TRIGGER_RUNQ)
			fire(t, &t->list[i], time_ns);
	}
}

int snapshot_triggers_fd(const struct snapshot_triggers *t, size_t i)
{
	return t->fds[i];
}

void snapshot_triggers_pressure(struct snapshot_triggers *t, size_t i, uint64_t now_ns)
{
	if (i < t->count && t->list[i].kind == SNAPSHOT_TRIGGER_PSI)
		fire(t, &t->list[i], now_ns);
}
