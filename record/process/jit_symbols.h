/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jit_symbols - the symbols that JIT compilers write, taken before they are gone
 *
 * A runtime that makes code writes /tmp/perf-PID.map, with the pid that it has itself and in the
 * /tmp that it sees.  A process that maps executable memory without a file is remembered, with a
 * handle of its root (and of its /tmp, where its mounts are its own: they may go with it); the file is read when the process exits and at the end of the recording, and
 * embedded as "perf-PID.map" by the pid of the samples.  Others write jit-PID.dump (format/perf/jitdump.h)
 * and map its first page for code, so that a profiler hears of it: embedded as "jit-PID.dump", without
 * the code.  Only files that jit_file.h opens are taken, and no more than the limits below, of
 * which each process and user has a share (fair_share.h).
 *
 * Files are found, read and compressed by threads (io_timeout.h); what does not answer within JITFILES_TAKE_NS
 * counts as missing.
 */
#ifndef EBPREC_RECORD_PROCESS_JIT_SYMBOLS_H
#define EBPREC_RECORD_PROCESS_JIT_SYMBOLS_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "format/writer/writer.h"
#include "record/privsep/elf_reader.h"
#include "record/output/sink.h"
#include "record/base/fair_share.h"
#include "record/privsep/io_timeout.h"
#include "record/base/mapping.h"
#include "record/process/jit_file.h"

#define JIT_SYMBOLS_MAX        340 /* processes at once: each holds up to three descriptors */
#define JIT_SYMBOLS_FILE_BYTES (32u << 20)
#define JIT_SYMBOLS_ALL_BYTES  (128u << 20)

#define JITFILES_TAKE_NS 10000000000ULL /* for a large one, of a disk that has much to do */

struct jitfiles_counts {
	uint64_t file_count, missing_count, cut_count, bytes;
	uint64_t older_count; /* files that earlier processes left, or began */
};

/* All zero but writer, reader and io. */
struct jit_symbols {
	struct writer *writer;     /* borrowed; NULL: nothing is remembered */
	struct elf_reader *reader; /* of jitdumps; borrowed */
	struct io_timeout *io;     /* borrowed */
	struct jitfile *list;      /* of those that run */
	size_t count, room;
	struct fair_share running;   /* of the list: a process is 1 */
	struct fair_share taken;     /* bytes of files, by their owners */
	struct jitfiles_take *takes; /* that are under way */
	uint64_t next_object;
	struct jitfiles_counts counts;
	int late_err; /* of the writer, when something had been read */
};

void jit_symbols_done(struct jit_symbols *j);
/* A mapping as it was seen; remembers its process when that makes code. */
void jit_symbols_map(struct jit_symbols *j, const struct mapping *m);
/* record: PERF_RECORD_EXIT.  The files of the process are taken soon.  The errno of the writer. */
int jit_symbols_exit(struct jit_symbols *j, const struct perf_event_header *record);
/* Takes the files of all that still run, soon. */
int jit_symbols_finish(struct jit_symbols *j);
/*
 * The same, into another capture and its account; they will be taken again.  Waits for them, up to max_ns, and
 * calls meanwhile() all the time; its error, or the writer's.
 */
int jit_symbols_copy(struct jit_symbols *j, struct writer *to, struct account *a, uint64_t max_ns,
		     int (*meanwhile)(void *arg), void *arg);
void jit_symbols_account(const struct jit_symbols *j, struct account *a);

#endif
