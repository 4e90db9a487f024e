/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pprof_message - the parts of pprof's profile.proto, wherever the stacks come from
 *
 * Field numbers are those of github.com/google/pprof/proto/profile.proto.  Texts are numbers of the profile's string table,
 * of which number 0 is ""; mappings, functions and locations are numbered by the caller, from 1 on.
 */
#ifndef EBPREC_ANALYZE_EXPORT_PPROF_MESSAGE_H
#define EBPREC_ANALYZE_EXPORT_PPROF_MESSAGE_H

#include "analyze/export/protobuf.h"

/* Fields of a Profile. */
enum {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING = 6,
	PPROF_TIME = 9,
	PPROF_DURATION = 10,
	PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12
};

/* Embedded by the owner; all zero is an empty one.  Texts, times and the period are put into out by the caller. */
struct pprof_message {
	struct protobuf out;
	struct protobuf part, inner, values; /* of the one that is being written */
};

void pprof_message_done(struct pprof_message *m);
/* field: PPROF_SAMPLE_TYPE or PPROF_PERIOD_TYPE. */
void pprof_message_type(struct pprof_message *m, unsigned field, uint64_t type, uint64_t unit);
void pprof_message_mapping(struct pprof_message *m, uint64_t id, uint64_t file, uint64_t build_id);
/* A function, and the location of the same number that is in it alone. */
void pprof_message_function(struct pprof_message *m, uint64_t id, uint64_t name, uint64_t file,
			    uint64_t mapping);
/* A sample: its frames from the innermost on, its values, then its labels. */
void pprof_message_begin_sample(struct pprof_message *m);
void pprof_message_frame(struct pprof_message *m, uint64_t location);
void pprof_message_value(struct pprof_message *m, uint64_t value);
void pprof_message_label(struct pprof_message *m, uint64_t key, uint64_t text, uint64_t number);
/* to: m->out, or another that comes behind it. */
void pprof_message_end_sample(struct pprof_message *m, struct protobuf *to);

#endif
