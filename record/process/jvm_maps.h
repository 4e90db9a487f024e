/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * jvm_maps - when JVMs are asked for the names of their code (record --ask-jvm)
 *
 * A process that maps libjvm.so is asked a second later, and again whenever twice the time has passed, as code comes and
 * goes and it may end at any moment; and once more when the recording ends.  The file that it writes is taken as any other
 * that a compiler wrote (jit_symbols.h).  Threads ask (io_timeout.h), with a limit (jvm_asker.h); a process that refuses is
 * asked no more, with a line for the first few.
 */
#ifndef EBPREC_RECORD_PROCESS_JVM_MAPS_H
#define EBPREC_RECORD_PROCESS_JVM_MAPS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/base/mapping.h"
#include "record/base/messages.h"
#include "record/output/account.h"
#include "record/privsep/io_timeout.h"
#include "record/privsep/jvm_asker.h"

#define JVM_MAPS_MAX   256 /* processes */
#define JVM_MAPS_NOTES 4   /* lines about those that refuse */

struct jvm_map {
	uint32_t pid, user;
	uint64_t step_ns, next_ns; /* next_ns 0: as soon as it can be */
	bool is_asked;             /* at this moment */
	bool has_answered, has_failed;
};

/* Zero but for asker, io and notes. */
struct jvm_maps {
	struct jvm_asker *asker; /* owned; NULL: none is asked */
	struct io_timeout *io;   /* borrowed, as notes */
	struct notes *notes;
	struct jvm_map *list;
	size_t count, room;
	uint64_t asked_count; /* processes that wrote their names, at least once */
	uint64_t failed_count;
	uint32_t pending, noted;
};

void jvm_maps_done(struct jvm_maps *j);
/* A mapping as it was seen. */
void jvm_maps_see(struct jvm_maps *j, const struct mapping *m, uint64_t now_ns);
/* record: PERF_RECORD_EXIT. */
void jvm_maps_exit(struct jvm_maps *j, const struct perf_event_header *record);
/* Asks those whose time has come. */
void jvm_maps_pass(struct jvm_maps *j, uint64_t now_ns);
/* Asks all that are there, and waits for their answers. */
void jvm_maps_finish(struct jvm_maps *j);
void jvm_maps_account(const struct jvm_maps *j, struct account *a);

#endif
