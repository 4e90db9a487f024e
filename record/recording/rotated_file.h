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
#include "record/process/file/file_origin.h"
#include "record/output/meta.h"
#include "record/output/output_file.h"
#include "record/output/snapshot/backlog.h"

struct rotated_file {
	struct output_file file;
	struct writer *writer;  /* NULL: there is none */
	struct account before;  /* what was counted before it began */
	struct account written; /* ... and by the last good flush */
	uint64_t begin_records; /* that it began with; they were counted before */
};

/* number 0: the file itself; else "PATH.NUMBER".  Owned by the caller; NULL: no memory. */
char *rotated_file_path(const char *path, unsigned number);

/* Makes the file, under a fresh name, and begins it.  On failure note_fail() has the reason. */
int rotated_file_open(struct rotated_file *s, const char *path, const struct writer *like,
		      struct backlog *w, struct file_origin *file_origin, struct notes *notes);
/* Puts the file into its place. */
int rotated_file_place(struct rotated_file *s, struct notes *notes);
/* Flushes what was put into the writer; upto: the account of it.  The errno of the write. */
int rotated_file_flush(struct rotated_file *s, const struct account *upto);
struct rotated_file_end {
	const struct account *all; /* counted so far; what s->before has is not of this file */
	const struct event_attrs *attrs;
	const struct build_id_list *build_ids; /* of the files that samples are of */
	struct meta_end meta;
	bool failed; /* a write did: what was not flushed counts as lost */
};
/*
 * Writes the account and completes the capture; *done is the account as written, with the file's
 * size.  The errno of the write.
 */
int rotated_file_finish(struct rotated_file *s, const struct rotated_file_end *end,
			struct account *done);
/* Closes what is there; a file that has not got its place is removed.  Zeroed with fd -1 is fine. */
void rotated_file_close(struct rotated_file *s);

#endif
