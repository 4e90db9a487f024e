/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * malloc_probes - probes at malloc() and its like, for the instrument heap
 *
 * In the C library that each recorded process has mapped: of these processes alone, since a probe
 * slows down each process that runs into it; their children are not seen.  Or in the files that
 * lib= names: then of all processes that use them.
 */
#ifndef EBPREC_RECORD_METRIC_MALLOC_PROBES_H
#define EBPREC_RECORD_METRIC_MALLOC_PROBES_H

#include "record/instrument/instrument.h"
#include "record/metric/bpf_object.h"

/* Nothing for other objects.  -errno of the first that failed; note_fail() has the reason. */
int malloc_probes_attach(struct metric_object *o, const struct instrument_ctx *c);

#endif
