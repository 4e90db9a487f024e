/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_procfs - any text as what the recorder reads from /proc and /sys
 *
 * Names of processes, files and cgroups in it are chosen by whoever runs on the machine.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/process/cgroup_paths.h"
#include "record/base/cpuset_list.h"
#include "record/process/fuse_overlayfs.h"
#include "record/output/machine_info.h"
#include "record/process/inode_file.h"
#include "record/process/jit_symbols.h"
#include "record/kernel/kernel_symbols_index.h"
#include "record/process/proc_maps.h"
#include "record/process/proc_stat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void read_maps(const char *text)
{
	const char *end = text + strlen(text);
	static struct procmap map; /* large */
	int more;

	while ((more = procmaps_next(&text, &map)) != 0) {
		if (text > end || (more > 0 && map.end <= map.start))
			abort();
	}
}

static void read_ksyms(const char *data)
{
	char *text = strdup(data); /* taken, also on failure */
	struct outbuf lines = { 0 };
	struct ksyms *k;
	uint64_t addr;

	if (!text || ksyms_from_text(text, &k))
		return;
	(void)ksyms_find(k, "_text", &addr);
	(void)ksyms_next(k, 0xffffffff81000000);
	for (unsigned i = 0; i < 100; i++)
		ksyms_touch(k, 0xffffffff81000000 + i * 0x40);
	(void)ksyms_take(k, &lines);
	outbuf_done(&lines);
	ksyms_free(k);
}

static void read_layers(const char *data, size_t size_bytes)
{
	struct outbuf out = { 0 };
	const char *point;
	char device[32];

	fuselayers_device(data, "/a b", device, sizeof(device));
	if (!fuselayers_parse(data, size_bytes, &out, &point)) {
		if (!out.size_bytes || *point != '/' || point >= data + size_bytes ||
		    memchr(out.data, '\n', out.size_bytes))
			abort();
		fuselayers_device(data, point, device, sizeof(device));
	}
	outbuf_done(&out);
	free(inodefile_mount(data, 254, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *text = malloc(size_bytes + 1), small[16];
	struct cpulist cpus = { 0 };
	struct procstat stat;

	if (!text)
		return 0;
	if (size_bytes)
		memcpy(text, data, size_bytes);
	text[size_bytes] = '\0';
	read_maps(text);
	if (!procstat_parse(text, &stat) && !memchr(stat.comm, 0, sizeof(stat.comm)))
		abort();
	if (cgroups_mount(text, small, sizeof(small)) && !memchr(small, 0, sizeof(small)))
		abort();
	(void)jitfiles_inner_pid(text);
	(void)hostinfo_memory(text);
	if (!cpulist_parse(text, &cpus))
		cpulist_done(&cpus);
	read_ksyms(text);
	read_layers(text, size_bytes + 1);
	free(text);
	return 0;
}
