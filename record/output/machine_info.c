/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/machine_info.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "format/os/clock.h"
#include "record/base/cpuset_list.h"
#include "format/os/slurp.h"

#define CPU_DIR "/sys/devices/system/cpu"

/* ---- pure parts ---- */

char *machine_info_field(const char *text, const char *key)
{
	size_t key_bytes = strlen(key);
	const char *line, *end, *p;

	for (line = text; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		if (strncmp(line, key, key_bytes))
			continue;
		p = line + key_bytes;
		p += strspn(p, " \t");
		if (*p != ':')
			continue;
		p++;
		p += strspn(p, " \t");
		return p < end ? strndup(p, (size_t)(end - p)) : strdup("");
	}
	return NULL;
}

char *machine_info_os_release(const char *text, const char *key)
{
	size_t key_bytes = strlen(key);
	const char *line, *end, *value;

	for (line = text; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		if (strncmp(line, key, key_bytes) || line[key_bytes] != '=')
			continue;
		value = line + key_bytes + 1;
		if (end - value >= 2 && (*value == '"' || *value == '\'') && end[-1] == *value)
			return strndup(value + 1, (size_t)(end - value) - 2);
		return strndup(value, (size_t)(end - value));
	}
	return NULL;
}

uint64_t machine_info_memory(const char *meminfo)
{
	char *text = machine_info_field(meminfo, "MemTotal");
	uint64_t kb = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return kb * 1024;
}

char *machine_info_cpuid(const char *cpuinfo)
{
	static const char *const keys[] = { "vendor_id", "cpu family", "model", "stepping" };
	char *part[4] = { 0 }, *id = NULL;
	bool complete = true;
	size_t i;

	for (i = 0; i < 4; i++) {
		part[i] = machine_info_field(cpuinfo, keys[i]);
		complete &= part[i] && part[i][0];
	}
	if (complete && asprintf(&id, "%s,%s,%s,%s", part[0], part[1], part[2], part[3]) < 0)
		id = NULL;
	for (i = 0; i < 4; i++)
		free(part[i]);
	return id;
}

/* ---- reading the machine ---- */

/* A file's text, owned; "" when it cannot be read. */
static char *file_text(const char *path)
{
	char *text = slurp_line(path);

	return text ? text : strdup("");
}

static char *or_empty(char *text)
{
	return text ? text : strdup("");
}

static uint32_t cpu_number(size_t cpu, const char *name)
{
	char path[96], *text;
	uint32_t v;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%zu/topology/%s", cpu, name);
	text = slurp_line(path);
	v = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
	free(text);
	return v;
}

/* Adds the CPU list in topology/NAME to a set of distinct lists. */
static int add_siblings(size_t cpu, const char *name, char ***lists, size_t *count)
{
	char path[96], *text, **more;
	size_t i;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%zu/topology/%s", cpu, name);
	text = slurp_line(path);
	if (!text)
		return 0;
	for (i = 0; i < *count; i++) {
		if (!strcmp((*lists)[i], text)) {
			free(text);
			return 0;
		}
	}
	more = realloc(*lists, (*count + 1) * sizeof(**lists));
	if (!more) {
		free(text);
		return -ENOMEM;
	}
	*lists = more;
	more[(*count)++] = text;
	return 0;
}

static int read_topology(struct machine_info *h)
{
	struct cpuset_list online = { 0 }, present = { 0 };
	size_t i, cpu;
	int err = 0;

	h->cpus_online = !cpuset_list_read(CPUSET_LIST_DIR, "online", &online) ? online.count : 1;
	/* perf counts CPU ids here, not CPUs: readers bound the CPU of a sample by it. */
	h->cpus_present = !cpuset_list_read(CPUSET_LIST_DIR, "present", &present)
				  ? present.ids[present.count - 1] + 1
				  : 1;
	h->cpu = calloc(h->cpus_present, sizeof(*h->cpu));
	if (!h->cpu)
		err = -ENOMEM;
	for (i = 0; i < online.count && !err; i++) {
		cpu = online.ids[i];
		if (cpu >= h->cpus_present)
			continue;
		h->cpu[cpu].core_id = cpu_number(cpu, "core_id");
		h->cpu[cpu].package_id = cpu_number(cpu, "physical_package_id");
		h->cpu[cpu].die_id = cpu_number(cpu, "die_id");
		err = add_siblings(cpu, "package_cpus_list", &h->package_cpus, &h->package_count);
		if (!err)
			err = add_siblings(cpu, "core_cpus_list", &h->core_cpus, &h->core_count);
		if (!err)
			err = add_siblings(cpu, "die_cpus_list", &h->die_cpus, &h->die_count);
	}
	cpuset_list_done(&online);
	cpuset_list_done(&present);
	return err;
}

/* A file that holds a word; "" is in every file. */
static bool file_contains(const char *file, const char *word)
{
	char *text = slurp_line(file);
	bool hit = text && strstr(text, word);

	free(text);
	return hit;
}

static char *container(void)
{
	static const struct {
		const char *file, *name;
	} signs[] = {
		{ "/run/.containerenv", "podman" },
		{ "/.dockerenv", "docker" },
		{ "/run/systemd/container", "container" },
	};
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (file_contains(signs[i].file, ""))
			return strdup(signs[i].name);
	}
	return strdup("");
}

#if defined(__x86_64__)
/* Hypervisors sign in a CPUID leaf that no CPU has. */
static void hypervisor_signature(char out[13])
{
	unsigned eax, ebx, ecx, edx;

	__cpuid(0x40000000, eax, ebx, ecx, edx);
	memcpy(out, &ebx, 4);
	memcpy(out + 4, &ecx, 4);
	memcpy(out + 8, &edx, 4);
	out[12] = '\0';
}
#else
static void hypervisor_signature(char out[13])
{
	out[0] = '\0';
}
#endif

static char *virtualisation(const char *cpuinfo)
{
	static const struct {
		const char *signature, *vendor, *name;
	} signs[] = {
		{ "KVMKVMKVM", "QEMU", "kvm" },
		{ "VMwareVMware", "VMware", "vmware" },
		{ "Microsoft Hv", "Microsoft", "hyper-v" },
		{ "XenVMMXenVMM", "Xen", "xen" },
		{ "TCGTCGTCGTCG", "QEMU", "qemu" },
		{ "VBoxVBoxVBox", "innotek", "virtualbox" },
		{ "bhyve bhyve ", "BHYVE", "bhyve" },
		{ "ACRNACRNACRN", "ACRN", "acrn" },
	};
	char *flags = machine_info_field(cpuinfo, "flags"), signature[13] = "";
	bool x86 = flags, virtual = flags && strstr(flags, " hypervisor");
	size_t i;

	free(flags);
	if (x86 && !virtual)
		return strdup("none");
	if (virtual)
		hypervisor_signature(signature);
	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (virtual ? !strcmp(signature, signs[i].signature)
			    : file_contains("/sys/class/dmi/id/sys_vendor", signs[i].vendor))
			return strdup(signs[i].name);
	}
	return strdup(virtual ? "vm" : "");
}

static void read_proc(struct machine_info *h)
{
	char *cpuinfo = file_text("/proc/cpuinfo"), *meminfo = file_text("/proc/meminfo");
	char *os = file_text("/etc/os-release");

	if (cpuinfo && meminfo && os) {
		h->cpu_model = machine_info_field(cpuinfo, "model name");
		h->cpuid = machine_info_cpuid(cpuinfo);
		h->virtualisation = virtualisation(cpuinfo);
		h->memory_bytes = machine_info_memory(meminfo);
		h->distribution = machine_info_os_release(os, "PRETTY_NAME");
	}
	h->cpu_model = or_empty(h->cpu_model);
	h->cpuid = or_empty(h->cpuid);
	h->virtualisation = or_empty(h->virtualisation);
	h->distribution = or_empty(h->distribution);
	free(cpuinfo);
	free(meminfo);
	free(os);
}

int machine_info_read(struct machine_info *out)
{
	struct machine_info h = { 0 };
	struct utsname uts;
	int err;

	uname(&uts);
	h.hostname = strdup(uts.nodename);
	h.kernel_release = strdup(uts.release);
	h.kernel_version = strdup(uts.version);
	h.arch = strdup(uts.machine);
	h.kernel_cmdline = file_text("/proc/cmdline");
	h.governor = file_text(CPU_DIR "/cpu0/cpufreq/scaling_governor");
	h.container = container();
	h.clocksource = file_text(
		"/sys/devices/system/clocksource/clocksource0/current_clocksource");
	h.boot_wall_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	read_proc(&h);
	err = read_topology(&h);
	if (!h.hostname || !h.kernel_release || !h.kernel_version || !h.arch || !h.kernel_cmdline ||
	    !h.governor || !h.container || !h.clocksource || !h.cpu_model || !h.cpuid ||
	    !h.virtualisation || !h.distribution)
		err = -ENOMEM;
	if (err) {
		machine_info_done(&h);
		return err;
	}
	*out = h;
	return 0;
}

static void free_lists(char **lists, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free(lists[i]);
	free(lists);
}

void machine_info_done(struct machine_info *h)
{
	char *const strings[] = { h->hostname,       h->kernel_release, h->kernel_version,
				  h->arch,           h->distribution,   h->kernel_cmdline,
				  h->cpu_model,      h->cpuid,          h->governor,
				  h->virtualisation, h->clocksource,    h->container };
	size_t i;

	for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		free(strings[i]);
	free_lists(h->package_cpus, h->package_count);
	free_lists(h->core_cpus, h->core_count);
	free_lists(h->die_cpus, h->die_count);
	free(h->cpu);
	*h = (struct machine_info){ 0 };
}
