/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* recording_priv - what the files of the room `recording` share */
#ifndef EBPREC_RECORD_RECORDING_RECORDING_PRIV_H
#define EBPREC_RECORD_RECORDING_RECORDING_PRIV_H

#include <limits.h>
#include <signal.h>

#include "record/process/container/cgroup_age.h"
#include "record/privsep/elf_reader.h"
#include "record/process/container/cgroup_selection.h"
#include "record/process/container/container_watch.h"
#include "record/process/container/service_budgets.h"
#include "record/process/cmdline_log.h"
#include "record/process/context_watch.h"
#include "record/kernel/bpf_programs.h"
#include "record/recording/control_socket.h"
#include "record/output/cpu_gaps.h"
#include "record/events/cpu_hotplug.h"
#include "record/process/file/mapped_files.h"
#include "record/output/file_features.h"
#include "record/output/machine_env.h"
#include "record/output/machine_info.h"
#include "record/recording/realtime.h"
#include "record/instrument/instrument.h"
#include "record/process/jit_symbols.h"
#include "record/process/jvm_maps.h"
#include "record/runtime/interpreter_files.h"
#include "record/runtime/runtimes.h"
#include "record/process/hugepage_text.h"
#include "record/output/output_file.h"
#include "record/recording/proc_scan.h"
#include "record/recording/recording.h"
#include "record/recording/rotated_file.h"
#include "record/recording/service_notify.h"
#include "record/process/vdso.h"
#include "record/recording/workload.h"

#define INSTRUMENT_COUNT     8
#define RECORDING_LINE_BYTES (PATH_MAX + 128)

/* Object numbers of embedded files: those of JIT compilers and of kallsyms are the first of many. */
enum { FILE_VDSO = 1, FILE_JIT = 2, FILE_KALLSYMS = 1u << 24 };

#define RECORDING_PASS_NS  100000000ULL  /* the rings are looked at this often */
#define RECORDING_FLUSH_NS 1000000000ULL /* at most this much is lost when the recorder is killed */
#define RECORDING_LATE_NS  10000000ULL   /* FORK records of another CPU may come this late */

struct recording {
	const struct record_opts *opts;
	const struct recording_ui *ui;
	struct notes notes;
	struct output_file file;
	struct workload workload;
	bool command_failed; /* it could not be run */
	struct cpuset_list cpus;
	struct cpu_hotplug cpuwatch;
	struct cpu_gaps cpugaps;
	struct elf_reader *jit_reader,
		*store_reader;     /* of jitdumps, and of container engines' files */
	struct reopener *reopener; /* NULL: CPUs that come are not sampled */
	uint64_t cpus_looked_ns;   /* when the watch looked last */
	uint64_t cpus_asked_ns;    /* when it asked whether it has to */
	bool cpus_wanted;          /* one came that is not quite there */
	bool bpf;
	struct perf_event_set_scope scope;
	uint32_t command_pid;   /* where the scope points to */
	struct bpf_ring *rings; /* NULL without BPF */
	struct realtime realtime;
	struct targets targets;
	struct service_budgets budgets;
	struct cgroup_selection selection; /* with targets.selects */
	struct pid_namespace pidns;
	struct sideband *sideband;
	uint64_t rescanned_ns; /* processes were read again, after losses */
	bool rescan;
	struct unwinder *walker;   /* NULL: stacks are not walked by tables */
	struct runtimes *runtimes; /* NULL: frames of interpreted programs are not read */
	struct interpreter_files interpreters;
	struct kernel_symbols_index *kallsyms;
	struct vdso vdso;
	struct io_timeout *io;
	int late_err; /* of what was emitted when I/O was done */
	struct mapped_files buildids;
	struct file_origin file_origin;
	struct container_watch containers;
	struct jit_symbols jitfiles;
	struct jvm_maps jvms;
	struct hugepage_text moved;
	struct cgroup_age cgroups; /* of the window's state */
	struct cmdline_log args;
	struct context_watch contexts;
	struct proc_scan scan;
	bool exec_seen; /* by a BPF program, not by its COMM record */
	struct machine_info host;
	struct machine_env env;
	struct event_attrs attrs;
	struct writer *writer; /* has no file of its own when there is a window */
	/* --ring and --rotate: NULL, and without a file, when neither was asked for. */
	struct backlog *window;
	struct rotated_file segment;
	unsigned segment_number; /* the last file's */
	unsigned last_file;      /* the largest of these: the last file of a flight recorder is 0 */
	uint64_t segment_ns;     /* since when it is written */
	uint64_t drained_ns;     /* the events of before were read */
	bool segment_failed;     /* nothing more goes into it */
	struct snapshot_triggers triggers;
	struct control_socket control;
	struct service_notify manager;
	const char *wanted;       /* why a snapshot is wanted; NULL: it is not */
	uint64_t wanted_ns;       /* since when: it has all events up to then */
	uint64_t last_file_bytes; /* before the last flush */
	struct sink emit;
	struct instrument_ctx ctx[INSTRUMENT_COUNT];
	bool running[INSTRUMENT_COUNT]; /* prepared and not given up */
	uint32_t progs_last;            /* ... to this one they are ours */
	uint32_t progs_below;           /* BPF programs from this id on the side-band reports */
	uint64_t clock_mono_ns, clock_wall_ns;
	uint64_t run_ns, start_ns; /* when it was asked for, and when events began */
	uint64_t kallsyms_pieces, notes_pieces;
	struct signal_state signals; /* as they were */
	int epoll_fd, any_epoll_fd, signal_fd, timer_fd;
	int pid_fds[RECORD_PIDS_MAX]; /* -1: ended */
	unsigned pids_alive;
	const char *end_reason; /* NULL: go on */
	bool asked_to_end;      /* by a signal */
	uint64_t
		give_up_ns; /* when a reader that does not read is waited for no more; 0: not set */
};

extern const struct instrument *const recording_instruments[INSTRUMENT_COUNT];

/* recording_setup.c: everything that events come through, with BPF or without. */
int recording_set_up(struct recording *r);
void recording_take_down(struct recording *r); /* NULL-safe, half-built-safe */
/*
 * An instrument failed.  0: it is reported and left out; else err: without it there is nothing to
 * record.
 */
int recording_give_up(struct recording *r, size_t i, int err);
/* recording_start.c: all up to the moment when events flow and the file is in its place. */
int recording_start(struct recording *r);
/*
 * recording_select.c: with targets.selects.  The processes that are there, once the programs that follow them run.  A
 * failed look at the cgroups ends the recording, as there may be nothing to record.
 */
int recording_select(struct recording *r);
/* A process was selected as it runs. */
int recording_selected(struct recording *r, const struct target_event *ev);
/* A cgroup was made; does nothing when none was named. */
void recording_select_cgroup(struct recording *r, uint64_t id, const char *path);
/* An embedded file. */
int recording_embed(struct recording *r, uint64_t object, const char *name, const void *data,
		    size_t size_bytes);
/* recording_loop.c: until end_reason is set, or an error. */
int recording_loop(struct recording *r);
/* One more ring of the side-band.  errno of epoll_ctl(). */
int recording_watch_side(struct recording *r, size_t ring);
/* recording_pass.c: one pass over all rings.  last: hand over everything. */
int recording_pass(struct recording *r, bool last);
/* The build-id of a mapped file that took long: on_late of mapped_files.h. */
void recording_late_file(void *recording, struct mapping *m, uint64_t time_ns);
/*
 * The result of an instrument's call after the start: 0, also when it failed, as that costs no more
 * than the text states; or an error of the writer.
 */
int recording_instrument_result(struct recording *r, const struct instrument *inst, int err,
				const char *costs);
/* For instruments: what came in while one of them is busy. */
int recording_meanwhile(void *recording);
int recording_flush(struct recording *r);
/* Writes the notes since the last call. */
int recording_write_notes(struct recording *r);
/*
 * recording_cpus.c: reports CPUs that went offline, samples those that came back.  all: also CPUs
 * that went and came since the last call, which reads a file for each CPU.
 */
void recording_look_at_cpus(struct recording *r, bool all);
/*
 * recording_files.c: waits until the reader of our pipe takes more; -ETIMEDOUT, when we are asked
 * to end.
 */
int recording_await_reader(void *recording);
/* Passes on what was packed since the last flush, and ends a round. */
int recording_keep(struct recording *r);
/* The window as a capture; 0 with a note when it could not be written. */
int recording_snapshot(struct recording *r);
/* For the client of a request: how long it records, how much it has, and where.  is_complete: and will not have more. */
void recording_describe(const struct recording *r, bool is_complete,
			char text[RECORDING_LINE_BYTES]);
/* The last capture: errno of the write. */
int recording_finish_files(struct recording *r);
/* For --rotate: the first file. */
int recording_first_segment(struct recording *r);
/* recording.c: notes that the capture cannot be written; returns err. */
int recording_fail_write(struct recording *r, int err);
/* recording.c: the account up to now. */
void recording_count(struct recording *r);

#endif
