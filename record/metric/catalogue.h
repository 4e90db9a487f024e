/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* catalogue - the instruments with tables, which are recorded when --with names them */
#ifndef EBPREC_RECORD_METRIC_CATALOGUE_H
#define EBPREC_RECORD_METRIC_CATALOGUE_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>

#include "format/base/outbuf.h"

struct catalogue_entry {
	const char *name, *summary;
	const char *costs; /* for people, as measured */
	/* The BPF object; its tables and events are found by their names (bpf/lib/table.bpf.h).  NULL: it
	 * needs none, it is record/counters. */
	const void *(*elf)(size_t *size_bytes);
	bool named;                 /* only when it is named: 'all' does not mean it */
	const char *(*lacks)(void); /* what it needs besides, and is not there; NULL: nothing */
};

#define CATALOGUE_MAX 16

/* In the order of their docs; count is at most CATALOGUE_MAX. */
extern const struct catalogue_entry metriclist[];
extern const size_t catalogue_count;

enum catalogue_has { CATALOGUE_ALL, CATALOGUE_LESS, CATALOGUE_NONE };

/*
 * Checks the programs of the instrument against this kernel (missing_tracepoints.h); *why: the reason when a part
 * is missing.
 */
enum catalogue_has catalogue_check(const struct catalogue_entry *inst, const struct btf *kernel,
				   struct outbuf *why);

#endif
