/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/events/tracepoint/layout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/perf/trace_data.h"

#define COMMON_FLAGS_OFF 2 /* the same in every tracepoint */
#define COMMON_PID_OFF   4

/* Whether the field of that name is declared as __data_loc. */
static int is_elsewhere(const char *format, uint32_t off_bytes)
{
	char want[32];
	const char *line;

	snprintf(want, sizeof(want), "\toffset:%u;", off_bytes);
	for (line = format; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, "\tfield:__data_loc ", 18) && strcspn(line, "\n") > 18 &&
		    memmem(line, strcspn(line, "\n"), want, strlen(want)))
			return 1;
		if (!*line)
			break;
	}
	return 0;
}

int tracepoint_layout_from_format(const char *format, const char *const *names,
				  struct tracepoint_layout *out)
{
	struct tracepoint_layout l = { 0 };
	struct trace_data_field f;
	uint32_t end;
	size_t i;
	int err;

	err = trace_data_format_id(format, &l.id);
	if (err)
		return err;
	for (i = 0; names[i]; i++) {
		if (i == TRACEPOINT_LAYOUT_FIELDS_MAX ||
		    trace_data_format_field(format, names[i], &f))
			return -EBADMSG;
		if (f.size_bytes != 1 && f.size_bytes != 4 && f.size_bytes != 8 &&
		    f.size_bytes != TRACEPOINT_LAYOUT_COMM_BYTES)
			return -EBADMSG;
		if (f.off_bytes < 8 || f.off_bytes > TRACEPOINT_LAYOUT_RAW_MAX / 2)
			return -EBADMSG;
		l.field[i] = (struct tracepoint_layout_field){
			.off_bytes = f.off_bytes,
			.size_bytes = f.size_bytes,
			.is_elsewhere = is_elsewhere(format, f.off_bytes),
		};
		if (l.field[i].is_elsewhere && f.size_bytes != 4)
			return -EBADMSG;
		end = f.off_bytes + f.size_bytes;
		if (end > l.fixed_bytes)
			l.fixed_bytes = end;
	}
	l.fixed_bytes = (l.fixed_bytes + 3) & ~3u;
	*out = l;
	return 0;
}

void tracepoint_raw_begin(struct tracepoint_raw *r, const struct tracepoint_layout *layout,
			  uint8_t flags, uint32_t tid)
{
	r->layout = layout;
	r->size_bytes = layout->fixed_bytes;
	memset(r->bytes, 0, r->size_bytes);
	le16_store(r->bytes, (uint16_t)layout->id);
	r->bytes[COMMON_FLAGS_OFF] = flags;
	le32_store(r->bytes + COMMON_PID_OFF, tid);
}

void tracepoint_raw_number(struct tracepoint_raw *r, size_t field, uint64_t value)
{
	const struct tracepoint_layout_field *f = &r->layout->field[field];

	if (f->size_bytes == 1)
		r->bytes[f->off_bytes] = (uint8_t)value;
	else if (f->size_bytes == 4)
		le32_store(r->bytes + f->off_bytes, (uint32_t)value);
	else if (f->size_bytes == 8)
		le64_store(r->bytes + f->off_bytes, value);
}

void tracepoint_raw_comm(struct tracepoint_raw *r, size_t field,
			 const char comm[TRACEPOINT_LAYOUT_COMM_BYTES])
{
	const struct tracepoint_layout_field *f = &r->layout->field[field];
	uint32_t bytes = (uint32_t)strnlen(comm, TRACEPOINT_LAYOUT_COMM_BYTES - 1);

	if (!f->is_elsewhere) {
		if (f->size_bytes == TRACEPOINT_LAYOUT_COMM_BYTES)
			memcpy(r->bytes + f->off_bytes, comm, bytes);
		return;
	}
	if (r->size_bytes + bytes + 1 > TRACEPOINT_LAYOUT_RAW_MAX - 8)
		return; /* two of them always fit */
	le32_store(r->bytes + f->off_bytes, (bytes + 1) << 16 | r->size_bytes);
	memcpy(r->bytes + r->size_bytes, comm, bytes);
	r->bytes[r->size_bytes + bytes] = 0;
	r->size_bytes += bytes + 1;
}

size_t tracepoint_raw_end(struct tracepoint_raw *r)
{
	uint32_t padded = ((r->size_bytes + 4 + 7) & ~7u) - 4;

	memset(r->bytes + r->size_bytes, 0, padded - r->size_bytes);
	r->size_bytes = padded;
	return padded;
}
