/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * received - a batch as JSON, looked through before any of it is stored
 *
 *	{"timestamp": S, "source_script": TEXT, "batch_id": TEXT, "sequence": N, "metrics": [{"table": TEXT, ...}, ...]}
 *
 * Of a metric, texts are labels and numbers are counts.  Other members are passed over.  Any client may have written it: each length is
 * bounded, and what nests deeper than JSON_READER_DEPTH_MAX is none.
 */
#ifndef EBPREC_ANALYZE_SERVE_RECEIVED_H
#define EBPREC_ANALYZE_SERVE_RECEIVED_H

#include <stddef.h>
#include <stdint.h>

#define RECEIVED_FIELDS_MAX 64   /* of a metric */
#define RECEIVED_TEXT_MAX   1024 /* bytes of a name, and of a value */

struct received {
	char *source, *sender; /* owned; sender: the batch_id without the number at its end */
	uint64_t sequence;     /* 1 to INT64_MAX */
	const char *metrics;   /* borrowed: the array */
	size_t metrics_bytes;
};

/* A number of a metric.  All borrowed until the next. */
struct received_count {
	const char *name;   /* ebprec_TABLE_FIELD_total */
	const char *labels; /* as Prometheus' text format has them, without braces, by name */
	const char *value;  /* decimal */
};

/* *problem: static.  -EBADMSG, -ENOMEM; *out untouched on failure.  *out: received_done(). */
int received_read(const char *text, size_t size_bytes, struct received *out, const char **problem);
void received_done(struct received *r);
/* Each number.  Ends with the first error of add(); -EBADMSG (*problem), -ENOMEM. */
int received_each(const struct received *r,
		  int (*add)(void *arg, const struct received_count *count), void *arg,
		  const char **problem);

#endif
