/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * meta - the two META objects, as JSON (docs/FORMAT.md 5.1 lists the keys)
 *
 * EBX_META_START describes the machine and the options; EBX_META_ACCOUNT, at the end, counts what
 * was recorded and what was lost.
 */
#ifndef EBPREC_RECORD_OUTPUT_META_H
#define EBPREC_RECORD_OUTPUT_META_H

#include <stdbool.h>
#include <stdint.h>

#include "record/output/cpu_gaps.h"
#include "record/output/sink.h"
#include "record/output/machine_env.h"
#include "record/output/machine_info.h"
#include "record/base/config.h"
#include "format/base/outbuf.h"

struct meta_start {
	const struct machine_info *host;
	const struct machine_env *env;
	uint32_t command_pid; /* 0: no command was started */
	const struct record_opts *opts;
	const char *event_name; /* what was chosen: "cpu-clock" */
	uint64_t ring_bytes_per_cpu;
	bool bpf;               /* else by perf events alone */
	bool user_only;         /* the kernel was not to be seen */
	uint64_t pid_namespace; /* its inode; 0: the initial one */
	uint64_t wall_ns, mono_ns;
	const char *const *instruments; /* the names of those that run */
	size_t instrument_count;
};

/* How a capture came to its end. */
struct meta_end {
	const char *reason; /* "command ended", "duration", "interrupted", ... */
	uint64_t mono_ns;   /* until then everything was recorded */
	/* One of several captures of a recording; number and recorded_ns 0: the only one. */
	unsigned number;
	uint64_t recorded_ns;           /* the recording ran for so long by then */
	const struct cpu_gaps *cpugaps; /* borrowed; NULL: none */
	const struct notes *notes;      /* borrowed; what failed.  NULL: nothing */
	uint64_t dropped_until_ns;      /* what came before is not in it; 0: all is */
};

void meta_start(struct outbuf *out, const struct meta_start *m);
void meta_account(struct outbuf *out, const struct account *a, const struct meta_end *end);

#endif
