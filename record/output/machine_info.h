/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * machine_info - what a reader of a bug report wants to know about the machine
 *
 * Read once at start from /proc, /sys and /etc/os-release.  A value that cannot be read is "" or 0,
 * never an error.
 */
#ifndef EBPREC_RECORD_OUTPUT_MACHINE_INFO_H
#define EBPREC_RECORD_OUTPUT_MACHINE_INFO_H

#include <stddef.h>
#include <stdint.h>

struct machine_info_cpu {
	uint32_t core_id, package_id, die_id;
};

/* Strings are owned and never NULL. */
struct machine_info {
	char *hostname, *kernel_release, *kernel_version, *arch;
	char *distribution; /* PRETTY_NAME of os-release */
	char *kernel_cmdline;
	char *cpu_model;      /* "Intel(R) Xeon(R) Processor" */
	char *cpuid;          /* as perf writes it: vendor,family,model,stepping */
	char *governor;       /* of the first CPU; "" where there is no frequency scaling */
	char *virtualisation; /* "kvm", ..., "vm"; "none" on bare metal, "" not known */
	char *container;      /* "docker", ...; "" outside of one */
	char *clocksource;
	uint64_t memory_bytes;
	uint64_t boot_wall_ns; /* when the machine started, on the wall clock */
	size_t cpus_online, cpus_present;
	struct machine_info_cpu *cpu; /* cpus_present entries */
	char **package_cpus;          /* lists such as "0-3" */
	size_t package_count;
	char **core_cpus;
	size_t core_count;
	char **die_cpus; /* none where the kernel does not report dies */
	size_t die_count;
};

/* -ENOMEM. */
int machine_info_read(struct machine_info *out);
void machine_info_done(struct machine_info *h);

/* ---- pure parts ---- */

/* The value of "key<blanks>: value" in the text of /proc/cpuinfo or "Key: value" of meminfo; owned, NULL: none. */
char *machine_info_field(const char *text, const char *key);
/* The value of KEY= in the text of os-release, quotes removed; owned, NULL: none. */
char *machine_info_os_release(const char *text, const char *key);
/* Kilobytes of MemTotal in the text of /proc/meminfo, as bytes; 0: not there. */
uint64_t machine_info_memory(const char *meminfo);
/* "vendor,family,model,stepping" from the text of /proc/cpuinfo; owned, NULL: not x86. */
char *machine_info_cpuid(const char *cpuinfo);

#endif
