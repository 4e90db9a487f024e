/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * segment - one capture of several that a recording makes
 *
 * Has a file and a writer of its own, with the head of the recording's writer.  It begins with what
 * the window knows of the time before, takes parts, and ends with the account of what is in it.
 */
#ifndef EBPREC_RECORD_RECORDING_ROTATED_FILE_H
#define EBPREC_RECORD_RECORDING_ROTATED_FILE_H

#include <stdbool.h>

#include "format/perf/build_id_feature.h"
#include "record/process/file_origin.h"
#include "record/output/meta.h"
#include "record/output/output_file.h"
#include "record/output/backlog.h"

struct segment {
	struct recfile file;
	struct writer *writer;  /* NULL: there is none */
	struct account before;  /* what was counted before it began */
	struct account written; /* ... and by the last good flush */
	uint64_t begin_records; /* that it began with; they were counted before */
};

/* number 0: the file itself; else "PATH.NUMBER".  Owned by the caller; NULL: no memory. */
char *segment_path(const char *path, unsigned number);

/* Makes the file, under a fresh name, and begins it.  On failure note_fail() has said why. */
int segment_open(struct segment *s, const char *path, const struct writer *like, struct window *w,
		 struct evidence *evidence, struct notes *notes);
/* Puts the file into its place. */
int segment_place(struct segment *s, struct notes *notes);
/* Flushes what was put into the writer; upto: the account of it.  The errno of the write. */
int segment_flush(struct segment *s, const struct account *upto);
struct segment_end {
	const struct account *all; /* counted so far; what s->before has is not of this file */
	const struct attrs *attrs;
	const struct buildidlist *build_ids; /* of the files that samples are of */
	struct meta_end meta;
	bool failed; /* a write did: what was not flushed counts as lost */
};
/*
 * Writes the account and what makes the capture whole; *done is the account as written, with the
 * file's size.  The errno of the write.
 */
int segment_finish(struct segment *s, const struct segment_end *end, struct account *done);
/* Closes what is there; a file that has not got its place is removed.  Zeroed with fd -1 is fine. */
void segment_close(struct segment *s);

#endif
