/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * merge_head - the events and feature sections of a merged capture
 *
 * Events that count the same in the same layout are one, whatever their ids were.  The first
 * event, which is sampled, must be: samples of two frequencies cannot be added up.
 */
#ifndef EBPREC_ANALYZE_REWRITE_MERGE_HEAD_H
#define EBPREC_ANALYZE_REWRITE_MERGE_HEAD_H

#include <stddef.h>
#include <stdint.h>

#include "format/reader/capture.h"
#include "format/writer/writer.h"

/* Embedded by the owner; all zero is an empty one. */
struct merge_head {
	const struct capture *const *captures; /* borrowed */
	size_t count;
	const struct capture_attr **attrs; /* of the new file, each from where it came first */
	size_t attr_count;
	uint64_t **new_ids; /* by capture and attr */
	struct capture_bytes tracing;
};

/*
 * captures: in the order of their times, borrowed during the call and merge_head_open().  -EXDEV: the
 * one of number *wrong does not fit, text has the reason.  *h: merge_head_done(), also after a
 * failure.
 */
int merge_head_make(struct merge_head *h, const struct capture *const *captures, size_t count,
		    size_t *wrong, char *text, size_t text_bytes);
/* Writes the head into fd, see writer_new(). */
int merge_head_open(const struct merge_head *h, int fd, struct writer **out);
void merge_head_done(struct merge_head *h);

#endif
