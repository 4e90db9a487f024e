/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/perf_event.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/base/vec.h"
#include "record/privsep/caps.h"
#include "format/os/slurp.h"

#define ROUNDS_MAX 8 /* a process may start and end threads faster than we read of them */

int perf_event_set_open_one(const struct perf_event_attr *attr, uint32_t pid, uint32_t cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, pid ? (int)pid : -1, (int)cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int add(struct perf_event_set *s, const struct perf_event_attr *attr, uint32_t tid,
	       uint32_t cpu, size_t index)
{
	int fd = vec_reserve(&s->event, &s->room, s->count + 1);

	if (!fd)
		fd = perf_event_set_open_one(attr, tid, cpu);
	if (fd < 0)
		return fd;
	s->event[s->count++] =
		(struct perf_event_set_event){ .fd = fd, .tid = tid, .cpu = index, .cpu_id = cpu };
	return 0;
}

static int add_everywhere(struct perf_event_set *s, const struct perf_event_attr *attr,
			  const struct cpuset_list *cpus, uint32_t tid)
{
	size_t i;
	int err = 0;

	for (i = 0; i < cpus->count && !err; i++)
		err = add(s, attr, tid, cpus->ids[i], i);
	return err;
}

static bool has(const struct perf_event_set *s, uint32_t tid)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (s->event[i].tid == tid)
			return true;
	}
	return false;
}

/* Opens the threads that are not in the set yet; how many there are, or negative errno. */
static int add_threads(struct perf_event_set *s, const struct perf_event_attr *attr,
		       const struct cpuset_list *cpus, uint32_t pid)
{
	struct dirent *d;
	char path[48];
	uint32_t tid;
	int found = 0, err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (d = readdir(dir))) {
		tid = (uint32_t)strtoul(d->d_name, NULL, 10);
		if (!tid || has(s, tid))
			continue;
		err = add_everywhere(s, attr, cpus, tid);
		found += !err;
		if (err == -ESRCH)
			err = 0; /* ended, but still listed */
	}
	closedir(dir);
	return err ? err : found;
}

/*
 * A thread that is born while we open its parent's events has those that were open by then: the
 * list is read again until it has no new thread.
 */
static int add_processes(struct perf_event_set *s, const struct perf_event_attr *attr,
			 const struct cpuset_list *cpus, const struct perf_event_set_scope *scope)
{
	int found = 0, round;
	size_t i;

	for (i = 0; i < scope->pid_count && found >= 0; i++) {
		found = 1;
		for (round = 0; round < ROUNDS_MAX && found > 0; round++)
			found = add_threads(s, attr, cpus, scope->pids[i]);
	}
	return found < 0 ? found : s->count ? 0 : -ESRCH;
}

int perf_event_set_open(struct perf_event_set *s, struct perf_event_attr *attr,
			const struct cpuset_list *cpus, const struct perf_event_set_scope *scope)
{
	int err;

	*s = (struct perf_event_set){ 0 };
	attr->inherit = scope->pid_count > 0;
	err = scope->pid_count ? add_processes(s, attr, cpus, scope)
			       : add_everywhere(s, attr, cpus, 0);
	if (err)
		perf_event_set_close(s);
	return err;
}

void perf_event_set_close(struct perf_event_set *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		close(s->event[i].fd);
	free(s->event);
	*s = (struct perf_event_set){ 0 };
}

int perf_event_set_replace(struct perf_event_set *s, int fd, uint32_t cpu, int output_fd,
			   uint64_t *id)
{
	size_t i = 0;
	int err = 0;

	while (i < s->count && s->event[i].cpu_id != cpu)
		i++;
	if (i == s->count)
		err = vec_reserve(&s->event, &s->room, s->count + 1);
	if (!err && (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, output_fd) ||
		     ioctl(fd, PERF_EVENT_IOC_ID, id) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	if (i < s->count)
		close(s->event[i].fd);
	else
		s->count++;
	s->event[i] = (struct perf_event_set_event){ .fd = fd, .cpu = i, .cpu_id = cpu };
	return 0;
}

int perf_event_set_control(const struct perf_event_set *s, unsigned long request)
{
	size_t i;
	int err = 0;

	for (i = 0; i < s->count; i++) {
		if (ioctl(s->event[i].fd, request, 0))
			err = -errno;
	}
	return err;
}

int perf_event_set_paranoid(void)
{
	char *text = slurp_line("/proc/sys/kernel/perf_event_paranoid");
	int level = text ? atoi(text) : INT32_MIN;

	free(text);
	return level;
}

const char *perf_event_set_hint(int err, int paranoid, int all)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		if (all && caps_missing(caps_effective(), CAPS_BPF) == RIGHT(CAP_PERFMON))
			return "CAP_PERFMON is missing, see kernel.perf_event_paranoid; without, "
			       "record processes of your own: -- COMMAND, or -p PID";
		if (paranoid > 2)
			return "kernel.perf_event_paranoid forbids it: as root, sysctl "
			       "kernel.perf_event_paranoid=2";
		if (all)
			return "need root, or CAP_BPF and CAP_PERFMON, see "
			       "kernel.perf_event_paranoid; without, record processes of your own: "
			       "-- COMMAND, or -p PID";
		return "only processes of your own; or forbidden by a container's seccomp filter";
	case -EMFILE:
		return "raise the limit of open files: ulimit -n";
	case -ENOSYS:
		return "this kernel has no perf events";
	default:
		return NULL;
	}
}
