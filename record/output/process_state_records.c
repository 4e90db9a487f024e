/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/process_state_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "record/events/side_record.h"

struct siderecs_one *siderecs_keep(const uint8_t *record, size_t size_bytes)
{
	struct siderecs_one *k = malloc(sizeof(*k) + size_bytes);

	if (!k)
		return NULL;
	k->refs = 1;
	k->size_bytes = (uint32_t)size_bytes;
	memcpy(k->bytes, record, size_bytes);
	le64_store(k->bytes + size_bytes - SIDEREC_TAIL_BYTES + 8, 0);
	return k;
}

void siderecs_let_go(struct siderecs_one *k)
{
	if (k && !--k->refs)
		free(k);
}

bool siderecs_room(void *array, size_t count, size_t *room, size_t item_bytes)
{
	void **items = array, *more;
	size_t want = *room ? 2 * *room : 16;

	if (count < *room)
		return true;
	more = realloc(*items, want * item_bytes);
	if (!more)
		return false;
	*items = more;
	*room = want;
	return true;
}

int siderecs_add(struct siderecs *l, struct siderecs_one *k)
{
	if (!siderecs_room(&l->items, l->count, &l->room, sizeof(*l->items)))
		return -ENOMEM;
	l->items[l->count++] = k;
	return 0;
}

void siderecs_done(struct siderecs *l)
{
	for (size_t i = 0; i < l->count; i++)
		siderecs_let_go(l->items[i]);
	free(l->items);
	*l = (struct siderecs){ 0 };
}
