/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * procscan - the processes that are there when the recording starts
 *
 * Walks /proc once, after the side-band is open: what changes meanwhile is in both, and the
 * side-band's word, which has a time, is the later one.  For each process FORK, NAMESPACES, COMM
 * and MMAP2 of its executable mappings, with build-ids; for each thread FORK and COMM; all of
 * time 0.
 */
#ifndef EBPREC_RECORD_RECORDING_PROC_SCAN_H
#define EBPREC_RECORD_RECORDING_PROC_SCAN_H

#include "record/process/cmdline_log.h"
#include "record/process/mapped_files.h"
#include "record/output/sink.h"
#include "record/process/jit_symbols.h"
#include "record/process/hugepage_text.h"
#include "record/process/target_set.h"
#include "record/unwind/process_maps.h"
#include "record/process/vdso.h"

struct procscan {
	struct emit *emit; /* all borrowed */
	struct mapids *buildids;
	const struct vdso *vdso;
	struct jitfiles *jitfiles; /* NULL: nobody asks */
	struct argkeep *args;      /* NULL: nobody asks */
	struct movedtext *moved;
	struct targets *targets;
	struct unwmaps *unwmaps; /* NULL: nobody asks */
	bool maps_only;          /* nothing is emitted: unwmaps is to be brought up to date */
	uint32_t process_count, thread_count, map_count; /* out */
};

/* A process that ends while it is read is no error.  errno of /proc, or of the writer. */
int procscan_run(struct procscan *s);

#endif
