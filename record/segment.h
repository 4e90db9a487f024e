/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * segment - one capture of several that a recording makes
 *
 * Has a file and a writer of its own, with the head of the recording's writer.  It begins with what
 * the window knows of the time before, takes parts, and ends with the account of what is in it.
 */
#ifndef EBPREC_RECORD_SEGMENT_H
#define EBPREC_RECORD_SEGMENT_H

#include "record/mapids.h"
#include "record/meta.h"
#include "record/recfile.h"
#include "record/window.h"

struct segment {
	struct recfile file;
	struct writer *writer;  /* NULL: there is none */
	struct account before;  /* what was counted before it began */
	uint64_t begin_records; /* that it began with; they were counted before */
};

/* number 0: the file itself; else "PATH.NUMBER".  Owned by the caller; NULL: no memory. */
char *segment_path(const char *path, unsigned number);

/* Makes the file, under a fresh name, and begins it.  On failure note_fail() has said why. */
int segment_open(struct segment *s, const char *path, const struct writer *like, struct window *w,
		 struct notes *notes);
/* Puts the file into its place. */
int segment_place(struct segment *s, struct notes *notes);
/*
 * Writes the account, counted from s->before to `all`, and what makes the capture whole.  *all gets
 * nothing; file_bytes of *done is the size.  The errno of the write; s is closed in any case.
 */
int segment_finish(struct segment *s, const struct account *all, const struct meta_end *end,
		   struct mapids *ids, struct account *done);
/* Closes what is there; a file that has not got its place is removed.  Zeroed with fd -1 is fine. */
void segment_close(struct segment *s);

#endif
