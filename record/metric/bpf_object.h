/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bpf_object - one BPF object with tables: opened, loaded, attached, and switched to the next
 * interval
 *
 * The same for the instruments of ours and for objects of users: what it has is found by names
 * (bpf/lib/table.bpf.h).
 */
#ifndef EBPREC_RECORD_METRIC_BPF_OBJECT_H
#define EBPREC_RECORD_METRIC_BPF_OBJECT_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "record/instrument/instrument.h"
#include "record/metric/object_perf_events.h"
#include "record/metric/table/table_reader.h"
#include "record/events/uprobe_multi.h"

#define METRIC_OBJECT_LINKS_MAX   256
#define METRIC_OBJECT_FLUSHES_MAX 4

struct metric_object {
	struct bpf_object *obj;
	struct bpf_link *links[METRIC_OBJECT_LINKS_MAX]; /* of programs that events run */
	struct bpf_link *iters[METRIC_OBJECT_LINKS_MAX]; /* of those that walk over tasks */
	struct object_perf_events perf;        /* the perf events of those that have any */
	struct object_perf_events_where where; /* these are opened */
	struct uprobe_multi uprobes;           /* that another room sets */
	size_t link_count, iter_count, flush_count;
	int flush_fds[METRIC_OBJECT_FLUSHES_MAX]; /* of programs that we run on every CPU */
	int possible_cpus;                 /* more than the number of any CPU that there can be */
	uint32_t first_table, table_count; /* in the recording's list; events last */
	char *shared;                      /* its variables, mapped; NULL: none */
	size_t shared_bytes;
	int shared_fd;
	uint32_t *interval; /* one of them; NULL: it has none */
};

/*
 * Opens and loads it and adds its tables.  The bytes are borrowed.  sample_bytes: of allocations that
 * it takes one in as many; 0: its default.  -ENOENT: a tracepoint is missing;
 * note_fail() has the failure.
 */
int metric_object_open(struct metric_object *o, const char *name, const void *elf, size_t elf_bytes,
		       unsigned sample_bytes, const struct instrument_ctx *c,
		       struct metric_tables *tabs);
/* The first value of a variable, before the load. */
void metric_object_set(const struct metric_object *o, const char *name, const void *value,
		       uint32_t bytes);
/* Where a variable of the programs is in memory that is shared with them; NULL: there is none. */
void *metric_object_variable(const struct metric_object *o, const char *name, uint32_t bytes);
int metric_object_attach(struct metric_object *o, uint64_t now_ns);
/* No more events; tables stay.  uprobe_multi_end() */
size_t metric_object_stop(struct metric_object *o);
/*
 * Lets the programs that walk over tasks, and those called *_flush on every CPU, write into the
 * interval that ends; also once when it begins.
 */
int metric_object_walk(const struct metric_object *o);
/*
 * How often a program was not run because it was running on that CPU.  Appends ", PROGRAM COUNT" of
 * each to names.
 */
uint64_t metric_object_missed(const struct metric_object *o, struct outbuf *names);
void metric_object_close(struct metric_object *o); /* NULL-safe, half-built-safe */

#endif
