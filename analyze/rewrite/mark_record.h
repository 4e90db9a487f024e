/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* mark_record - the record of a mark that was not recorded, but is put into a capture later */
#ifndef EBPREC_ANALYZE_REWRITE_MARK_RECORD_H
#define EBPREC_ANALYZE_REWRITE_MARK_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "format/perf/trace_data.h"
#include "format/reader/capture.h"

#define MARK_RECORD_BYTES_MAX 2048

struct mark_record {
	uint64_t time_ns;
	uint32_t pid, tid;
	struct trace_data_mark mark;
};

/*
 * A PERF_RECORD_SAMPLE of the event, without a stack and of CPU 0.  The bytes written; 0: the event's samples have a part
 * that is not known here (of ebprec's captures none has).
 */
size_t mark_record_encode(const struct capture_attr *attr, const struct mark_record *m,
			  uint8_t out[MARK_RECORD_BYTES_MAX]);

#endif
