/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmdlines - the command lines and environments that a capture has, by process and time */
#ifndef EBPREC_ANALYZE_INPUT_CMDLINES_H
#define EBPREC_ANALYZE_INPUT_CMDLINES_H

#include <stdio.h>

#include "format/reader/capture.h"
#include "format/payload/cmdline_record.h"

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct cmdlines {
	struct cmdline_record *list; /* by pid, then by time; texts are borrowed from the blobs */
	size_t count, capacity;
	uint8_t **blobs;
	size_t blob_count, blob_capacity;
	bool broken; /* some entries could not be read */
};

/* -ENOMEM. */
int cmdlines_load(const struct capture *c, struct cmdlines *out);
void cmdlines_done(struct cmdlines *a);
/* The last entry of that pid up to that time; NULL: none. */
const struct cmdline_record *cmdlines_find(const struct cmdlines *a, uint32_t pid,
					   uint64_t time_ns);
/* As one would type it: words in quotes where they need some, "..." where it was cut.  Owned; NULL: no memory. */
char *cmdlines_line(const struct cmdline_record *p);
/* One word of it. */
void cmdlines_put_word(FILE *to, const char *word, size_t bytes);

#endif
