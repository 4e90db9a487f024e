/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * procscan - the processes that are there when the recording starts
 *
 * Walks /proc once, after the side-band is open: what changes meanwhile is in both, and the
 * side-band's word, which has a time, is the later one.  For each process FORK, NAMESPACES, COMM
 * and MMAP2 of its executable mappings, with build-ids; for each thread FORK and COMM; all of
 * time 0.
 *
 * Mappings and command lines are read by threads (io_timeout.h), as the kernel takes the process's mmap lock
 * for them, which others may hold for ever.  An answer that takes longer is emitted when it is
 * there, with the time of its reading; a process that does not answer within two seconds is
 * counted.
 */
#ifndef EBPREC_RECORD_RECORDING_PROC_SCAN_H
#define EBPREC_RECORD_RECORDING_PROC_SCAN_H

#include "record/process/cmdline_log.h"
#include "record/process/context_watch.h"
#include "record/process/file/mapped_files.h"
#include "record/output/sink.h"
#include "record/process/jit_symbols.h"
#include "record/process/jvm_maps.h"
#include "record/process/hugepage_text.h"
#include "record/process/target_set.h"
#include "record/unwind/process_maps.h"
#include "record/process/vdso.h"
#include "record/process/pid_namespace.h"

struct proc_scan_job; /* in proc_scan.c */

/* All zero but what is borrowed. */
struct proc_scan {
	struct sink *emit; /* all borrowed */
	struct io_timeout *io;
	struct mapped_files *buildids;
	const struct vdso *vdso;
	struct jit_symbols *jitfiles;
	struct jvm_maps *jvms;
	struct cmdline_log *args;
	struct context_watch *contexts;
	struct hugepage_text *moved;
	struct targets *targets;
	const struct pid_namespace *pidns;
	struct process_maps *unwmaps; /* NULL: not wanted */
	struct proc_scan_job *jobs;   /* processes that are being read */
	bool again; /* mappings changed while they were read: another rescan is wanted */
	uint32_t process_count, thread_count, map_count;
	uint32_t
		unread_count; /* processes whose mappings and command lines could not be had in time */
	int late_err;         /* of what was emitted when it was read */
};

/* A process that ends while it is read is no error.  errno of /proc, or of the writer. */
int proc_scan_run(struct proc_scan *s);
/*
 * A process that was selected as it ran: the same as of time_ns, its mappings and command line when they were read.  0 when
 * it has ended; errno of the writer.
 */
int proc_scan_late(struct proc_scan *s, uint32_t pid, uint64_t time_ns);
/*
 * Brings s->unwmaps alone up to date, as records were lost.  The answers come later.  False: an
 * earlier scan is not yet over.
 */
bool proc_scan_maps(struct proc_scan *s);
/* A record of the side-band: what is read of its process may be out of date. */
void proc_scan_record(struct proc_scan *s, const struct perf_event_header *record);

#endif
