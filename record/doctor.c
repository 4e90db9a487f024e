/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "format/base/foreign.h"
#include "format/contract/finding.h"
#include "record/kernel/kernel_symbols_index.h"
#include "record/events/perf_event.h"
#include "record/privsep/caps.h"
#include "format/os/slurp.h"
#include "record/events/tracepoint/tracefs.h"
#include "record/probe.h"
#include "record/process/pid_namespace.h"
#include "record/events/uprobe_multi.h"

#define SEE_RIGHTS      "see 'rights'"
#define USER_RING_BYTES (512u << 10) /* what a user may lock for a CPU as the kernel comes */

static bool is_refused(int err)
{
	return err == -EPERM || err == -EACCES;
}

static long setting(const char *path)
{
	char *text = slurp_line(path);
	long value = text ? strtol(text, NULL, 10) : LONG_MIN;

	free(text);
	return value;
}

/* ---- the machine ---- */

static void look_kernel(struct finding *f)
{
	struct utsname name;
	unsigned major = 0, minor = 0;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		finding_set(f, FINDING_DEGRADED, NULL, "the version cannot be read");
	else if (major < 6 || (major == 6 && minor < 1))
		finding_set(f, FINDING_DEGRADED, "boot Linux 6.1 or later",
			    "Linux %s: BPF is tried from 6.1 on, before that perf events are used",
			    name.release);
	else
		finding_set(f, FINDING_WORKS, NULL, "Linux %s", name.release);
}

/* The capabilities of a user namespace do not count for the machine. */
static bool in_user_namespace(void)
{
	char *map = slurp_line("/proc/self/uid_map");
	unsigned long inside = 1, outside = 1, count = 0;
	bool is;

	is = map && (sscanf(map, "%lu %lu %lu", &inside, &outside, &count) != 3 || inside ||
		     outside || count != UINT32_MAX);
	free(map);
	return is;
}

/* No program here can get what is not in the bounding set; the analyzer reports it, also where this one cannot start. */
static bool in_bounding_set(uint64_t rights)
{
	for (int cap = 0; cap < 64; cap++) {
		if (rights & RIGHT(cap) && prctl(PR_CAPBSET_READ, cap) != 1)
			return false;
	}
	return true;
}

/* How to give the recorder what it needs; it is this very program. */
static void setcap_command(char *out, size_t room)
{
	char self[240];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	snprintf(out, room, "sudo ebprec record ..., or: sudo setcap " CAPS_RECORDING_SETCAP " %s",
		 n > 0 ? self : "ebprec-record");
}

static void look_rights(struct finding *f)
{
	uint64_t missing = caps_missing(caps_effective(), CAPS_RECORDING);
	char names[200], mend[480];

	if (in_bounding_set(missing))
		setcap_command(mend, sizeof(mend));
	else
		snprintf(mend, sizeof(mend), "see 'capabilities'");
	if (in_user_namespace()) {
		finding_set(f, FINDING_MISSING, "record on the host, outside of the container",
			    "in a user namespace: its capabilities do not count for the machine");
		return;
	}
	caps_list(missing, names, sizeof(names));
	if (missing & CAPS_BPF)
		finding_set(f, FINDING_MISSING, mend, "%s", names);
	else if (missing)
		finding_set(f, FINDING_DEGRADED, mend,
			    "%s: less is seen of other users' processes, or of the kernel", names);
	else
		finding_set(f, FINDING_WORKS, NULL, "%s",
			    geteuid() ? "by capabilities" : "root, with what a recording needs");
}

static void look_lockdown(struct finding *f)
{
	char *text = slurp_line("/sys/kernel/security/lockdown");

	if (!text)
		finding_set(f, FINDING_WORKS, NULL, "no lockdown here that could be read");
	else if (caps_lockdown_is(text, "confidentiality"))
		finding_set(f, FINDING_MISSING, "boot without lockdown=confidentiality",
			    "confidentiality: BPF may not read the kernel's memory");
	else
		finding_set(f, FINDING_WORKS, NULL, "%s",
			    caps_lockdown_is(text, "integrity")
				    ? "integrity, which forbids nothing "
				      "of a recording"
				    : "none");
	free(text);
}

static void look_pid_namespace(struct finding *f)
{
	struct pid_namespace p;
	int err = pid_namespace_look(&p);

	if (err)
		finding_set(f, FINDING_MISSING, PID_NAMESPACE_MOUNT_PROC,
			    "/proc is of another pid namespace: nothing can be recorded");
	else if (p.inside)
		finding_set(f, FINDING_DEGRADED,
			    "record on the host, or start the container with --pid=host",
			    "inside a pid namespace: processes outside of it are counted as one, "
			    "'%s'",
			    FOREIGN_COMM);
	else
		finding_set(f, FINDING_WORKS, NULL, "the machine's own: all processes have names");
}

/* ---- BPF ---- */

static void look_btf(struct finding *f)
{
	int err = probe_btf();

	if (!err)
		finding_set(f, FINDING_WORKS, NULL, "/sys/kernel/btf/vmlinux");
	else if (access("/sys/kernel/btf/vmlinux", R_OK))
		finding_set(f, FINDING_MISSING,
			    "a kernel with CONFIG_DEBUG_INFO_BTF=y (Debian: apt install "
			    "linux-image-amd64); in a container, mount /sys",
			    "cannot read /sys/kernel/btf/vmlinux: %s", strerror(errno));
	else
		finding_set(f, FINDING_MISSING, "a kernel with CONFIG_DEBUG_INFO_BTF=y",
			    "/sys/kernel/btf/vmlinux: %s", strerror(-err));
}

static void set_bpf_finding(struct finding *f, int err, const char *works, const char *lost)
{
	if (!err)
		finding_set(f, FINDING_WORKS, NULL, "%s", works);
	else if (caps_locked_down())
		finding_set(f, FINDING_MISSING, "boot without lockdown=confidentiality",
			    "the kernel is locked down; %s", lost);
	else if (is_refused(err) && !caps_missing(caps_effective(), CAPS_BPF))
		finding_set(f, FINDING_MISSING,
			    setting("/proc/sys/kernel/perf_event_paranoid") > 2
				    ? "sudo sysctl kernel.perf_event_paranoid=2"
				    : "record outside of the container, or allow bpf() and "
				      "perf_event_open() in its seccomp profile",
			    "%s, though the capabilities are there; %s", strerror(-err), lost);
	else if (is_refused(err))
		finding_set(f, FINDING_MISSING, SEE_RIGHTS, "%s; %s", caps_hint_bpf(), lost);
	else
		finding_set(f, FINDING_MISSING, "a kernel from 6.1 on with CONFIG_BPF_SYSCALL=y",
			    "%s; %s", strerror(-err), lost);
}

static void look_bpf(struct finding *f)
{
	int err = probe_bpf_maps();

	set_bpf_finding(f, err ? err : probe_bpf_sampling(), "a program samples a CPU",
			"perf events are used instead, which cost more");
}

static void look_switches(struct finding *f)
{
	set_bpf_finding(f, probe_bpf_sched(), "a program sees the scheduler",
			"without BPF only -a as root has context switches");
}

static void look_marks(struct finding *f)
{
	int err = uprobe_multi_have_links() ? 0 : probe_uprobe();

	if (!err)
		finding_set(f, FINDING_WORKS, NULL, "a breakpoint in a program (uprobe)");
	else if (is_refused(err))
		finding_set(f, FINDING_DEGRADED, "sudo ebprec record ...",
			    "no right to set uprobes: marks of programs are not recorded");
	else
		finding_set(f, FINDING_DEGRADED, "a kernel with CONFIG_UPROBE_EVENTS=y",
			    "no uprobes (%s): marks of programs are not recorded", strerror(-err));
}

/* ---- perf events ---- */

static void look_perf(struct finding *f)
{
	const uint32_t type = PERF_TYPE_SOFTWARE;
	const uint64_t clock = PERF_COUNT_SW_CPU_CLOCK;
	long paranoid = setting("/proc/sys/kernel/perf_event_paranoid");
	int err = probe_perf(type, clock, true, true);

	if (!err)
		finding_set(f, FINDING_WORKS, NULL, "of all processes");
	else if (err == -ENOSYS)
		finding_set(f, FINDING_MISSING, "a kernel with CONFIG_PERF_EVENTS=y", "%s",
			    "this kernel has none");
	else if (!probe_perf(type, clock, false, true))
		finding_set(f, FINDING_DEGRADED, "sudo sysctl kernel.perf_event_paranoid=-1",
			    "only of your own processes (kernel.perf_event_paranoid is %ld)",
			    paranoid);
	else if (!probe_perf(type, clock, false, false))
		finding_set(f, FINDING_DEGRADED, "sudo sysctl kernel.perf_event_paranoid=1",
			    "only of your own processes, in user space "
			    "(kernel.perf_event_paranoid is %ld)",
			    paranoid);
	else if (paranoid > 2)
		finding_set(f, FINDING_MISSING, "sudo sysctl kernel.perf_event_paranoid=2",
			    "%s: kernel.perf_event_paranoid is %ld", strerror(-err), paranoid);
	else
		finding_set(f, FINDING_MISSING,
			    "record outside of the container, or allow perf_event_open() in its "
			    "seccomp profile",
			    "%s, though kernel.perf_event_paranoid is %ld", strerror(-err),
			    paranoid);
}

static void look_pmu(struct finding *f)
{
	int err = probe_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, false);

	if (!err)
		finding_set(f, FINDING_WORKS, NULL, "cycles are counted by hardware");
	else if (is_refused(err))
		finding_set(f, FINDING_DEGRADED, "see 'perf events'", "not to be tried: %s",
			    strerror(-err));
	else
		finding_set(f, FINDING_DEGRADED,
			    "in a virtual machine: give it a PMU (qemu -cpu host,pmu=on)",
			    "no hardware counters: the timer cpu-clock is used, which samples code "
			    "with interrupts off too late");
}

static void look_memory(struct finding *f)
{
	int err = probe_perf_ring(USER_RING_BYTES);
	struct rlimit limit = { 0 };

	(void)getrlimit(RLIMIT_MEMLOCK, &limit);
	if (!err)
		finding_set(f, FINDING_WORKS, NULL, "a ring of %u KiB can be locked",
			    USER_RING_BYTES >> 10);
	else if (err == -EPERM)
		finding_set(
			f, FINDING_DEGRADED, "sudo sysctl kernel.perf_event_mlock_kb=2048",
			"rings are small, events may be lost (kernel.perf_event_mlock_kb is %ld, "
			"ulimit -l %" PRIu64 " KiB)",
			setting("/proc/sys/kernel/perf_event_mlock_kb"),
			(uint64_t)limit.rlim_cur >> 10);
	else
		finding_set(f, FINDING_DEGRADED, "see 'perf events'", "not to be tried: %s",
			    strerror(-err));
}

/* ---- what is read ---- */

static void look_kallsyms(struct finding *f)
{
	long restricted = setting("/proc/sys/kernel/kptr_restrict");
	struct kernel_symbols_index *k = NULL;
	int err = kernel_symbols_index_load(NULL, &k);

	kernel_symbols_index_free(k);
	if (!err)
		finding_set(f, FINDING_WORKS, NULL, "/proc/kallsyms has addresses");
	else if (err == -EACCES && restricted > 0)
		finding_set(f, FINDING_DEGRADED, "sudo sysctl kernel.kptr_restrict=0",
			    "kernel functions have no names (kernel.kptr_restrict is %ld)",
			    restricted);
	else if (err == -EACCES)
		finding_set(
			f, FINDING_DEGRADED,
			"sudo ebprec record ..., or sudo sysctl kernel.perf_event_paranoid=1",
			"kernel functions have no names: addresses in /proc/kallsyms are hidden "
			"from you");
	else
		finding_set(f, FINDING_DEGRADED, "a kernel with CONFIG_KALLSYMS=y",
			    "kernel functions have no names: cannot read /proc/kallsyms: %s",
			    strerror(-err));
}

static void look_tracefs(struct finding *f)
{
	char *format = tracefs_format("sched", "sched_switch");

	if (format)
		finding_set(f, FINDING_WORKS, NULL, "formats of tracepoints can be read");
	else if (geteuid())
		finding_set(f, FINDING_DEGRADED,
			    "sudo ebprec record ..., or sudo mount -o remount,mode=755 "
			    "/sys/kernel/tracing",
			    "formats of tracepoints cannot be read: no context switches");
	else
		finding_set(f, FINDING_DEGRADED,
			    "mount -t tracefs tracefs /sys/kernel/tracing (as root, outside of "
			    "containers)",
			    "no tracefs: no context switches");
	free(format);
}

static void look_processes(struct finding *f)
{
	int err = probe_map_files();
	unsigned all = 0, refused = 0;

	(void)probe_processes(&all, &refused);
	if (refused)
		finding_set(f, FINDING_DEGRADED,
			    caps_missing(caps_effective(), CAPS_READING)
				    ? SEE_RIGHTS
				    : "record outside of the container",
			    "mappings of %u of %u processes cannot be read: their samples have "
			    "addresses alone",
			    refused, all);
	else if (is_refused(err))
		finding_set(f, FINDING_DEGRADED, SEE_RIGHTS,
			    "files that are mapped are found by path alone, not when deleted or "
			    "replaced");
	else
		finding_set(f, FINDING_WORKS, NULL, "mappings of all %u processes can be read",
			    all);
}

void doctor_print(FILE *to)
{
	static const struct {
		const char *name;
		void (*look)(struct finding *f);
	} things[] = {
		{ "kernel", look_kernel },
		{ "rights", look_rights },
		{ "lockdown", look_lockdown },
		{ "BTF", look_btf },
		{ "BPF", look_bpf },
		{ "context switches", look_switches },
		{ "marks", look_marks },
		{ "perf events", look_perf },
		{ "PMU", look_pmu },
		{ "locked memory", look_memory },
		{ "kernel names", look_kallsyms },
		{ "tracefs", look_tracefs },
		{ "processes", look_processes },
		{ "pid namespace", look_pid_namespace },
	};
	char line[FINDING_LINE_BYTES];
	size_t bytes;

	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
		struct finding f = { 0 };

		snprintf(f.name, sizeof(f.name), "%s", things[i].name);
		things[i].look(&f);
		bytes = finding_format(&f, line);
		fwrite(line, 1, bytes, to);
	}
}
