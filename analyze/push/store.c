/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/push/sender.h"

int push_store_begin(struct push_store *s)
{
	int err = push_ledger_begin(s->ledger);

	s->open = !err;
	return err;
}

int push_store_add(struct push_store *s, const struct push_batch *b)
{
	struct push_waiting w = { .target = s->target, .host = b->host, .samples = b->samples };
	char *path;
	struct stat st;
	int err = strcmp(b->host, s->host) || b->sender != push_ledger_sender(s->ledger)
			  ? -EBADMSG
			  : push_ledger_take_seq(s->ledger, s->target, b->host, &w.seq);

	if (err)
		return err;
	if (w.seq != b->seq)
		return -EBADMSG;
	path = push_batch_path(s->folder, s->target, b->host, w.seq, "");
	err = path ? push_batch_write(b, path) : -ENOMEM;
	if (!err) {
		w.bytes = stat(path, &st) ? 0 : (uint64_t)st.st_size;
		err = push_ledger_add(s->ledger, &w);
	}
	free(path);
	return err;
}

int push_store_commit(struct push_store *s, const char *identity)
{
	int err = push_ledger_add_capture(s->ledger, s->target, identity);

	if (!err)
		err = push_ledger_commit(s->ledger);
	s->open &= err != 0;
	return err;
}

void push_store_abandon(struct push_store *s)
{
	if (!s->open)
		return;
	push_ledger_rollback(s->ledger);
	push_folder_clean(s->folder, s->ledger);
	s->open = false;
}
