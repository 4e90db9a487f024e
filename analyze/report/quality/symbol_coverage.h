/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * symbol_coverage - how much each file is in the samples, and where its names came from
 *
 * Made in two steps around naming: before it, so that the files that matter most are loaded (and,
 * where asked for, fetched) first; after it, when each frame has a name or a reason.
 */
#ifndef EBPREC_ANALYZE_REPORT_QUALITY_SYMBOL_COVERAGE_H
#define EBPREC_ANALYZE_REPORT_QUALITY_SYMBOL_COVERAGE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/process/process_model.h"
#include "analyze/names/function_table.h"
#include "analyze/fold/stack_counter.h"
#include "analyze/base/string_table.h"

struct symbol_coverage_row {
	uint32_t dso;                   /* in the strings: path, "[kernel.kallsyms]" ... */
	uint64_t self, frames, unnamed; /* by samples; self: innermost frames */
	uint64_t worst_frames;          /* of unnamed, those with worst */
	uint8_t worst;                  /* enum name_reason: the most frequent; NAME_FOUND: none */
	uint8_t trust;                  /* enum name_trust */
	uint32_t symbols;               /* in the strings: the file that had them, "" */
	bool mini, full, go;
	uint8_t gap;   /* enum addr2line_gap: why inlined functions are missing */
	uint32_t part; /* in the strings: the file that has them */
	struct buildid build_id;
};

/* Embedded by the owner; all zero is an empty one. */
struct symbol_coverage {
	uint64_t *frames, *self; /* by place */
	uint32_t *files;         /* of the resolver, by place; UINT32_MAX: no file */
	size_t place_count;
	struct symbol_coverage_row *rows; /* most frames first */
	size_t row_count;
	struct stack_counter *sampler; /* that is being settled and weighed */
	pthread_t weigher;
	bool weighing;
	int weigh_err;
};

/*
 * Loads the files' symbols, and meanwhile settles the finished sampler and weighs its places.  by_weight: before
 * that, so that the heaviest are loaded first.  -ENOMEM.  sampler is borrowed, and its stacks may not be read,
 * until symbol_coverage_sum() or symbol_coverage_wait().
 */
int symbol_coverage_load(struct symbol_coverage *u, struct stack_counter *sampler,
			 const struct process_model *model, struct resolver *resolver,
			 bool by_weight);
/* Ends that.  -ENOMEM, -EOVERFLOW. */
int symbol_coverage_wait(struct symbol_coverage *u);
/* Makes the rows.  -ENOMEM, -EOVERFLOW. */
int symbol_coverage_sum(struct symbol_coverage *u, const struct function_table *naming,
			const struct resolver *resolver, struct string_table *names);
void symbol_coverage_done(struct symbol_coverage *u);

/* Frames that have a name, but from a file that only its path speaks for. */
uint64_t symbol_coverage_guessed(const struct symbol_coverage *u);

/* The entire list, as text or JSON.  -ENOMEM. */
int symbol_coverage_write(const struct symbol_coverage *u, const struct string_table *names,
			  bool json, FILE *to);

#endif
