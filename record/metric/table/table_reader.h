/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * table_reader - the tables of a recording's instruments, and how their rows get into the capture
 *
 * Each is an event of the capture: attrs has ATTR_METRIC and the table's number.
 */
#ifndef EBPREC_RECORD_METRIC_TABLE_TABLE_READER_H
#define EBPREC_RECORD_METRIC_TABLE_TABLE_READER_H

#include <bpf/libbpf.h>

#include "format/payload/metric_format.h"
#include "record/events/event_attrs.h"
#include "record/output/sink.h"
#include "record/instrument/event_stack.h"

#define METRIC_TABLE_HEAD_BYTES \
	16 /* common fields, and since_ns: an interval table's key follows */

struct metric_table {
	struct metric_format fmt;
	int map_fd; /* -1: rows are events, or made here */
	uint32_t key_bytes, value_bytes;
	const struct metric_field *pid, *tid, *cpu, *comm; /* NULL: it has none */
	uint32_t next_interval; /* the first whose entries were not read */
	uint64_t next_since_ns; /* when it began; 0: it is the one that is read next */
	int err;                /* of the last drain; 0: it went well */
};

struct metric_tables {
	struct metric_table tab[METRIC_TABLES_MAX];
	uint32_t count;
	uint8_t *keys, *values; /* a batch */
	size_t keys_room, values_room;
	struct outbuf old;        /* keys to be taken out */
	const struct btf *kernel; /* while tables are added: missing_tracepoints.h.  Borrowed */
};

/* Rows of an interval on their way to the capture.  Embedded by the owner; all zero is an empty one. */
struct row_queue {
	struct outbuf rows; /* each: u32 table, u32 size of its fields, the fields */
	size_t at_bytes;    /* how many of them were written */
};

void row_queue_clear(struct row_queue *q);
void row_queue_done(struct row_queue *q);
/* fields: as metric_tables_row() takes them.  Out of memory: outbuf_ok() of the rows is false. */
void row_queue_add(struct row_queue *q, uint32_t table, const void *fields, uint32_t fields_bytes);
bool row_queue_is_empty(const struct row_queue *q);

void metric_tables_done(struct metric_tables *t);

/*
 * An empty table with that name; *out is borrowed, its number is out - t->tab.  -EOVERFLOW; -EINVAL: no
 * name; -EEXIST: there is one.
 */
int metric_tables_add(struct metric_tables *t, const char *name, struct metric_table **out);
/* The table of a map of a BPF object that is called table_*.  -ENOTSUP, -EINVAL, -EOVERFLOW. */
int metric_tables_add_map(struct metric_tables *t, const struct bpf_object *obj,
			  const struct bpf_map *map, struct metric_table **out);
/* The fields are all there: puts it into the capture's events.  -ENOMEM. */
int metric_tables_describe(struct metric_tables *t, struct metric_table *tab,
			   struct event_attrs *attrs);
/* Forgets the tables from that number on: their instrument failed. */
void metric_tables_cut(struct metric_tables *t, uint32_t count, struct event_attrs *attrs);

/* The part of a row that its fields do not have. */
struct table_row {
	uint64_t time_ns, weight;
	uint32_t pid, tid, cpu;                 /* where the row has none */
	const struct event_stack_writer *stack; /* NULL: a row has none */
};

/* fields: the row from METRIC_ROW_OFF on, as long as the table's are. */
int metric_tables_row(const struct metric_tables *t, uint32_t number, const void *fields,
		      const struct table_row *r, struct sink *e);
/*
 * Moves the entries up to this interval, to which no program writes any more, from the table's map
 * to q: those of earlier ones, too, when they could not be read then.  errno: q and what is to be
 * read are as before, but for a map that could be read and not be emptied: its entries are taken
 * out the next time.
 */
int metric_tables_drain(struct metric_tables *t, uint32_t number, uint32_t interval,
			uint64_t since_ns, struct row_queue *q);
/* Entries of this interval are not read now, because of err, but with a later one. */
void metric_tables_postpone(struct metric_tables *t, uint32_t number, uint64_t since_ns, int err);
/* After the last drain failed: entries that were not read.  They are lost. */
uint64_t metric_tables_count_unread(const struct metric_tables *t, uint32_t number);
/* Writes the next rows of the queue, at most so many, as of time_ns. */
int metric_tables_write(const struct metric_tables *t, struct row_queue *q, size_t most,
			uint64_t time_ns, struct sink *e);

#endif
