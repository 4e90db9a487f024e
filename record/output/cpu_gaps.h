/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cpugaps - which CPU was not sampled from when to when
 *
 * Of those that went offline or came later, while a recording ran.  How many are kept is limited, as a
 * machine may sleep often: of the oldest only their number is known then.
 */
#ifndef EBPREC_RECORD_OUTPUT_CPU_GAPS_H
#define EBPREC_RECORD_OUTPUT_CPU_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/json_writer.h"

#define CPUGAPS_MAX 1024

struct cpugap {
	uint32_t cpu;
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC; to_ns 0: it lasts */
	bool given_up;           /* its events cannot be opened */
};

/* Embedded by the owner; all zero is none. */
struct cpugaps {
	struct cpugap *gap; /* in the order they began; owned */
	size_t count;
	uint64_t forgotten_count;
};

/* The one of this CPU that lasts; NULL: none. */
struct cpugap *cpugaps_find(const struct cpugaps *g, uint32_t cpu);
/* One begins, unless one lasts.  NULL: no memory. */
struct cpugap *cpugaps_begin(struct cpugaps *g, uint32_t cpu, uint64_t from_ns);
/* "cpus_not_sampled": those that ended after from_ns, or last (without an end). */
void cpugaps_json(const struct cpugaps *g, uint64_t from_ns, struct json *j);
void cpugaps_done(struct cpugaps *g);

#endif
