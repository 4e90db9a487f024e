/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* catalogue - the instruments with tables, which are recorded when --with names them */
#ifndef EBPREC_RECORD_METRIC_CATALOGUE_H
#define EBPREC_RECORD_METRIC_CATALOGUE_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>

#include "format/base/outbuf.h"
#include "record/base/config.h"

/* An option of one instrument: --with INSTRUMENT:NAME[=VALUE],... */
struct catalogue_option {
	enum {
		CATALOGUE_FLAG = 1, /* bool; without a value */
		CATALOGUE_UINT,     /* unsigned of the instrument, from 1 on */
		CATALOGUE_FILE,     /* appended to heap_libs */
		CATALOGUE_TEXT,     /* struct record_file: what is behind the equals sign */
		CATALOGUE_REST,     /* const char *: all behind the colon; it has no name */
	} kind;
	const char *name, *value_name; /* NULL: none */
	size_t offset; /* in struct record_opts; CATALOGUE_UINT: of an array by place */
};

struct catalogue_entry {
	const char *name, *summary;
	const char *costs; /* for people, as measured */
	/* The BPF object; its tables and events are found by their names (bpf/lib/table.bpf.h).  NULL: it
	 * needs none, it is record/counters, or read when the recording ended. */
	const void *(*elf)(size_t *size_bytes);
	bool named;                 /* only when it is named: 'all' does not mean it */
	const char *(*lacks)(void); /* what it needs besides, and is not there; NULL: nothing */
	const struct catalogue_option *options; /* up to one of kind 0; NULL: none */
	size_t at_end; /* no table: a bool of struct record_opts that is set instead; 0: it has tables */
};

#define CATALOGUE_MAX RECORD_INSTRUMENTS_MAX

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
