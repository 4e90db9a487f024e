/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * thread_cache - whose sample is it: of which process and space, and with whose is it counted?
 *
 * The model and the groups know; but the samples of a CPU are mostly of the thread of the one before,
 * so their last answers for a thread, and for how long these hold, are cached here.  Its size is fixed;
 * only saves time.  Used by one thread.
 */
#ifndef EBPREC_ANALYZE_FOLD_THREAD_CACHE_H
#define EBPREC_ANALYZE_FOLD_THREAD_CACHE_H

#include "analyze/fold/groups.h"
#include "analyze/process/process_model.h"
#include "format/perf/perfrec.h"

struct thread_cache; /* opaque */

/* model (sealed) and groups are borrowed; groups NULL: the group of a sample is its comm.  -ENOMEM. */
int thread_cache_new(const struct process_model *model, struct groups *groups,
		     struct thread_cache **out);
void thread_cache_free(struct thread_cache *w); /* NULL is fine */

/* The answer of process_model_thread() for the sample's thread. */
void thread_cache_where(struct thread_cache *w, const struct perf_sample *sample,
			struct process_model_where *out);
/* process_model_kernel() */
uint32_t thread_cache_kernel_space(struct thread_cache *w, uint64_t time_ns);
/* The group of a sample whose comm is this.  -ENOMEM, -EOVERFLOW. */
int thread_cache_group(struct thread_cache *w, const struct perf_sample *sample, uint32_t comm,
		       uint32_t *out);

#endif
