/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/dbus/dbus_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/string_table.h"
#include "format/base/hash_index.h"
#include "format/base/vec.h"

struct row {
	uint64_t time_ns, duration_ns;
	uint32_t serial;
	enum dbus_call_state state;
	uint32_t sender, destination, interface, member, error; /* in names */
};

struct dbus_calls {
	struct string_table *names;
	struct row *rows;
	size_t count, room;
	uint64_t dropped_count, dropped_ns; /* the first ones, and the time of the last of them */
	struct hash_index open; /* of rows, by sender and serial: the last one of each */
};

int dbus_calls_new(struct dbus_calls **out)
{
	struct dbus_calls *c = calloc(1, sizeof(*c));

	if (!c || string_table_new(&c->names)) {
		free(c);
		return -ENOMEM;
	}
	*out = c;
	return 0;
}

void dbus_calls_free(struct dbus_calls *c)
{
	if (!c)
		return;
	string_table_free(c->names);
	hash_index_done(&c->open);
	free(c->rows);
	free(c);
}

size_t dbus_calls_count(const struct dbus_calls *c)
{
	return c->count;
}

uint64_t dbus_calls_dropped(const struct dbus_calls *c, uint64_t from_ns)
{
	return c->dropped_ns >= from_ns ? c->dropped_count : 0;
}

static int add_name(struct dbus_calls *c, const char *name, uint32_t *out)
{
	return string_table_add(c->names, name, strlen(name), out);
}

/* The row of a call; NULL: it was not heard. */
static struct row *find_call(struct dbus_calls *c, uint32_t sender, uint32_t serial)
{
	uint64_t hash = hash_index_pair(&c->open, sender, serial);
	uint32_t pos = hash_index_start(&c->open, hash), i;

	while ((i = hash_index_match(&c->open, hash, &pos)) != HASH_INDEX_NONE)
		if (c->rows[i].sender == sender && c->rows[i].serial == serial)
			return &c->rows[i];
	return NULL;
}

/* A connection that has used all numbers begins anew: then the later call has the number. */
static int keep_call(struct dbus_calls *c, uint32_t row)
{
	uint32_t sender = c->rows[row].sender, serial = c->rows[row].serial, pos, i;
	uint64_t hash;
	int err = hash_index_reserve(&c->open);

	if (err)
		return err;
	hash = hash_index_pair(&c->open, sender, serial);
	pos = hash_index_start(&c->open, hash);
	while ((i = hash_index_match(&c->open, hash, &pos)) != HASH_INDEX_NONE) {
		if (c->rows[i].sender != sender || c->rows[i].serial != serial)
			continue;
		hash_index_replace(&c->open, pos, row);
		return 0;
	}
	hash_index_put(&c->open, hash, pos, row);
	return 0;
}

static int copy_name(struct dbus_calls *to, const struct dbus_calls *from, uint32_t *name)
{
	return string_table_add(to->names, string_table_text(from->names, *name),
				string_table_bytes(from->names, *name), name);
}

static int copy_row(struct dbus_calls *to, const struct dbus_calls *from, size_t i)
{
	struct row row = from->rows[i];

	if (copy_name(to, from, &row.sender) || copy_name(to, from, &row.destination) ||
	    copy_name(to, from, &row.interface) || copy_name(to, from, &row.member) ||
	    copy_name(to, from, &row.error))
		return -ENOMEM;
	to->rows[to->count++] = row;
	return row.state == DBUS_CALL_OPEN ? keep_call(to, (uint32_t)to->count - 1) : 0;
}

/* With the names that only they had. */
static int drop_older_half(struct dbus_calls *c)
{
	struct dbus_calls later = { .dropped_count = c->dropped_count + c->count / 2,
				    .dropped_ns = c->rows[c->count / 2 - 1].time_ns,
				    .room = c->room };
	struct dbus_calls was = *c;
	int err = string_table_new(&later.names);

	if (!err)
		later.rows = calloc(later.room, sizeof(*later.rows));
	if (!err && !later.rows)
		err = -ENOMEM;
	for (size_t i = c->count / 2; !err && i < c->count; i++)
		err = copy_row(&later, c, i);
	if (!err)
		*c = later;
	else
		was = later;
	string_table_free(was.names);
	hash_index_done(&was.open);
	free(was.rows);
	return err;
}

static int add_row(struct dbus_calls *c, uint64_t time_ns, const struct dbus_message *m)
{
	struct row row = { .time_ns = time_ns, .serial = m->serial };

	if (c->count == DBUS_CALLS_MAX && drop_older_half(c))
		return -ENOMEM;
	row.state = m->type == DBUS_SIGNAL ? DBUS_CALL_SIGNAL
		    : m->wants_reply       ? DBUS_CALL_OPEN
					   : DBUS_CALL_ONE_WAY;
	if (vec_reserve(&c->rows, &c->room, c->count + 1) || add_name(c, m->sender, &row.sender) ||
	    add_name(c, m->destination, &row.destination) ||
	    add_name(c, m->interface, &row.interface) || add_name(c, m->member, &row.member))
		return -ENOMEM;
	c->rows[c->count++] = row;
	return row.state == DBUS_CALL_OPEN ? keep_call(c, (uint32_t)c->count - 1) : 0;
}

static int add_reply(struct dbus_calls *c, uint64_t time_ns, const struct dbus_message *m)
{
	uint32_t caller = string_table_find(c->names, m->destination);
	struct row *call;

	call = caller == UINT32_MAX || !c->open.slots ? NULL
						      : find_call(c, caller, m->reply_serial);
	if (!call || call->state != DBUS_CALL_OPEN)
		return 0;
	call->state = DBUS_CALL_RETURNED;
	call->duration_ns = time_ns > call->time_ns ? time_ns - call->time_ns : 0;
	return m->type == DBUS_ERROR ? add_name(c, *m->error ? m->error : "?", &call->error) : 0;
}

int dbus_calls_add(struct dbus_calls *c, uint64_t time_ns, const struct dbus_message *m)
{
	switch (m->type) {
	case DBUS_CALL:
	case DBUS_SIGNAL:
		return add_row(c, time_ns, m);
	case DBUS_RETURN:
	case DBUS_ERROR:
		return add_reply(c, time_ns, m);
	default:
		return 0; /* of a later version: to be ignored */
	}
}

struct dbus_call dbus_calls_at(const struct dbus_calls *c, size_t i)
{
	const struct row *row = &c->rows[i];

	return (struct dbus_call){
		.time_ns = row->time_ns,
		.duration_ns = row->duration_ns,
		.state = row->state,
		.sender = string_table_text(c->names, row->sender),
		.destination = string_table_text(c->names, row->destination),
		.interface = string_table_text(c->names, row->interface),
		.member = string_table_text(c->names, row->member),
		.error = string_table_text(c->names, row->error),
	};
}
