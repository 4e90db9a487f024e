/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * switch_fields - the fields of a switch that sched:sched_switch does not have
 *
 * Twelve bytes behind the fields of the tracepoint in PERF_SAMPLE_RAW (FORMAT.md 4.6); readers of
 * tracepoints do not look there.  A stack is the sample's callchain, with a stack_result for its
 * user part, as in other samples.
 */
#ifndef EBPREC_FORMAT_PAYLOAD_SWITCH_FIELDS_H
#define EBPREC_FORMAT_PAYLOAD_SWITCH_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/cursor.h"
#include "format/unwind/stack_result.h"

#define SWITCH_FIELDS_BYTES 12
#define SWITCH_FIELDS_MAGIC 0x57u /* distinguishes our bytes from padding */

struct switch_fields {
	uint8_t policy;            /* SCHED_* plus 1; 0: not known, or above 14 */
	uint16_t syscall;          /* its number plus 1; 0: in no system call */
	uint32_t weight;           /* switches this stack stands for; 0: no stack was taken */
	struct stack_result stack; /* of the user part */
};

static inline void switch_fields_encode(const struct switch_fields *s,
					uint8_t out[SWITCH_FIELDS_BYTES])
{
	out[0] = SWITCH_FIELDS_MAGIC;
	out[1] = s->policy < 16 ? (uint8_t)(s->policy << 4) : 0; /* the rest: version 0 */
	le16_store(out + 2, s->syscall);
	le32_store(out + 4, s->weight);
	stack_result_encode(&s->stack, out + 8);
}

/* raw: from the end of the tracepoint's own fields on.  False: not there, or from the future. */
static inline bool switch_fields_decode(const uint8_t *raw, size_t size_bytes,
					struct switch_fields *out)
{
	struct switch_fields s = { 0 };

	if (size_bytes < SWITCH_FIELDS_BYTES || raw[0] != SWITCH_FIELDS_MAGIC || raw[1] & 15)
		return false;
	s.policy = raw[1] >> 4;
	s.syscall = le16_load(raw + 2);
	s.weight = le32_load(raw + 4);
	if (!stack_result_decode(raw + 8, STACK_RESULT_BYTES, &s.stack))
		return false;
	*out = s;
	return true;
}

#endif
