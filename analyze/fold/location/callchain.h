/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * callchain - a callchain as stretches of frames of one context each
 *
 * The kernel puts numbers above the last address between the frames of kernel and user; the kernel
 * makes two such stretches, hypervisors and guests could make more.  A number that no kernel so far
 * has used is stepped over.
 */
#ifndef EBPREC_ANALYZE_FOLD_LOCATION_CALLCHAIN_H
#define EBPREC_ANALYZE_FOLD_LOCATION_CALLCHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/fold/location/locations.h"

#define CALLCHAIN_RUNS 8 /* runs of one chain that are distinguished */

/*
 * PERF_CONTEXT_USER_DEFERRED (Linux 6.19): the user part follows in a record of its own; a cookie stands
 * in its place.
 */
#define CALLCHAIN_USER_DEFERRED ((uint64_t)-640)

struct callchain_run {
	const uint8_t *frames;   /* u64 each, innermost first; borrowed from the chain */
	size_t count;            /* never 0 */
	uint32_t space;          /* of the model; PROCESS_MODEL_NONE: a context that has none */
	enum location_kind kind; /* FILE, KERNEL, GUEST or HYPERVISOR */
};

struct callchain {
	struct callchain_run runs[CALLCHAIN_RUNS]; /* innermost first */
	size_t run_count;
	uint64_t deferred;         /* user parts that were to come later */
	uint64_t frames_left_out;  /* of runs beyond the last that is distinguished */
	uint64_t unknown_contexts; /* markers stepped over */
};

/* The context in which a chain is cut: where it was taken. */
struct callchain_context {
	uint32_t user_space, kernel_space;
	unsigned cpumode; /* of the frames before the first marker */
};

void callchain_do(const uint8_t *chain, size_t count, const struct callchain_context *context,
		  struct callchain *out);
/* The same for a sample without a chain: its address, whatever it is, is the only frame. */
void callchain_ip(const uint8_t *ip, const struct callchain_context *context,
		  struct callchain *out);

#endif
