/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * unwinder - everything the recorder knows for walking user stacks
 *
 * Holds the BPF maps, the tables and the mappings together, and unwinds the stacks that BPF could
 * not: copies of stacks wait here until all side-band records up to their time have been read, and
 * then, holding the mappings of that time, for the tables they need.  They leave as samples like
 * the others.
 */
#ifndef EBPREC_RECORD_UNWIND_UNWINDER_H
#define EBPREC_RECORD_UNWIND_UNWINDER_H

#include <linux/perf_event.h>

#include "bpf/events.h"
#include "record/output/sink.h"
#include "record/base/config.h"
#include "record/unwind/process_maps.h"
#include "record/process/vdso.h"

struct io_timeout;
struct runtimes;
struct unwinder; /* opaque */

/*
 * Borrows all but the cache, which is taken, also on failure; NULL: none.  bpf: for BPF programs to
 * walk by; else tables of chosen processes are made when a stack needs one.  errno: no BPF maps of
 * this kind, no thread, or no memory.
 */
int unwinder_new(struct io_timeout *io, const struct record_opts *opts, const struct vdso *vdso,
		 struct table_cache *cache, struct sink *emit, struct runtimes *runtimes, bool bpf,
		 struct unwinder **out);
void unwinder_free(struct unwinder *u); /* NULL is fine */

struct unwind_bpf_maps *unwinder_space(struct unwinder *u);
struct process_maps *unwinder_maps(struct unwinder *u);

/*
 * Follows a record of the side-band; they come in order of time.  m: the mapping of an MMAP2, else
 * NULL.  Copies that are older are walked first.
 */
int unwinder_record(struct unwinder *u, const struct perf_event_header *h, const struct mapping *m,
		    uint64_t time_ns);

/* A copy of a stack as it came from wherever; all borrowed. */
struct unwinder_stack {
	const void *bytes;
	size_t size_bytes;
	uint64_t addr;     /* of bytes[0] */
	const __u64 *regs; /* COPY_REGS of them, by DWARF number */
};

/* The result of unwinding; the frames, leaf first, are the unwinder's. */
struct unwinder_found {
	const __u64 *frames;
	size_t count;
	struct stack_result info;
	uint32_t runtime; /* the number of the interpreter that the process maps; 0: none */
	uint64_t runtime_base;
	const bool *made; /* of each frame, where there is one: whether its code is in no file */
};
/* Puts an event into the capture with the user frames it waited for. */
typedef int unwinder_take(void *ctx, const struct event_header *ev,
			  const struct unwinder_found *found);

/*
 * Keeps a copy of the event until its moment has come, and then walks the stack, whose bytes and
 * registers lie in the event.  pid: whose it is.  -ENOMEM.
 */
int unwinder_defer(struct unwinder *u, const struct event_header *ev, uint32_t pid,
		   const struct unwinder_stack *stack, unwinder_take *take, void *ctx);
/*
 * The same for a copy whose time has come: all side-band records before it have been read.  Unwinds
 * it at once where the tables are there; else it waits for them, as those of unwinder_defer() do.
 * The stack and its registers lie anywhere.
 */
int unwinder_walk(struct unwinder *u, const struct event_header *ev, uint32_t pid,
		  const struct unwinder_stack *stack, unwinder_take *take, void *ctx);

/*
 * The side-band has been read up to until_ns: unwinds the copies up to there, takes the tables that
 * are ready, and updates the BPF maps.  UINT64_MAX: the end; unwinds all stacks that it still can.
 */
int unwinder_pass(struct unwinder *u, uint64_t until_ns);
/* Copies that old wait no longer for tables: they go into the capture as far as they can be walked. */
int unwinder_settle(struct unwinder *u, uint64_t before_ns);
/* The time of the oldest copy that waits; UINT64_MAX: none does. */
uint64_t unwinder_oldest_ns(const struct unwinder *u);
/* Tables are being made; fd is readable when one is. */
bool unwinder_is_busy(const struct unwinder *u);
int unwinder_fd(const struct unwinder *u);
/* Waits for that, or for max_ns. */
void unwinder_wait(struct unwinder *u, uint64_t max_ns);

/* Fills in the account's part on unwinding. */
void unwinder_account(const struct unwinder *u, struct account *a);
/* How the process that reads files died last, and over which file, both borrowed; NULL: it did not. */
const char *unwinder_death(const struct unwinder *u, const char **path);

#endif
