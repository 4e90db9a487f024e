/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/layouts.h"

#include <stdio.h>
#include <string.h>

/* ---- views: the columns of ../docs/instruments ---- */

#define N(title, key, field)                                      \
	{                                                         \
		title, key, METRIC_SUM, field, NULL, METRIC_PLAIN \
	}
#define U(title, field, unit)                               \
	{                                                   \
		title, field, METRIC_SUM, field, NULL, unit \
	}
#define DIM(title, key, dimension)                                    \
	{                                                             \
		title, key, METRIC_DIM, dimension, NULL, METRIC_PLAIN \
	}

/* bpf/lib/alloc_sampling.bpf.h: what was allocated and freed; the difference is held. */
#define MEMORY_COLUMNS                                                                          \
	{ "HELD(KiB)", "held_bytes", METRIC_SUM, "alloc_bytes-freed_bytes", NULL, METRIC_KIB }, \
		{ "HELD", "held", METRIC_SUM, "allocs-frees", NULL, METRIC_PLAIN },             \
		U("ALLOC(KiB)", "alloc_bytes", METRIC_KIB), N("ALLOCS", "allocs", "allocs"),    \
		U("FREED(KiB)", "freed_bytes", METRIC_KIB), N("FREES", "frees", "frees")
/* Stacks of which something is held at the end, and allocations that were drawn. */
#define HELD_COLUMNS                                                                        \
	.weight = "bytes", .sort = "held_bytes",                                            \
	.columns = { DIM("PID", "pid", "pid"),    DIM("COMM", "comm", "comm"),              \
		     DIM("KIND", "kind", "kind"), U("HELD(KiB)", "held_bytes", METRIC_KIB), \
		     N("HELD", "held", "held"),   U("OLDEST(s)", "max_age_ns", METRIC_SEC) }
#define ALLOC_COLUMNS                                                          \
	.by = { "process", "kind" }, .weight = "bytes", .sort = "alloc_bytes", \
	.columns = { U("ALLOC(KiB)", "alloc_bytes", METRIC_KIB), N("ALLOCS", "allocs", "allocs") }

#define THREAD_END "end of a thread" /* data_names.h */

static const struct metric_view views[] = {
	{ .table = "syscalls",
	  .legend =
		  "BLOCKED, FOR: calls that had not returned at the end, and how long they had taken then",
	  .instrument = "syscalls",
	  .title = "System calls",
	  .by = { "syscall", "process" },
	  .sort = "total_ns",
	  .columns = { N("COUNT", "count", "count"),
		       N("ERRORS", "errors", "errors"),
		       U("TIME (us)", "total_ns", METRIC_US),
		       { "AVG(us)", "avg_ns", METRIC_AVG, "total_ns", "count", METRIC_US },
		       U("MAX(us)", "max_ns", METRIC_US),
		       N("BLOCKED", "now_blocked", "now_blocked"),
		       U("FOR(ms)", "now_blocked_ns", METRIC_MS) } },
	{ .table = "syscall_errors",
	  .instrument = "syscalls",
	  .title = "System calls that failed",
	  .by = { "syscall", "error" },
	  .sort = "count",
	  .columns = { N("COUNT", "count", "count") } },
	{ .table = "syscalls_slow",
	  .weight = "ns",
	  .instrument = "syscalls",
	  .title = "Slow system calls",
	  .columns = { DIM("PID", "pid", "pid"), DIM("TID", "tid", "tid"),
		       DIM("COMM", "comm", "comm"), DIM("SYSCALL", "syscall", "syscall"),
		       DIM("", "category", "category"), U("TIME(ms)", "took_ns", METRIC_MS),
		       N("RET", "ret", "ret") } },
	{ .table = "exits",
	  .legend =
		  "VOL, NONVOL: switches because it waited, and because another thread was to run; MINFLT, MAJFLT: page faults",
	  .instrument = "exits",
	  .title = "Processes that ended",
	  .by = { "exit" },
	  .sort = "-is_exit_ns",
	  .only = "exited",
	  .columns = { N("PPID", "ppid", "is_ppid"), N("CPU", "cpu", "is_cpu"),
		       N("PRIO", "prio", "is_prio"), N("NICE", "nice", "is_nice"),
		       DIM("POLICY", "policy", "policy"), U("RUNTIME(ms)", "runtime_ns", METRIC_MS),
		       N("VOL", "voluntary", "voluntary"),
		       N("NONVOL", "involuntary", "involuntary"),
		       N("THREADS", "threads", "threads"), N("MINFLT", "minor", "minor"),
		       N("MAJFLT", "major", "major"), DIM("ENDED", "ended", "ended"),
		       N("", "exit_code", "is_exit_code"), N("", "is_exit_ns", "is_exit_ns") } },
	{ .table = "faults",
	  .instrument = "faults",
	  .title = "Page faults",
	  .by = { "process" },
	  .sort = "total",
	  .columns = { N("MINOR", "minor", "minor"),
		       N("MAJOR", "major", "major"),
		       { "TOTAL", "total", METRIC_SUM, "minor+major", NULL, METRIC_PLAIN },
		       { "MINOR/s", "minor_per_s", METRIC_RATE, "minor", NULL, METRIC_TENTH },
		       { "MAJOR/s", "major_per_s", METRIC_RATE, "major", NULL, METRIC_TENTH },
		       { "TOTAL/s", "total_per_s", METRIC_RATE, "minor+major", NULL,
			 METRIC_TENTH } } },
	{ .table = "faults_stacks",
	  .instrument = "faults",
	  .weight = "faults",
	  .title = "Page faults with a stack: each major one, every 97th minor one",
	  .by = { "process", "fault" },
	  .sort = "count",
	  .columns = { N("FAULTS", "count", "count") } },
	{ .table = "block",
	  .legend =
		  "QUEUE, DEVICE: on average before the device had it, and there; SYNC, ASYNC: requests that are waited for, as reads, and others",
	  .instrument = "block",
	  .title = "Disk I/O by process (kernel threads: for all processes)",
	  .by = { "process", "disk" },
	  .sort = "bytes",
	  .columns = { U("READ(KiB)", "read_bytes", METRIC_KIB),
		       U("WRITE(KiB)", "write_bytes", METRIC_KIB),
		       N("R_IOS", "read_ios", "read_ios"),
		       N("W_IOS", "write_ios", "write_ios"),
		       N("OTHER", "other_ios", "other_ios"),
		       { "AVG_SZ(KiB)", "avg_bytes", METRIC_AVG, "read_bytes+write_bytes",
			 "read_ios+write_ios", METRIC_KIB },
		       N("SYNC", "sync_ios", "sync_ios"),
		       N("ASYNC", "async_ios", "async_ios"),
		       N("ERRORS", "errors", "errors"),
		       { "QUEUE(us)", "avg_queue_ns", METRIC_AVG, "queue_ns",
			 "read_ios+write_ios+other_ios", METRIC_US },
		       { "DEVICE(us)", "avg_device_ns", METRIC_AVG, "device_ns",
			 "read_ios+write_ios+other_ios-?unseen", METRIC_US },
		       U("MAX(us)", "max_ns", METRIC_US),
		       { "", "bytes", METRIC_SUM, "read_bytes+write_bytes", NULL, METRIC_KIB },
		       N("", "unseen", "unseen") } },
	{ .table = "block_ops",
	  .instrument = "block",
	  .title = "Disk I/O by disk and kind",
	  .by = { "disk", "op" },
	  .sort = "bytes",
	  .columns = { N("IOS", "ios", "ios"),
		       U("KiB", "bytes", METRIC_KIB),
		       { "AVG_SZ(KiB)", "avg_bytes", METRIC_AVG, "bytes", "ios", METRIC_KIB },
		       { "QUEUE(us)", "avg_queue_ns", METRIC_AVG, "queue_ns", "ios", METRIC_US },
		       { "DEVICE(us)", "avg_device_ns", METRIC_AVG, "device_ns", "ios-?unseen",
			 METRIC_US },
		       U("MAX(us)", "max_ns", METRIC_US),
		       N("", "unseen", "unseen") } },
	{ .table = "block_slow",
	  .weight = "ns",
	  .instrument = "block",
	  .title = "Slow disk I/O",
	  .columns = { DIM("PID", "pid", "of_pid"), DIM("COMM", "comm", "comm"),
		       DIM("DISK", "disk", "disk"), DIM("OP", "op", "op"),
		       U("KiB", "bytes", METRIC_KIB), U("QUEUE(ms)", "queue_ns", METRIC_MS),
		       U("DEVICE(ms)", "device_ns", METRIC_MS) } },
	{ .table = "cache",
	  .legend =
		  "HITS: pages that were in the cache, or dirty, already; MISSES, F_MISS, OTHER: pages that came into it by reads,\n"
		  "by page faults, and else",
	  .instrument = "cache",
	  .title = "Page cache by process, in pages",
	  .by = { "process", "device" },
	  .sort = "pages",
	  .columns = { N("READ", "read_pages", "read_pages"),
		       { "HITS", "read_hits", METRIC_OVER, "read_pages", "read_added",
			 METRIC_PLAIN },
		       N("MISSES", "read_misses", "read_added"),
		       { "READ%", "read_hit_percent", METRIC_PART, "read_pages", "read_added",
			 METRIC_TENTH },
		       N("WRITTEN", "write_pages", "write_pages"),
		       { "HITS", "write_hits", METRIC_OVER, "write_pages", "dirtied_pages",
			 METRIC_PLAIN },
		       N("DIRTIED", "dirtied_pages", "dirtied_pages"),
		       { "WRITE%", "write_hit_percent", METRIC_PART, "write_pages", "dirtied_pages",
			 METRIC_TENTH },
		       N("BUFFERS", "buffers", "buffers"),
		       N("FAULTS", "faults", "faults"),
		       N("MAPPED", "mapped_pages", "mapped_pages"),
		       N("F_MISS", "fault_misses", "fault_added"),
		       N("OTHER", "other_added", "other_added"),
		       N("REMOVED", "removed_pages", "removed_pages"),
		       N("", "reads", "reads"),
		       N("", "read_bytes", "read_bytes"),
		       N("", "writes", "writes"),
		       N("", "write_bytes", "write_bytes"),
		       { "", "pages", METRIC_SUM,
			 "read_pages+write_pages+fault_added+dirtied_pages", NULL,
			 METRIC_PLAIN } } },
	{ .table = "kmem",
	  .legend =
		  "HELD: what was allocated while it was recorded, and not freed; estimated from a sample of the bytes",
	  .instrument = "kmem",
	  .title = "Memory of the kernel by process",
	  .by = { "process" },
	  .sort = "held_bytes",
	  .columns = { MEMORY_COLUMNS, U("RSS(KiB)", "now_rss_bytes", METRIC_KIB),
		       U("SIZE(KiB)", "now_size_bytes", METRIC_KIB) } },
	{ .table = "kmem_caches",
	  .instrument = "kmem",
	  .title = "Memory of the kernel by cache",
	  .by = { "cache" },
	  .sort = "held_bytes",
	  .columns = { MEMORY_COLUMNS } },
	{ .table = "kmem_held",
	  .instrument = "kmem",
	  .title = "Memory of the kernel held at the end, by stack",
	  HELD_COLUMNS },
	{ .table = "kmem_allocs",
	  .instrument = "kmem",
	  .title = "Memory of the kernel allocated, by what",
	  ALLOC_COLUMNS },
	{ .table = "heap",
	  .legend =
		  "HELD: what was allocated while it was recorded, and not freed; estimated from a sample of the bytes",
	  .instrument = "heap",
	  .title = "Memory from malloc() by process",
	  .by = { "process" },
	  .sort = "held_bytes",
	  .columns = { MEMORY_COLUMNS } },
	{ .table = "heap_held",
	  .instrument = "heap",
	  .title = "Memory from malloc() held at the end, by stack",
	  HELD_COLUMNS },
	{ .table = "heap_allocs",
	  .instrument = "heap",
	  .title = "Memory from malloc(), by what",
	  ALLOC_COLUMNS },
	{ .table = "pmu",
	  .instrument = "pmu",
	  .title = "Counters of the processor by process",
	  .by = { "process" },
	  .sort = "cycles",
	  .columns = { N("CYCLES", "cycles", "cycles"),
		       N("INSTRUCTIONS", "instructions", "instructions"),
		       { "IPC", "ipc", METRIC_AVG, "instructions", "cycles", METRIC_RATIO },
		       N("CACHE REFS", "cache_references", "cache_references"),
		       N("MISSES", "cache_misses", "cache_misses"),
		       { "MISS%", "cache_miss_percent", METRIC_PCT, "cache_misses",
			 "cache_references", METRIC_TENTH },
		       { "STALLED%", "backend_stall_percent", METRIC_PCT, "stalled_cycles_backend",
			 "cycles", METRIC_TENTH },
		       N("", "stalled_cycles_backend", "stalled_cycles_backend"),
		       N("", "stalled_cycles_frontend", "stalled_cycles_frontend"),
		       N("BRANCHES", "branches", "branches"),
		       N("B_MISSES", "branch_misses", "branch_misses"),
		       { "B_MISS%", "branch_miss_percent", METRIC_PCT, "branch_misses", "branches",
			 METRIC_TENTH },
		       U("CLOCK(ms)", "cpu_clock", METRIC_MS),
		       N("FAULTS", "page_faults", "page_faults"),
		       N("MIGRATIONS", "migrations", "migrations") } },
	{ .table = "runq",
	  .legend =
		  "WAIT: in the run queue; VOL, NONVOL: switches because it waited for something, and because another thread was to run",
	  .instrument = "runq",
	  .title = "Time on a CPU and in the run queue",
	  .by = { "process" },
	  .sort = "run_ns",
	  .columns = { { "CPU%", "cpu_percent", METRIC_BUSY, "run_ns", NULL, METRIC_TENTH },
		       U("RUN(ms)", "run_ns", METRIC_MS),
		       U("WAIT(ms)", "wait_ns", METRIC_MS),
		       U("SLEEP(ms)", "sleep_ns", METRIC_MS),
		       N("RUNS", "runs", "runs"),
		       { "AVG WAIT(us)", "avg_wait_ns", METRIC_AVG, "wait_ns", "waits", METRIC_US },
		       U("MAX WAIT(us)", "max_wait_ns", METRIC_US),
		       N("VOL", "voluntary", "voluntary"),
		       N("NONVOL", "involuntary", "involuntary"),
		       N("PRIO", "prio", "is_prio") } },
	{ .table = "runq_cpus",
	  .legend = "QUEUE LEN: threads that waited for this CPU, on average",
	  .instrument = "runq",
	  .title = "CPUs",
	  .by = { "cpu" },
	  .columns = { { "BUSY%", "busy_percent", METRIC_SHARE, "busy_ns", "idle_ns",
			 METRIC_TENTH },
		       U("BUSY(ms)", "busy_ns", METRIC_MS),
		       U("IDLE(ms)", "idle_ns", METRIC_MS),
		       N("SWITCHES", "switches", "switches"),
		       { "QUEUE LEN", "queue_length", METRIC_AVG, "wait_ns", "busy_ns+idle_ns",
			 METRIC_RATIO } } },
	{ .table = "irq",
	  .instrument = "irq",
	  .title = "Interrupts",
	  .by = { "irq" },
	  .sort = "total_ns",
	  .columns = { N("COUNT", "count", "count"),
		       U("TIME(us)", "total_ns", METRIC_US),
		       { "AVG(us)", "avg_ns", METRIC_AVG, "total_ns", "count", METRIC_US },
		       U("MAX(us)", "max_ns", METRIC_US),
		       { "RATE/s", "per_s", METRIC_RATE, "count", NULL, METRIC_TENTH } } },
	{ .table = "tcp",
	  .legend =
		  "ENDED: connections that were closed; SYNACKS AGAIN: answers to clients that were sent again",
	  .instrument = "tcp",
	  .title = "TCP by process",
	  .by = { "process" },
	  .sort = "connections",
	  .columns = { N("CONNECTS", "connects", "connects"),
		       N("FAILED", "failed", "failed"),
		       { "AVG LAT(ms)", "avg_connect_ns", METRIC_AVG, "connect_ns", "connects",
			 METRIC_MS },
		       U("MAX LAT(ms)", "max_connect_ns", METRIC_MS),
		       N("ACCEPTED", "accepts", "accepts"),
		       N("ENDED", "closes", "closes"),
		       U("SENT(KiB)", "sent_bytes", METRIC_KIB),
		       U("RECEIVED(KiB)", "received_bytes", METRIC_KIB),
		       N("RETRANSMITS", "retransmits", "retransmits"),
		       N("SYNACKS AGAIN", "synack_retransmits", "synack_retransmits"),
		       N("", "connections", "connects+failed+closes+retransmits") } },
	{ .table = "tcp_connects",
	  .weight = "ns",
	  .instrument = "tcp",
	  .title = "TCP connections asked for",
	  .columns = { DIM("PID", "pid", "of_pid"), DIM("COMM", "comm", "comm"),
		       DIM("IP", "ip", "ip"), DIM("SADDR", "saddr", "saddr"),
		       DIM("LPORT", "lport", "lport"), DIM("DADDR", "daddr", "daddr"),
		       DIM("DPORT", "dport", "dport"), U("LAT(ms)", "took_ns", METRIC_MS),
		       DIM("RESULT", "result", "result") } },
	{ .table = "tcp_life",
	  .instrument = "tcp",
	  .title = "TCP connections that ended",
	  .columns = { DIM("PID", "pid", "of_pid"), DIM("COMM", "comm", "comm"),
		       DIM("SADDR", "saddr", "saddr"), DIM("LPORT", "lport", "lport"),
		       DIM("DADDR", "daddr", "daddr"), DIM("DPORT", "dport", "dport"),
		       N("ACCEPTED", "accepted", "accepted"), U("LIVED(ms)", "lived_ns", METRIC_MS),
		       U("SENT(KiB)", "sent_bytes", METRIC_KIB),
		       U("RECEIVED(KiB)", "received_bytes", METRIC_KIB),
		       N("RETRANSMITS", "retransmits", "retransmits") } },
	{ .table = "net",
	  .legend = "QUEUE, DRIVER: on average in the queue of the interface, and in its driver",
	  .instrument = "net",
	  .title = "Interfaces",
	  .by = { "device" },
	  .sort = "bytes",
	  .columns = { N("RX PACKETS", "rx_packets", "rx_packets"),
		       U("RX KiB", "rx_bytes", METRIC_KIB),
		       N("TX PACKETS", "tx_packets", "tx_packets"),
		       U("TX KiB", "tx_bytes", METRIC_KIB),
		       N("TX ERRORS", "tx_errors", "tx_errors"),
		       { "QUEUE(us)", "avg_queue_ns", METRIC_AVG, "queue_ns", "queued", METRIC_US },
		       { "DRIVER(us)", "avg_driver_ns", METRIC_AVG, "driver_ns", "queued",
			 METRIC_US },
		       N("", "queued", "queued"),
		       N("", "queue_ns", "queue_ns"),
		       N("", "driver_ns", "driver_ns"),
		       N("", "bytes", "rx_bytes+tx_bytes") } },
	{ .table = "net_drops",
	  .instrument = "net",
	  .title = "Packets that were dropped, by reason",
	  .by = { "reason", "device" },
	  .sort = "drops",
	  .columns = { N("DROPS", "drops", "drops"), U("KiB", "bytes", METRIC_KIB) } },
	{ .table = "net_sockets",
	  .instrument = "net",
	  .title = "Sockets by process",
	  .by = { "process", "protocol" },
	  .sort = "bytes",
	  .columns = { N("SENDS", "sends", "sends"),
		       U("SENT(KiB)", "send_bytes", METRIC_KIB),
		       N("ERRORS", "send_errors", "send_errors"),
		       { "AVG(us)", "avg_send_ns", METRIC_AVG, "send_ns", "send_calls", METRIC_US },
		       U("MAX(us)", "max_send_ns", METRIC_US),
		       N("RECEIVES", "receives", "receives"),
		       U("RECEIVED(KiB)", "receive_bytes", METRIC_KIB),
		       N("ERRORS", "receive_errors", "receive_errors"),
		       { "AVG(us)", "avg_receive_ns", METRIC_AVG, "receive_ns", "receive_calls",
			 METRIC_US },
		       U("MAX(us)", "max_receive_ns", METRIC_US),
		       N("", "send_calls", "send_calls"),
		       N("", "send_ns", "send_ns"),
		       N("", "receive_calls", "receive_calls"),
		       N("", "receive_ns", "receive_ns"),
		       N("", "bytes", "send_bytes+receive_bytes") } },
	{ .table = "net_packets",
	  .instrument = "net",
	  .title = "Packets that were sent",
	  .columns = { DIM("PID", "pid", "of_pid"),
		       DIM("COMM", "comm", "comm"),
		       DIM("DEVICE", "device", "device"),
		       N("LEN", "bytes", "bytes"),
		       { "LATENCY(us)", "latency_ns", METRIC_SUM, "queue_ns+driver_ns", NULL,
			 METRIC_US },
		       U("QUEUE(us)", "queue_ns", METRIC_US),
		       U("DRIVER(us)", "driver_ns", METRIC_US) } },
	{ .table = "net_slow",
	  .weight = "ns",
	  .instrument = "net",
	  .title = "Slow sends and receives",
	  .columns = { DIM("PID", "pid", "pid"), DIM("TID", "tid", "tid"),
		       DIM("COMM", "comm", "comm"), DIM("PROTOCOL", "protocol", "protocol"),
		       N("SEND", "is_send", "is_send"), U("KiB", "bytes", METRIC_KIB),
		       U("TIME(ms)", "took_ns", METRIC_MS) } },
	{ .table = "futexes",
	  .legend =
		  "TIMEOUTS: waits that their time limit ended; TOO LATE: calls that did not wait, as the value had changed before;\n"
		  "WAKES, WOKEN: calls to wake waiters, and threads they woke; WAITING, FOR: threads that wait at the end, and how long;\n"
		  "WAITED IN: a function that waited there; end of a thread: no lock (pthread_join), below all locks",
	  .instrument = "locks",
	  .title = "Futexes",
	  .by = { "process", "address" },
	  .sort = "total_ns",
	  .last = THREAD_END,
	  .columns = { N("WAITS", "waits", "waits"),
		       U("TIME(ms)", "total_ns", METRIC_MS),
		       { "AVG(us)", "avg_ns", METRIC_AVG, "total_ns", "waits", METRIC_US },
		       U("MAX(us)", "max_ns", METRIC_US),
		       N("TIMEOUTS", "timeouts", "timeouts"),
		       N("TOO LATE", "not_waited", "not_waited"),
		       N("WAKES", "wakes", "wakes"),
		       N("WOKEN", "woken", "woken"),
		       N("WAITING", "now_waiting", "now_waiting"),
		       U("FOR(ms)", "now_waiting_ns", METRIC_MS),
		       DIM("WAITED IN", "waited_in", "function") } },
	{ .table = "futex_holders",
	  .legend =
		  "WAITS, TIME: of others, until this thread woke them; RELEASES: how often it gave the lock back; HELD>=, MAX>=: how\n"
		  "long it had it before, at least; SEEN, TAKEN: of so many releases is that known, and of so many exactly;\n"
		  "RELEASED IN: a function of the holder that gave it back; end of a thread: no lock (pthread_join), below all locks",
	  .instrument = "locks",
	  .title = "Threads that held futexes that others waited for",
	  .by = { "address", "holder" },
	  .sort = "total_ns",
	  .last = THREAD_END,
	  .columns = { N("WAITS", "waits", "waits"),
		       U("TIME(ms)", "total_ns", METRIC_MS),
		       { "AVG(us)", "avg_ns", METRIC_AVG, "total_ns", "waits", METRIC_US },
		       U("MAX(us)", "max_ns", METRIC_US),
		       N("RELEASES", "releases", "releases"),
		       { "HELD>=(ms)", "held_ns", METRIC_SUM, "held_ns", "seen_held", METRIC_MS },
		       { "MAX>=(ms)", "max_held_ns", METRIC_SUM, "max_held_ns", "seen_held",
			 METRIC_MS },
		       N("SEEN", "seen_held", "seen_held"),
		       N("TAKEN", "seen_taken", "seen_taken"),
		       DIM("RELEASED IN", "released_in", "function") } },
	{ .table = "locks",
	  .instrument = "locks",
	  .title = "Locks of the kernel",
	  .by = { "lock", "process" },
	  .sort = "total_ns",
	  .columns = { N("WAITS", "count", "count"),
		       U("TIME(us)", "total_ns", METRIC_US),
		       { "AVG(us)", "avg_ns", METRIC_AVG, "total_ns", "count", METRIC_US },
		       U("MAX(us)", "max_ns", METRIC_US) } },
	{ .table = "locks_slow",
	  .weight = "ns",
	  .instrument = "locks",
	  .title = "Long waits",
	  .columns = { DIM("PID", "pid", "pid"), DIM("TID", "tid", "tid"),
		       DIM("COMM", "comm", "comm"), DIM("ADDRESS", "address", "address"),
		       DIM("LOCK", "symbol", "symbol"), N("FUTEX", "is_futex", "is_futex"),
		       U("TIME(ms)", "took_ns", METRIC_MS), N("HOLDER", "holder", "holder"),
		       DIM("COMM", "holder_comm", "holder_comm") } },
	{ .table = "locks_holders",
	  .weight = "ns",
	  .instrument = "locks",
	  .title = "Threads that ended long waits at futexes",
	  .columns = { DIM("PID", "pid", "pid"), DIM("TID", "tid", "tid"),
		       DIM("COMM", "comm", "comm"), DIM("ADDRESS", "address", "address"),
		       DIM("LOCK", "symbol", "symbol"), N("WAITER", "waiter", "waiter"),
		       DIM("COMM", "waiter_comm", "waiter_comm"),
		       U("TIME(ms)", "took_ns", METRIC_MS) } },
	{ .table = "counters_cpu",
	  .instrument = "counters",
	  .title = "CPUs",
	  .by = { "cpu" },
	  .columns = { { "USER%", "user_percent", METRIC_BUSY, "user_ns+nice_ns", NULL,
			 METRIC_TENTH },
		       { "SYSTEM%", "system_percent", METRIC_BUSY, "system_ns", NULL,
			 METRIC_TENTH },
		       { "IRQ%", "irq_percent", METRIC_BUSY, "irq_ns+softirq_ns", NULL,
			 METRIC_TENTH },
		       { "IOWAIT%", "iowait_percent", METRIC_BUSY, "iowait_ns", NULL,
			 METRIC_TENTH },
		       { "STEAL%", "steal_percent", METRIC_BUSY, "steal_ns", NULL, METRIC_TENTH },
		       { "IDLE%", "idle_percent", METRIC_BUSY, "idle_ns", NULL, METRIC_TENTH },
		       U("MHz", "now_hz", METRIC_MEGA),
		       N("", "user_ns", "user_ns"),
		       N("", "system_ns", "system_ns"),
		       N("", "idle_ns", "idle_ns"),
		       N("", "steal_ns", "steal_ns") } },
	{ .table = "counters_memory",
	  .instrument = "counters",
	  .title = "Memory at the end",
	  .by = { "memory" },
	  .columns = { U("TOTAL(KiB)", "now_total_bytes", METRIC_KIB),
		       U("FREE", "now_free_bytes", METRIC_KIB),
		       U("AVAILABLE", "now_available_bytes", METRIC_KIB),
		       U("BUFFERS", "now_buffers_bytes", METRIC_KIB),
		       U("CACHED", "now_cached_bytes", METRIC_KIB),
		       U("DIRTY", "now_dirty_bytes", METRIC_KIB),
		       U("SLAB", "now_slab_bytes", METRIC_KIB),
		       U("SWAP", "now_swap_total_bytes", METRIC_KIB),
		       U("SWAP FREE", "now_swap_free_bytes", METRIC_KIB) } },
	{ .table = "counters_pressure",
	  .instrument = "counters",
	  .title = "Pressure: time in which some, or all, could not go on",
	  .by = { "resource" },
	  .columns = { { "SOME%", "some_percent", METRIC_BUSY, "some_ns", NULL, METRIC_TENTH },
		       { "FULL%", "full_percent", METRIC_BUSY, "full_ns", NULL, METRIC_TENTH },
		       U("SOME(ms)", "some_ns", METRIC_MS),
		       U("FULL(ms)", "full_ns", METRIC_MS) } },
	{ .table = "counters_disk",
	  .instrument = "counters",
	  .title = "Disks",
	  .by = { "disk" },
	  .columns = { N("R_IOS", "read_ios", "read_ios"),
		       U("READ(KiB)", "read_bytes", METRIC_KIB),
		       N("W_IOS", "write_ios", "write_ios"),
		       U("WRITE(KiB)", "write_bytes", METRIC_KIB),
		       { "BUSY%", "busy_percent", METRIC_BUSY, "busy_ns", NULL, METRIC_TENTH } } },
	{ .table = "counters_net",
	  .instrument = "counters",
	  .title = "Interfaces, as /proc/net/dev counts",
	  .by = { "device" },
	  .columns = { N("RX PACKETS", "rx_packets", "rx_packets"),
		       U("RX(KiB)", "rx_bytes", METRIC_KIB), N("ERRORS", "rx_errors", "rx_errors"),
		       N("DROPS", "rx_drops", "rx_drops"),
		       N("TX PACKETS", "tx_packets", "tx_packets"),
		       U("TX(KiB)", "tx_bytes", METRIC_KIB), N("ERRORS", "tx_errors", "tx_errors"),
		       N("DROPS", "tx_drops", "tx_drops") } },
	{ .table = "counters_energy",
	  .instrument = "counters",
	  .title = "Energy that was used",
	  .by = { "zone" },
	  .columns = { U("JOULES", "energy_uj", METRIC_MEGA),
		       { "WATTS", "microwatts", METRIC_RATE, "energy_uj", NULL, METRIC_MEGA } } },
	{ .table = "counters_battery",
	  .instrument = "counters",
	  .title = "Batteries at the end",
	  .by = { "battery" },
	  .columns = { N("CHARGE%", "now_percent", "now_percent"),
		       U("Wh", "now_energy_uwh", METRIC_MEGA),
		       U("WATTS", "now_power_uw", METRIC_MEGA),
		       N("DISCHARGING", "now_discharging", "now_discharging") } },
	{ .table = "counters_process",
	  .instrument = "counters",
	  .title = "Processes",
	  .by = { "process" },
	  .sort = "cpu_percent",
	  .columns = { { "CPU%", "cpu_percent", METRIC_BUSY, "user_ns+system_ns", NULL,
			 METRIC_TENTH },
		       U("USER(ms)", "user_ns", METRIC_MS),
		       U("SYSTEM(ms)", "system_ns", METRIC_MS),
		       U("RSS(KiB)", "now_rss_bytes", METRIC_KIB),
		       N("THREADS", "now_threads", "now_threads"),
		       N("MINFLT", "minor", "minor"),
		       N("MAJFLT", "major", "major"),
		       U("READ(KiB)", "read_bytes", METRIC_KIB),
		       U("WRITE(KiB)", "write_bytes", METRIC_KIB),
		       N("", "now_size_bytes", "now_size_bytes"),
		       N("", "call_read_bytes", "call_read_bytes"),
		       N("", "call_write_bytes", "call_write_bytes") } },
};

const struct metric_view *metric_view_at(size_t i)
{
	return i < sizeof(views) / sizeof(views[0]) ? &views[i] : NULL;
}

const struct metric_view *metric_view_named(const char *name, bool with_stacks)
{
	const struct metric_view *v;

	for (size_t i = 0; (v = metric_view_at(i)); i++)
		if ((!strcmp(v->instrument, name) || !strcmp(v->table, name)) &&
		    (!with_stacks || v->weight))
			return v;
	return NULL;
}

/* A table without a layout here: grouped by its keys, every number a column. */
static void make_view(const struct metric_table *t, struct metric_view *v)
{
	size_t by = 0, column = 0;

	*v = (struct metric_view){ .table = t->fmt.name,
				   .instrument = t->fmt.name,
				   .title = t->fmt.name };
	if (t->pid != METRIC_ROWS_NONE && t->is_interval)
		v->by[by++] = "process";
	for (size_t i = 0; i < t->fmt.field_count; i++) {
		const struct metric_field *f = &t->fmt.fields[i];
		bool is_key = f->is_key && strcmp(f->name, "since_ns") &&
			      strcmp(f->name, "interval") && strcmp(f->name, "pid") &&
			      strcmp(f->name, "tid");

		if (is_key && by < METRIC_BY_MAX - 1) {
			v->by[by++] = f->name;
		} else if (!f->is_key && f->count == 1 && column < METRIC_COLUMNS_MAX - 1 &&
			   strcmp(f->name, "cgroup") != 0) {
			if (f->kind != METRIC_TEXT && !v->sort && t->is_interval)
				v->sort = f->name;
			v->columns[column++] = (struct metric_column){
				f->name, f->name, f->kind == METRIC_TEXT ? METRIC_DIM : METRIC_SUM,
				f->name, NULL,    METRIC_PLAIN
			};
		} else if (f->kind == METRIC_TEXT && !t->is_interval &&
			   column < METRIC_COLUMNS_MAX - 1) {
			v->columns[column++] = (struct metric_column){ f->name,    f->name,
								       METRIC_DIM, f->name,
								       NULL,       METRIC_PLAIN };
		}
	}
}

/* Whether a table has what ours of that name has, as far as rows are grouped by it. */
static bool has_dims(const struct metric_table *t, const struct metric_view *v)
{
	struct metric_dim own;

	for (size_t i = 0; i < METRIC_BY_MAX && v->by[i]; i++) {
		if (!metric_dimension_find(t, v->by[i], &own))
			return false;
	}
	return true;
}

const struct metric_view *metric_view_of(const struct metric_table *t, struct metric_view *own)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		if (!strcmp(views[i].table, t->fmt.name) && has_dims(t, &views[i]))
			return &views[i];
	}
	make_view(t, own);
	return own;
}
