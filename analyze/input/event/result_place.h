/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* result_place - where samples have the result of their user stack: four bytes of raw data (FORMAT.md 4.5) */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_RESULT_PLACE_H
#define EBPREC_ANALYZE_INPUT_EVENT_RESULT_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "format/perf/perfrec.h"
#include "format/reader/capture.h"
#include "format/unwind/stack_result.h"

enum result_place {
	RESULT_NOWHERE,
	RESULT_FIRST,  /* the raw data is only the result */
	RESULT_LAST,   /* behind the fields of an event of an instrument */
	RESULT_SWITCH, /* the same of a switch: in struct switch_fields */
};

/* Finds the place for the samples of that attr. */
enum result_place result_place_of(const struct capture *c, size_t attr);
/* Where it begins in raw data of so many bytes; the bytes may be too few for it.  False: nowhere. */
bool result_place_find(enum result_place where, size_t raw_bytes, size_t *off);
/* The result that a sample has there; false: none. */
bool result_place_read(enum result_place where, const struct perf_sample *s,
		       struct stack_result *out);

#endif
