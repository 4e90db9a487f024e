/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * whose - whose sample is it: of which process and space, and with whose is it counted?
 *
 * The model and the groups know; but the samples of a CPU are mostly of the thread of the one before,
 * so what they said last of a thread, and for how long that holds, is kept here.  Of fixed size; only
 * saves time.  Used by one thread.
 */
#ifndef EBPREC_ANALYZE_FOLD_THREAD_CACHE_H
#define EBPREC_ANALYZE_FOLD_THREAD_CACHE_H

#include "analyze/fold/groups.h"
#include "analyze/process/process_model.h"
#include "format/perf/perfrec.h"

struct whose; /* opaque */

/* model (sealed) and groups are borrowed; groups NULL: the group of a sample is its comm.  -ENOMEM. */
int whose_new(const struct model *model, struct groups *groups, struct whose **out);
void whose_free(struct whose *w); /* NULL is fine */

/* What model_thread() says of the sample's thread. */
void whose_where(struct whose *w, const struct perf_sample *sample, struct model_where *out);
/* model_kernel() */
uint32_t whose_kernel_space(struct whose *w, uint64_t time_ns);
/* The group of a sample whose comm is this.  -ENOMEM, -EOVERFLOW. */
int whose_group(struct whose *w, const struct perf_sample *sample, uint32_t comm, uint32_t *out);

#endif
