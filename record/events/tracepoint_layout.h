/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * tplayout - the bytes of a tracepoint, put where the running kernel's format text says
 *
 * Offsets and sizes differ from kernel to kernel, and so does how a comm is kept: in the record
 * (char comm[16]) or behind it (__data_loc).  A layout is read once; then fields are put by their
 * place in the list of names.
 */
#ifndef EBPREC_RECORD_EVENTS_TRACEPOINT_LAYOUT_H
#define EBPREC_RECORD_EVENTS_TRACEPOINT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define TPLAYOUT_FIELDS_MAX 8
#define TPLAYOUT_RAW_MAX    256 /* bytes of a tracepoint, with its strings */
#define TPLAYOUT_COMM_BYTES 16

struct tplayout_field {
	uint32_t off_bytes, size_bytes;
	int is_elsewhere; /* __data_loc: u16 offset, u16 size of the string */
};

struct tplayout {
	uint32_t id, fixed_bytes; /* of the tracepoint; without strings behind it */
	struct tplayout_field field[TPLAYOUT_FIELDS_MAX];
};

/* names: NULL behind the last.  -EBADMSG: a field is missing or of a size we do not know. */
int tplayout_from_format(const char *format, const char *const *names, struct tplayout *out);

/* One record under construction. */
struct tpraw {
	const struct tplayout *layout;
	uint8_t bytes[TPLAYOUT_RAW_MAX];
	uint32_t size_bytes;
};

/* flags: the tracepoint's common_flags; tid: of the thread it happens in. */
void tpraw_begin(struct tpraw *r, const struct tplayout *layout, uint8_t flags, uint32_t tid);
void tpraw_number(struct tpraw *r, size_t field, uint64_t value);
/* Without a NUL when it has 16 characters. */
void tpraw_comm(struct tpraw *r, size_t field, const char comm[TPLAYOUT_COMM_BYTES]);
/* Pads: 4 + size is a multiple of 8, as PERF_SAMPLE_RAW wants it.  Returns the size. */
size_t tpraw_end(struct tpraw *r);

#endif
