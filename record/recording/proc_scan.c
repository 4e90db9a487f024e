/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recording/proc_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/base/clock.h"
#include "record/process/proc_maps.h"
#include "record/process/proc_stat.h"
#include "format/base/slurp.h"

/* What is needed of one process after the other: buffers that are used again. */
struct walk {
	struct procscan *scan;
	struct siderec rec;
	struct procmap map;
	struct outbuf text;
	int64_t boot_to_mono_ns;
	uint64_t ns_a_tick;
};

static uint64_t start_ns(const struct walk *w, const struct procstat *stat)
{
	int64_t ns = (int64_t)(stat->start_ticks * w->ns_a_tick) - w->boot_to_mono_ns;

	return ns > 0 ? (uint64_t)ns : 0;
}

static bool is_number(const char *name, uint32_t *out)
{
	unsigned long v;
	char *end;

	if (*name < '1' || *name > '9')
		return false;
	v = strtoul(name, &end, 10);
	if (*end || v > INT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

static int read_text(struct walk *w, int dir_fd, const char *name)
{
	outbuf_clear(&w->text);
	return slurp_at(dir_fd, name, &w->text);
}

static int emit_namespaces(struct walk *w, int dir_fd, uint32_t pid)
{
	static const char *const names[SIDEREC_NAMESPACES] = {
		"ns/net", "ns/uts", "ns/ipc", "ns/pid", "ns/user", "ns/mnt", "ns/cgroup",
	};
	struct siderec_namespace ns[SIDEREC_NAMESPACES] = { 0 };
	struct stat st;
	size_t i;

	for (i = 0; i < SIDEREC_NAMESPACES; i++) {
		if (fstatat(dir_fd, names[i], &st, 0))
			continue;
		ns[i].dev = st.st_dev;
		ns[i].inode = st.st_ino;
	}
	return emit_side(w->scan->emit, &w->rec, siderec_namespaces(&w->rec, pid, pid, ns));
}

static int emit_map(struct walk *w, uint32_t pid, const struct procmap *map)
{
	struct siderec_map m = {
		.pid = pid,
		.tid = pid,
		.start = map->start,
		.size_bytes = map->end - map->start,
		.file_off_bytes = map->file_off_bytes,
		.dev_major = map->dev_major,
		.dev_minor = map->dev_minor,
		.inode = map->inode,
		.prot = map->prot,
		.flags = map->flags,
		.path = map->path[0] ? map->path : "//anon", /* perf's name for it */
	};

	(void)movedtext_look(w->scan->moved, &m, (const char *)w->text.data,
			     clock_ns(CLOCK_MONOTONIC));
	if (vdso_is(w->scan->vdso, m.path, m.size_bytes))
		m.build_id = w->scan->vdso->build_id;
	else
		mapids_lookup(w->scan->buildids, &m, clock_ns(CLOCK_MONOTONIC));
	if (w->scan->jitfiles)
		jitfiles_map(w->scan->jitfiles, &m);
	mapids_name(w->scan->buildids, &m.build_id, m.path, false);
	if (w->scan->unwmaps)
		(void)unwmaps_map(w->scan->unwmaps, &m);
	w->scan->map_count++;
	if (w->scan->maps_only)
		return 0;
	return emit_side(w->scan->emit, &w->rec, siderec_mmap2(&w->rec, &m));
}

static int emit_maps(struct walk *w, int dir_fd, uint32_t pid)
{
	const char *text;
	int err = 0, more;

	if (read_text(w, dir_fd, "maps") || !w->text.size_bytes)
		return 0; /* a kernel thread, or gone */
	text = (const char *)w->text.data;
	while (!err && (more = procmaps_next(&text, &w->map)) != 0) {
		if (more > 0 && (w->map.prot & PROT_EXEC))
			err = emit_map(w, pid, &w->map);
	}
	return err;
}

/* ppid: of the process, when tid is its leader. */
static int emit_thread(struct walk *w, uint32_t pid, uint32_t tid, const struct procstat *stat)
{
	uint32_t parent = tid == pid ? stat->ppid : pid;
	int err;

	err = emit_side(w->scan->emit, &w->rec,
			siderec_fork(&w->rec, pid, tid, parent, parent, start_ns(w, stat)));
	if (!err)
		err = emit_side(w->scan->emit, &w->rec,
				siderec_comm(&w->rec, pid, tid, stat->comm));
	if (w->scan->unwmaps && tid != pid)
		unwmaps_fork(w->scan->unwmaps, pid, pid);
	w->scan->thread_count++;
	return err;
}

static int scan_threads(struct walk *w, int dir_fd, uint32_t pid)
{
	int fd = openat(dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct procstat stat;
	struct dirent *d;
	char name[64];
	uint32_t tid;
	int err = 0;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (!err && (d = readdir(dir))) {
		if (!is_number(d->d_name, &tid) || tid == pid)
			continue;
		snprintf(name, sizeof(name), "%u/stat", tid);
		if (read_text(w, fd, name) || procstat_parse((const char *)w->text.data, &stat))
			continue;
		err = emit_thread(w, pid, tid, &stat);
	}
	closedir(dir);
	return err;
}

static int scan_process(struct walk *w, int proc_fd, const char *name, uint32_t pid)
{
	int dir_fd = openat(proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct procstat stat;
	int err = 0;

	if (dir_fd < 0)
		return 0;
	w->scan->process_count++;
	if (read_text(w, dir_fd, "stat") || procstat_parse((const char *)w->text.data, &stat))
		goto out;
	if (w->scan->maps_only) {
		unwmaps_anew(w->scan->unwmaps, pid);
		err = emit_maps(w, dir_fd, pid);
		goto out;
	}
	err = emit_thread(w, pid, pid, &stat);
	if (!err)
		err = emit_namespaces(w, dir_fd, pid);
	if (!err && w->scan->args)
		err = argkeep_read(w->scan->args, pid, 0, dir_fd);
	if (!err)
		err = emit_maps(w, dir_fd, pid);
	if (!err)
		err = scan_threads(w, dir_fd, pid);
out:
	close(dir_fd);
	return err;
}

int procscan_run(struct procscan *s)
{
	struct walk w = {
		.scan = s,
		.rec = { .id = emit_side_id(s->emit) },
		.boot_to_mono_ns = (int64_t)(clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC)),
		.ns_a_tick = 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK),
	};
	DIR *proc = opendir("/proc");
	struct dirent *d;
	uint32_t pid;
	int err = 0;

	if (!proc)
		return -errno;
	while (!err && (d = readdir(proc))) {
		if (is_number(d->d_name, &pid) && targets_has(s->targets, pid))
			err = scan_process(&w, dirfd(proc), d->d_name, pid);
	}
	closedir(proc);
	outbuf_done(&w.text);
	return err;
}
