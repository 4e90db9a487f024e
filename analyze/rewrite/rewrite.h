/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rewrite - the records of a capture, or a part of its time, into a new file
 *
 * The new file has the same events, features and private objects.  For a part it has the samples
 * within the span and all side-band records up to its end, because a sample needs every mapping and
 * name before it; so stock `perf script` prints the same as `perf script --time` of the complete
 * capture.  Plain: uncompressed perf.data without private parts.
 */
#ifndef EBPREC_ANALYZE_REWRITE_REWRITE_H
#define EBPREC_ANALYZE_REWRITE_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/input/event/filter.h"
#include "format/base/buf.h"
#include "format/reader/capture.h"
#include "format/writer/writer.h"

/* Changes what is written, in place. */
struct rewrite_edit {
	void *ctx;
	bool no_wall_clock; /* what the time of day was is not written */
	/* attr: of its event.  Keeps the size; false: the record is left out. */
	bool (*record)(void *ctx, const struct capture_attr *attr, struct perf_event_header *rec);
	/* May get shorter; false: the object is left out. */
	bool (*object)(void *ctx, const struct capture_object *o, uint8_t *data,
		       size_t *size_bytes);
	/* Keeps the size; false: the section is left out. */
	bool (*section)(void *ctx, unsigned bit, uint8_t *data, size_t size_bytes);
};

struct rewrite_opts {
	const struct filter *filter; /* its time is taken; NULL: all */
	bool plain;
	/*
	 * Nothing is taken away and objects or records are added: called once, to write them.  NULL: no.
	 */
	int (*add)(void *arg, struct writer *w);
	void *add_arg;
	bool replaces_symbols; /* by add(): symbol tables of the source are left out */
	/* The border of a slice (analyze/input/slice_border.h), which replaces that of the source; NULL: none. */
	const struct buf *border;
	const struct rewrite_edit *edit; /* all is written, as this leaves it; NULL: no */
};

struct rewrite_stats {
	uint64_t record_count, sample_count; /* written */
	uint64_t skipped_count; /* records that no file of this kind can hold (AUX data of perf) */
	uint64_t twin_count;    /* merging: events that another capture has, too */
	uint64_t file_bytes;
	uint32_t bad_blocks; /* unreadable in the source, left out */
};

/*
 * fd: a new, empty regular file, open for reading and writing; borrowed.  After a failure what is in
 * the file is of no use.  -ENOTSUP: the capture has no events; else errno of reading or writing.
 */
int rewrite_capture(const struct capture *c, int fd, const struct rewrite_opts *opts,
		    struct rewrite_stats *out);

#endif
