/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * metrictab - the tables of a recording's instruments, and how their rows get into the capture
 *
 * Each is an event of the capture: attrs has ATTR_METRIC and the table's number.
 */
#ifndef EBPREC_RECORD_METRIC_TABLE_READER_H
#define EBPREC_RECORD_METRIC_TABLE_READER_H

#include <bpf/libbpf.h>

#include "format/payload/metric_format.h"
#include "record/events/event_attrs.h"
#include "record/output/sink.h"
#include "record/instrument/event_stack.h"

#define METRICTAB_HEAD_BYTES 16 /* common fields, and since_ns: an interval table's key follows */

struct metrictab {
	struct metric_format fmt;
	int map_fd; /* -1: rows are events, or made here */
	uint32_t key_bytes, value_bytes;
	const struct metric_field *pid, *tid, *cpu; /* NULL: it has none */
};

struct metrictabs {
	struct metrictab tab[METRIC_TABLES_MAX];
	uint32_t count;
	uint8_t *keys, *values; /* a batch */
	size_t keys_room, values_room;
	struct outbuf old;        /* keys to be taken out */
	const struct btf *kernel; /* while tables are added: metriclack.h.  Borrowed */
};

/* Rows of an interval on their way to the capture.  Embedded by the owner; all zero is an empty one. */
struct rowqueue {
	struct outbuf rows; /* each: u32 table, u32 size of its fields, the fields */
	size_t at_bytes;    /* how many of them were written */
};

void rowqueue_clear(struct rowqueue *q);
void rowqueue_done(struct rowqueue *q);
/* fields: as metrictabs_row() takes them.  Out of memory: outbuf_ok() of the rows tells. */
void rowqueue_add(struct rowqueue *q, uint32_t table, const void *fields, uint32_t fields_bytes);
bool rowqueue_is_empty(const struct rowqueue *q);

void metrictabs_done(struct metrictabs *t);

/*
 * An empty table with that name; *out is borrowed, its number is out - t->tab.  -EOVERFLOW; -EINVAL: no
 * name; -EEXIST: there is one.
 */
int metrictabs_add(struct metrictabs *t, const char *name, struct metrictab **out);
/* The table of a map of a BPF object that is called table_*.  -ENOTSUP, -EINVAL, -EOVERFLOW. */
int metrictabs_add_map(struct metrictabs *t, const struct bpf_object *obj,
		       const struct bpf_map *map, struct metrictab **out);
/* The fields are all there: puts it into the capture's events.  -ENOMEM. */
int metrictabs_describe(struct metrictabs *t, struct metrictab *tab, struct attrs *attrs);
/* Forgets the tables from that number on: their instrument failed. */
void metrictabs_cut(struct metrictabs *t, uint32_t count, struct attrs *attrs);

/* What of a row is not in it. */
struct metricrow {
	uint64_t time_ns, weight;
	uint32_t pid, tid, cpu;         /* where the row does not say */
	const struct eventstack *stack; /* NULL: a row has none */
};

/* fields: the row from METRIC_ROW_OFF on, as long as the table's are. */
int metrictabs_row(const struct metrictabs *t, uint32_t number, const void *fields,
		   const struct metricrow *r, struct emit *e);
/*
 * Moves the entries of one interval, to which nobody writes any more, from the table's map to q.
 * errno.
 */
int metrictabs_drain(struct metrictabs *t, uint32_t number, uint32_t interval, uint64_t since_ns,
		     struct rowqueue *q);
/* Writes the next rows of the queue, at most so many, as of time_ns. */
int metrictabs_write(const struct metrictabs *t, struct rowqueue *q, size_t most, uint64_t time_ns,
		     struct emit *e);

#endif
