/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/file/file_watch.h"

#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#define CHANGES      (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF)
#define EVENTS_BYTES 4096 /* read at a time */

void file_watch_init(struct file_watch *w)
{
	*w = (struct file_watch){ .fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC) };
}

void file_watch_done(struct file_watch *w)
{
	u64map_done(&w->live);
	if (w->fd >= 0)
		close(w->fd);
	*w = (struct file_watch){ .fd = -1 };
}

int file_watch_begin(int inotify_fd, int fd)
{
	char path[32];
	int watch;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	watch = inotify_add_watch(inotify_fd, path, CHANGES);
	return watch > 0 ? watch : 0;
}

void file_watch_end(int inotify_fd, int watch)
{
	(void)inotify_rm_watch(inotify_fd, watch);
}

static void forget_all(struct file_watch *w)
{
	const struct u64map_slot *slot;
	size_t at = 0;

	while ((slot = u64map_next(&w->live, &at)))
		file_watch_end(w->fd, (int)slot->a);
	u64map_done(&w->live);
}

static void take_event(struct file_watch *w, const struct inotify_event *e)
{
	w->event_count++;
	if (e->mask & IN_Q_OVERFLOW) {
		forget_all(w); /* it may have happened to any of them */
	} else if (u64map_get(&w->live, (uint64_t)e->wd, 0)) {
		u64map_remove(&w->live, (uint64_t)e->wd, 0);
		if (!(e->mask & IN_IGNORED))
			file_watch_end(w->fd, e->wd);
	}
}

static void take_events(struct file_watch *w)
{
	char bytes[EVENTS_BYTES] __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *e;
	ssize_t n;

	while ((n = read(w->fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*e) + e->len)) {
			e = (const void *)(bytes + at);
			take_event(w, e);
		}
	}
}

bool file_watch_has_room(const struct file_watch *w)
{
	return w->fd >= 0 && w->live.key_count < FILE_WATCH_MAX;
}

bool file_watch_add(struct file_watch *w, int watch, uint64_t event_count)
{
	take_events(w);
	if (u64map_get(&w->live, (uint64_t)watch, 0))
		return true;
	if (w->event_count == event_count && !u64map_put(&w->live, (uint64_t)watch, 0, 0))
		return true;
	file_watch_end(w->fd, watch);
	return false;
}

bool file_watch_holds(struct file_watch *w, int watch)
{
	if (!watch || w->fd < 0)
		return false;
	take_events(w);
	return u64map_get(&w->live, (uint64_t)watch, 0);
}
