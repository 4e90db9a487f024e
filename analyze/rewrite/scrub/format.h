/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* format - which bytes of a tracepoint's raw data are numbers, texts and addresses */
#ifndef EBPREC_ANALYZE_REWRITE_SCRUB_FORMAT_H
#define EBPREC_ANALYZE_REWRITE_SCRUB_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/hash_index.h"

struct scrub_field { /* in the raw data of a tracepoint */
	uint32_t off_bytes, size_bytes;
	enum { SCRUB_FIXED, SCRUB_DATA_LOC, SCRUB_REL_LOC } how;
	bool is_text, is_address, is_file_name, is_comm;
};

struct scrub_format {
	uint64_t id;
	bool are_known;             /* all fields are in the list */
	bool is_probe;              /* perf probe, or its user, has named it */
	bool is_switch;             /* ours have switch_fields.h behind them */
	struct scrub_field *fields; /* owned */
	size_t field_count, field_capacity;
};

/* Those of a capture, each read once, however many events there are of it.  All zero is empty. */
struct scrub_formats {
	struct scrub_format *list;
	size_t count, capacity;
	struct hash_index by_id;
};

/* The bytes of HEADER_TRACING_DATA; of a broken section what is before that.  -ENOMEM.  Done also after a failure. */
int scrub_formats_read(struct scrub_formats *f, const uint8_t *section, size_t section_bytes);
void scrub_formats_done(struct scrub_formats *f);
/* Whether the format is that of a probe in a program or in the kernel, which its user has put there. */
bool scrub_format_is_probe(const char *text, size_t size_bytes);
/* That of the events with this config; NULL: there is none. */
const struct scrub_format *scrub_formats_find(const struct scrub_formats *f, uint64_t id);

#endif
