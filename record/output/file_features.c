/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/file_features.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format/perf/header_string.h"
#include "format/perf/perffile.h"

struct outbuf *file_features_add(struct file_features *f, unsigned bit)
{
	assert(f->count < FILE_FEATURES_MAX);
	f->bit[f->count] = bit;
	return &f->section[f->count++];
}

void file_features_done(struct file_features *f)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		outbuf_done(&f->section[i]);
	f->count = 0;
}

static void cpu_lists(struct outbuf *out, char *const *lists, size_t count)
{
	size_t i;

	outbuf_u32(out, (uint32_t)count);
	for (i = 0; i < count; i++)
		header_string(out, lists[i]);
}

/*
 * Which CPUs share a package, and a core; then core and package of each CPU.  Dies came later (Linux 5.3):
 * perf leaves them out where the kernel reports none, hotspot takes their absence for damage.
 */
static void cpu_topology(struct outbuf *out, const struct machine_info *h)
{
	size_t i;

	cpu_lists(out, h->package_cpus, h->package_count);
	cpu_lists(out, h->core_cpus, h->core_count);
	for (i = 0; i < h->cpus_present; i++) {
		outbuf_u32(out, h->cpu[i].core_id);
		outbuf_u32(out, h->cpu[i].package_id);
	}
	if (!h->die_count)
		return;
	cpu_lists(out, h->die_cpus, h->die_count);
	for (i = 0; i < h->cpus_present; i++)
		outbuf_u32(out, h->cpu[i].die_id);
}

void file_features_host(struct file_features *f, const struct machine_info *h)
{
	struct outbuf *b;

	header_string(file_features_add(f, PERFFILE_HOSTNAME), h->hostname);
	header_string(file_features_add(f, PERFFILE_OSRELEASE), h->kernel_release);
	header_string(file_features_add(f, PERFFILE_VERSION), "ebprec " EBPREC_VERSION);
	header_string(file_features_add(f, PERFFILE_ARCH), h->arch);
	b = file_features_add(f, PERFFILE_NRCPUS);
	outbuf_u32(b, (uint32_t)h->cpus_present);
	outbuf_u32(b, (uint32_t)h->cpus_online);
	header_string(file_features_add(f, PERFFILE_CPUDESC), h->cpu_model);
	header_string(file_features_add(f, PERFFILE_CPUID), h->cpuid);
	outbuf_u64(file_features_add(f, PERFFILE_TOTAL_MEM), h->memory_bytes / 1024);
	cpu_topology(file_features_add(f, PERFFILE_CPU_TOPOLOGY), h);
}

void file_features_cmdline(struct file_features *f, int argc, char *const *argv)
{
	struct outbuf *b = file_features_add(f, PERFFILE_CMDLINE);
	int i;

	outbuf_u32(b, (uint32_t)argc);
	for (i = 0; i < argc; i++)
		header_string(b, argv[i]);
}

void file_features_clock(struct file_features *f, uint64_t mono_ns, uint64_t wall_ns)
{
	struct timespec resolution = { .tv_nsec = 1 };
	struct outbuf *b;

	clock_getres(CLOCK_MONOTONIC, &resolution);
	outbuf_u64(file_features_add(f, PERFFILE_CLOCKID), (uint64_t)resolution.tv_nsec);
	b = file_features_add(f, PERFFILE_CLOCK_DATA);
	outbuf_u32(b, 1); /* version */
	outbuf_u32(b, CLOCK_MONOTONIC);
	outbuf_u64(b, wall_ns);
	outbuf_u64(b, mono_ns);
}

int file_features_for_writer(const struct file_features *f, struct writer_feature *out,
			     size_t *count)
{
	size_t i;

	for (i = 0; i < f->count; i++) {
		if (!outbuf_ok(&f->section[i]))
			return -ENOMEM;
		out[i] = (struct writer_feature){
			.bit = f->bit[i],
			.data = f->section[i].data,
			.size_bytes = f->section[i].size_bytes,
		};
	}
	*count = f->count;
	return 0;
}
