/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jitdump - a JIT compiler's records of the code that it makes, in jit-PID.dump
 *
 * The kernel tree's tools/perf/Documentation/jitdump-specification.txt, version 1: a header of 40
 * bytes, then records: id, size, time, body.  Loads and moves of code matter here; line tables,
 * unwind tables and the code itself do not, and the recorder leaves them out.  A load whose record
 * is truncated behind its name is as good as a complete one.
 */
#ifndef EBPREC_FORMAT_PERF_JITDUMP_H
#define EBPREC_FORMAT_PERF_JITDUMP_H

#include "format/base/cursor.h"

#define JITDUMP_HEADER_BYTES 40   /* of version 1; the file has its length */
#define JITDUMP_RECORD_BYTES 16   /* in front of each body */
#define JITDUMP_LOAD_BYTES   40   /* of a load's body, in front of the name */
#define JITDUMP_NAME_BYTES   4096 /* longer names are cut */

enum jitdump_id { JITDUMP_LOAD = 0, JITDUMP_MOVE = 1, JITDUMP_DEBUG = 2, JITDUMP_CLOSE = 3 };

struct jitdump_header {
	uint32_t size_bytes; /* where the records begin */
	uint32_t pid;        /* in the namespace of the process */
	bool foreign_clock; /* times are no nanoseconds of CLOCK_MONOTONIC, but the processor's ticks */
};

struct jitdump_code {
	bool is_move; /* of what was loaded with this index: no name */
	uint64_t time_ns;
	uint64_t addr, size_bytes; /* its address from now on */
	uint64_t index;
	const char *name; /* borrowed, no NUL; may be empty */
	size_t name_bytes;
};

/* -ENOTSUP: of another byte order or version; -EBADMSG: no jitdump. */
int jitdump_header(struct cursor *c, struct jitdump_header *out);
/* The next load or move.  1: *out is it; 0: the end, also where a record is broken or cut. */
int jitdump_next(struct cursor *c, struct jitdump_code *out);

#endif
