/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cpu_gaps - which CPU was not sampled from when to when
 *
 * For CPUs that went offline or came later, while a recording ran.  Their number is limited, as a
 * machine may sleep often: the oldest are then only counted.
 */
#ifndef EBPREC_RECORD_OUTPUT_CPU_GAPS_H
#define EBPREC_RECORD_OUTPUT_CPU_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/text/json_writer.h"

#define CPU_GAPS_MAX 1024

struct cpu_gap {
	uint32_t cpu;
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC; to_ns 0: it lasts */
	bool given_up;           /* its events cannot be opened */
};

/* Embedded by the owner; all zero is none. */
struct cpu_gaps {
	struct cpu_gap *gap; /* in the order they began; owned */
	size_t count;
	uint64_t forgotten_count;
};

/* The one of this CPU that lasts; NULL: none. */
struct cpu_gap *cpu_gaps_find(const struct cpu_gaps *g, uint32_t cpu);
/* One begins, unless one lasts.  NULL: no memory. */
struct cpu_gap *cpu_gaps_begin(struct cpu_gaps *g, uint32_t cpu, uint64_t from_ns);
/* "cpus_not_sampled": those that ended after from_ns, or last (without an end). */
void cpu_gaps_json(const struct cpu_gaps *g, uint64_t from_ns, struct json_writer *j);
void cpu_gaps_done(struct cpu_gaps *g);

#endif
