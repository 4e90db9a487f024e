/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/payload/cmdline_record.h"

#include <errno.h>
#include <string.h>

void cmdline_record_encode(const struct cmdline_record *p, uint8_t out[CMDLINE_RECORD_HEAD_BYTES])
{
	memset(out, 0, CMDLINE_RECORD_HEAD_BYTES);
	le32_store(out, CMDLINE_RECORD_HEAD_BYTES + p->args_bytes + p->env_bytes);
	le32_store(out + 4, p->pid);
	le64_store(out + 8, p->time_ns);
	le32_store(out + 16, p->flags);
	le32_store(out + 20, p->args_bytes);
	le32_store(out + 24, p->env_bytes);
}

int cmdline_record_next(struct cursor *c, struct cmdline_record *out)
{
	const uint8_t *head;
	struct cmdline_record p;
	struct cursor entry;
	uint32_t size;

	if (!cursor_left(c))
		return 0;
	if (cursor_left(c) < CMDLINE_RECORD_HEAD_BYTES)
		return -EBADMSG;
	size = le32_load(c->data + c->off_bytes);
	if (size < CMDLINE_RECORD_HEAD_BYTES || size > cursor_left(c))
		return -EBADMSG;
	entry = cursor_of(cursor_bytes(c, size),
			  size); /* a later version may add fields behind the texts */
	head = cursor_bytes(&entry, CMDLINE_RECORD_HEAD_BYTES);
	p = (struct cmdline_record){
		.pid = le32_load(head + 4),
		.time_ns = le64_load(head + 8),
		.flags = le32_load(head + 16),
		.args_bytes = le32_load(head + 20),
		.env_bytes = le32_load(head + 24),
	};
	p.args = (const char *)cursor_bytes(&entry, p.args_bytes);
	p.env = (const char *)cursor_bytes(&entry, p.env_bytes);
	if (!cursor_ok(&entry))
		return -EBADMSG;
	*out = p;
	return 1;
}
