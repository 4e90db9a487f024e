/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * emit - where records go, and the count of what went there
 *
 * Sits between those who have records (instruments, snapshot, side-band) and the writer: knows the
 * ids and streams, counts, and watches perf's contract about FINISHED_ROUND: after a round ends,
 * nothing older than the newest record of the round before may follow.
 */
#ifndef EBPREC_RECORD_OUTPUT_SINK_H
#define EBPREC_RECORD_OUTPUT_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/events.h"
#include "format/unwind/stack_result.h"
#include "format/unwind/unwind.h"
#include "format/writer/writer.h"
#include "record/events/event_attrs.h"
#include "record/output/sample_record.h"
#include "record/events/perf_record.h"

/* What was recorded and what was not: for the status line, the summary and META_ACCOUNT. */
struct account {
	uint64_t sample_count, switch_count, wakeup_count, mark_count, side_count;
	uint64_t row_count;                 /* of the instruments' tables, and single events */
	uint64_t hit_count;                 /* runs of the sampler, where the kernel counts them */
	uint64_t switch_stack_count;        /* of the switches, those with a stack */
	uint64_t lost_count[EBPREC_EV_END]; /* no room in a BPF ring, by type */
	uint64_t side_lost_count;           /* no room in a side-band ring */
	uint64_t throttle_count;
	/* User stacks: by how they were found, and why they end, enum stackinfo_how, unwind_why. */
	uint64_t stack_how_count[STACKINFO_HOWS];
	uint64_t stack_why_count[UNWIND_WHY_COUNT];
	uint64_t copy_count;         /* walked here, in a copy */
	uint64_t copy_refused_count; /* would have been, had there been room or a token */
	uint64_t table_count, table_failed_count, table_no_room_count, table_evicted_count;
	uint64_t table_row_count, table_bytes, table_build_ns;
	uint64_t table_died_count;                /* files that the reading process died over */
	uint64_t table_reader_ns;                 /* its CPU time */
	char table_death[200];                    /* how, and over which file last; "" */
	uint64_t table_kept_count, table_kept_ns; /* read from the cache instead */
	uint64_t maps_refused_count;              /* processes whose mappings found no room */
	uint64_t unread_mark_count;               /* marks with a string that was not in memory */
	uint64_t
		interrupted_count; /* events of instruments that met their own program, which the kernel then does not run */
	uint64_t out_of_order_count; /* records that broke perf's contract */
	uint64_t broken_event_count; /* of a shape we do not know: our mistake */
	/* Symbols of JIT compilers: files taken, not there or not to be had, cut; their bytes. */
	uint64_t jit_file_count, jit_missing_count, jit_cut_count, jit_bytes;
	/* Command lines: told, not to be had any more, longer than what is kept. */
	uint64_t args_count, args_missing_count, args_cut_count;
	uint64_t containers_missing_count; /* whose names were not looked for */
	uint64_t round_count;
	uint64_t file_bytes; /* as of the last flush */
	uint64_t duration_ns, own_user_ns, own_system_ns, own_peak_bytes;
	uint64_t bpf_ns;          /* of our programs, where the kernel measures it */
	uint64_t sampling_ns;     /* of these, what samples took; always measured */
	uint64_t thinned_count;   /* samples that --max-overhead left out; others stand for them */
	uint64_t thinned_most;    /* one of so many was taken, at the worst; 0: all always */
	uint64_t ring_peak_bytes; /* the fullest that a ring was when it was emptied */
	uint64_t startup_ns;      /* from the beginning until events are recorded */
	uint64_t hurry_count; /* how often rings filled so fast that we ran at real-time priority */
	uint64_t longest_pass_ns; /* rings were not looked at for so long, at most */
};

struct emit {
	struct writer *writer;      /* borrowed */
	const struct attrs *attrs;  /* borrowed */
	bool samples_in_side_rings; /* so what these lose is mostly samples, and counted so */
	struct account account;
	uint64_t newest_ns;       /* of all records so far */
	uint64_t round_newest_ns; /* newest_ns when the last round ended, */
	uint64_t floor_ns;        /* and the one before: nothing older may come */
	uint64_t reported_lost[EBPREC_EV_END];
	struct account written; /* the account as of the last good flush */
	uint64_t unwritten
		[EBPREC_EV_END]; /* lost to writes that failed; account.lost_count has them */
};

/* A sample of ours; its id is filled in. */
int emit_sample(struct emit *e, enum attrs_event event, struct samplerec *s);
/* Counts how a user stack came out. */
void emit_count_stack(struct emit *e, const struct stackinfo *info);
/* A side-band record of the kernel's, whole. */
int emit_kernel(struct emit *e, const struct perf_event_header *record, uint64_t time_ns);
/* A side-band record of ours: r->bytes, size_bytes as the siderec function returned. */
int emit_side(struct emit *e, const struct siderec *r, size_t size_bytes);
/* A record's id for side-band of ours. */
uint64_t emit_side_id(const struct emit *e);

/* What the rings lost, counted from the beginning: what is new becomes a LOST record. */
int emit_lost(struct emit *e, const uint64_t counts[EBPREC_EV_END], uint64_t now_ns);
/* Writes out what there is and ends a round. */
int emit_flush(struct emit *e);
/*
 * After a write failed: what was not written counts as lost, and LOST records say so.  The writer is
 * ready to be finished then.
 */
int emit_give_up(struct emit *e, uint64_t now_ns);
/* A round has ended: what came in went elsewhere than into the writer's file. */
void emit_round(struct emit *e);

/* The CPU time and memory this process used so far. */
void account_own_cost(struct account *a);
/* Of the account of all: what was counted since `before`.  Sizes and one-off times stay. */
struct account account_since(const struct account *all, const struct account *before);

#endif
