/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_procfs - any text as what the recorder reads from /proc and /sys
 *
 * Names of processes, files and cgroups in it are chosen by any user of the machine.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/process/container/cgroup_paths.h"
#include "record/base/cpuset_list.h"
#include "record/process/file/fuse_overlayfs.h"
#include "record/output/machine_info.h"
#include "record/process/file/inode_file.h"
#include "record/process/jit_file.h"
#include "record/kernel/kernel_symbols_index.h"
#include "record/process/proc/proc_maps.h"
#include "record/process/proc/proc_stat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void read_maps(const char *text)
{
	const char *end = text + strlen(text);
	static struct proc_map map; /* large */
	int more;

	while ((more = proc_maps_next(&text, &map)) != 0) {
		if (text > end || (more > 0 && map.end <= map.start))
			abort();
	}
}

static void read_ksyms(const char *data)
{
	char *text = strdup(data); /* taken, also on failure */
	struct outbuf lines = { 0 };
	struct kernel_symbols_index *k;
	uint64_t addr;

	if (!text || kernel_symbols_index_from_text(text, &k))
		return;
	(void)kernel_symbols_index_find(k, "_text", &addr);
	for (unsigned i = 0; i < 100; i++)
		kernel_symbols_index_touch(k, 0xffffffff81000000 + i * 0x40);
	(void)kernel_symbols_index_take(k, &lines);
	outbuf_done(&lines);
	kernel_symbols_index_free(k);
}

static void read_layers(const char *data, size_t size_bytes)
{
	struct outbuf out = { 0 };
	const char *point;
	char device[32];

	fuse_overlayfs_device(data, "/a b", device, sizeof(device));
	if (!fuse_overlayfs_parse(data, size_bytes, &out, &point)) {
		if (!out.size_bytes || *point != '/' || point >= data + size_bytes ||
		    memchr(out.data, '\n', out.size_bytes))
			abort();
		fuse_overlayfs_device(data, point, device, sizeof(device));
	}
	outbuf_done(&out);
	free(inode_file_mount(data, 254, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *text = malloc(size_bytes + 1), small[16];
	struct cpuset_list cpus = { 0 };
	struct proc_stat stat;

	if (!text)
		return 0;
	if (size_bytes)
		memcpy(text, data, size_bytes);
	text[size_bytes] = '\0';
	read_maps(text);
	if (!proc_stat_parse(text, &stat) && !memchr(stat.comm, 0, sizeof(stat.comm)))
		abort();
	if (cgroup_paths_mount(text, small, sizeof(small)) && !memchr(small, 0, sizeof(small)))
		abort();
	(void)jit_file_inner_pid(text);
	(void)machine_info_memory(text);
	if (!cpuset_list_parse(text, &cpus))
		cpuset_list_done(&cpus);
	read_ksyms(text);
	read_layers(text, size_bytes + 1);
	free(text);
	return 0;
}
