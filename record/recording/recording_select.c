/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "format/os/slurp.h"
#include "record/process/container/cgroup_paths.h"
#include "record/recording/recording_priv.h"

/* One look at what there is. */
struct look {
	struct recording *r;
	struct outbuf text;
	bool has_cgroup; /* one that was named is there */
	bool is_running; /* events come: what is known of a process has to be read now */
};

/* A process that is in a cgroup which was named, and has a name that was. */
static int add(struct look *l, uint32_t pid)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct recording *r = l->r;
	int err;

	if (targets_has_now(&r->targets, pid))
		return 0; /* its event comes, or has come */
	err = targets_add_running(&r->targets, pid, now_ns);
	return err || !l->is_running ? err : proc_scan_late(&r->scan, pid, now_ns);
}

/* ---- names ---- */

static bool is_among_comms(const struct record_opts *o, const char *comm)
{
	size_t bytes = strcspn(comm, "\n");

	for (unsigned i = 0; i < o->comms.count; i++)
		if (strnlen(o->comms.values[i], 15) == bytes &&
		    !memcmp(o->comms.values[i], comm, bytes))
			return true;
	return false;
}

/* Whether a thread of the process has a name that was asked for. */
static bool has_comm(struct look *l, uint32_t pid)
{
	bool found = !l->r->opts->comms.count;
	char path[64];
	struct dirent *d;
	DIR *dir;

	if (found)
		return true;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	while (dir && !found && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "%.20s/comm", d->d_name);
		outbuf_clear(&l->text);
		found = *d->d_name != '.' && !slurp_at(dirfd(dir), path, &l->text) &&
			l->text.size_bytes &&
			is_among_comms(l->r->opts, (const char *)l->text.data);
	}
	if (dir)
		closedir(dir);
	return found;
}

static int look_at_all(struct look *l)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	int err = 0;

	while (proc && !err && (d = readdir(proc))) {
		uint32_t pid = (uint32_t)strtoul(d->d_name, NULL, 10);

		if (pid && has_comm(l, pid))
			err = add(l, pid);
	}
	if (proc)
		closedir(proc);
	return err;
}

/* ---- cgroups ---- */

/* fd: its folder.  A threaded cgroup has no list of processes: they are in the one above. */
static int look_in(struct look *l, uint64_t id, int fd)
{
	struct outbuf procs = { 0 };
	int err = targets_add_cgroup(&l->r->targets, id);
	char *at, *end;

	if (!err && !slurp_at(fd, "cgroup.procs", &procs) && procs.size_bytes) {
		for (at = (char *)procs.data; !err; at = end + 1) {
			uint32_t pid = (uint32_t)strtoul(at, &end, 10);

			if (end == at)
				break;
			if (pid && has_comm(l, pid))
				err = add(l, pid);
			if (!*end)
				break;
		}
	}
	outbuf_done(&procs);
	return err;
}

/* Something else is mounted over it. */
static bool is_hidden(const char *mount)
{
	struct statfs fs;

	return statfs(mount, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC;
}

static int look_at_cgroup(void *arg, uint64_t id, const char *path, int fd)
{
	struct look *l = arg;

	if (!cgroup_selection_takes(&l->r->selection, path))
		return 0;
	l->has_cgroup = true;
	return look_in(l, id, fd);
}

/* -ENOENT: there are no cgroups to look at. */
static int look_at_cgroups(struct recording *r, bool is_running)
{
	struct look l = { .r = r, .is_running = is_running };
	char mount[PATH_MAX];
	int err = cgroup_paths_find(mount) && !is_hidden(mount)
			  ? cgroup_paths_each(look_at_cgroup, &l)
			  : -ENOENT;

	outbuf_done(&l.text);
	if (!err && !l.has_cgroup && !is_running)
		note(&r->notes, NOTE_INFO,
		     "no such cgroup is there: its processes are recorded when it is made");
	return err;
}

/* It costs this cgroup's processes, of which those that start in it from now on are known. */
static void note_failed_look(struct recording *r, int err, const char *what)
{
	if (err)
		note_failed_part(&r->notes, err, what, "processes that are in it are not recorded");
}

static void on_container(void *arg, const char *id, const char *name, size_t name_bytes)
{
	struct recording *r = arg;
	int err = cgroup_selection_name(&r->selection, id, name, name_bytes);

	if (err > 0)
		err = look_at_cgroups(r, true);
	note_failed_look(r, err, "cannot select a container");
}

void recording_select_cgroup(struct recording *r, uint64_t id, const char *path)
{
	struct look l = { .r = r, .is_running = true };
	char mount[PATH_MAX], full[2 * PATH_MAX];
	int fd, err;

	if (!r->targets.selects || !cgroup_selection_is_wanted(&r->selection) ||
	    !cgroup_selection_takes(&r->selection, path) || !cgroup_paths_find(mount))
		return;
	snprintf(full, sizeof(full), "%s%s", mount, path);
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return; /* removed meanwhile */
	err = look_in(&l, id, fd);
	close(fd);
	outbuf_done(&l.text);
	note_failed_look(r, err, "cannot select a cgroup");
}

/* ---- the recording ---- */

int recording_selected(struct recording *r, const struct target_event *ev)
{
	int err;

	if (ev->h.size_bytes != sizeof(*ev)) {
		r->emit.account.broken_event_count++;
		return 0;
	}
	err = targets_note_selected(&r->targets, ev->pid, ev->h.time_ns);
	if (err || ev->inherits)
		return err;
	return proc_scan_late(&r->scan, ev->pid, ev->h.time_ns);
}

int recording_select(struct recording *r)
{
	const struct record_opts *o = r->opts;
	struct look l = { .r = r };
	int err = 0;

	for (unsigned i = 0; i < o->comms.count && !err; i++)
		err = targets_add_comm(&r->targets, o->comms.values[i]);
	if (!err && cgroup_selection_is_wanted(&r->selection))
		err = look_at_cgroups(r, false);
	else if (!err)
		err = look_at_all(&l);
	outbuf_done(&l.text);
	if (o->containers.count) {
		r->containers.on_name = on_container;
		r->containers.on_name_arg = r;
	}
	if (err)
		return note_fail(&r->notes, err,
				 err == -ENOENT ? "the file system cgroup2 has to be mounted"
						: NULL,
				 "cannot select processes");
	return 0;
}
