/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sample_chain - the complete callchain of a sample, and how its user part was found
 *
 * The user part is in the chain that the record has; or it is unwound from the copy of the stack that perf put
 * into the record (user_unwinder.h); or a later record has it (deferred_chains.h).  How it was found stands in the
 * raw data of ours (result_place.h), or is the result of the unwinding.
 *
 * Threads share what is known of a capture; each completes chains with a state of its own.
 */
#ifndef EBPREC_ANALYZE_FOLD_SAMPLE_CHAIN_H
#define EBPREC_ANALYZE_FOLD_SAMPLE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/fold/deferred_chains.h"
#include "analyze/fold/user_unwinder.h"
#include "analyze/input/event/result_place.h"

/* Embedded by the owner. */
struct sample_chains {
	struct user_unwinder *unwinder;      /* NULL: no sample has a copy of a stack */
	const struct deferred_chains *later; /* NULL: no chain came later */
};

/*
 * model: sealed.  roots: where files are found, see user_unwinder_new().  later: NULL for none.  All are borrowed.
 * -ENOMEM.
 */
int sample_chains_init(struct sample_chains *s, const struct capture *c,
		       const struct process_model *model, const struct name_roots *roots,
		       const struct deferred_chains *later);
void sample_chains_done(struct sample_chains *s); /* all zero is fine; after all its threads */

/* The state of a thread, with room for one chain. */
struct sample_chain {
	const struct sample_chains *chains;
	struct user_unwinder_context *context; /* NULL: no sample has a copy of a stack */
	struct deferred_chains_room room;
};

int sample_chain_init(struct sample_chain *s, const struct sample_chains *chains); /* -ENOMEM */
void sample_chain_done(struct sample_chain *s); /* all zero is fine */

/* Whether a completed chain may stay where it is only until the next one. */
static inline bool sample_chain_is_reused(const struct sample_chain *s)
{
	return s->context || s->chains->later;
}

/* sample_chain_complete() of chains that are not in their records. */
int sample_chain_make(struct sample_chain *s, struct perf_sample *sample,
		      const struct capture_attr *attr, uint32_t space, enum result_place where,
		      struct stack_result *info);
/*
 * Gives the sample its complete chain, borrowed from the state or from the record.  space: where its thread was.
 * where: result_place_of() its event.  1: *info is how its user part was found; 0: that is not known; -ENOMEM.
 */
static inline int sample_chain_complete(struct sample_chain *s, struct perf_sample *sample,
					const struct capture_attr *attr, uint32_t space,
					enum result_place where, struct stack_result *info)
{
	return sample_chain_is_reused(s) ? sample_chain_make(s, sample, attr, space, where, info)
					 : result_place_read(where, sample, info);
}

#endif
