/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/pid_namespace.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/core/pidns.skel.h"
#include "format/base/cursor.h"
#include "format/base/foreign.h"
#include "record/events/side_record.h"

#define INIT_PID_NAMESPACE 0xeffffffcU /* inode of the first one: PROC_PID_INIT_INO */
#define ENDING_MAX         16384       /* threads between their exit and their last switch */

int pid_namespace_look(struct pid_namespace *p)
{
	char link[16];
	ssize_t bytes = readlink("/proc/self", link, sizeof(link) - 1);
	struct stat st;

	*p = (struct pid_namespace){ .ending_fd = -1 };
	if (stat("/proc/self/ns/pid", &st)) {
		if (bytes >= 0 || errno != ENOENT)
			return 0; /* a kernel without */
		return -ENOTSUP;
	}
	p->inside = st.st_ino != INIT_PID_NAMESPACE;
	p->inode = st.st_ino;
	if (bytes < 0)
		return -ENOTSUP;
	link[bytes] = 0;
	return atol(link) == (long)getpid() ? 0 : -ENOTSUP;
}

/* ---- BPF ---- */

static int walk_tasks(struct pidns_bpf *skel)
{
	int fd = bpf_iter_create(bpf_link__fd(skel->links.pidns_walk)), err;
	char none[64];
	ssize_t bytes;

	if (fd < 0)
		return -errno;
	while ((bytes = read(fd, none, sizeof(none))) > 0)
		;
	err = bytes < 0 ? -errno : 0;
	close(fd);
	return err;
}

/*
 * Twice: what the programs translate by is a constant in them, and has to be asked for by a program.
 */
static int find(struct pid_namespace *p)
{
	struct pidns_bpf *skel = pidns_bpf__open();
	struct bpf_program *prog;
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int err;

	if (!skel)
		return -errno;
	bpf_object__for_each_program(prog, skel->obj)
		bpf_program__set_autoload(prog, prog == skel->progs.pidns_find);
	err = pidns_bpf__load(skel);
	if (!err)
		err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.pidns_find), &opts);
	if (!err) {
		p->level = skel->bss->found_level;
		p->namespace = skel->bss->found_namespace;
		err = p->level && p->namespace ? 0 : -ENOTSUP;
	}
	pidns_bpf__destroy(skel);
	return err;
}

static int follow(struct pid_namespace *p)
{
	int err;

	p->skel = pidns_bpf__open();
	if (!p->skel)
		return -errno;
	p->skel->rodata->pidns_level = p->level;
	p->skel->rodata->pidns_here = p->namespace;
	bpf_program__set_autoload(p->skel->progs.pidns_find, false);
	err = pid_namespace_share(p, p->skel->maps.pidns_ending);
	if (!err)
		err = pidns_bpf__load(p->skel);
	if (!err)
		err = pidns_bpf__attach(p->skel);
	return err ? err : walk_tasks(p->skel);
}

int pid_namespace_start_bpf(struct pid_namespace *p)
{
	int err = p->inside ? find(p) : 0;

	if (err)
		return err;
	p->ending_fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "pidns_ending", 8, 8,
				      p->inside ? ENDING_MAX : 1, NULL);
	if (p->ending_fd < 0)
		return -errno;
	return p->inside ? follow(p) : 0;
}

void pid_namespace_stop_bpf(struct pid_namespace *p)
{
	pidns_bpf__destroy(p->skel); /* NULL is fine */
	p->skel = NULL;
	if (p->ending_fd >= 0)
		close(p->ending_fd);
	p->ending_fd = -1;
	p->level = 0;
}

int pid_namespace_share(const struct pid_namespace *p, struct bpf_map *map)
{
	return map ? bpf_map__reuse_fd(map, p->ending_fd) : 0;
}

uint32_t pid_namespace_host_tid(const struct pid_namespace *p, uint32_t tid)
{
	uint32_t host;

	if (!p->skel || bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.pidns_hosts), &tid, &host))
		return 0;
	return host;
}

/* ---- what perf reports ---- */

/* perf_event_pid() in kernel/events/core.c: 0 for a task outside, -1 for one that is gone. */
static bool is_outside(uint32_t id)
{
	return !id || id == UINT32_MAX;
}

bool pid_namespace_wants(const struct pid_namespace *p, struct perf_event_header *record)
{
	uint8_t *body = (uint8_t *)(record + 1);

	if (!p->inside)
		return true;
	switch (record->type) {
	case PERF_RECORD_FORK: /* pid, ppid, tid, ptid */
	case PERF_RECORD_EXIT:
		if (is_outside(le32_load(body)))
			return false;
		if (is_outside(le32_load(body + 4))) {
			le32_store(body + 4, FOREIGN_PID);
			le32_store(body + 12, FOREIGN_PID);
		}
		return true;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
		return !is_outside(le32_load(body));
	case PERF_RECORD_NAMESPACES:
		le32_store((uint8_t *)record + record->size - SIDE_RECORD_SPARE_OFF,
			   pid_namespace_host_tid(p, le32_load(body + 4)));
		return !is_outside(le32_load(body));
	default:
		return true;
	}
}

void pid_namespace_name_sample(const struct pid_namespace *p, uint32_t cpu, uint32_t *pid,
			       uint32_t *tid)
{
	if (!p->inside || !is_outside(*pid))
		return;
	*pid = FOREIGN_PID;
	*tid = FOREIGN_PID + cpu;
}

/* ---- what the capture stores ---- */

int pid_namespace_emit_foreign(const struct pid_namespace *p, struct sink *e)
{
	struct side_record r = { .id = sink_side_id(e) };
	const struct mapping m = {
		.pid = FOREIGN_PID,
		.tid = FOREIGN_PID,
		.start = FOREIGN_ADDR,
		.size_bytes = FOREIGN_MAP_BYTES,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.path = FOREIGN_COMM,
	};
	int cpus = libbpf_num_possible_cpus(), err = 0;

	for (uint32_t i = 0; p->inside && !err && (!i || (int)i < cpus); i++) {
		uint32_t tid = FOREIGN_PID + i;

		err = sink_side(e, &r,
				side_record_fork(&r, FOREIGN_PID, tid, i ? FOREIGN_PID : 0,
						 i ? FOREIGN_PID : 0, 0));
		if (!err)
			err = sink_side(e, &r,
					side_record_comm(&r, FOREIGN_PID, tid, FOREIGN_COMM));
	}
	return err || !p->inside ? err : sink_side(e, &r, side_record_mmap2(&r, &m));
}
