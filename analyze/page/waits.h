/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * waits - what each thread did and waited for: the pieces and waits of a page
 *
 * A piece is a time in which a thread's state is one; a wait is what a switch began, of which the pieces
 * until the thread ran again are parts.  All times are to the nanosecond, as those of `ebprec report --off-cpu`,
 * whose numbers a reader of the page makes of them (docs/PAGE.md).
 */
#ifndef EBPREC_ANALYZE_PAGE_WAITS_H
#define EBPREC_ANALYZE_PAGE_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/report/report.h"

struct page_thread {
	uint32_t index; /* in the timeline */
	uint32_t tid, pid;
	uint32_t group; /* what it is at its end */
	uint32_t comm;  /* a text: what filters ask */
	uint64_t
		start_ns; /* of its life within the recording: filters may leave out its first pieces */
	size_t piece, wait; /* its first ones */
	size_t pieces, waits;
};

struct page_piece {
	uint64_t from_ns, to_ns;
	uint32_t thread;
	uint16_t cpu;  /* of a run */
	uint8_t state; /* enum thread_states_state */
	uint8_t relation; /* 0: of no wait; 1: of the wait that the piece before is of; 2: of the next wait */
};

struct page_wait {
	uint64_t time_ns; /* when it began */
	uint32_t number, thread, stack, weight;
	uint32_t group;
	uint16_t syscall;     /* and 1; 0: none */
	uint8_t kind;         /* enum wait_kind */
	bool queued;          /* what it waited for a CPU is a wait of another kind */
	uint32_t combination; /* of nodes, and 1; 0: its stack was not taken */
	uint32_t order;       /* of a stack: when it was taken */
};

/* Nodes of a stack that waits ended in; 0: none. */
struct page_wait_stack {
	uint32_t node, queue;        /* below the reason; while runnable */
	uint32_t woken, queue_woken; /* the same below the waker */
	uint32_t end, waker;         /* waker: a text */
	uint32_t where;              /* of wait_table_where(), a frame and 1; 0: none */
};

/* Embedded by the owner; page_waits_done(); all zero is an empty one. */
struct page_waits {
	bool any;             /* the capture has switches */
	struct report report; /* of waits, one entry each */
	struct offcpu_times times;
	struct page_thread *threads;
	size_t thread_count;
	struct page_piece *pieces; /* once read: by thread, then time */
	size_t piece_count, piece_capacity;
	struct page_wait *waits; /* the same */
	size_t wait_count, wait_capacity;
	uint32_t *last_wait; /* by thread of the timeline, while reading */
	size_t last_count, last_capacity;
	/* The threads that waited, as groups; each becomes a task of the page. */
	struct group *groups;
	size_t group_count, group_capacity;
	struct page_wait_stack *stacks; /* of wait_stacks.h: the most frequent first */
	size_t stack_count, stack_capacity;
	size_t number; /* of its report among those of the stacks */
};

/*
 * Reads the scheduler events that pass query's filter, and names the stacks of waits: first is a report of the same
 * capture that was made, and outlives w.  -ENOMEM, -EOVERFLOW; a capture without switches is none of any.
 */
int page_waits_read(const struct report *first, const struct report_query *query,
		    struct page_waits *w);
void page_waits_done(struct page_waits *w);

#endif
