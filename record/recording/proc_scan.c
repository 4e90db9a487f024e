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

#include "format/os/clock.h"
#include "format/base/cursor.h"
#include "record/process/proc/proc_maps.h"
#include "record/process/proc/proc_stat.h"
#include "record/process/proc/process_user.h"
#include "format/os/slurp.h"

#define READ_NS 2000000000ULL

/* Buffers that are used for one process after the other. */
struct walk {
	struct proc_scan *scan;
	struct side_record rec;
	struct outbuf text;
	int64_t boot_to_mono_ns;
	uint64_t ns_a_tick;
	uint64_t since_ns; /* the time of what is emitted; 0: the scan waits for all of it */
};

static uint64_t start_ns(const struct walk *w, const struct proc_stat *stat)
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

/* dir_fd: the process's folder */
static int emit_namespaces(struct walk *w, int dir_fd, uint32_t pid, uint32_t tid)
{
	static const char *const names[SIDE_RECORD_NAMESPACES] = {
		"ns/net", "ns/uts", "ns/ipc", "ns/pid", "ns/user", "ns/mnt", "ns/cgroup",
	};
	struct side_record_namespace ns[SIDE_RECORD_NAMESPACES] = { 0 };
	struct stat st;
	size_t i;

	for (i = 0; i < SIDE_RECORD_NAMESPACES; i++) {
		if (fstatat(dir_fd, names[i], &st, 0))
			continue;
		ns[i].dev = st.st_dev;
		ns[i].inode = st.st_ino;
	}
	return sink_side(w->scan->emit, &w->rec,
			 side_record_namespaces(&w->rec, pid, tid, ns,
						pid_namespace_host_tid(w->scan->pidns, tid)));
}

/* ---- what is read of a process by a thread ---- */

struct proc_scan_job {
	struct io_job base;
	struct proc_scan *scan;
	struct proc_scan_job *next; /* of those that are under way */
	uint32_t pid;
	int dir_fd;     /* owned, its folder in /proc */
	bool maps_only; /* for unwmaps alone */
	bool is_waited; /* the scan waits for it: what is emitted is of time 0 */
	bool is_outdated;
	uint64_t as_of_ns;
	uint64_t since_ns; /* it is as of then; 0: as of when it was read */
	struct outbuf maps;
	struct cmdline_log_texts texts;
	struct outbuf context;
};

static void job_free(struct io_job *base)
{
	struct proc_scan_job *j = (struct proc_scan_job *)base;

	close(j->dir_fd);
	outbuf_done(&j->maps);
	cmdline_log_texts_done(&j->texts);
	outbuf_done(&j->context);
	free(j);
}

static void job_work(struct io_job *base)
{
	struct proc_scan_job *j = (struct proc_scan_job *)base;

	j->as_of_ns = clock_ns(CLOCK_MONOTONIC);
	if (!j->maps_only)
		cmdline_log_read(j->dir_fd, &j->texts);
	if (slurp_some(j->dir_fd, "maps", PROC_MAPS_TEXT_MAX, &j->maps) || !outbuf_ok(&j->maps))
		outbuf_clear(&j->maps); /* gone, or no process has as many */
	if (!j->maps_only && j->scan->contexts->wanted && j->maps.size_bytes)
		context_log_read(j->dir_fd, (const char *)j->maps.data, &j->context);
}

static void forget_job(struct proc_scan_job *j)
{
	struct proc_scan_job **at = &j->scan->jobs;

	while (*at != j)
		at = &(*at)->next;
	*at = j->next;
}

static int emit_map(struct proc_scan_job *j, uint64_t time_ns, const struct proc_map *map)
{
	struct proc_scan *s = j->scan;
	struct side_record rec = { .id = sink_side_id(s->emit), .time_ns = time_ns };
	struct mapping m = {
		.pid = j->pid,
		.tid = j->pid,
		.start = map->start,
		.size_bytes = map->end - map->start,
		.file_off_bytes = map->file_off_bytes,
		.id = map->id,
		.prot = map->prot,
		.flags = map->flags,
		.path = map->path[0] ? map->path : "//anon", /* perf's name for it */
	};

	(void)hugepage_text_look(s->moved, &m, (const char *)j->maps.data,
				 clock_ns(CLOCK_MONOTONIC));
	if (vdso_is(s->vdso, m.path, m.size_bytes))
		m.id.build_id = s->vdso->build_id;
	else
		mapped_files_lookup(s->buildids, &m, j->as_of_ns);
	if (!j->maps_only) {
		jit_symbols_map(s->jitfiles, &m);
		jvm_maps_see(s->jvms, &m, clock_ns(CLOCK_MONOTONIC));
	}
	mapped_files_name(s->buildids, &m.id.build_id, m.path, false);
	if (s->unwmaps)
		(void)process_maps_map(s->unwmaps, &m, time_ns);
	s->map_count++;
	return j->maps_only ? 0 : sink_side(s->emit, &rec, side_record_mmap2(&rec, &m));
}

static int emit_maps(struct proc_scan_job *j, uint64_t time_ns)
{
	const char *text = (const char *)j->maps.data;
	struct proc_map *map = malloc(sizeof(*map));
	int err = map ? 0 : -ENOMEM, more;

	while (!err && j->maps.size_bytes && (more = proc_maps_next(&text, map)) != 0) {
		if (more > 0 && (map->prot & PROT_EXEC))
			err = emit_map(j, time_ns, map);
	}
	free(map);
	return err;
}

/* A late answer has a time: the process may have been recorded since. */
static uint64_t time_of(const struct proc_scan_job *j)
{
	uint64_t floor_ns = j->scan->emit->floor_ns,
		 since_ns = j->since_ns ? j->since_ns : j->as_of_ns;

	if (j->is_waited)
		return 0;
	return since_ns > floor_ns ? since_ns : floor_ns;
}

static void job_done(struct io_job *base)
{
	struct proc_scan_job *j = (struct proc_scan_job *)base;
	struct proc_scan *s = j->scan;
	int err = 0;

	forget_job(j);
	s->again |= j->is_outdated && j->maps_only;
	if (!j->is_outdated) {
		if (j->maps_only && j->maps.size_bytes)
			process_maps_anew(s->unwmaps, j->pid);
		else if (!j->maps_only)
			err = cmdline_log_take(s->args, j->pid, j->since_ns, &j->texts);
		if (!err && !j->maps_only)
			err = context_watch_saw(s->contexts, j->pid, time_of(j), j->as_of_ns,
						&j->context);
		if (!err)
			err = emit_maps(j, time_of(j));
	}
	s->late_err = s->late_err ? s->late_err : err;
	job_free(base);
}

static void job_given_up(struct io_job *base)
{
	struct proc_scan_job *j = (struct proc_scan_job *)base;

	forget_job(j);
	j->scan->unread_count++;
}

/* dir_fd is borrowed.  since_ns: as in struct proc_scan_job; then it is not waited for. */
static int read_process(struct proc_scan *s, uint32_t pid, int dir_fd, bool maps_only,
			uint64_t since_ns)
{
	bool waits = !maps_only && !since_ns;
	struct proc_scan_job *j = calloc(1, sizeof(*j));
	int err;

	if (!j)
		return -ENOMEM;
	*j = (struct proc_scan_job){ .base = { .work = job_work,
					       .done = job_done,
					       .given_up = job_given_up,
					       .drop = job_free,
					       .key = io_key(IO_KIND_PROCESS, pid, 0),
					       .user = process_user(pid) },
				     .scan = s,
				     .next = s->jobs,
				     .pid = pid,
				     .dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0),
				     .maps_only = maps_only,
				     .since_ns = since_ns,
				     .is_waited = waits,
				     .texts = { .environment = s->args->environment } };
	s->jobs = j;
	err = io_timeout_run(s->io, &j->base, waits, READ_NS);
	if (err == -EINPROGRESS) {
		j->is_waited = false;
	} else if (err == -EBUSY) {
		job_given_up(&j->base);
		job_free(&j->base);
	}
	err = s->late_err;
	s->late_err = 0;
	return err;
}

void proc_scan_record(struct proc_scan *s, const struct perf_event_header *record)
{
	const uint8_t *body = (const uint8_t *)(record + 1);
	bool is_new = (record->type == PERF_RECORD_COMM &&
		       (record->misc & PERF_RECORD_MISC_COMM_EXEC)) ||
		      (record->type == PERF_RECORD_EXIT && record->size >= sizeof(*record) + 16 &&
		       le32_load(body) == le32_load(body + 8));

	if (!s->jobs || record->size < sizeof(*record) + 8 ||
	    (!is_new && record->type != PERF_RECORD_MMAP2))
		return;
	for (struct proc_scan_job *j = s->jobs; j; j = j->next)
		if (j->pid == le32_load(body))
			j->is_outdated |= is_new || j->maps_only;
}

/* ---- what is read at once ---- */

/* ppid: of the process, when tid is its leader. */
static int emit_thread(struct walk *w, uint32_t pid, uint32_t tid, const struct proc_stat *stat)
{
	uint32_t parent = tid == pid ? stat->ppid : pid;
	int err;

	err = sink_side(w->scan->emit, &w->rec,
			side_record_fork(&w->rec, pid, tid, parent, parent, start_ns(w, stat)));
	if (!err)
		err = sink_side(w->scan->emit, &w->rec,
				side_record_comm(&w->rec, pid, tid, stat->comm));
	if (w->scan->unwmaps && tid != pid)
		process_maps_fork(w->scan->unwmaps, pid, pid);
	w->scan->thread_count++;
	return err;
}

static int scan_threads(struct walk *w, int dir_fd, uint32_t pid)
{
	int fd = openat(dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct proc_stat stat;
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
		if (read_text(w, fd, name) || proc_stat_parse((const char *)w->text.data, &stat))
			continue;
		err = emit_thread(w, pid, tid, &stat);
		if (!err && w->scan->pidns->level)
			err = emit_namespaces(w, dir_fd, pid, tid);
	}
	closedir(dir);
	return err;
}

static int scan_process(struct walk *w, int proc_fd, const char *name, uint32_t pid)
{
	int dir_fd = openat(proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct proc_stat stat;
	int err = 0;

	if (dir_fd < 0)
		return 0;
	w->scan->process_count++;
	if (read_text(w, dir_fd, "stat") || proc_stat_parse((const char *)w->text.data, &stat))
		goto out;
	err = emit_thread(w, pid, pid, &stat);
	if (!err)
		err = emit_namespaces(w, dir_fd, pid, pid);
	if (!err)
		err = read_process(w->scan, pid, dir_fd, false, w->since_ns);
	if (!err)
		err = scan_threads(w, dir_fd, pid);
	io_timeout_pass(w->scan->io);
out:
	close(dir_fd);
	return err;
}

static int scan_maps(struct proc_scan *s, int proc_fd, const char *name, uint32_t pid)
{
	int dir_fd = openat(proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (dir_fd < 0)
		return 0;
	process_maps_keep(s->unwmaps, pid);
	err = read_process(s, pid, dir_fd, true, 0);
	close(dir_fd);
	return err;
}

bool proc_scan_maps(struct proc_scan *s)
{
	DIR *proc = s->jobs ? NULL : opendir("/proc");
	struct dirent *d;
	uint32_t pid;
	int err = 0;

	if (!proc)
		return false;
	s->again = false;
	while (!err && (d = readdir(proc))) {
		if (is_number(d->d_name, &pid) && targets_has(s->targets, pid))
			err = scan_maps(s, dirfd(proc), d->d_name, pid);
	}
	closedir(proc);
	process_maps_sweep(s->unwmaps);
	return true;
}

static struct walk walk_of(struct proc_scan *s, uint64_t since_ns)
{
	return (struct walk){
		.scan = s,
		.rec = { .id = sink_side_id(s->emit), .time_ns = since_ns },
		.boot_to_mono_ns = (int64_t)(clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC)),
		.ns_a_tick = 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK),
		.since_ns = since_ns,
	};
}

int proc_scan_late(struct proc_scan *s, uint32_t pid, uint64_t time_ns)
{
	struct walk w = walk_of(s, time_ns > s->emit->floor_ns ? time_ns : s->emit->floor_ns);
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	char name[16];

	if (proc_fd < 0)
		return -errno;
	snprintf(name, sizeof(name), "%u", pid);
	err = scan_process(&w, proc_fd, name, pid);
	close(proc_fd);
	outbuf_done(&w.text);
	return err;
}

int proc_scan_run(struct proc_scan *s)
{
	struct walk w = walk_of(s, 0);
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
