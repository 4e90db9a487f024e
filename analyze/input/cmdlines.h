/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* arglist - the command lines and environments that a capture tells of, by process and time */
#ifndef EBPREC_ANALYZE_INPUT_CMDLINES_H
#define EBPREC_ANALYZE_INPUT_CMDLINES_H

#include "format/reader/capture.h"
#include "format/payload/cmdline_record.h"

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct arglist {
	struct procargs *list; /* by pid, then by time; texts are borrowed from the blobs */
	size_t count, capacity;
	uint8_t **blobs;
	size_t blob_count, blob_capacity;
	bool broken; /* some entries could not be read */
};

/* -ENOMEM. */
int arglist_load(const struct capture *c, struct arglist *out);
void arglist_done(struct arglist *a);
/* The last that was told of that pid up to that time; NULL: nothing. */
const struct procargs *arglist_find(const struct arglist *a, uint32_t pid, uint64_t time_ns);
/* As one would type it: words in quotes where they need some, "..." where it was cut.  Owned; NULL: no memory. */
char *arglist_line(const struct procargs *p);

#endif
