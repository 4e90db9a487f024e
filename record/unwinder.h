/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * unwinder - everything the recorder knows for walking user stacks
 *
 * Holds the BPF maps, the tables and the mappings together, and walks what BPF could not: copies of
 * stacks wait here until everything the side-band has to say about their moment has been heard,
 * and leave as samples like the others.
 */
#ifndef EBPREC_RECORD_UNWINDER_H
#define EBPREC_RECORD_UNWINDER_H

#include <linux/perf_event.h>

#include "bpf/events.h"
#include "record/emit.h"
#include "record/opts.h"
#include "record/unwmaps.h"
#include "record/vdso.h"

struct unwinder; /* opaque */

/* Borrows all.  errno: no BPF maps of this kind, or no memory. */
int unwinder_new(const struct record_opts *opts, const struct vdso *vdso, struct emit *emit,
		 struct unwinder **out);
void unwinder_free(struct unwinder *u); /* NULL is fine */

struct walkspace *unwinder_space(struct unwinder *u);
struct unwmaps *unwinder_maps(struct unwinder *u);

/*
 * Follows a record of the side-band; they come in order of time.  m: what an MMAP2 says, else
 * NULL.  Copies that are older are walked first.
 */
int unwinder_record(struct unwinder *u, const struct perf_event_header *h,
		    const struct siderec_map *m, uint64_t time_ns);

/* A copy of a stack.  -EBADMSG, -ENOMEM. */
int unwinder_copy(struct unwinder *u, const struct copy_event *ev);

/*
 * The side-band has been heard until then: walks the copies up to there, builds tables for at most
 * budget_ns or one more, and tells BPF what is new.
 */
int unwinder_pass(struct unwinder *u, uint64_t until_ns, uint64_t budget_ns);
/* Tables are waiting: do not wait long for the next pass. */
bool unwinder_is_busy(const struct unwinder *u);

/* Fills in the account's part on unwinding. */
void unwinder_account(const struct unwinder *u, struct account *a);

#endif
