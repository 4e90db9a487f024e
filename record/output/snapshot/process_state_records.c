/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/snapshot/process_state_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "record/events/side_record.h"

struct process_state_records_one *process_state_records_keep(const uint8_t *record,
							     size_t size_bytes)
{
	struct process_state_records_one *k = malloc(sizeof(*k) + size_bytes);

	if (!k)
		return NULL;
	k->refs = 1;
	k->size_bytes = (uint32_t)size_bytes;
	memcpy(k->bytes, record, size_bytes);
	le64_store(k->bytes + size_bytes - SIDE_RECORD_TAIL_BYTES + 8, 0);
	return k;
}

void process_state_records_let_go(struct process_state_records_one *k)
{
	if (k && !--k->refs)
		free(k);
}

int process_state_records_add(struct process_state_records *l, struct process_state_records_one *k)
{
	if (vec_reserve(&l->items, &l->room, l->count + 1))
		return -ENOMEM;
	l->items[l->count++] = k;
	return 0;
}

void process_state_records_done(struct process_state_records *l)
{
	for (size_t i = 0; i < l->count; i++)
		process_state_records_let_go(l->items[i]);
	free(l->items);
	*l = (struct process_state_records){ 0 };
}
