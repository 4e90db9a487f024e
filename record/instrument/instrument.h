/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * instrument - one thing that can be recorded: a BPF program and what becomes of its events
 *
 * Each instrument has a skeleton of its own, so that one that cannot load takes nothing else down.
 * Order of calls: prepare (all), complete (all), attach (all), on_event..., augment (all), detach (all).
 */
#ifndef EBPREC_RECORD_INSTRUMENT_INSTRUMENT_H
#define EBPREC_RECORD_INSTRUMENT_INSTRUMENT_H

#include <stddef.h>

#include "bpf/events.h"
#include "record/events/event_attrs.h"
#include "record/base/cpuset_list.h"
#include "record/output/sink.h"
#include "record/kernel/kernel_symbols_index.h"
#include "record/base/messages.h"
#include "record/base/config.h"
#include "record/events/bpf_ring.h"
#include "record/events/sideband.h"
#include "record/process/target_set.h"
#include "record/output/snapshot/snapshot_trigger.h"
#include "record/unwind/unwinder.h"
#include "record/process/pid_namespace.h"

struct cmdline_log;
struct elf_reader;
struct kernel_types;
struct mapped_files_found;
struct runtimes;

/* The context of instruments; all borrowed from the recording, but state. */
struct instrument_ctx {
	const struct record_opts *opts;
	const struct cpuset_list *cpus;
	const struct bpf_ring *rings; /* NULL: without BPF */
	struct targets *targets;
	int service_cgroups_fd; /* the map of that name; -1: services have no budget */
	const struct pid_namespace *pidns;
	struct kernel_types *types; /* in prepare() alone; NULL: libbpf reads them all */
	struct sideband *sideband;
	struct reopener
		*reopener; /* prepare() registers the events that cpu_back() opens; may be NULL */
	const struct perf_event_set_scope *scope; /* without BPF: whose events are opened */
	struct unwinder *walker;                  /* NULL: stacks are not walked by tables */
	struct runtimes *runtimes; /* NULL: frames of interpreted programs are not read */
	struct event_attrs *attrs; /* prepare() adds its events */
	struct kernel_symbols_index *kallsyms; /* NULL: not to be had */
	struct notes *notes;
	struct snapshot_triggers *triggers;
	struct sink *emit; /* from attach() on */
	struct cmdline_log *args;
	struct elf_reader *reader; /* of ELF files that the user named; NULL: without a process */
	struct io_timeout *io;     /* for what may take long */
	void *state;               /* the instrument's own */
	/* To be called between pieces of long work in tick(): takes what has come in meanwhile. */
	int (*meanwhile)(void *arg);
	void *meanwhile_arg;
};

/* The needs without which an instrument does not work. */
enum instrument_need {
	NEED_PERF = 1,  /* perf_event_open() */
	NEED_BPF = 2,   /* BPF, with the kernel's types (BTF) */
	NEED_SCHED = 4, /* the tracepoints sched:* and their formats in tracefs */
};

struct instrument {
	const char *name, *summary; /* "sched", "context switches" */
	const char *costs;          /* for people, as measured; NULL: not listed */
	enum instrument_need needs; /* what must be there, or-ed */
	uint32_t events;            /* what on_event() takes: bits 1 << enum ebprec_event_type */
	/*
	 * Opens and loads the programs, and describes the events.  On failure note_fail() has the
	 * reason; -ENOTSUP, -EPERM and the like only cost this instrument.
	 */
	int (*prepare)(struct instrument_ctx *c);
	/*
	 * After prepare() of all, while threads load what they began to (bpf_load.h), and when programs see the rings: loads and
	 * attaches what has to be there before processes are read.  On failure the same.  May be NULL.
	 */
	int (*complete)(struct instrument_ctx *c);
	int (*attach)(struct instrument_ctx *c); /* events come from here on */
	int (*on_event)(struct instrument_ctx *c, const struct event_header *ev); /* may be NULL */
	/*
	 * A CPU came online, perhaps back: opens what it has of it anew (reopener.h); output_fd: where
	 * SET_OUTPUT goes.  May be NULL.
	 */
	int (*cpu_back)(struct instrument_ctx *c, uint32_t cpu, int output_fd);
	/*
	 * Samples of events that write into the side-band's rings; may be NULL.  -ENOENT: of
	 * another instrument.
	 */
	int (*on_sample)(struct instrument_ctx *c, const struct perf_event_header *record);
	/*
	 * A file is mapped for code, for the first time in the recording; fd is borrowed.  From after
	 * prepare() on.  May be NULL.
	 */
	void (*on_file)(struct instrument_ctx *c, const struct mapped_files_found *f);
	/* Now and then, between events; may be NULL. */
	int (*tick)(struct instrument_ctx *c, uint64_t now_ns);
	int (*augment)(struct instrument_ctx *c); /* at stop; may be NULL */
	void (*stop)(struct instrument_ctx *c);   /* no more events; what is in the rings stays */
	void (*detach)(struct instrument_ctx *c); /* frees the state; NULL-safe, half-built-safe */
};

extern const struct instrument inst_target, inst_cpu, inst_copy, inst_trace, inst_sched, inst_mark;
extern const struct instrument inst_metric, inst_exec;

/* User frames of a stack that is no sample's. */
static inline uint32_t instrument_max_frames(const struct record_opts *o)
{
	return o->max_frames < CPU_USER_MAX ? o->max_frames : CPU_USER_MAX;
}

/* How user stacks are found: as asked for, or by frame pointers where there is no unwinder. */
static inline enum cpu_stacks instrument_stacks(const struct instrument_ctx *c)
{
	return c->walker || c->opts->stacks == CPU_STACKS_NONE ? c->opts->stacks : CPU_STACKS_FP;
}

/* A page of the kernel has 1 << that many bytes. */
uint32_t instrument_page_bits(void);
/* The notes of a recording by cpu-clock: it was not asked for, or has another frequency. */
void instrument_note_cpu_clock(const struct instrument_ctx *c);
/* The advice on an error of BPF; NULL: none. */
const char *instrument_hint(int err);
/* left: of uprobe_multi_end(). */
void instrument_note_probes(const struct instrument_ctx *c, size_t left);
/* note_fail() for programs that do not load or attach: without BTF most errors mean just that. */
int instrument_fail(struct instrument_ctx *c, int err, const char *what);

/* Sets the knobs all programs have and gives the skeleton `skel` the shared maps. */
#define instrument_share(c, skel)                                                           \
	({                                                                                  \
		int err__;                                                                  \
		(skel)->rodata->wake_bytes = bpf_ring_wake_bytes((c)->rings);               \
		(skel)->rodata->page_bits = instrument_page_bits();                         \
		(skel)->rodata->filter = !(c)->targets->all;                                \
		(skel)->rodata->pidns_level = (c)->pidns->level;                            \
		(skel)->rodata->pidns_here = (c)->pidns->namespace;                         \
		err__ = bpf_ring_share((c)->rings, (skel)->maps.rings, (skel)->maps.lost);  \
		err__ = err__ ? err__                                                       \
			      : pid_namespace_share((c)->pidns, (skel)->maps.pidns_ending); \
		err__ ? err__ : targets_share((c)->targets, (skel)->maps.targets);          \
	})

#endif
