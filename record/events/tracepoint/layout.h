/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * layout - writes the fields of a tracepoint at the offsets of the running kernel's
 * format text
 *
 * Offsets and sizes differ from kernel to kernel, and so does the form of a comm: in the record
 * (char comm[16]) or behind it (__data_loc).  A layout is read once; then fields are put by their
 * place in the list of names.
 */
#ifndef EBPREC_RECORD_EVENTS_TRACEPOINT_LAYOUT_H
#define EBPREC_RECORD_EVENTS_TRACEPOINT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define TRACEPOINT_LAYOUT_FIELDS_MAX 8
#define TRACEPOINT_LAYOUT_RAW_MAX    256 /* bytes of a tracepoint, with its strings */
#define TRACEPOINT_LAYOUT_COMM_BYTES 16

struct tracepoint_layout_field {
	uint32_t off_bytes, size_bytes;
	int is_elsewhere; /* __data_loc: u16 offset, u16 size of the string */
};

struct tracepoint_layout {
	uint32_t id, fixed_bytes; /* of the tracepoint; without strings behind it */
	struct tracepoint_layout_field field[TRACEPOINT_LAYOUT_FIELDS_MAX];
};

/* names: NULL behind the last.  -EBADMSG: a field is missing or of a size we do not know. */
int tracepoint_layout_from_format(const char *format, const char *const *names,
				  struct tracepoint_layout *out);

/* One record under construction. */
struct tracepoint_raw {
	const struct tracepoint_layout *layout;
	uint8_t bytes[TRACEPOINT_LAYOUT_RAW_MAX];
	uint32_t size_bytes;
};

/* flags: the tracepoint's common_flags; tid: of the thread it happens in. */
void tracepoint_raw_begin(struct tracepoint_raw *r, const struct tracepoint_layout *layout,
			  uint8_t flags, uint32_t tid);
void tracepoint_raw_number(struct tracepoint_raw *r, size_t field, uint64_t value);
/* Without a NUL when it has 16 characters. */
void tracepoint_raw_comm(struct tracepoint_raw *r, size_t field,
			 const char comm[TRACEPOINT_LAYOUT_COMM_BYTES]);
/* Pads: 4 + size is a multiple of 8, as PERF_SAMPLE_RAW wants it.  Returns the size. */
size_t tracepoint_raw_end(struct tracepoint_raw *r);

#endif
