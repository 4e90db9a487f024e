/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* event_stack - the stacks at the end of an event, without what took them */
#ifndef EBPREC_RECORD_INSTRUMENT_EVENT_STACK_H
#define EBPREC_RECORD_INSTRUMENT_EVENT_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/events.h"
#include "format/unwind/stack_result.h"
#include "record/kernel/kernel_symbols_index.h"

struct event_stack_writer {
	const __u64 *kernel, *user; /* leaf first; borrowed from the event */
	size_t kernel_count, user_count;
	struct stack_result info;
};

struct runtimes;
struct unwinder_found;

/* Whether all frames are in the event; head_bytes: EVENT_HEAD_BYTES of its type. */
bool event_stack_fits(const struct event_header *h, size_t head_bytes,
		      const struct event_stack *stack);
/* Puts the frames of an interpreted program, which come with the event, between the user frames of *out. */
void event_stack_join(const struct event_stack *stack, struct runtimes *runtimes,
		      struct event_stack_writer *out);
/*
 * The user part of *out is what was made of a copy, with the frames of an interpreted program whose words stand in
 * the event behind the copy; where there are none, with the reason.  runtimes may be NULL.
 */
void event_stack_join_copy(const struct event_header *h, const void *copy, size_t stack_bytes,
			   const struct unwinder_found *found, struct runtimes *runtimes,
			   struct event_stack_writer *out);
/*
 * The stacks of an event that fits, taken at a tracepoint: without the frames of the program and of the
 * way to it.  The others are touched in k, which may be NULL: then nothing is left out.
 */
void event_stack_read(const struct event_stack *stack, struct kernel_symbols_index *k,
		      struct event_stack_writer *out);

#endif
