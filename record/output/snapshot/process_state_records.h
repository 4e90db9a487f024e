/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* process_state_records - copies of side-band records for a later checkpoint, and lists of them */
#ifndef EBPREC_RECORD_OUTPUT_SNAPSHOT_PROCESS_STATE_RECORDS_H
#define EBPREC_RECORD_OUTPUT_SNAPSHOT_PROCESS_STATE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A record with its time taken out.  Forks share the mappings of their parent. */
struct process_state_records_one {
	uint32_t refs;
	uint32_t size_bytes;
	_Alignas(8) uint8_t bytes[];
};

struct process_state_records {
	struct process_state_records_one **items; /* each holds a reference */
	size_t count, room;
};

/* A copy with one reference, the caller's; NULL: no memory. */
struct process_state_records_one *process_state_records_keep(const uint8_t *record,
							     size_t size_bytes);
/* Gives a reference back.  May be NULL. */
void process_state_records_let_go(struct process_state_records_one *k);
/* Takes over the caller's reference.  -ENOMEM: it is still the caller's. */
int process_state_records_add(struct process_state_records *l, struct process_state_records_one *k);
void process_state_records_done(struct process_state_records *l);

#endif
