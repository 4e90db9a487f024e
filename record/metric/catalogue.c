/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/catalogue.h"

#include "bpf/tables/block.skel.h"
#include "bpf/tables/cache.skel.h"
#include "bpf/tables/exits.skel.h"
#include "bpf/tables/faults.skel.h"
#include "bpf/tables/heap.skel.h"
#include "bpf/tables/irq.skel.h"
#include "bpf/tables/kmem.skel.h"
#include "bpf/tables/locks.skel.h"
#include "bpf/tables/net.skel.h"
#include "bpf/tables/pmu.skel.h"
#include "bpf/tables/runq.skel.h"
#include "bpf/tables/syscalls.skel.h"
#include "bpf/tables/tcp.skel.h"
#include "record/metric/table/missing_tracepoints.h"
#include "record/metric/bpf_object.h"
#include "record/metric/pmu_events.h"

#define AT(field) offsetof(struct record_opts, field)

static const struct catalogue_option heap_options[] = {
	{ CATALOGUE_FILE, "lib", "FILE", 0 },
	{ CATALOGUE_UINT, "sample-bytes", "N", AT(own_sample_bytes) },
	{ 0 },
};
static const struct catalogue_option kmem_options[] = {
	{ CATALOGUE_UINT, "sample-bytes", "N", AT(own_sample_bytes) },
	{ 0 },
};
static const struct catalogue_option journal_options[] = {
	{ CATALOGUE_TEXT, "priority", "LEVEL", AT(journal_priority) },
	{ CATALOGUE_TEXT, "units", "UNIT+...", AT(journal_units) },
	{ 0 },
};
static const struct catalogue_option dbus_options[] = {
	{ CATALOGUE_TEXT, "bus", "BUS", AT(dbus_bus) },
	{ 0 },
};
static const struct catalogue_option net_options[] = {
	{ CATALOGUE_FLAG, "each", NULL, AT(each) },
	{ 0 },
};
static const struct catalogue_option pmu_options[] = {
	{ CATALOGUE_REST, NULL, "EVENT,...", AT(pmu) },
	{ 0 },
};

const struct catalogue_entry metriclist[] = {
	{ "syscalls", "system calls: how many, how long, with which errors", "0.1 us a call",
	  syscalls_bpf__elf_bytes, false, NULL, NULL, 0 },
	{ "exits", "what became of each process that ended", "1 us a process", exits_bpf__elf_bytes,
	  false, NULL, NULL, 0 },
	{ "faults", "page faults, minor and major", "nothing when one happens",
	  faults_bpf__elf_bytes, false, NULL, NULL, 0 },
	{ "block", "disk I/O by process, and by disk and kind", "1 us a request",
	  block_bpf__elf_bytes, false, NULL, NULL, 0 },
	{ "cache", "the page cache: reads that hit and missed, writes, dirty and mapped pages",
	  "60 ns a system call, 0.25 us a read or write, 0.13 us a page", cache_bpf__elf_bytes,
	  false, NULL, NULL, 0 },
	{ "kmem", "memory of the kernel: allocated, freed, still held, by process and stack",
	  "0.15 us an allocation, 0.06 us a free", kmem_bpf__elf_bytes, false, NULL, kmem_options,
	  0 },
	{ "heap", "malloc and free of chosen programs: what is held, by stack; leaks at the end",
	  "4 us a malloc with its free", heap_bpf__elf_bytes, true, NULL, heap_options, 0 },
	{ "pmu", "cycles, instructions and cache misses of processes and functions",
	  "0.6 us an event and switch, 16 us a stack", pmu_bpf__elf_bytes, false, pmu_events_lacks,
	  pmu_options, 0 },
	{ "runq", "time on a CPU, in the run queue and asleep, added up", "0.4 us a switch",
	  runq_bpf__elf_bytes, false, NULL, NULL, 0 },
	{ "irq", "hard and soft interrupts", "0.2 us an interrupt", irq_bpf__elf_bytes, false, NULL,
	  NULL, 0 },
	{ "tcp", "connections made, failed, ended; what was sent again", "1 us a change of state",
	  tcp_bpf__elf_bytes, false, NULL, NULL, 0 },
	{ "net", "packets of interfaces, drops, sends and receives of processes",
	  "75 ns a system call, 0.5 us a packet", net_bpf__elf_bytes, false, NULL, net_options, 0 },
	{ "locks", "waits at futexes and their holders, and for locks of the kernel",
	  "55 ns a system call, 0.3 us a wakeup", locks_bpf__elf_bytes, false, NULL, NULL, 0 },
	{ "counters", "CPUs, memory, pressure, disks, interfaces, processes, as in /proc",
	  "20 us a process and interval", NULL, false, NULL, NULL, 0 },
	{ "journal", "lines of the system's journal, put in as marks when the recording ends",
	  "nothing while it records", NULL, true, NULL, journal_options, AT(journal) },
	{ "dbus", "calls and signals of D-Bus, put in as marks when the recording ends",
	  "a wakeup of the listener for each message", NULL, true, NULL, dbus_options, AT(dbus) },
};

const size_t catalogue_count = sizeof(metriclist) / sizeof(metriclist[0]);

enum catalogue_has catalogue_check(const struct catalogue_entry *inst, const struct btf *kernel,
				   struct outbuf *why)
{
	enum catalogue_has has = CATALOGUE_ALL;
	struct bpf_object *obj = NULL;
	char missing[64];
	const void *elf;
	size_t bytes;

	if (inst->elf) {
		elf = inst->elf(&bytes);
		obj = bpf_object__open_mem(elf, bytes, NULL);
	}
	if (!obj)
		return has;
	if (missing_tracepoints_fails(obj, kernel, missing)) {
		has = CATALOGUE_NONE;
		outbuf_printf(why, "this kernel has no tracepoint %s%c", missing, '\0');
	} else if (missing_tracepoints_text(obj, kernel, why)) {
		has = CATALOGUE_LESS;
	}
	bpf_object__close(obj);
	return has;
}
