/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * account - what was recorded and what was not, and what the recording itself took
 *
 * For the status line, the summary and META_ACCOUNT.  The table in account.c names each number
 * once, with its name in META_ACCOUNT, whether it adds up over time, and how it changes when the
 * records that it counts could not be written.
 */
#ifndef EBPREC_RECORD_OUTPUT_ACCOUNT_H
#define EBPREC_RECORD_OUTPUT_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"
#include "format/text/json_writer.h"
#include "format/unwind/stack_result.h"
#include "format/unwind/unwind.h"

/* Nothing but uint64_t. */
struct account {
	/* Records in the file. */
	uint64_t sample_count, switch_count, mark_count, side_count;
	uint64_t
		foreign_count; /* of the samples, those of foreign processes (process/pid_namespace.h) */
	uint64_t wakeup_count, task_count;  /* task_count: other events of tasks, and run times */
	uint64_t exit_count, waker_count;   /* ebprec:exit, ebprec:waker */
	uint64_t row_count;                 /* of the instruments' tables, and single events */
	uint64_t hit_count;                 /* runs of the sampler, where the kernel counts them */
	uint64_t switch_stack_count;        /* of the switches, those with a stack */
	uint64_t lost_count[EBPREC_EV_END]; /* no room in a BPF ring, or not written, by type */
	/* Events of processes that are not recorded, as the programs saw them. */
	uint64_t left_out_samples, left_out_switches, left_out_task_events, left_out_marks,
		left_out_rows;
	uint64_t side_lost_count;    /* no room in a side-band ring, or not written */
	uint64_t side_skipped_bytes; /* of its rings, that were no records */
	uint64_t throttle_count;
	/* User stacks: by how they were found, and why they end, enum stack_result_how, unwind_why. */
	uint64_t stack_how_count[STACK_RESULT_HOWS];
	uint64_t stack_why_count[UNWIND_WHY_COUNT];
	uint64_t copy_count;         /* unwound in user space, from a copy */
	uint64_t copy_refused_count; /* would have been, had there been room or a token */
	uint64_t table_count, table_failed_count, table_no_room_count, table_evicted_count;
	uint64_t table_row_count, table_bytes, table_build_ns;
	uint64_t table_died_count;                    /* files that the reading process died over */
	uint64_t table_reader_ns;                     /* its CPU time */
	uint64_t table_cached_count, table_cached_ns; /* read from the cache instead */
	uint64_t maps_refused_count;                  /* processes whose mappings found no room */
	uint64_t unread_mark_count;  /* marks with a string that was not in memory */
	uint64_t renamed_mark_count; /* marks of programs in groups that only ebprec fills */
	/* Events of instruments that met their own program, which the kernel then does not run. */
	uint64_t interrupted_count;
	uint64_t out_of_order_count; /* records that broke perf's contract */
	uint64_t broken_event_count; /* of a shape we do not know: our mistake */
	/* Symbols of JIT compilers: files taken, not there or not to be had, cut; their bytes. */
	uint64_t jit_file_count, jit_missing_count, jit_cut_count, jit_bytes;
	uint64_t jit_older_count; /* not taken: they are from before their process began */
	/* JVMs that were asked for names: those that wrote them, and those that did not. */
	uint64_t jvm_asked_count, jvm_failed_count;
	/* Command lines: recorded, not to be had any more, longer than what is retained. */
	uint64_t args_count, args_missing_count, args_cut_count;
	uint64_t contexts_refused_count;   /* of processes: published, and not recorded */
	uint64_t containers_missing_count; /* whose names were not looked for */
	uint64_t layers_missing_count;     /* mounts whose layers were not looked for */
	uint64_t code_refused_count;       /* names of interpreted code without space, or broken */
	uint64_t code_placeless_count;     /* frames at places of it for which there was no space */
	uint64_t code_unnumbered_count; /* stacks that lack frames, as code had no more numbers */
	/* Frames of Java's methods; those of which no bytecode is known, and so no line, and no function that was inlined. */
	uint64_t java_frame_count, java_unplaced_count;
	/*
	 * Parts without an answer in time: processes, mappings by their files, all reads together.
	 */
	uint64_t silent_process_count, silent_mapping_count, given_up_count;
	uint64_t not_begun_count; /* reads, as others hung */
	uint64_t
		unread_at_start_count; /* reads that had not ended when the start waited no longer */
	uint64_t round_count;
	uint64_t failed_part_count; /* parts of the recording that failed: notes_json() has them */
	uint64_t file_bytes;        /* as of the last flush */
	uint64_t duration_ns, own_user_ns, own_system_ns, own_peak_bytes;
	uint64_t bpf_ns;        /* of our programs, where the kernel measures it */
	uint64_t sampling_ns;   /* of these, what samples took; always measured */
	uint64_t thinned_count; /* samples that --max-overhead left out; others stand for them */
	uint64_t
		switch_stack_ns; /* of bpf_ns, what stacks of switches and wakers took; always measured */
	/* With --max-overhead, the least time that these were allowed in a second. */
	uint64_t switch_stack_least_ns;
	uint64_t thinned_most;    /* one of so many was taken, at the worst; 0: all always */
	uint64_t ring_peak_bytes; /* the fullest that a ring was when it was emptied */
	uint64_t startup_ns;      /* from the beginning until events are recorded */
	uint64_t
		realtime_count; /* how often rings filled so fast that the recorder took real-time priority */
	uint64_t longest_pass_ns; /* rings were not looked at for so long, at most */
};

enum account_flags {
	ACCOUNT_ADDS = 1,    /* counts what happens: of a part of the recording, the difference */
	ACCOUNT_WRITTEN = 2, /* counts records: those that could not be written do not count */
	ACCOUNT_OF_ALL = 4,  /* known for the entire recording alone: 0 for a part */
	ACCOUNT_LOSS = 8,    /* lost events, of which LOST records and the summary report the sum */
};

#define ACCOUNT_LOST_SIDE \
	EBPREC_EV_END /* as what records of the side-band count when they are lost */

struct account_field {
	/*
	 * In META_ACCOUNT, behind the names of the objects that it lies in: "lost.samples".  Neighbours
	 * with the same name are added up.  NULL: it is not there.
	 */
	const char *name;
	uint16_t offset; /* in struct account */
	uint8_t count;   /* numbers of an array, each with the name of an enum unwind_why; else 0 */
	uint8_t flags;   /* enum account_flags */
	uint8_t lost_as; /* enum ebprec_event_type, or ACCOUNT_LOST_SIDE; 0: what is not written is no loss of its own */
};

extern const struct account_field account_fields[];
extern const size_t account_field_count;

/* How many numbers a field has. */
size_t account_numbers(const struct account_field *f);

/* The sum of what was lost: samples, switches, all events. */
uint64_t account_lost(const struct account *a);
/* The samples among them. */
uint64_t account_lost_samples(const struct account *a);
/* The part of the account `all` that was counted since `before`.  Sizes and one-off times stay. */
struct account account_since(const struct account *all, const struct account *before);
/*
 * After a failed write: records count as they did when the last good one ended.  missing: adds how many
 * others there were, by what they count as when they are lost; ACCOUNT_LOST_SIDE is its last.
 */
void account_give_up(struct account *a, const struct account *written,
		     uint64_t missing[EBPREC_EV_END + 1]);
/* The CPU time and memory this process used so far. */
void account_own_cost(struct account *a);
/* All members, into an object that has begun. */
void account_json(struct json_writer *j, const struct account *a);

#endif
