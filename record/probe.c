/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/probe.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/events/perf_event.h"
#include "record/process/proc/proc_maps.h"
#include "format/os/slurp.h"

/* ---- perf events ---- */

static int open_event(uint32_t type, uint64_t config, bool everybody, bool kernel)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.exclude_kernel = !kernel,
		.exclude_hv = 1,
		.sample_period = 1000000,
	};
	int cpu = sched_getcpu();

	return perf_event_set_open_one(&attr, everybody ? 0 : (uint32_t)getpid(),
				       cpu < 0 ? 0 : (uint32_t)cpu);
}

int probe_perf(uint32_t type, uint64_t config, bool everybody, bool kernel)
{
	int fd = open_event(type, config, everybody, kernel);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int probe_perf_ring(uint64_t data_bytes)
{
	int err = 0, fd = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false, false);
	size_t bytes = (size_t)data_bytes + (size_t)sysconf(_SC_PAGESIZE);
	void *ring;

	if (fd < 0)
		return fd;
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		err = -errno;
	else
		munmap(ring, bytes);
	close(fd);
	return err;
}

/* ---- uprobes ---- */

/* An address for a breakpoint; the function is never called. */
__attribute__((noinline, used)) static int stands_here(int x)
{
	return x * 3 + 1;
}

/* Where addr is in the file of this program. */
static int own_file_offset(uint64_t addr, uint64_t *out)
{
	struct proc_map *map = malloc(sizeof(*map));
	struct outbuf text = { 0 };
	int err = slurp("/proc/self/maps", &text), more;
	const char *line = (const char *)text.data;

	if (!map && !err)
		err = -ENOMEM;
	while (!err && (more = proc_maps_next(&line, map)) != 0) {
		if (more > 0 && addr >= map->start && addr < map->end) {
			*out = addr - map->start + map->file_off_bytes;
			goto out;
		}
	}
	err = err ? err : -ENOENT;
out:
	free(map);
	outbuf_done(&text);
	return err;
}

int probe_uprobe(void)
{
	char *type = slurp_line("/sys/bus/event_source/devices/uprobe/type");
	static const char self[] = "/proc/self/exe";
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1 };
	uint64_t offset;
	int fd, err;

	if (!type)
		return -ENOENT;
	attr.type = (uint32_t)strtoul(type, NULL, 10);
	free(type);
	err = own_file_offset((uint64_t)(uintptr_t)&stands_here, &offset);
	if (err)
		return err;
	attr.config1 = (uint64_t)(uintptr_t)self;
	attr.config2 = offset;
	fd = perf_event_set_open_one(&attr, (uint32_t)getpid(), (uint32_t)sched_getcpu());
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* ---- BPF ---- */

int probe_btf(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int err = btf ? 0 : -errno;

	if (!err && btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT) < 0)
		err = -EBADMSG;
	btf__free(btf);
	return err;
}

/* Reads the kernel's memory, as the recorder's programs do (lockdown may forbid it), and returns 0. */
static int load(enum bpf_prog_type type, const struct bpf_prog_load_opts *opts)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(type, "ebprec_doctor", "Dual BSD/GPL", program,
			       sizeof(program) / sizeof(program[0]), opts);

	return fd < 0 ? -errno : fd;
}

int probe_bpf_sampling(void)
{
	int err, program = load(BPF_PROG_TYPE_PERF_EVENT, NULL), event;

	if (program < 0)
		return program;
	event = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, true);
	err = event < 0 ? event : ioctl(event, PERF_EVENT_IOC_SET_BPF, program) ? -errno : 0;
	if (event >= 0)
		close(event);
	close(program);
	return err;
}

int probe_bpf_sched(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP);
	int id = libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP), fd;

	if (id < 0)
		return id;
	opts.attach_btf_id = (__u32)id;
	fd = load(BPF_PROG_TYPE_TRACING, &opts);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int probe_bpf_maps(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ebprec_doctor", 0, 0, 65536, NULL), has;

	if (fd < 0)
		return -errno;
	close(fd);
	has = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL);
	return has > 0 ? 0 : has < 0 ? has : -ENOTSUP;
}

/* ---- processes of others ---- */

int probe_processes(unsigned *all, unsigned *refused)
{
	DIR *dir = opendir("/proc");
	unsigned count = 0, closed = 0;
	struct dirent *d;
	char path[280];
	int fd;

	if (!dir)
		return -errno;
	while ((d = readdir(dir))) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "%s/maps", d->d_name);
		fd = openat(dirfd(dir), path, O_RDONLY | O_CLOEXEC);
		closed += fd < 0 && (errno == EACCES || errno == EPERM);
		count += fd >= 0 || errno == EACCES || errno == EPERM;
		if (fd >= 0)
			close(fd);
	}
	closedir(dir);
	*all = count;
	*refused = closed;
	return 0;
}

int probe_map_files(void)
{
	DIR *dir = opendir("/proc/self/map_files");
	int err = -ENOENT;
	struct dirent *d;
	struct stat st;

	if (!dir)
		return -errno;
	while (err == -ENOENT && (d = readdir(dir))) {
		if (d->d_name[0] != '.')
			err = fstatat(dirfd(dir), d->d_name, &st, 0) ? -errno : 0;
	}
	closedir(dir);
	return err;
}
