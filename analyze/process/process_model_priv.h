/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* process_model_priv - what the halves of a model share: building it (process_model.c), asking it (process_lookup.c) */
#ifndef EBPREC_ANALYZE_PROCESS_PROCESS_MODEL_PRIV_H
#define EBPREC_ANALYZE_PROCESS_PROCESS_MODEL_PRIV_H

#include "format/base/hash_index.h"
#include "analyze/process/mappings.h"
#include "analyze/process/process_contexts.h"
#include "analyze/process/process_model.h"

#define KERNEL_EPOCH 0
#define EMPTY_SPACE  PROCESS_MODEL_NONE

/* The value of a range of mappings.h. */
struct mapping {
	uint64_t start, file_off_bytes; /* as mapped, before anything cut it */
	uint32_t file;
};

struct space {
	uint64_t since_ns;
	uint32_t epoch;
	uint32_t root;        /* in the maptree */
	uint32_t before_exec; /* root of what was mapped before; 0 when the exec is over */
};

/* A thread from one fork, exec or rename to the next. */
struct state {
	uint64_t since_ns;
	uint32_t thread;
	uint32_t epoch;
	uint32_t comm;
};

struct epoch {
	uint32_t pid;
	uint32_t space;        /* building: the current one */
	uint32_t token;        /* building: 0 when the maps are shared with a child */
	uint32_t exec_maps;    /* building: mappings that the exec has made so far */
	uint32_t first, count; /* sealed: its spaces */
};

struct thread {
	uint32_t tid;
	uint32_t last;         /* building: its current state */
	uint32_t first, count; /* sealed: its states */
};

struct jit {
	uint32_t pid;
	uint32_t file;
	bool timed; /* of some code it is known when it was made */
};

struct process_model {
	struct string_table *names; /* borrowed */
	bool sealed;
	struct side_queue log;
	uint32_t token; /* the last one given out */
	struct mappings maps;
	struct hash_index thread_index, jit_index;
	struct hash_key key; /* of what is counted by its places */
	struct process_contexts contexts;

	struct mapping *mappings;
	struct space *spaces;
	struct state *states;
	struct epoch *epochs;
	struct thread *threads;
	struct jit *jits;
	size_t jit_count, jit_cap;
	size_t mapping_count, mapping_cap, space_count, space_cap, state_count, state_cap,
		epoch_count, epoch_cap, thread_count, thread_cap;
};

/* The number of the thread; PROCESS_MODEL_NONE. */
uint32_t process_model_find_thread(const struct process_model *m, uint32_t tid);

#endif
